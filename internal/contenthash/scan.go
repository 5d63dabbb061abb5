package contenthash

import (
	"encoding/binary"
	"math/bits"
)

// scan reads the body from its first byte to its last, checks it, and fills in
// the engine's records. It is one function with labels for its states, and keeps
// little but its place in registers: this loop is where the time goes.
func (e *engine) scan() *Error {
	var (
		b     = e.body
		p     int // offset in the body
		start int // of a number or name
		end   int // of a fraction

		depth int            // of open containers
		open  = &e.frames[0] // the innermost of them
		kind  = top          // its kind
		last  uint64         // prefix of its newest name; 0 while there is none, or order is lost
		err   *Error
	)

value: // a value begins at p, perhaps after white space
	if b[p] == '"' {
		p++
		for {
			m := special(load(b, p))
			if m != 0 {
				p += bits.TrailingZeros64(m) >> 3
				break
			}
			p += 8
		}
		if kind == inObject && pair(b, p) == quoteComma {
			p += 2
			goto name
		}
		if b[p] != '"' {
			if p, _, err = e.text(p); err != nil {
				return err
			}
		}
		p++
		goto after
	}
	if b[p]-'1' <= 8 {
		start = p
		m := noDigit(load(b, p))
		if m == 0 {
			p = digitsEnd(b, p+8)
		} else {
			p += bits.TrailingZeros64(m) >> 3
		}
		if b[p] == '.' {
			// A point sets no false marks, so that the next one is exact, too.
			if m &= m - 1; m != 0 {
				end = start + bits.TrailingZeros64(m)>>3
			} else {
				end = digitsEnd(b, p+1)
			}
			goto fraction
		}
		// Up to 15 digits a double holds them all; up to 21 stand as they are.
		if !inNumber(b[p]) && (p-start <= 15 || p-start <= 21 && !e.strict) {
			goto after
		}
		goto number
	}
	switch b[p] {
	case '0':
		start = p
		p++
		if b[p] == '.' {
			end = digitsEnd(b, p+1)
			goto fraction
		}
		if inNumber(b[p]) {
			goto number
		}
		goto after
	case '-':
		start = p
		p = digitsEnd(b, p+1)
		if b[start+1] == '0' || p == start+1 {
			goto number
		}
		if b[p] == '.' {
			end = digitsEnd(b, p+1)
			goto fraction
		}
		if !inNumber(b[p]) && p-start <= 15 {
			goto after
		}
		goto number
	case '{':
		if depth >= maxDepth {
			return errTooDeep(p)
		}
		depth++
		open = &e.frames[depth]
		kind, last = inObject, 0
		{
			n := e.objectCount
			if uint(n) >= uint(len(e.objects)) {
				e.objects = append(e.objects, make([]object, n+64)...)
			}
			e.objectCount = n + 1
			o := &e.objects[n]
			o.start, o.n = int32(p+e.delta), -1
			open.kind, open.node, open.base, open.object, open.ordered = inObject, e.vnode, int32(e.memberCount), int32(n), ^uint64(0)
		}
		p++
		if b[p] == '"' {
			goto name
		}
		for isSpace(b[p]) {
			p = e.space(p)
		}
		if b[p] == '}' {
			goto closing
		}
		goto name
	case '[':
		if depth >= maxDepth {
			return errTooDeep(p)
		}
		depth++
		open = &e.frames[depth]
		kind = inArray
		open.kind, open.node, open.index = inArray, e.vnode, 0
		p++
		for isSpace(b[p]) {
			p = e.space(p)
		}
		if b[p] == ']' {
			goto closing
		}
		goto element
	case 't':
		if uint32(load(b, p)) == 't'|'r'<<8|'u'<<16|'e'<<24 {
			p += 4
			goto after
		}
		return e.errLiteral(p)
	case 'f':
		if load(b, p)<<24 == ('f'|'a'<<8|'l'<<16|'s'<<24|'e'<<32)<<24 {
			p += 5
			goto after
		}
		return e.errLiteral(p)
	case 'n':
		if uint32(load(b, p)) == 'n'|'u'<<8|'l'<<16|'l'<<24 {
			p += 4
			goto after
		}
		return e.errLiteral(p)
	case ' ', '\t', '\n', '\r':
		p = e.space(p)
		goto value
	default:
		return e.errValue(p, kind)
	}

fraction: // the point of the number that began at start is at p, its last digit before end
	// A last zero must be cut, 0.000… may need an exponent; 16 bytes are at most 15
	// digits, which a double holds.
	if end-p >= 2 && end-start <= 16 && b[end-1] != '0' && !inNumber(b[end]) &&
		(b[start] != '0' || b[p+1] != '0' || b[p+2] != '0') {
		p = end
		goto after
	}
number: // the number that began at start needs a closer look
	if p, err = e.number(start); err != nil {
		return err
	}
	goto after

element: // an element of an array begins at p, perhaps after white space
	if open.node != plainNode {
		for isSpace(b[p]) {
			p = e.space(p)
		}
		if err = e.enterElement(open, p); err != nil {
			return err
		}
	}
	goto value

name: // a name begins at p, perhaps after white space
	if b[p] != '"' {
		if isSpace(b[p]) {
			p = e.space(p)
			goto name
		}
		return e.errName(p)
	}
	start = p
	p++
	{
		x := load(b, p)
		prefix := bits.ReverseBytes64(x)
		if m := special(x); m != 0 {
			i := bits.TrailingZeros64(m)
			p += i >> 3
			prefix &^= ^uint64(0) >> (i & 0x38)
		} else {
			for {
				p += 8
				if m := special(load(b, p)); m != 0 {
					p += bits.TrailingZeros64(m) >> 3
					break
				}
			}
		}
		n := e.memberCount
		if uint(n) >= uint(len(e.members)) {
			e.members = append(e.members, make([]member, n+256)...)
		}
		e.memberCount = n + 1
		m := &e.members[n]
		m.prefix = prefix
		m.key = int32(start + 1)
		m.keyLen = int32(p - start - 1)
		m.start = int32(start + e.delta)
		m.object = int32(e.objectCount)
		if pair(b, p) == quoteColon {
			p += 2
		} else {
			if b[p] != '"' {
				if p, err = e.nameText(m, p); err != nil {
					return err
				}
				prefix = m.prefix
			}
			p++
			for b[p] != ':' {
				if !isSpace(b[p]) {
					return e.errColon(p)
				}
				p = e.space(p)
			}
			p++
		}
		if prefix <= last {
			e.checkOrder(open)
		}
		last = prefix & open.ordered
	}
	if open.node != plainNode {
		for isSpace(b[p]) {
			p = e.space(p)
		}
		if err = e.enterMember(open, p); err != nil {
			return err
		}
	}
	goto value

after: // a value has ended before p
	if b[p] == ',' {
		if kind == inObject {
			p++
			goto name
		}
		if kind == inArray {
			p++
			goto element
		}
		return e.errTrailing(p)
	}
	switch c := b[p]; {
	case kind == inObject && c == '}', kind == inArray && c == ']':
		goto closing
	case isSpace(c):
		p = e.space(p)
		goto after
	case kind == top:
		if p == e.n {
			return nil
		}
		return e.errTrailing(p)
	default:
		return e.errAfter(p, kind)
	}

closing: // the current container ends with the byte at p
	if kind == inObject {
		if open.ordered == 0 {
			if err = e.putInOrder(open, p+e.delta); err != nil {
				return err
			}
		}
		e.memberCount = int(open.base)
	}
	p++
	depth--
	open = &e.frames[depth]
	kind = open.kind
	if kind == inObject {
		last = e.members[e.memberCount-1].prefix & open.ordered
	}
	goto after
}

// nameText reads the rest of a name that is not plain ASCII, from p to its closing
// quote, and sets the key of m.
func (e *engine) nameText(m *member, p int) (quote int, err *Error) {
	p, unlike, err := e.text(p)
	if err != nil {
		return p, err
	}
	text := e.body[m.key:p]
	if !unlike {
		m.keyLen, m.prefix = int32(len(text)), keyPrefix(text)
		return p, nil
	}
	e.keys = binary.LittleEndian.AppendUint32(e.keys, uint32(m.key-1))
	at := len(e.keys)
	e.keys = appendKey(e.keys, text)
	m.key, m.keyLen, m.prefix = int32(at), int32(len(e.keys)-at)|decodedKey, keyPrefix(e.keys[at:])
	return p, nil
}

// checkOrder looks whether the newest name of the current object, whose prefix is
// not above the one before, comes after it all the same.
func (e *engine) checkOrder(open *frame) {
	n := e.memberCount
	if n-2 < int(open.base) || open.ordered == 0 {
		return
	}
	if e.compare(&e.members[n-2], &e.members[n-1]) >= 0 {
		open.ordered = 0
	}
}
