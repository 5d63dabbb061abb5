package contenthash

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	isSpaceClass  = 1 << iota // JSON white space
	isNumberClass             // what may follow a digit inside a number
)

var classes = [256]uint8{
	' ': isSpaceClass, '\t': isSpaceClass, '\n': isSpaceClass, '\r': isSpaceClass,
	'0': isNumberClass, '1': isNumberClass, '2': isNumberClass, '3': isNumberClass, '4': isNumberClass,
	'5': isNumberClass, '6': isNumberClass, '7': isNumberClass, '8': isNumberClass, '9': isNumberClass,
	'.': isNumberClass, 'e': isNumberClass, 'E': isNumberClass,
}

func isSpace(c byte) bool  { return classes[c]&isSpaceClass != 0 }
func inNumber(c byte) bool { return classes[c]&isNumberClass != 0 }

// space leaves the white space at p out of the document text.
func (e *engine) space(p int) (after int) {
	from := p
	for isSpace(e.body[p]) {
		p++
	}
	e.splice(from, p, nil)
	return p
}

// text reads the rest of a string, from a byte that is not plain ASCII to the
// closing quote, at which it returns. Escapes are respelled in RFC 8785's way
// (section 3.2.2.2). unlike is true when the string as a name sorts otherwise
// than its bytes in the body do.
func (e *engine) text(p int) (quote int, unlike bool, err *Error) {
	b := e.body
	for {
		c := b[p]
		switch {
		case c == '"':
			return p, unlike, nil
		case c >= utf8.RuneSelf:
			size := sequence(b, p)
			if size == 0 {
				return p, unlike, errUTF8(b, p)
			}
			unlike = unlike || c == 0xEE || c == 0xEF
			p += size
		case c == '\\':
			unlike = true
			if p, err = e.escape(p); err != nil {
				return p, unlike, err
			}
		case c < ' ':
			return p, unlike, e.errControl(p)
		default:
			m := special(load(b, p))
			if m == 0 {
				p += 8
			} else {
				p += bits.TrailingZeros64(m) >> 3
			}
		}
	}
}

// sequence is the length of the well-formed UTF-8 sequence of several bytes at p,
// or 0. Surrogates, overlong forms and all above U+10FFFF are not well-formed
// (Unicode standard, table 3-7).
func sequence(b []byte, p int) int {
	x := binary.LittleEndian.Uint32(b[p : p+4])
	switch {
	case x&0xC0E0 == 0x80C0:
		if x&0x1E != 0 {
			return 2
		}
	case x&0xC0C0F0 == 0x8080E0:
		// E0 takes A0 and up, ED takes up to 9F.
		if x&0x200F != 0 && x&0x200F != 0x200D {
			return 3
		}
	case x&0xC0C0C0F8 == 0x808080F0:
		// F0 takes 90 and up, F4 takes up to 8F.
		if x&0x3007 != 0 && (x&0x07 < 4 || x&0x3007 == 4) {
			return 4
		}
	}
	return 0
}

// shortEscapes are the letters of the two-character escapes, by what they mean.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

const lowerHex = "0123456789abcdef"

// escape respells the escape at p.
func (e *engine) escape(p int) (after int, err *Error) {
	b := e.body
	switch b[p+1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return p + 2, nil
	case '/':
		e.splice(p, p+1, nil)
		return p + 2, nil
	case 'u':
	default:
		return p, e.errEscape(p)
	}
	r, size, err := e.unicodeEscape(p)
	if err != nil {
		return p, err
	}
	var text [6]byte
	var n int
	switch {
	case r < utf8.RuneSelf && shortEscapes[r] != 0:
		text[0], text[1] = '\\', shortEscapes[r]
		n = 2
	case r < ' ':
		if b[p+4] == lowerHex[r>>4] && b[p+5] == lowerHex[r&15] {
			return p + size, nil
		}
		n = copy(text[:], `\u00`)
		text[4], text[5] = lowerHex[r>>4], lowerHex[r&15]
		n += 2
	default:
		n = utf8.EncodeRune(text[:], r)
	}
	e.splice(p, p+size, text[:n])
	return p + size, nil
}

// unicodeEscape reads \uXXXX, or a pair of them for a surrogate pair, at p.
func (e *engine) unicodeEscape(p int) (r rune, size int, err *Error) {
	b := e.body
	r = hex4(b, p+2)
	switch {
	case r < 0:
		return 0, 0, e.errEscape(p)
	case r < 0xD800 || r > 0xDFFF:
		return r, 6, nil
	case r <= 0xDBFF && b[p+6] == '\\' && b[p+7] == 'u':
		if low := hex4(b, p+8); low >= 0xDC00 && low <= 0xDFFF {
			return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12, nil
		}
	}
	return 0, 0, errSurrogate(b, p)
}

// hex4 reads four hexadecimal digits of either case, or returns -1.
func hex4(b []byte, p int) rune {
	var r rune
	for _, c := range b[p : p+4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20-'a' <= 5:
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func isHex(c byte) bool { return c-'0' <= 9 || c|0x20-'a' <= 5 }

// appendKey appends the sort key of a name, given as the text between its quotes.
// Keys sort byte by byte as their names do by UTF-16 code units, which is the
// order RFC 8785 asks for (section 3.2.3): UTF-8 has that order already, but for
// U+E000 to U+FFFF, which come after the surrogates of U+10000 and up. So their
// lead bytes 0xEE and 0xEF are moved above 0xF4.
func appendKey(key, text []byte) []byte {
	for p := 0; p < len(text); {
		c := text[p]
		switch {
		case c == 0xEE || c == 0xEF:
			key = append(key, c+7)
			p++
		case c != '\\':
			key = append(key, c)
			p++
		case text[p+1] != 'u':
			key = append(key, unescape(text[p+1]))
			p += 2
		default:
			r := hex4(text, p+2)
			p += 6
			if r >= 0xD800 && r <= 0xDFFF {
				r = (r-0xD800)<<10 + (hex4(text, p+2) - 0xDC00) + 0x10000
				p += 6
			}
			at := len(key)
			key = utf8.AppendRune(key, r)
			if key[at] == 0xEE || key[at] == 0xEF {
				key[at] += 7
			}
		}
	}
	return key
}

// unescape is what a backslash and c stand for.
func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// keyPrefix is the first eight bytes of key, big-endian, filled up with zeros.
func keyPrefix(key []byte) uint64 {
	var first [8]byte
	copy(first[:], key)
	return binary.BigEndian.Uint64(first[:])
}
