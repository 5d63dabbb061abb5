package contenthash

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says what sort of thing is wrong with a body. It is an error itself, so
// that errors.Is(err, contenthash.DuplicateName) works.
type Kind string

// The kinds of [Error].
const (
	EmptyBody      Kind = "empty body"
	TooLong        Kind = "body too long"
	ByteOrderMark  Kind = "byte order mark"
	Syntax         Kind = "bad JSON"
	TrailingData   Kind = "trailing data"
	BadUTF8        Kind = "bad UTF-8"
	LoneSurrogate  Kind = "lone surrogate"
	DuplicateName  Kind = "duplicate name"
	TooDeep        Kind = "nested too deep"
	ExponentRange  Kind = "exponent too large"
	InexactNumber  Kind = "number that a double changes"
	MissingField   Kind = "missing field"
	NullField      Kind = "null field"
	ScalarInTheWay Kind = "pointer runs into a scalar"
	NothingLeft    Kind = "nothing left to hash"
	BadGroup       Kind = "bad group"
)

func (k Kind) Error() string { return string(k) }

// quoteLimit is how many bytes of a body an error text quotes at most, pointer
// included: bodies may be private.
const quoteLimit = 64

// excerptLimit is the part of quoteLimit that is not left to the pointer.
const excerptLimit = 24

// Error says why no id was made of a body.
type Error struct {
	Kind Kind

	// Pointer is the RFC 6901 pointer to the place, whole, or "" for the body
	// itself. It is made of names in the body.
	Pointer string

	// Offset is the byte offset in the body, or -1 where there is no one place.
	Offset int

	// Reason is the sentence without the place.
	Reason string

	before, after string // Reason on either side of "at POINTER"
	quoted        int    // bytes of the body in Reason
	placed        bool   // Reason names its place itself
}

// Error names the reason, the pointer and the byte offset, and quotes at most 64
// bytes of the body.
func (e *Error) Error() string { return "content hash: " + e.Sentence() }

// Sentence is the error's text without "content hash: " before it.
func (e *Error) Sentence() string {
	var b strings.Builder
	b.WriteString(e.before)
	if e.Pointer != "" && !e.placed {
		b.WriteString(" at ")
		b.WriteString(shorten(e.Pointer, quoteLimit-e.quoted))
	}
	b.WriteString(e.after)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " (byte %d)", e.Offset)
	}
	return b.String()
}

// Unwrap is the error's kind.
func (e *Error) Unwrap() error { return e.Kind }

// fault makes an error at a byte offset; the pointer is filled in by whoever
// holds the body. quoted is the number of bytes of the body in before.
func fault(kind Kind, offset, quoted int, before, after string) *Error {
	return &Error{Kind: kind, Offset: offset, Reason: before + after, before: before, after: after, quoted: quoted}
}

// excerpt is the beginning of text, shortened to what an error may quote and safe
// to print, and the number of bytes it takes of the body.
func excerpt(text []byte) (string, int) {
	if len(text) <= excerptLimit {
		return printable(string(text)), len(text)
	}
	cut := excerptLimit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return printable(string(text[:cut])) + "…", cut
}

// shorten cuts the middle out of a pointer so that at most limit of its bytes are
// left: first and last segments say most.
func shorten(pointer string, limit int) string {
	if len(pointer) <= limit {
		return printable(pointer)
	}
	head, tail := limit/2, len(pointer)-limit/2
	for head > 0 && !utf8.RuneStart(pointer[head]) {
		head--
	}
	for tail < len(pointer) && !utf8.RuneStart(pointer[tail]) {
		tail++
	}
	return printable(pointer[:head]) + "…" + printable(pointer[tail:])
}

// printable escapes what would disturb a terminal or a log line.
func printable(s string) string {
	clean := true
	for _, r := range s {
		if clean = strconv.IsPrint(r) && r != utf8.RuneError; !clean {
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !strconv.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}
