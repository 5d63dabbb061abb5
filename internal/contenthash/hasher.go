package contenthash

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync/atomic"
	"unicode/utf8"
)

// Options say what is hashed. The zero value hashes the whole body, numbers exact,
// and nothing else.
type Options struct {
	// Strict refuses every number that an IEEE 754 double would change, so that the
	// canonical text is RFC 8785's, byte for byte.
	Strict bool

	// Exclude lists fields to leave out, as JSON Pointers (RFC 6901) to members of
	// objects. The segment ~* stands for every element of an array. A pointer that
	// matches nothing is no error, see [Hasher.Unmatched].
	Exclude []string

	// Include lists the only fields to hash, as JSON Pointers. What is hashed is the
	// canonical object from pointer to value. A field that is missing or null is an
	// error, unless its pointer stands in AllowMissing or AllowNull as well; missing
	// and null hash differently then.
	Include                 []string
	AllowNull, AllowMissing []string

	// WithGroup puts the message group into the hash, see [Hasher.Hashed].
	WithGroup bool
}

// GroupVersion is the first element of what is hashed when the group is part of
// it. It changes when, and only when, the canonical form or the encoding does.
const GroupVersion = "fifoproof/1"

// A Hasher makes ids by one set of options. It is safe for concurrent use.
type Hasher struct {
	options   Options
	selection *selection
	unmatched []atomic.Int64 // per excluded pointer
}

// New checks the options. Its errors are of type [*OptionError].
func New(o Options) (*Hasher, error) {
	o.Exclude, o.Include = slices.Clone(o.Exclude), slices.Clone(o.Include)
	s, err := compile(o)
	if err != nil {
		return nil, err
	}
	return &Hasher{options: o, selection: s, unmatched: make([]atomic.Int64, len(o.Exclude))}, nil
}

// Selective reports whether Strict, Exclude or Include is set: whether some body
// that is sent has another id than by default, or none.
func (h *Hasher) Selective() bool {
	return h.options.Strict || h.selection != nil
}

// ID is [Hasher.Sum] as 64 lower-case hexadecimal digits, a MessageDeduplicationId.
func (h *Hasher) ID(body []byte, group string) (string, error) {
	sum, err := h.Sum(body, group)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum[:]), nil
}

// Sum is the SHA-256 of [Hasher.Hashed]. Its errors are of type [*Error]. Excluded
// pointers that matched nothing in body are counted.
func (h *Hasher) Sum(body []byte, group string) ([sha256.Size]byte, error) {
	e := engines.Get().(*engine)
	defer e.release()
	text, err := h.hashed(e, body, group)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	for i := range h.unmatched {
		if !e.hits[i].found {
			h.unmatched[i].Add(1)
		}
	}
	return sha256.Sum256(text), nil
}

// Digest is the SHA-256 of [Hasher.Canonical], whether the group is in the id or
// not.
func (h *Hasher) Digest(body []byte) ([sha256.Size]byte, error) {
	e := engines.Get().(*engine)
	defer e.release()
	text, err := e.run(body, h.options.Strict, h.selection)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(text), nil
}

// Canonical appends the canonical text of body, selection applied, to dst.
func (h *Hasher) Canonical(dst, body []byte) ([]byte, error) {
	e := engines.Get().(*engine)
	defer e.release()
	text, err := e.run(body, h.options.Strict, h.selection)
	if err != nil {
		return dst, err
	}
	return append(dst, text...), nil
}

// Hashed appends to dst the bytes of which the id is the SHA-256: the canonical
// text of body, or with WithGroup the canonical JSON array
//
//	["fifoproof/1",GROUP,BODY]
//
// with the group as a string and the canonical text as it is. Being JSON, it is
// unambiguous, and any language can make it.
func (h *Hasher) Hashed(dst, body []byte, group string) ([]byte, error) {
	e := engines.Get().(*engine)
	defer e.release()
	text, err := h.hashed(e, body, group)
	if err != nil {
		return dst, err
	}
	return append(dst, text...), nil
}

func (h *Hasher) hashed(e *engine, body []byte, group string) ([]byte, error) {
	text, err := e.run(body, h.options.Strict, h.selection)
	if err != nil {
		return nil, err
	}
	return h.withGroup(e, text, group)
}

// withGroup is what is hashed of a canonical text.
func (h *Hasher) withGroup(e *engine, text []byte, group string) ([]byte, error) {
	if !h.options.WithGroup {
		return text, nil
	}
	if !utf8.ValidString(group) {
		return nil, fault(BadGroup, -1, 0, "message group is not UTF-8", "")
	}
	e.group = append(e.group[:0], `["`+GroupVersion+`",`...)
	e.group = append(appendQuoted(e.group, group), ',')
	e.group = append(append(e.group, text...), ']')
	return e.group, nil
}

// Unmatched counts, for every excluded pointer, the bodies that [Hasher.Sum] and
// [Hasher.ID] made an id of and that held nothing there. A count that equals the
// number of bodies is likely a misspelled pointer.
func (h *Hasher) Unmatched() map[string]int64 {
	counts := make(map[string]int64, len(h.unmatched))
	for i, pointer := range h.options.Exclude {
		counts[pointer] = h.unmatched[i].Load()
	}
	return counts
}

// Explanation tells how an id came about.
type Explanation struct {
	ID        string   `json:"id"`
	Canonical string   `json:"canonical"` // what was hashed of the body
	LeftOut   []string `json:"left_out"`  // pointers to what this body holds and the selection leaves out, in document order
	Unmatched []string `json:"unmatched"` // configured pointers to which this body holds nothing
}

// Explain makes the id of body and tells what it was made of. It does not count
// for [Hasher.Unmatched].
func (h *Hasher) Explain(body []byte, group string) (Explanation, error) {
	e := engines.Get().(*engine)
	defer e.release()
	text, err := e.run(body, h.options.Strict, h.selection)
	if err != nil {
		return Explanation{}, err
	}
	x := Explanation{Canonical: string(text), LeftOut: []string{}, Unmatched: []string{}}
	if s := h.selection; s != nil {
		x.LeftOut = append(x.LeftOut, s.leftOut(body)...)
		for i, pointer := range s.pointers {
			if !e.hits[i].found {
				x.Unmatched = append(x.Unmatched, pointer)
			}
		}
	}
	hashed, err := h.withGroup(e, text, group)
	if err != nil {
		return Explanation{}, err
	}
	sum := sha256.Sum256(hashed)
	x.ID = hex.EncodeToString(sum[:])
	return x, nil
}

// Lookup finds the value at an RFC 6901 pointer, "" being the whole body, and
// returns its JSON text as it stands there. The whole body is checked, as for an
// id. found is false where the pointer leads to nothing. A bad pointer is an
// [*OptionError], a bad body an [*Error].
func Lookup(body []byte, pointer string) (raw []byte, found bool, err error) {
	segments, reason := parsePointer(pointer)
	if reason == "" && slices.ContainsFunc(segments, func(s segment) bool { return s.every }) {
		reason = "has a segment ~*, which is for Exclude only"
	}
	if reason != "" {
		return nil, false, &OptionError{"pointer", pointer, reason}
	}
	e := engines.Get().(*engine)
	defer e.release()
	if _, err := e.run(body, false, nil); err != nil {
		return nil, false, err
	}
	p := find(body, segments)
	if p < 0 {
		return nil, false, nil
	}
	return body[p:valueEnd(body, p)], true, nil
}
