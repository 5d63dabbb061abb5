package contenthash

import "fmt"

// What a selection does during a scan and behind it.

// enterMember finds the node of the newest member, whose value begins at p.
func (e *engine) enterMember(open *frame, p int) *Error {
	n := &e.selection.nodes[open.node]
	m := &e.members[e.memberCount-1]
	next, listed := n.members[string(e.key(m))]
	if !listed {
		e.vnode = n.other
		return nil
	}
	if e.selection.nodes[next].field >= 0 && !e.selection.include {
		m.keyLen |= leftOut
		open.ordered = 0
	}
	return e.enter(next, p)
}

// enterElement finds the node of the next element, which begins at p.
func (e *engine) enterElement(open *frame, p int) *Error {
	n := &e.selection.nodes[open.node]
	next := n.every
	if n.items != nil {
		if item, listed := n.items[open.index]; listed {
			next = item
		}
	}
	open.index++
	return e.enter(next, p)
}

func (e *engine) enter(next int32, p int) *Error {
	e.vnode = next
	if next < rootNode {
		return nil
	}
	field := e.selection.nodes[next].field
	if field < 0 {
		if scalar := scalarName(e.body[p]); scalar != "" {
			pointer := e.selection.pointers[e.selection.anyField(next)]
			return fault(ScalarInTheWay, p, 0, fmt.Sprintf("pointer %s runs into a %s", printable(pointer), scalar), "")
		}
		return nil
	}
	e.hits[field] = hit{
		found: true, null: e.body[p] == 'n',
		at: int32(p), start: int32(p + e.delta), object: int32(e.objectCount),
	}
	e.vnode = leftOutNode
	if e.selection.include {
		e.vnode = plainNode
	}
	return nil
}

// scalarName names the scalar that begins with c. Null is none: an optional parent
// that is null has no fields, which is no accident.
func scalarName(c byte) string {
	switch {
	case c == '"':
		return "string"
	case c == 't' || c == 'f':
		return "boolean"
	case c == '-' || c-'0' <= 9:
		return "number"
	}
	return ""
}

// check looks at what a scanned body holds of the selection.
func (s *selection) check(e *engine) error {
	p := 0
	for isSpace(e.body[p]) {
		p++
	}
	if scalar := scalarName(e.body[p]); scalar != "" {
		return fault(ScalarInTheWay, p, 0, fmt.Sprintf("pointer %s runs into a %s, which is the whole body", printable(s.pointers[0]), scalar), "")
	}
	if !s.include {
		return nil
	}
	found := false
	for field, h := range e.hits {
		var err *Error
		switch {
		case !h.found && !s.missing[field]:
			err = fault(MissingField, -1, 0, "field "+printable(s.pointers[field])+" missing", "")
		case h.null && !s.null[field]:
			err = fault(NullField, int(h.at), 0, "field "+printable(s.pointers[field])+" is null", "")
		default:
			found = found || h.found
			continue
		}
		err.Pointer, err.placed = s.pointers[field], true
		return err
	}
	if !found {
		return errNothingLeft("every included field is missing")
	}
	return nil
}

func errNothingLeft(reason string) *Error {
	return fault(NothingLeft, -1, 0, "nothing left to hash: "+reason+", and all such bodies would share one id", "")
}
