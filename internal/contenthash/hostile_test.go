package contenthash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const mebibyte = 1 << 20 // the largest body that SQS takes

// hostileBodies are shapes of 1 MiB that cost other implementations seconds.
func hostileBodies() map[string][]byte {
	fill := func(open, unit, end string) []byte {
		n := (mebibyte - len(open) - len(end)) / len(unit)
		return []byte(open + strings.Repeat(unit, n) + end)
	}
	names := func(n int, name func(i int) string) []byte {
		var b bytes.Buffer
		for i := range n {
			b.WriteString(`,"`)
			b.WriteString(name(i))
			b.WriteString(`":0`)
		}
		b.WriteByte('}')
		b.Bytes()[0] = '{'
		return b.Bytes()
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same bodies every time
	shuffled := random.Perm(70_000)
	nest := func(levels int, before, inner, after string) []byte {
		return []byte(strings.Repeat(before, levels) + inner + strings.Repeat(after, levels))
	}
	payload := string(fill("[", `{"b":1,"a":2},`, `0]`))[:mebibyte-30_000]
	payload = payload[:strings.LastIndex(payload, "},")] + "}]"
	return map[string][]byte{
		"arrays, 500,000 deep":           nest(500_000, "[", "", "]"),
		"objects, 100,000 deep":          nest(100_000, `{"a":`, "1", "}"),
		"arrays, never closed":           fill("", "[", ""),
		"70,000 names, ascending":        names(70_000, func(i int) string { return fmt.Sprintf("k%07d", i) }),
		"70,000 names, descending":       names(70_000, func(i int) string { return fmt.Sprintf("k%07d", 70_000-i) }),
		"70,000 names, shuffled":         names(70_000, func(i int) string { return fmt.Sprintf("k%07d", shuffled[i]) }),
		"70,000 names, organ pipe":       names(70_000, func(i int) string { return fmt.Sprintf("k%07d", min(i*2, 139_999-i*2)) }),
		"50,000 names, one prefix":       names(50_000, func(i int) string { return fmt.Sprintf("one_prefix_%05d", shuffled[i]) }),
		"25,000 names, escaped":          names(25_000, func(i int) string { return fmt.Sprintf(`\u006b\u00e9%05d\n\ue000`, shuffled[i]) }),
		"40,000 names, outside ASCII":    names(40_000, func(i int) string { return fmt.Sprintf("größe😀\uffff%05d", shuffled[i]) }),
		"70,000 names, last one double":  append(bytes.TrimSuffix(names(70_000, func(i int) string { return fmt.Sprintf("k%07d", shuffled[i]) }), []byte("}")), `,"k0000000":1}`...),
		"70,000 names, every one double": names(70_000, func(i int) string { return fmt.Sprintf("k%07d", i%35_000) }),
		"long names, alike to the end": names(200, func(i int) string {
			return strings.Repeat("a", 5000) + fmt.Sprintf("%03d", shuffled[i]%1000) + fmt.Sprint(i)
		}),
		"1,000 levels, all out of order": nest(990, `{"b":`, payload, `,"a":0}`),
		"small objects, out of order":    []byte(payload),
		"one integer":                    fill("", "7", ""),
		"one fraction":                   fill("0.", "7", ""),
		"one fraction of zeros":          fill("0.", "0", "1"),
		"one integer of zeros":           fill("1", "0", ""),
		"one exponent of zeros":          fill("1e", "0", "5"),
		"one exponent":                   fill("1e", "9", ""),
		"numbers that grow":              fill("[", "1e20,", "0]"),
		"numbers that shrink":            fill("[", "0.00e-99,", "0]"),
		"numbers, 17 digits":             fill("[", "0.12345678901234567,", "0]"),
		"one string":                     fill(`"`, "a", `"`),
		"one string, not closed":         fill(`"`, "a", ``),
		"one string outside ASCII":       fill(`"`, "é", `"`),
		"escapes":                        fill(`"`, `\u0041`, `"`),
		"escaped quotes":                 fill(`"`, `\"`, `"`),
		"surrogate pairs":                fill(`"`, `\ud83d\ude00`, `"`),
		"white space":                    fill("[", " ", "]"),
		"white space between all":        fill("[", "1 , ", "1 ]"),
		"empty arrays":                   fill("[", "[],", "0]"),
		"empty objects":                  fill("[", "{},", "0]"),
		"empty names":                    fill("[", `{"":0},`, "0]"),
		"an error at the very end":       fill("[", `{"a":[1,2,"x"]},`, "x]"),
	}
}

// TestHostileBodies takes every shape through every mode. The bound is no claim of
// speed, which is BenchmarkHostile's to show (a body of 1 MiB: under 100 ms): it is
// what a quadratic cost would miss by far, on a machine however busy.
func TestHostileBodies(t *testing.T) {
	const bound = 10 * time.Second
	hashers := map[string]*Hasher{"exact": mustNew(t, Options{})}
	if !underRace { // which is ten times as slow
		hashers["strict"] = mustNew(t, Options{Strict: true})
		hashers["exclude"] = mustNew(t, Options{Exclude: []string{"/b/b/a", "/k0000005", "/~*/a"}})
		hashers["include"] = mustNew(t, Options{Include: []string{"/b/b/b", "/k0000005", "/1/a"}, AllowMissing: []string{"/b/b/b", "/k0000005", "/1/a"}})
	}
	for name, body := range hostileBodies() {
		require.LessOrEqual(t, len(body), mebibyte+mebibyte/4, name)
		for mode, h := range hashers {
			start := time.Now()
			if _, err := h.ID(body, ""); err != nil {
				checkError(t, body, err)
			}
			_, _ = h.Explain(body, "")
			_, _, _ = Lookup(body, "/b/b/b/b/b/b/b/b/b/b")
			require.Less(t, time.Since(start), bound, "%s, %s", name, mode)
		}
	}
}

// TestNestingLimit holds the limit of 1,000 levels: the vectors have 1,000 and
// 1,001 arrays, here are the other kinds.
func TestNestingLimit(t *testing.T) {
	t.Parallel()
	h := mustNew(t, Options{})
	for _, c := range []struct{ before, after string }{{"[", "]"}, {`{"b":`, `,"a":0}`}, {`{"a":`, "}"}} {
		nested := func(levels int) []byte {
			return []byte(strings.Repeat(c.before, levels) + "1" + strings.Repeat(c.after, levels))
		}
		id, err := h.ID(nested(maxDepth), "")
		require.NoError(t, err)
		require.Len(t, id, 64)
		_, err = h.ID(nested(maxDepth+1), "")
		require.ErrorIs(t, err, TooDeep)
		var fault *Error
		require.ErrorAs(t, err, &fault)
		require.Equal(t, maxDepth*len(c.before), fault.Offset)
		require.Equal(t, maxDepth, strings.Count(fault.Pointer, "/"))
	}
}

// BenchmarkHostile shows the least time of each shape in milliseconds: under 100 is
// what a caller may count on.
func BenchmarkHostile(b *testing.B) {
	for mode, h := range map[string]*Hasher{"exact": mustNew(b, Options{}), "strict": mustNew(b, Options{Strict: true})} {
		for name, body := range hostileBodies() {
			b.Run(mode+"/"+name, func(b *testing.B) {
				least := time.Duration(1<<63 - 1)
				for b.Loop() {
					start := time.Now()
					_, _ = h.Sum(body, "")
					least = min(least, time.Since(start))
				}
				b.ReportMetric(float64(least)/float64(time.Millisecond), "ms-least")
			})
		}
	}
}
