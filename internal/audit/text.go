package audit

import (
	"bytes"
	"encoding/json"
)

// cursor reads one compact JSON object without copying. It knows just enough of the
// grammar to find the fields of a line: encoding/json reads a send log at some
// 60 MB/s, and files of millions of lines are the point. Whatever it does not
// understand makes it fail, and the line then goes to encoding/json, which has the
// last word.
type cursor struct {
	text []byte
	at   int
	bad  bool
}

func (c *cursor) space() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return
		}
	}
}

// take consumes one byte of punctuation if it stands there.
func (c *cursor) take(want byte) bool {
	c.space()
	if c.at < len(c.text) && c.text[c.at] == want {
		c.at++
		return true
	}
	return false
}

func (c *cursor) need(want byte) {
	if !c.take(want) {
		c.bad = true
	}
}

// next moves to the next member of an object (closing is '}') or element of an
// array (']') and reports whether there is one. first is true before the first.
func (c *cursor) next(closing byte, first *bool) bool {
	if c.bad || c.take(closing) {
		return false
	}
	if !*first {
		c.need(',')
	}
	*first = false
	return !c.bad
}

// name is a member's name, with its colon consumed.
func (c *cursor) name() []byte {
	name := c.str()
	c.need(':')
	return name
}

// str is a string's text. One with escapes is decoded into memory of its own.
func (c *cursor) str() []byte {
	c.need('"')
	if c.bad {
		return nil
	}
	start := c.at
	end := bytes.IndexByte(c.text[start:], '"')
	if end < 0 {
		c.bad = true
		return nil
	}
	end += start
	c.at = end + 1
	raw := c.text[start:end]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	for escaped(c.text[start:end]) {
		more := bytes.IndexByte(c.text[end+1:], '"')
		if more < 0 {
			c.bad = true
			return nil
		}
		end += 1 + more
	}
	c.at = end + 1
	var decoded string
	if json.Unmarshal(c.text[start-1:c.at], &decoded) != nil {
		c.bad = true
		return nil
	}
	return []byte(decoded)
}

// escaped reports whether what follows text is escaped by a backslash at its end.
func escaped(text []byte) bool {
	n := 0
	for n < len(text) && text[len(text)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// strOrNull is a string's text, nil for null.
func (c *cursor) strOrNull() []byte {
	if c.null() {
		return nil
	}
	return c.str()
}

func (c *cursor) null() bool {
	c.space()
	if bytes.HasPrefix(c.text[c.at:], []byte("null")) {
		c.at += 4
		return true
	}
	return false
}

// integer is a whole number of at most 18 digits.
func (c *cursor) integer() int64 {
	c.space()
	negative := c.at < len(c.text) && c.text[c.at] == '-'
	if negative {
		c.at++
	}
	start, n := c.at, int64(0)
	for c.at < len(c.text) && c.text[c.at] >= '0' && c.text[c.at] <= '9' {
		n = n*10 + int64(c.text[c.at]-'0')
		c.at++
	}
	digits := c.at - start
	if digits == 0 || digits > 18 || digits > 1 && c.text[start] == '0' {
		c.bad = true
	}
	if c.at < len(c.text) && (c.text[c.at] == '.' || c.text[c.at] == 'e' || c.text[c.at] == 'E') {
		c.bad = true
	}
	if negative {
		return -n
	}
	return n
}

// skip passes over a value of any kind.
func (c *cursor) skip() {
	c.space()
	if c.bad || c.at >= len(c.text) {
		c.bad = true
		return
	}
	switch c.text[c.at] {
	case '"':
		c.str()
	case '{':
		c.at++
		for first := true; c.next('}', &first); {
			c.name()
			c.skip()
		}
	case '[':
		c.at++
		for first := true; c.next(']', &first); {
			c.skip()
		}
	default:
		start := c.at
		for c.at < len(c.text) && isScalar(c.text[c.at]) {
			c.at++
		}
		if !json.Valid(c.text[start:c.at]) {
			c.bad = true
		}
	}
}

func isScalar(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b == '-' || b == '+' || b == '.' || b == 'E'
}

// end demands that nothing but white space is left.
func (c *cursor) end() {
	c.space()
	if c.at != len(c.text) {
		c.bad = true
	}
}
