package contenthash

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The texts that a user reads, whole.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	strict := mustNew(t, Options{Strict: true})
	exclude := mustNew(t, Options{Exclude: []string{"/meta/at"}})
	include := mustNew(t, Options{Include: []string{"/order/id"}})
	for _, c := range []struct {
		h    *Hasher
		body string
		want string
	}{
		{strict, `{"items":[{"line_id":9007199254740993}]}`, "content hash: number 9007199254740993 at /items/0/line_id does not survive an IEEE 754 double (RFC 8785 would hash 9007199254740992); use exact mode or send it as a string (byte 21)"},
		{strict, `{"n":-1e400}`, "content hash: number -1e400 at /n is beyond an IEEE 754 double (RFC 8785 has no form of it); use exact mode or send it as a string (byte 5)"},
		{strict, `{"n":1e-400}`, "content hash: number 1e-400 at /n does not survive an IEEE 754 double (RFC 8785 would hash 0); use exact mode or send it as a string (byte 5)"},
		{strict, `[` + strings.Repeat("1", 100) + `]`, "content hash: number 111111111111111111111111… at /0 does not survive an IEEE 754 double (RFC 8785 would hash 1.111111111111111e+99); use exact mode or send it as a string (byte 1)"},
		{strict, `{"order":{"amount":1,"amount":2}}`, `content hash: duplicate name "amount" at /order/amount (byte 21)`},
		{strict, `[1e9999999999]`, "content hash: number 1e9999999999 at /0 has an exponent beyond 999999999 (byte 1)"},
		{strict, "[\"\xff\"]", "content hash: bad UTF-8: byte 0xff at /0 (byte 2)"},
		{strict, "\xff", "content hash: bad UTF-8: byte 0xff (byte 0)"},
		{strict, `["\ud800"]`, `content hash: lone surrogate \ud800 at /0 (byte 2)`},
		{strict, `["\u12"]`, `content hash: bad escape \u12 at /0 (byte 2)`},
		{strict, `["\é"]`, `content hash: bad escape \é at /0 (byte 2)`},
		{strict, `["\`, `content hash: body ends inside a string at /0 (byte 3)`},
		{strict, `["\u12`, `content hash: body ends inside a string at /0 (byte 6)`},
		{strict, "{\"a\nb\":1}", "content hash: raw control character U+000A in a string (byte 3)"},
		{strict, `{"a":1}x`, "content hash: trailing data after the value (byte 7)"},
		{strict, "\xef\xbb\xbf{}", "content hash: byte order mark before the value (byte 0)"},
		{strict, "", "content hash: empty body (byte 0)"},
		{strict, "{", "content hash: body ends where a name in quotes should begin (byte 1)"},
		{strict, "[1,\x1b2]", `content hash: character '\u001b' where a value should begin at /1 (byte 3)`},
		{strict, "[1,é]", "content hash: character 'é' where a value should begin at /1 (byte 3)"},
		{strict, "{\"a\x1b\":tru}", `content hash: raw control character U+001B in a string (byte 3)`},
		{strict, `{"\u001b[31m":tru}`, `content hash: "tru" is no JSON literal at /\u001b[31m (byte 14)`},
		{exclude, `{"meta":"x"}`, "content hash: pointer /meta/at runs into a string at /meta (byte 8)"},
		{exclude, `true`, "content hash: pointer /meta/at runs into a boolean, which is the whole body (byte 0)"},
		{exclude, `{}`, "content hash: nothing left to hash: every field is left out, and all such bodies would share one id"},
		{include, `{"order":{"id":null}}`, "content hash: field /order/id is null (byte 15)"},
		{include, `{"order":{}}`, "content hash: field /order/id missing"},
	} {
		_, err := c.h.ID([]byte(c.body), "")
		require.EqualError(t, err, c.want)
		checkError(t, []byte(c.body), err)
	}
	_, err := mustNew(t, Options{WithGroup: true}).ID([]byte("1"), "\xff")
	require.EqualError(t, err, "content hash: message group is not UTF-8")
	_, err = strict.ID(make([]byte, maxBody+1), "")
	require.ErrorIs(t, err, TooLong)
}

// Bodies may be private, so that an error quotes at most 64 bytes of one, pointer
// included. Every byte of these bodies that could be quoted is an x.
func TestErrorsQuoteLittle(t *testing.T) {
	t.Parallel()
	h := mustNew(t, Options{Strict: true})
	x := strings.Repeat("x", 500)
	deep := strings.Repeat(`{"`+x[:50]+`":`, 20)
	for _, body := range []string{
		`{"` + x + `":1,"` + x + `":2}`,
		deep + `{"` + x + `":1,"` + x + `":2}`,
		deep + `"\ud800"`,
		deep + `0x` + x,
		deep + `tru` + x,
		deep + x,
		`{"` + x + `":1e400}`,
	} {
		_, err := h.ID([]byte(body), "")
		require.Error(t, err)
		quoted := strings.Count(err.Error(), "x")
		require.LessOrEqual(t, quoted, quoteLimit, err)
		var fault *Error
		require.ErrorAs(t, err, &fault)
		require.Less(t, strings.Count(fault.Reason, "x"), quoteLimit)
	}
	// The middle goes first, and no character is cut in two.
	require.Equal(t, "/ö…öö", shorten("/öööööööööö", 9))
	require.Equal(t, "/short", shorten("/short", 6))
}

func TestOptionErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{Exclude: []string{"sent_at"}}, `content hash: Exclude "sent_at": does not begin with a slash (did you mean "/sent_at"?)`},
		{Options{Include: []string{"$.order.id"}}, `content hash: Include "$.order.id": does not begin with a slash (did you mean "/order/id"?)`},
		{Options{Exclude: []string{""}}, `content hash: Exclude "": names the whole document`},
		{Options{Include: []string{""}}, `content hash: Include "": names the whole document`},
		{Options{Exclude: []string{"/a~2"}}, `content hash: Exclude "/a~2": has a "~" that is not part of ~0 (tilde), ~1 (slash) or a whole segment ~* (every element)`},
		{Options{Exclude: []string{"/a~"}}, `content hash: Exclude "/a~": has a "~" that is not part of ~0 (tilde), ~1 (slash) or a whole segment ~* (every element)`},
		{Options{Exclude: []string{"/a\xff"}}, `content hash: Exclude "/a\xff": is not UTF-8`},
		{Options{Exclude: []string{"/a", "/b", "/a"}}, `content hash: Exclude "/a": is named twice`},
		{Options{Exclude: []string{"/a", "/a/b"}}, `content hash: Exclude "/a/b": lies below "/a", which is named too`},
		{Options{Exclude: []string{"/a/~*/b", "/a"}}, `content hash: Exclude "/a": lies above "/a/~*/b", which is named too`},
		{Options{Include: []string{"/a/b/c", "/a"}}, `content hash: Include "/a": lies above "/a/b/c", which is named too`},
		{Options{Exclude: []string{"/items/0"}}, `content hash: Exclude "/items/0": segment "0" reads as an array index, and removing an element would shift the others; write ~* for every element`},
		{Options{Exclude: []string{"/items/12345678901/x"}}, `content hash: Exclude "/items/12345678901/x": segment "12345678901" reads as an array index, and removing an element would shift the others; write ~* for every element`},
		{Options{Exclude: []string{"/items/~*"}}, `content hash: Exclude "/items/~*": ends in ~*: to leave out all elements, name the array`},
		{Options{Include: []string{"/items/~*/id"}}, `content hash: Include "/items/~*/id": has a segment ~*: an included field must be one field`},
		{Options{Exclude: []string{"/a"}, Include: []string{"/b"}}, `content hash: Include "/b": cannot be combined with Exclude: hash either the fields named or all others`},
		{Options{Include: []string{"/a"}, AllowNull: []string{"/b"}}, `content hash: AllowNull "/b": is not among the fields of Include`},
		{Options{Include: []string{"/a"}, AllowMissing: []string{"/b"}}, `content hash: AllowMissing "/b": is not among the fields of Include`},
		{Options{AllowNull: []string{"/b"}}, `content hash: AllowNull "/b": is not among the fields of Include`},
		{Options{Exclude: []string{"/a"}, AllowMissing: []string{"/b"}}, `content hash: AllowMissing "/b": is not among the fields of Include`},
	} {
		h, err := New(c.options)
		require.Nil(t, h)
		var option *OptionError
		require.ErrorAs(t, err, &option)
		require.EqualError(t, err, c.want)
	}
	// What only looks like one of these.
	for _, o := range []Options{
		{Exclude: []string{"/a", "/ab", "/b/c", "/b/d", "/c/~*/x", "/c/x"}},
		{Exclude: []string{"/01", "/-", "/", "/a b", "/~0*"}},
		{Include: []string{"/items/0/id", "/items/1/id", "/items/10"}},
	} {
		mustNew(t, o)
	}
}

func TestSelective(t *testing.T) {
	t.Parallel()
	require.False(t, mustNew(t, Options{}).Selective())
	require.False(t, mustNew(t, Options{WithGroup: true}).Selective())
	require.True(t, mustNew(t, Options{Strict: true}).Selective())
	require.True(t, mustNew(t, Options{Exclude: []string{"/a"}}).Selective())
	require.True(t, mustNew(t, Options{Include: []string{"/a"}}).Selective())
}

func TestExplain(t *testing.T) {
	t.Parallel()
	body := []byte(`{ "sent_at":1, "items":[{"id":1,"at":2},{"id":2},{"at":{"x":1}, "id":1.0}], "a/b":0 }`)
	x, err := mustNew(t, Options{Exclude: []string{"/sent_at", "/items/~*/at", "/trace"}}).Explain(body, "")
	require.NoError(t, err)
	want := `{"a/b":0,"items":[{"id":1},{"id":2},{"id":1}]}`
	require.Equal(t, want, x.Canonical)
	require.Equal(t, []string{"/sent_at", "/items/0/at", "/items/2/at"}, x.LeftOut)
	require.Equal(t, []string{"/trace"}, x.Unmatched)

	x, err = mustNew(t, Options{Include: []string{"/items/2/at", "/none"}, AllowMissing: []string{"/none"}}).Explain(body, "")
	require.NoError(t, err)
	want = `{"/items/2/at":{"x":1}}`
	require.Equal(t, want, x.Canonical)
	require.Equal(t, []string{"/sent_at", "/items/0", "/items/1", "/items/2/id", "/a~1b"}, x.LeftOut)
	require.Equal(t, []string{"/none"}, x.Unmatched)

	x, err = mustNew(t, Options{}).Explain(body, "")
	require.NoError(t, err)
	require.Equal(t, []string{}, x.LeftOut)
	require.Equal(t, []string{}, x.Unmatched)

	// With the group, the canonical text stays the body's.
	x, err = mustNew(t, Options{WithGroup: true}).Explain([]byte("[ ]"), "g")
	require.NoError(t, err)
	require.Equal(t, "[]", x.Canonical)
	id, err := mustNew(t, Options{}).ID([]byte(`["fifoproof/1","g",[]]`), "")
	require.NoError(t, err)
	require.Equal(t, id, x.ID)
}

func TestUnmatchedCountsIDs(t *testing.T) {
	t.Parallel()
	h := mustNew(t, Options{Exclude: []string{"/a", "/b"}})
	for _, body := range []string{`{"a":1,"c":1}`, `{"c":1}`, `{"c":1,"b":2}`, `not JSON`} {
		_, _ = h.ID([]byte(body), "")
		_, _ = h.Explain([]byte(body), "")
		_, _ = h.Digest([]byte(body))
	}
	require.Equal(t, map[string]int64{"/a": 2, "/b": 2}, h.Unmatched())
	require.Empty(t, mustNew(t, Options{}).Unmatched())
}

func TestLookup(t *testing.T) {
	t.Parallel()
	body := []byte(` { "a": [ 1.50 , {"\u0062/c": "x\ty", "~": null}, [] ], "": true, "0": {"0": 0} } `)
	for pointer, want := range map[string]string{
		"":               `{ "a": [ 1.50 , {"\u0062/c": "x\ty", "~": null}, [] ], "": true, "0": {"0": 0} }`,
		"/a":             `[ 1.50 , {"\u0062/c": "x\ty", "~": null}, [] ]`,
		"/a/0":           `1.50`,
		"/a/1/b~1c":      `"x\ty"`,
		"/a/1/~0":        `null`,
		"/a/2":           `[]`,
		"/":              `true`,
		"/0/0":           `0`,
		"/a/3":           ``,
		"/a/00":          ``,
		"/a/-":           ``,
		"/a/x":           ``,
		"/a/0/x":         ``,
		"/none":          ``,
		"/a/99999999999": ``,
	} {
		raw, found, err := Lookup(body, pointer)
		require.NoError(t, err, pointer)
		require.Equal(t, want != "", found, pointer)
		require.Equal(t, want, string(raw), pointer)
	}
	for _, pointer := range []string{"a", "/~", "/a/~*"} {
		_, _, err := Lookup(body, pointer)
		var option *OptionError
		require.ErrorAs(t, err, &option)
	}
	// All of the body is checked, not only what stands before the value.
	_, _, err := Lookup([]byte(`{"a":1,"b":{"c":1,"c":2}}`), "/a")
	require.ErrorIs(t, err, DuplicateName)
}

// The engines are shared: what one body leaves behind must not reach the next.
func TestReuse(t *testing.T) {
	t.Parallel()
	e := new(engine)
	exclude, err := compile(Options{Exclude: []string{"/a"}})
	require.NoError(t, err)
	for range 3 {
		for _, c := range []struct {
			body, want string
			selection  *selection
		}{
			{`{"b":1,"a":2}`, `{"a":2,"b":1}`, nil},
			{`{"b":1,"a":2}`, `{"b":1}`, exclude},
			{`{ "b":1,"\ue000":2,"a":{"d":1.0,"c":[]}}`, "{\"a\":{\"c\":[],\"d\":1},\"b\":1,\"\ue000\":2}", nil},
			{`{"b":1,"a":2,"b":3}`, ``, nil},
			{`{"x":{"c":1,"b":2},"a":`, ``, exclude},
			{`[1]`, `[1]`, nil},
		} {
			text, err := e.run([]byte(c.body), false, c.selection)
			require.Equal(t, c.want == "", err != nil)
			require.Equal(t, c.want, string(text))
		}
	}
}

// A shape that was right for one object is only a guess for the next.
func TestShapesAreGuesses(t *testing.T) {
	t.Parallel()
	e := new(engine)
	for _, names := range []string{"badc", "badc", "dcba", "bcad", "badc", "abdc"} {
		var body, want bytes.Buffer
		for i, name := range names {
			fmt.Fprintf(&body, `,"%c":%d`, name, i)
		}
		for i, name := range "abcd" {
			_ = i
			fmt.Fprintf(&want, `,"%c":%d`, name, strings.IndexRune(names, name))
		}
		text, err := e.run([]byte("{"+body.String()[1:]+"}"), false, nil)
		require.NoError(t, err)
		require.Equal(t, "{"+want.String()[1:]+"}", string(text))
	}
	// The same places, first and last name, with a name in between that is double.
	_, err := e.run([]byte(`{"b":0,"a":1,"a":2,"c":3}`), false, nil)
	require.ErrorIs(t, err, DuplicateName)
}

func TestNoAllocations(t *testing.T) {
	if underRace {
		t.Skip("the race detector empties pools at random")
	}
	plain := mustNew(t, Options{})
	exclude := mustNew(t, Options{Exclude: []string{"/created_at", "/items/~*/gift"}, WithGroup: true})
	include := mustNew(t, Options{Include: []string{"/id", "/customer/id", "/items/0/sku"}})
	for _, size := range []int{900, 2048, 64 << 10} {
		body := orderBody(t, size)
		canonical, err := plain.Canonical(nil, body)
		require.NoError(t, err)
		for _, h := range []*Hasher{plain, exclude, include} {
			for _, body := range [][]byte{body, canonical} {
				allocations := testing.AllocsPerRun(100, func() {
					if _, err := h.Sum(body, "group"); err != nil {
						t.Fatal(err)
					}
				})
				require.Less(t, allocations, 1.0)
			}
		}
	}
}
