package contenthash

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// maxExponent bounds the exponent of a number, as written and as printed.
const maxExponent = 999_999_999

// number reads the number at start, of which the scan knows only that it may not
// be in canonical form, and respells it: the exact decimal value in the layout
// that RFC 8785 section 3.2.2.3 takes from ECMAScript. The cost is linear in the
// length of the literal, whatever its value.
func (e *engine) number(start int) (after int, err *Error) {
	b, p := e.body, start
	negative := b[p] == '-'
	if negative {
		p++
	}
	whole := p
	p = digitsEnd(b, p)
	switch {
	case p == whole:
		return p, e.errByte(p, "where a digit of a number should be")
	case b[whole] == '0' && p > whole+1:
		return p, fault(Syntax, start, 0, "number with a leading zero", "")
	}
	point := p - whole
	e.digits = append(e.digits[:0], b[whole:p]...)
	if b[p] == '.' {
		p++
		from := p
		if p = digitsEnd(b, p); p == from {
			return p, e.errByte(p, "where a digit of a fraction should be")
		}
		e.digits = append(e.digits, b[from:p]...)
	}
	exponent := 0
	if b[p]|0x20 == 'e' {
		p++
		minus := b[p] == '-'
		if minus || b[p] == '+' {
			p++
		}
		from := p
		if p = digitsEnd(b, p); p == from {
			return p, e.errByte(p, "where a digit of an exponent should be")
		}
		exponent = smallInteger(b[from:p])
		if minus {
			exponent = -exponent
		}
	}

	digits := e.digits
	significant := bytes.TrimLeft(digits, "0")
	point -= len(digits) - len(significant) // now value = 0.significant * 10^(point+exponent)
	significant = bytes.TrimRight(significant, "0")
	n := point + exponent
	if len(significant) == 0 {
		negative, n = false, 0
	} else if max(exponent, -exponent, n-1, 1-n) > maxExponent {
		literal, quoted := excerpt(b[start:p])
		return p, fault(ExponentRange, start, quoted, "number "+literal, " has an exponent beyond 999999999")
	}
	at := len(digits)
	e.digits = appendNumber(digits, negative, significant, n)
	text := e.digits[at:]
	if e.strict && e.vnode != leftOutNode {
		if err := survives(text, significant, n, b[start:p], start); err != nil {
			return p, err
		}
	}
	if !bytes.Equal(text, b[start:p]) {
		e.splice(start, p, text)
	}
	return p, nil
}

// digitsEnd is the first place from p that holds no digit.
func digitsEnd(b []byte, p int) int {
	for {
		m := noDigit(load(b, p))
		if m != 0 {
			return p + bits.TrailingZeros64(m)>>3
		}
		p += 8
	}
}

// smallInteger reads digits, stopping well above maxExponent.
func smallInteger(digits []byte) int {
	n := 0
	for _, c := range digits {
		if n = 10*n + int(c-'0'); n > maxExponent {
			return maxExponent + 1
		}
	}
	return n
}

// appendNumber prints 0.digits * 10^n, digits without zeros at either end, by
// ECMAScript's Number::toString; no digits are zero.
func appendNumber(dst []byte, negative bool, digits []byte, n int) []byte {
	k := len(digits)
	if k == 0 {
		return append(dst, '0')
	}
	if negative {
		dst = append(dst, '-')
	}
	switch {
	case k <= n && n <= 21:
		dst = append(dst, digits...)
		return append(dst, "000000000000000000000"[:n-k]...)
	case 0 < n && n <= 21:
		dst = append(append(dst, digits[:n]...), '.')
		return append(dst, digits[n:]...)
	case -6 < n && n <= 0:
		dst = append(dst, "0.00000"[:2-n]...)
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if k > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	dst = append(dst, 'e')
	if n > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(n-1), 10)
}

// survives checks that the number 0.digits * 10^n, printed as text, is what
// RFC 8785 prints for the double that is nearest to it.
func survives(text, digits []byte, n int, literal []byte, offset int) *Error {
	// A double holds 15 digits everywhere in its normal range.
	if len(digits) <= 15 && -300 < n && n < 300 {
		return nil
	}
	double, err := strconv.ParseFloat(string(text), 64)
	quoted, size := excerpt(literal)
	if err != nil || math.IsInf(double, 0) {
		return fault(InexactNumber, offset, size, "number "+quoted,
			" is beyond an IEEE 754 double (RFC 8785 has no form of it); use exact mode or send it as a string")
	}
	var buffer [32]byte
	printed := appendDouble(buffer[:0], double)
	if bytes.Equal(printed, text) {
		return nil
	}
	return fault(InexactNumber, offset, size, "number "+quoted,
		" does not survive an IEEE 754 double (RFC 8785 would hash "+string(printed)+"); use exact mode or send it as a string")
}

// appendDouble prints a finite double as RFC 8785 does: the shortest digits that
// give it back, in ECMAScript's layout.
func appendDouble(dst []byte, double float64) []byte {
	var buffer [32]byte
	text := strconv.AppendFloat(buffer[:0], math.Abs(double), 'e', -1, 64) // d.ddde±xx
	mantissa, exponent, _ := bytes.Cut(text, []byte{'e'})
	if len(mantissa) > 1 { // the point goes
		mantissa = slices.Delete(mantissa, 1, 2)
	}
	digits := bytes.TrimRight(mantissa, "0")
	n := smallInteger(exponent[1:])
	if exponent[0] == '-' {
		n = -n
	}
	return appendNumber(dst, double < 0, digits, n+1)
}
