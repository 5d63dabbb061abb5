package contenthash

import "encoding/binary"

// padding is the number of zero bytes that stand behind every text that is
// scanned or copied from, so that eight bytes may be read, and copyUnit copied,
// at any place of it. A zero byte is legal nowhere in JSON text, so it ends
// every scan, too.
const padding = 2 * copyUnit

// copyUnit is the number of bytes that emission moves at a time.
const copyUnit = 32

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load reads eight bytes of b at p, the first one lowest.
func load(b []byte, p int) uint64 { return binary.LittleEndian.Uint64(b[p : p+8]) }

// pair reads two bytes of b at p.
func pair(b []byte, p int) uint16 { return binary.LittleEndian.Uint16(b[p : p+2]) }

const (
	quoteColon = '"' | ':'<<8
	quoteComma = '"' | ','<<8
)

// special marks the bytes of x that plain ASCII text of a string does not hold:
// quote, reverse solidus, control characters below 0x20 and all from 0x80 up. The
// lowest mark is exact; a borrow may set false ones above it. Flipping bit 1 makes
// the quote 0x20 and leaves the control characters below it, so that one
// subtraction finds both.
func special(x uint64) uint64 {
	return (x | ((x ^ 0x02*lows) - 0x21*lows) | ((x ^ '\\'*lows) - lows)) & highs
}

// noDigit marks the bytes of x that are not '0' to '9'. The lowest mark is exact.
func noDigit(x uint64) uint64 {
	x ^= '0' * lows
	return (x | (x + 0x76*lows)) & highs
}
