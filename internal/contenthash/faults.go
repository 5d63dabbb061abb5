package contenthash

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// The scan's errors. Offsets are set here, pointers by [engine.run]: finding a
// pointer takes a second walk, which only an error is worth.

func errTooDeep(p int) *Error {
	return fault(TooDeep, p, 0, "nested deeper than 1000 levels", "")
}

// errByte says that the byte at p stands at the wrong place.
func (e *engine) errByte(p int, where string) *Error {
	if p >= e.n {
		return fault(Syntax, e.n, 0, "body ends "+where, "")
	}
	c := e.body[p]
	if c >= utf8.RuneSelf {
		size := sequence(e.body, p)
		if size == 0 {
			return errUTF8(e.body, p)
		}
		return fault(Syntax, p, size, "character '"+printable(string(e.body[p:p+size]))+"' "+where, "")
	}
	return fault(Syntax, p, 1, "character '"+printable(string(rune(c)))+"' "+where, "")
}

// errValue says why no value begins at p.
func (e *engine) errValue(p int, kind uint8) *Error {
	b := e.body[:e.n]
	switch {
	case len(bytes.TrimLeft(b, " \t\r\n")) == 0:
		return fault(EmptyBody, 0, 0, "empty body", "")
	case p == 0 && (bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")) || bytes.HasPrefix(b, []byte("\xFE\xFF")) || bytes.HasPrefix(b, []byte("\xFF\xFE"))):
		return fault(ByteOrderMark, 0, 0, "byte order mark before the value", "")
	case kind == inArray && p < e.n && b[p] == ']':
		return fault(Syntax, p, 1, "comma before the end of an array", "")
	}
	return e.errByte(p, "where a value should begin")
}

// errLiteral says why the word at p is no literal.
func (e *engine) errLiteral(p int) *Error {
	end := p
	for end < e.n && e.body[end]|0x20-'a' <= 'z'-'a' {
		end++
	}
	if end == e.n {
		return fault(Syntax, e.n, 0, "body ends inside a literal", "")
	}
	word, quoted := excerpt(e.body[p:end])
	return fault(Syntax, p, quoted, fmt.Sprintf("%q is no JSON literal", word), "")
}

func (e *engine) errName(p int) *Error {
	if p < e.n && e.body[p] == '}' {
		return fault(Syntax, p, 1, "comma before the end of an object", "")
	}
	return e.errByte(p, "where a name in quotes should begin")
}

func (e *engine) errColon(p int) *Error {
	return e.errByte(p, "where the colon after a name should be")
}

func (e *engine) errAfter(p int, kind uint8) *Error {
	if kind == inObject {
		return e.errByte(p, "where a comma or the end of an object should be")
	}
	return e.errByte(p, "where a comma or the end of an array should be")
}

func (e *engine) errTrailing(p int) *Error {
	return fault(TrailingData, p, 0, "trailing data after the value", "")
}

func (e *engine) errControl(p int) *Error {
	if p >= e.n {
		return fault(Syntax, e.n, 0, "body ends inside a string", "")
	}
	return fault(Syntax, p, 1, fmt.Sprintf("raw control character U+%04X in a string", e.body[p]), "")
}

func (e *engine) errEscape(p int) *Error {
	end := p + 1
	switch size := sequence(e.body, end); {
	case e.body[end] == 'u':
		end++
		for end < p+6 && isHex(e.body[end]) {
			end++
		}
	case end < e.n:
		end += max(size, 1)
	}
	if end >= e.n {
		return fault(Syntax, e.n, 0, "body ends inside a string", "")
	}
	text, quoted := excerpt(e.body[p:end])
	return fault(Syntax, p, quoted, "bad escape "+text, "")
}

func errSurrogate(b []byte, p int) *Error {
	return fault(LoneSurrogate, p, 6, "lone surrogate "+printable(string(b[p:p+6])), "")
}

func errUTF8(b []byte, p int) *Error {
	return fault(BadUTF8, p, 1, fmt.Sprintf("bad UTF-8: byte 0x%02x", b[p]), "")
}

// errDuplicate says that the name at p stands in its object for the second time.
func errDuplicate(b []byte, p int) *Error {
	name, quoted := excerpt(appendDecoded(nil, b[p+1:stringEnd(b, p)]))
	return fault(DuplicateName, p, quoted, fmt.Sprintf("duplicate name \"%s\"", name), "")
}
