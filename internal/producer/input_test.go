package producer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func readLines(t require.TestingT, r io.Reader) []line {
	reader := lineReader{r: bufio.NewReaderSize(r, 16)}
	var out []line
	for {
		l, err := reader.next()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		out = append(out, l)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxBody)
	for _, c := range []struct {
		name, in string
		want     []line
	}{
		{"empty", "", nil},
		{"blank lines only", "\n \t\r\n\n", nil},
		{"no line feed at the end", "a\nb", []line{{number: 1, text: []byte("a"), length: 1}, {number: 2, text: []byte("b"), length: 1}}},
		{"carriage returns", "a\r\n\r\nb\r\r\n", []line{{number: 1, text: []byte("a"), length: 1}, {number: 3, text: []byte("b\r"), length: 2}}},
		{"spaces are the body's", " a \n", []line{{number: 1, text: []byte(" a "), length: 3}}},
		{"longer than the buffer", strings.Repeat("y", 100) + "\nz", []line{{number: 1, text: bytes.Repeat([]byte("y"), 100), length: 100}, {number: 2, text: []byte("z"), length: 1}}},
		{"at the limit", long + "\r\n", []line{{number: 1, text: []byte(long), length: int64(maxBody)}}},
		{"one over the limit", long + "x\nz", []line{{number: 1, length: int64(maxBody + 1)}, {number: 2, text: []byte("z"), length: 1}}},
		{"far over the limit", long + long + "\nz\n", []line{{number: 1, length: int64(2 * maxBody)}, {number: 2, text: []byte("z"), length: 1}}},
		{"over the limit at the end", long + "xyz", []line{{number: 1, length: int64(maxBody + 3)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, readLines(t, strings.NewReader(c.in)))
		})
	}
}

// However a stream is cut into reads, its lines are those of strings.Split.
func TestLinesAreThoseOfSplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.SampledFrom([]rune("ab \r\n"))).Draw(t, "in")
		var want []string
		for text := range strings.SplitSeq(in, "\n") {
			if strings.Trim(text, " \t\r") != "" {
				want = append(want, strings.TrimSuffix(text, "\r"))
			}
		}
		// What stands behind the last line feed has no ending to take off.
		if last := in[strings.LastIndex(in, "\n")+1:]; strings.Trim(last, " \r") != "" {
			want[len(want)-1] = last
		}
		var got []string
		for _, l := range readLines(t, iotest.HalfReader(strings.NewReader(in))) {
			got = append(got, string(l.text))
		}
		require.Equal(t, want, got)
	})
}
