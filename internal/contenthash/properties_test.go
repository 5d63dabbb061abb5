package contenthash

import (
	"bytes"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var canonicalNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,20}|-?[1-9][0-9]{0,20}\.[0-9]*[1-9]|-?0\.0{0,5}[1-9]|-?0\.0{0,5}[1-9][0-9]*[1-9]|-?[1-9](\.[0-9]*[1-9])?e(\+|-)[1-9][0-9]*)$`)

// TestNumberValue checks numbers against math/big.Rat: the value is kept, the
// layout is ECMAScript's, and every spelling of a value gives one text.
func TestNumberValue(t *testing.T) {
	t.Parallel()
	h := mustNew(t, Options{})
	rapid.Check(t, func(t *rapid.T) {
		number := drawNumber(t)
		a, b := number.spell(t), number.spell(t)
		textA, err := h.Canonical(nil, []byte(a))
		require.NoError(t, err, a)
		textB, err := h.Canonical(nil, []byte(b))
		require.NoError(t, err, b)
		require.Equal(t, string(textA), string(textB), "%s and %s", a, b)
		require.Regexp(t, canonicalNumber, string(textA))

		before, ok := new(big.Rat).SetString(a)
		require.True(t, ok, a)
		after, ok := new(big.Rat).SetString(string(textA))
		require.True(t, ok, textA)
		require.Zero(t, before.Cmp(after), "%s became %s", a, textA)

		// ECMAScript uses an exponent from 1e21 up and below 1e-6.
		size := new(big.Rat).Abs(after)
		plain := size.Sign() == 0 || size.Cmp(big.NewRat(1, 1_000_000)) >= 0 && size.Cmp(new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(21), nil))) < 0
		require.Equal(t, plain, !strings.Contains(string(textA), "e"), string(textA))
	})
}

// A document is a JSON value that can be written in many ways.
type (
	document any // nil, bool, string, decimal, []document, fields
	fields   []property
	property struct {
		name  string
		value document
	}
	decimal struct {
		negative bool
		digits   string // no zeros at either end; "" is zero
		exponent int    // value = digits * 10^exponent
	}
)

func drawNumber(t *rapid.T) decimal {
	digits := strings.Trim(rapid.StringMatching(`[0-9]{0,25}`).Draw(t, "digits"), "0")
	return decimal{rapid.Bool().Draw(t, "negative"), digits, rapid.IntRange(-60, 60).Draw(t, "exponent")}
}

// spell writes the number in one of the ways that JSON allows.
func (d decimal) spell(t *rapid.T) string {
	digits, exponent := d.digits, d.exponent
	if digits == "" {
		digits, exponent = "0", rapid.IntRange(-3, 3).Draw(t, "exponent of zero")
	}
	zeros := rapid.IntRange(0, 3).Draw(t, "more zeros")
	digits, exponent = digits+strings.Repeat("0", zeros), exponent-zeros
	point := rapid.IntRange(-2, len(digits)).Draw(t, "point") // digits before the point
	exponent += len(digits) - point
	for ; point < 1; point++ {
		digits = "0" + digits
	}
	text := digits[:point]
	if text = strings.TrimLeft(text, "0"); text == "" {
		text = "0"
	}
	if fraction := digits[point:]; fraction != "" {
		text += "." + fraction
	}
	if d.negative {
		text = "-" + text
	}
	if exponent != 0 || rapid.Bool().Draw(t, "needless exponent") {
		sign := rapid.SampledFrom([]string{"", "+"}).Draw(t, "plus")
		if exponent < 0 {
			sign, exponent = "-", -exponent
		}
		text += rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + sign + rapid.SampledFrom([]string{"", "0", "00"}).Draw(t, "exponent zeros") + fmt.Sprint(exponent)
	}
	return text
}

func drawName(t *rapid.T) string {
	return rapid.OneOf(
		rapid.StringMatching(`[a-c_"\\/\n]{0,3}`),
		rapid.StringMatching(`customer_[a-c]{0,2}`),
		rapid.StringN(0, 4, -1),
		rapid.SampledFrom([]string{"\ue000", "\uffff", "😀", "\U00010000", "\ufb33", "ö", "\x00", "\x7f"}),
	).Filter(utf8.ValidString).Draw(t, "name")
}

func drawDocument(t *rapid.T, depth int) document {
	kinds := 4
	if depth > 0 {
		kinds = 8
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]document{nil, true, false}).Draw(t, "literal")
	case 1:
		return rapid.StringN(0, 12, -1).Filter(utf8.ValidString).Draw(t, "string")
	case 2, 3:
		return drawNumber(t)
	case 4:
		var elements []document
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			elements = append(elements, drawDocument(t, depth-1))
		}
		return elements
	default:
		var members fields
		for range rapid.IntRange(0, 9).Draw(t, "members") {
			name := drawName(t)
			if !slices.ContainsFunc(members, func(p property) bool { return p.name == name }) {
				members = append(members, property{name, drawDocument(t, depth-1)})
			}
		}
		return members
	}
}

// write spells the document at random: order of members, white space, escapes and
// numbers.
func write(t *rapid.T, b *bytes.Buffer, d document) {
	space := func() {
		b.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\n  ", "\t", "\r\n"}).Draw(t, "space"))
	}
	list := func(open, end byte, n int, element func(int)) {
		b.WriteByte(open)
		space()
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
				space()
			}
			element(i)
			space()
		}
		b.WriteByte(end)
	}
	space()
	switch d := d.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		fmt.Fprint(b, d)
	case string:
		writeString(t, b, d)
	case decimal:
		b.WriteString(d.spell(t))
	case []document:
		list('[', ']', len(d), func(i int) { write(t, b, d[i]) })
	case fields:
		d = rapid.Permutation(d).Draw(t, "order")
		list('{', '}', len(d), func(i int) {
			writeString(t, b, d[i].name)
			space()
			b.WriteByte(':')
			write(t, b, d[i].value)
		})
	}
	space()
}

func writeString(t *rapid.T, b *bytes.Buffer, s string) {
	style := rapid.IntRange(0, 2).Draw(t, "escapes")
	b.WriteByte('"')
	for _, r := range s {
		short := strings.IndexRune("\"\\/\b\f\n\r\t", r)
		switch {
		case short >= 0 && style < 2 && r != '/':
			b.WriteByte('\\')
			b.WriteByte(`"\/bfnrt`[short])
		case r == '/' && style == 1:
			b.WriteString(`\/`)
		case style == 2 && r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04X`, high, low)
		case style == 2, r < ' ':
			fmt.Fprintf(b, rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "case"), r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

func TestSpellingNeverChangesTheID(t *testing.T) {
	t.Parallel()
	h := mustNew(t, Options{})
	rapid.Check(t, func(t *rapid.T) {
		d := drawDocument(t, 3)
		var a, b bytes.Buffer
		write(t, &a, d)
		write(t, &b, d)
		idA, err := h.ID(a.Bytes(), "")
		require.NoError(t, err, a.String())
		idB, err := h.ID(b.Bytes(), "")
		require.NoError(t, err, b.String())
		require.Equal(t, idA, idB, "%s\n%s", a.String(), b.String())
		agree(t, a.Bytes())
		checkFastPath(t, a.Bytes())
	})
}

// TestDigitAlwaysChangesTheID changes one digit of a canonical body.
func TestDigitAlwaysChangesTheID(t *testing.T) {
	t.Parallel()
	h := mustNew(t, Options{})
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		write(t, &b, drawDocument(t, 3))
		body, err := h.Canonical(nil, b.Bytes())
		require.NoError(t, err)
		var digits []int
		for i, c := range body {
			// Not the zero of "0" or "0.5", which another digit gives another length, nor
			// an escape's.
			if c >= '1' && c <= '9' {
				digits = append(digits, i)
			}
		}
		if len(digits) == 0 {
			return
		}
		at := rapid.SampledFrom(digits).Draw(t, "at")
		other := bytes.Clone(body)
		other[at] = '1' + (body[at]-'1'+byte(rapid.IntRange(1, 8).Draw(t, "by")))%9
		before, err := h.ID(body, "")
		require.NoError(t, err)
		after, err := h.ID(other, "")
		if err != nil { // two names became equal, or an exponent too large
			return
		}
		changed++
		require.NotEqual(t, before, after, "%s\n%s", body, other)
	})
	require.Positive(t, changed)
}

// checkFastPath holds the fast path to its word: nothing is copied if, and only
// if, the body is canonical as it stands.
func checkFastPath(t require.TestingT, body []byte) {
	e := engines.Get().(*engine)
	defer e.release()
	text, err := e.run(body, false, nil)
	if err != nil {
		return
	}
	require.Equal(t, string(text) == string(body), !e.copied && e.moved == 0, "%q", body)
	if string(text) == string(body) {
		require.Same(t, &e.body[0], &text[0])
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	h := mustNew(t, Options{Exclude: []string{"/created_at", "/none", "/items/~*/gift"}, WithGroup: true})
	bodies := [][]byte{orderBody(t, 900), orderBody(t, 2048), orderBody(t, 9000), []byte(`{"z":1,"a":[1.0]}`)}
	var want []string
	for _, body := range bodies {
		id, err := h.ID(body, "g")
		require.NoError(t, err)
		want = append(want, id)
	}
	const goroutines, rounds = 16, 50
	var wait sync.WaitGroup
	failures := make(chan string, goroutines)
	for range goroutines {
		wait.Go(func() {
			for i := range rounds {
				if id, err := h.ID(bodies[i%4], "g"); err != nil || id != want[i%4] {
					failures <- fmt.Sprint(id, err)
					return
				}
			}
		})
	}
	wait.Wait()
	close(failures)
	for failure := range failures {
		t.Fatal(failure)
	}
	// Every body lacks /none; the last one lacks the other two as well.
	last := int64(1 + goroutines*(rounds/4)) // rounds 3, 7, …
	require.Equal(t, map[string]int64{"/created_at": last, "/none": 4 + goroutines*rounds, "/items/~*/gift": last}, h.Unmatched())
}
