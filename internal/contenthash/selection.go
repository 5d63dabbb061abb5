package contenthash

import (
	"bytes"
	"fmt"
	"slices"
)

// OptionError says why a Hasher cannot be made.
type OptionError struct {
	Option  string // "Exclude", "Include", "AllowNull", "AllowMissing"
	Pointer string
	Reason  string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("content hash: %s %q: %s", e.Option, e.Pointer, e.Reason)
}

// selection is a set of pointers, compiled to a tree that the scan walks along.
type selection struct {
	include  bool
	pointers []string
	nodes    []node

	// For an inclusion: may the field be null, or missing; the pointer as the name
	// of a canonical member, colon included; the canonical order of those names;
	// and their length together.
	null, missing []bool
	names         []string
	order         []int
	nameBytes     int
}

// node is a place in a body that some pointer goes through or ends at.
type node struct {
	members map[string]int32 // by sort key of the name
	items   map[int32]int32  // by index; inclusion only
	every   int32            // all elements; exclusion only
	other   int32            // whatever is not listed
	field   int32            // the pointer that ends here, or -1
}

// Nodes that every selection has. Outside a selection's reach, all is plainNode.
const (
	plainNode   int32 = iota // hashed, and so is all below
	leftOutNode              // not hashed, nor anything below
	rootNode
)

// compile checks the options and makes their selection, nil if they have none.
func compile(o Options) (*selection, error) {
	switch {
	case len(o.Exclude) > 0 && len(o.Include) > 0:
		return nil, &OptionError{"Include", o.Include[0], "cannot be combined with Exclude: hash either the fields named or all others"}
	case len(o.Include) > 0:
		return compileList("Include", o.Include, o)
	case len(o.AllowNull) > 0:
		return nil, &OptionError{"AllowNull", o.AllowNull[0], notIncluded}
	case len(o.AllowMissing) > 0:
		return nil, &OptionError{"AllowMissing", o.AllowMissing[0], notIncluded}
	case len(o.Exclude) > 0:
		return compileList("Exclude", o.Exclude, o)
	}
	return nil, nil //nolint:nilnil // no selection is the usual case
}

const notIncluded = "is not among the fields of Include"

func compileList(option string, pointers []string, o Options) (*selection, error) {
	s := &selection{include: option == "Include", pointers: slices.Clone(pointers)}
	other := plainNode
	if s.include {
		other = leftOutNode
	}
	s.nodes = []node{
		plainNode:   {field: -1},
		leftOutNode: {field: -1, other: leftOutNode, every: leftOutNode},
		rootNode:    {field: -1, other: other, every: other},
	}
	for field, pointer := range s.pointers {
		segments, err := parsePointer(pointer)
		if err == "" {
			err = checkSegments(segments, s.include)
		}
		if err != "" {
			return nil, &OptionError{option, pointer, err}
		}
		if clash := s.add(segments, int32(field), other); clash >= 0 {
			return nil, &OptionError{option, pointer, relation(pointer, s.pointers[clash])}
		}
	}
	if s.include {
		return s, s.compileFields(o)
	}
	return s, nil
}

// compileFields adds what an inclusion knows of its fields.
func (s *selection) compileFields(o Options) error {
	pointers := s.pointers
	s.null, s.missing = make([]bool, len(pointers)), make([]bool, len(pointers))
	for _, allow := range []struct {
		option   string
		pointers []string
		flags    []bool
	}{{"AllowNull", o.AllowNull, s.null}, {"AllowMissing", o.AllowMissing, s.missing}} {
		for _, pointer := range allow.pointers {
			field := slices.Index(s.pointers, pointer)
			if field < 0 {
				return &OptionError{allow.option, pointer, notIncluded}
			}
			allow.flags[field] = true
		}
	}
	keys := make([][]byte, len(pointers))
	for i, pointer := range s.pointers {
		quoted := appendQuoted(nil, pointer)
		keys[i] = appendKey(nil, quoted[1:len(quoted)-1])
		s.names = append(s.names, string(quoted)+":")
		s.nameBytes += len(s.names[i]) + 1
		s.order = append(s.order, i)
	}
	s.nameBytes += len("{}")
	slices.SortFunc(s.order, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	return nil
}

func relation(pointer, earlier string) string {
	switch {
	case pointer == earlier:
		return "is named twice"
	case len(pointer) > len(earlier):
		return fmt.Sprintf("lies below %q, which is named too", earlier)
	default:
		return fmt.Sprintf("lies above %q, which is named too", earlier)
	}
}

// add puts a pointer into the tree. It returns the pointer that it is equal to or
// below or above, or -1.
func (s *selection) add(segments []segment, field, other int32) (clash int32) {
	at := rootNode
	for _, step := range segments {
		if earlier := s.nodes[at].field; earlier >= 0 {
			return earlier
		}
		next, known := s.child(at, step)
		if !known {
			next = int32(len(s.nodes))
			s.nodes = append(s.nodes, node{field: -1, other: other, every: other})
			s.link(at, step, next)
		}
		at = next
	}
	if below := s.anyField(at); below >= 0 {
		return below
	}
	s.nodes[at].field = field
	return -1
}

func (s *selection) child(at int32, step segment) (int32, bool) {
	n := &s.nodes[at]
	if step.every {
		return n.every, n.every != plainNode
	}
	next, known := n.members[sortKey(step.name)]
	return next, known
}

func (s *selection) link(at int32, step segment, next int32) {
	n := &s.nodes[at]
	if step.every {
		n.every = next
		return
	}
	if n.members == nil {
		n.members = map[string]int32{}
	}
	n.members[sortKey(step.name)] = next
	if index, ok := arrayIndex(step.name); ok && s.include {
		if n.items == nil {
			n.items = map[int32]int32{}
		}
		n.items[index] = next
	}
}

// anyField is a pointer that ends at or below a node, or -1.
func (s *selection) anyField(at int32) int32 {
	n := &s.nodes[at]
	if n.field >= 0 {
		return n.field
	}
	for _, next := range n.members {
		if field := s.anyField(next); field >= 0 {
			return field
		}
	}
	if n.every > rootNode {
		return s.anyField(n.every)
	}
	return -1
}

// sortKey is appendKey for a decoded name.
func sortKey(name string) string {
	key := []byte(name)
	for i, c := range key {
		if c == 0xEE || c == 0xEF {
			key[i] = c + 7
		}
	}
	return string(key)
}
