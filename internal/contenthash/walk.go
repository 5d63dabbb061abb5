package contenthash

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// Walks over JSON text that a scan has read already, so that they need not check.

// stringEnd is the place of the quote that closes the string whose opening quote
// is at p, or len(b).
func stringEnd(b []byte, p int) int {
	for p++; p < len(b); p++ {
		switch b[p] {
		case '"':
			return p
		case '\\':
			p++
		}
	}
	return len(b)
}

// valueEnd is the place behind the value that begins at p.
func valueEnd(b []byte, p int) int {
	depth := 0
	for p < len(b) {
		switch b[p] {
		case '"':
			p = stringEnd(b, p)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				return scalarEnd(b, p)
			}
		}
		p++
		if depth <= 0 {
			return p
		}
	}
	return p
}

// scalarEnd is the place behind the number or literal at p.
func scalarEnd(b []byte, p int) int {
	for p < len(b) {
		switch b[p] {
		case ',', ']', '}', ' ', '\t', '\r', '\n', 0:
			return p
		}
		p++
	}
	return p
}

func spaceEnd(b []byte, p int) int {
	for p < len(b) && isSpace(b[p]) {
		p++
	}
	return p
}

// appendDecoded appends the string whose text between the quotes is given.
func appendDecoded(dst, text []byte) []byte {
	at := len(dst)
	dst = appendKey(dst, text)
	for i := at; i < len(dst); i++ {
		if dst[i] >= 0xEE+7 {
			dst[i] -= 7
		}
	}
	return dst
}

// pointerAt is the pointer to the innermost value or name that the offset lies in
// or at the beginning of, in a body that is well-formed up to there.
func pointerAt(b []byte, offset int) string {
	type level struct {
		name   []byte // text between the quotes; nil: none was read yet
		index  int
		array  bool
		naming bool // a name comes next
	}
	var levels []level
	p := 0
walk:
	for p < offset && p < len(b) {
		last := len(levels) - 1
		switch b[p] {
		case '{':
			levels = append(levels, level{naming: true})
		case '[':
			levels = append(levels, level{array: true})
		case '}', ']':
			levels = levels[:max(last, 0)]
		case ',':
			if last < 0 {
				break walk
			}
			l := &levels[last]
			l.index++
			l.name, l.naming = nil, !l.array
		case '"':
			end := stringEnd(b, p)
			if last >= 0 && levels[last].naming {
				if end >= offset {
					break walk
				}
				levels[last].name, levels[last].naming = b[p+1:end], false
			}
			p = end
		}
		p++
	}
	// A name that is complained of belongs to its own pointer.
	if last := len(levels) - 1; last >= 0 && levels[last].naming && p == offset && p < len(b) && b[p] == '"' {
		if end := stringEnd(b, p); end < len(b) {
			levels[last].name = b[p+1 : end]
		}
	}
	var pointer []byte
	for _, l := range levels {
		switch {
		case l.array:
			pointer = strconv.AppendInt(append(pointer, '/'), int64(l.index), 10)
		case l.name != nil:
			pointer = appendSegment(pointer, appendDecoded(nil, l.name))
		}
	}
	return string(pointer)
}

// appendSegment appends a slash and a name in the spelling of RFC 6901.
func appendSegment(pointer, name []byte) []byte {
	pointer = append(pointer, '/')
	for _, c := range name {
		switch c {
		case '~':
			pointer = append(pointer, "~0"...)
		case '/':
			pointer = append(pointer, "~1"...)
		default:
			pointer = append(pointer, c)
		}
	}
	return pointer
}

// children calls yield for every member or element of the container at p, with the
// decoded name or the index, and the place of the value, until it returns false.
func children(b []byte, p int, yield func(name []byte, index, value int) bool) {
	object := b[p] == '{'
	p = spaceEnd(b, p+1)
	for index := 0; p < len(b) && b[p] != '}' && b[p] != ']'; index++ {
		var name []byte
		if object {
			end := stringEnd(b, p)
			name = appendDecoded([]byte{}, b[p+1:end])
			p = spaceEnd(b, spaceEnd(b, end+1)+1)
		}
		if !yield(name, index, p) {
			return
		}
		p = spaceEnd(b, valueEnd(b, p))
		if p < len(b) && b[p] == ',' {
			p = spaceEnd(b, p+1)
		}
	}
}

// find is the place of the value that the segments lead to, or -1.
func find(b []byte, segments []segment) int {
	p := spaceEnd(b, 0)
	for _, s := range segments {
		if b[p] != '{' && b[p] != '[' {
			return -1
		}
		object := b[p] == '{'
		item, isIndex := arrayIndex(s.name)
		found := -1
		if object || isIndex {
			children(b, p, func(name []byte, index, value int) bool {
				if object && string(name) == s.name || !object && index == int(item) {
					found = value
				}
				return found < 0
			})
		}
		if found < 0 {
			return -1
		}
		p = found
	}
	return p
}

// leftOut lists the pointers of all that the selection leaves out of a scanned
// body, outermost first: what stands below is not listed again.
func (s *selection) leftOut(b []byte) []string {
	var list []string
	var walk func(pointer []byte, p int, at int32)
	walk = func(pointer []byte, p int, at int32) {
		if p >= len(b) || b[p] != '{' && b[p] != '[' {
			if s.include && at >= rootNode {
				list = append(list, string(pointer))
			}
			return
		}
		object := b[p] == '{'
		children(b, p, func(name []byte, index, value int) bool {
			n := &s.nodes[at]
			next, here := n.other, slices.Clip(pointer)
			if object {
				here = appendSegment(here, name)
				if listed, ok := n.members[sortKey(string(name))]; ok {
					next = listed
				}
			} else {
				here = strconv.AppendInt(append(here, '/'), int64(index), 10)
				next = n.every
				if item, ok := n.items[int32(index)]; ok {
					next = item
				}
			}
			ends := s.nodes[next].field >= 0
			switch {
			case next == leftOutNode, ends && !s.include:
				list = append(list, string(here))
			case next >= rootNode && !ends:
				walk(here, value, next)
			}
			return true
		})
	}
	walk(nil, spaceEnd(b, 0), rootNode)
	return list
}

// appendQuoted appends s, which is UTF-8, as a canonical JSON string.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < utf8.RuneSelf && shortEscapes[c] != 0:
			dst = append(dst, '\\', shortEscapes[c])
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
