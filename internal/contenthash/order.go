package contenthash

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// key is the sort key of m, see appendKey.
func (e *engine) key(m *member) []byte {
	n := m.keyLen & keyLength
	if m.keyLen&decodedKey != 0 {
		return e.keys[m.key:][:n]
	}
	return e.body[m.key:][:n]
}

// nameAt is the body offset of the name's opening quote.
func (e *engine) nameAt(m *member) int {
	if m.keyLen&decodedKey != 0 {
		return int(binary.LittleEndian.Uint32(e.keys[m.key-4:]))
	}
	return int(m.key - 1)
}

// compareKeys compares names whose prefixes are equal.
func (e *engine) compareKeys(a, b *member) int {
	return bytes.Compare(e.key(a), e.key(b))
}

func (e *engine) compare(a, b *member) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return e.compareKeys(a, b)
}

// putInOrder sorts the members of the object open, which ends at end, drops those
// that the selection leaves out, and keeps the rest for arrange.
func (e *engine) putInOrder(open *frame, end int) *Error {
	members := e.members[open.base:e.memberCount]
	n := len(members)
	for i := range n - 1 {
		members[i].end = members[i+1].start - 1
	}
	members[n-1].end = int32(end)

	base := len(e.sorted)
	e.sorted = slices.Grow(e.sorted, n)[:base+n]
	sorted := e.sorted[base:]
	if !e.guess(members, sorted) {
		e.sort(members, sorted)
		if twice := e.firstTwice(sorted); twice >= 0 {
			return errDuplicate(e.body, twice)
		}
	}
	if e.selection != nil {
		sorted = slices.DeleteFunc(sorted, func(m member) bool { return m.keyLen&leftOut != 0 })
		e.sorted = e.sorted[:base+len(sorted)]
	}
	o := &e.objects[open.object]
	o.end, o.base, o.n, o.next = int32(end), int32(base), int32(len(sorted)), int32(e.objectCount)
	e.moved++
	return nil
}

// shape is how the members of an object once had to be put in order. Messages of
// a queue are alike, and so are the elements of an array, so that trying what was
// right before beats sorting. A shape is only ever a guess.
type shape struct {
	n     int
	order [maxShape]uint8
}

const maxShape = 64

func (e *engine) shapeOf(members []member) *shape {
	n := len(members)
	return &e.shapes[(members[0].prefix^members[n-1].prefix+uint64(n))*0x9E3779B97F4A7C15>>(64-shapeBits)]
}

// guess sorts as before and reports whether that was right: every name strictly
// above the one before, so that there are no duplicates either.
func (e *engine) guess(members, sorted []member) bool {
	if len(members) > maxShape {
		return false
	}
	s := e.shapeOf(members)
	if s.n != len(members) {
		return false
	}
	last := uint64(0)
	for i, at := range s.order[:len(sorted)] {
		m := &members[at]
		sorted[i] = *m
		if m.prefix <= last && i > 0 && e.compare(&sorted[i-1], m) >= 0 {
			return false
		}
		last = m.prefix
	}
	return true
}

// place stands for a member while sorting.
type place struct {
	prefix uint64
	at     int
}

func (e *engine) sort(members, sorted []member) {
	places := slices.Grow(e.places[:0], len(members))[:len(members)]
	e.places = places
	for i := range members {
		places[i] = place{members[i].prefix, i}
	}
	e.sortFrom(places, members, prefixLength)
	for i, p := range places {
		sorted[i] = members[p.at]
	}
	if len(members) <= maxShape {
		s := e.shapeOf(members)
		s.n = len(members)
		for i, p := range places {
			s.order[i] = uint8(p.at)
		}
	}
}

const (
	// prefixLength is how many bytes of a key a prefix holds.
	prefixLength = 8
	// fewAlike is how many places with one prefix are compared key by key.
	fewAlike = 12
)

// sortFrom sorts places whose prefixes stand before key byte next, and whose keys are
// equal before the prefix. Where many are still alike the following bytes become their
// prefixes, so that each byte of a key is looked at once, whatever names have in common.
func (e *engine) sortFrom(places []place, members []member, next int) {
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.prefix, b.prefix) })
	for len(places) > 0 {
		n := 1
		for n < len(places) && places[n].prefix == places[0].prefix {
			n++
		}
		alike := places[:n]
		places = places[n:]
		if n == 1 {
			continue
		}
		more := false
		if n > fewAlike {
			for i := range alike {
				key := e.key(&members[alike[i].at])
				key = key[min(next, len(key)):]
				more = more || len(key) > 0
				var following [prefixLength]byte
				copy(following[:], key)
				alike[i].prefix = binary.BigEndian.Uint64(following[:])
			}
		}
		if more {
			e.sortFrom(alike, members, next+prefixLength)
		} else {
			slices.SortFunc(alike, func(a, b place) int { return e.compareKeys(&members[a.at], &members[b.at]) })
		}
	}
}

// firstTwice is the body offset of the first name that stands for the second time
// among sorted members, or -1.
func (e *engine) firstTwice(sorted []member) int {
	first := -1
	for i := range sorted[1:] {
		a, b := &sorted[i], &sorted[i+1]
		if a.prefix != b.prefix || e.compareKeys(a, b) != 0 {
			continue
		}
		if later := max(e.nameAt(a), e.nameAt(b)); first < 0 || later < first {
			first = later
		}
	}
	return first
}

// finish makes the canonical text from the records of a scan.
func (e *engine) finish() ([]byte, error) {
	doc, n := e.body, e.n
	if e.copied {
		e.out = append(e.out, e.body[e.mark:e.n]...)
		n = len(e.out)
		e.out = append(e.out, zeros[:]...)
		doc = e.out
	}
	if e.selection != nil {
		if err := e.selection.check(e); err != nil {
			return nil, err
		}
		if e.selection.include {
			return e.included(doc, n), nil
		}
	}
	text := doc[:n]
	if e.moved > 0 {
		e.prepare(n)
		text = e.final[:e.arrange(doc, 0, 0, n, 0)]
	}
	if e.selection != nil && string(text) == "{}" {
		return nil, errNothingLeft("every field is left out")
	}
	return text, nil
}

// prepare makes room for n bytes of canonical text.
func (e *engine) prepare(n int) {
	e.final = slices.Grow(e.final[:0], n+padding)[:n+padding]
	// The object after the last one begins nowhere: it ends every loop below.
	e.objects = append(e.objects[:e.objectCount], object{start: 1<<31 - 1, n: -1})
}

// arrange writes doc[from:to] at e.final[w:], members in order, and returns the
// end. number is that of the first object that begins at or after from. Every
// byte is copied once: objects in order are not looked into, and an object out of
// order is written member by member.
func (e *engine) arrange(doc []byte, w, from, to, number int) int {
	for {
		o := &e.objects[number]
		if int(o.start) >= to {
			return move(e.final, w, doc, from, to)
		}
		if o.n < 0 {
			number++
			continue
		}
		w = move(e.final, w, doc, from, int(o.start)+1)
		members := e.sorted[o.base:][:o.n]
		for i := range members {
			m := &members[i]
			if e.objects[m.object].start < m.end {
				w = e.arrange(doc, w, int(m.start), int(m.end), int(m.object))
			} else {
				w = move(e.final, w, doc, int(m.start), int(m.end))
			}
			e.final[w] = ','
			w++
		}
		if len(members) > 0 {
			w--
		}
		from, number = int(o.end), int(o.next)
	}
}

// move copies src[from:to] to dst[w:], and up to padding bytes of what follows,
// and returns where the copy ends.
func move(dst []byte, w int, src []byte, from, to int) int {
	n := to - from
	if n > 2*copyUnit {
		copy(dst[w:], src[from:to])
		return w + n
	}
	*(*[copyUnit]byte)(dst[w : w+copyUnit]) = *(*[copyUnit]byte)(src[from : from+copyUnit])
	if n > copyUnit {
		*(*[copyUnit]byte)(dst[w+copyUnit : w+2*copyUnit]) = *(*[copyUnit]byte)(src[from+copyUnit : from+2*copyUnit])
	}
	return w + n
}

// included writes the object from pointer to value that an inclusion hashes.
func (e *engine) included(doc []byte, n int) []byte {
	e.prepare(n + e.selection.nameBytes)
	e.final[0] = '{'
	w := 1
	for _, field := range e.selection.order {
		h := &e.hits[field]
		if !h.found {
			continue
		}
		w += copy(e.final[w:], e.selection.names[field])
		from := int(h.start)
		w = e.arrange(doc, w, from, valueEnd(doc, from), int(h.object))
		e.final[w] = ','
		w++
	}
	e.final[w-1] = '}'
	return e.final[:w]
}
