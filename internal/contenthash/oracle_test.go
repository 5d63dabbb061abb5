package contenthash

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
)

// The oracles are two other implementations: jsontext for grammar, order and
// strings, with numbers left as written and respelled by plain string work below;
// and both it and gowebpki/jcs for all of RFC 8785 where strict mode accepts.

var literal = regexp.MustCompile(`^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// respell is the exact canonical form of a JSON number, ok false where its
// exponent is beyond the bound.
func respell(number string) (text string, ok bool) {
	parts := literal.FindStringSubmatch(number)
	if parts == nil {
		return "", false
	}
	digits := strings.TrimLeft(parts[2]+parts[3], "0")
	n := len(digits) - len(parts[3])
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return "0", true
	}
	if parts[4] != "" {
		exponent, err := strconv.ParseInt(parts[4], 10, 64)
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return "", false
		}
		n += int(exponent)
	}
	k := len(digits)
	switch {
	case n-1 > maxExponent || 1-n > maxExponent:
		return "", false
	case k <= n && n <= 21:
		text = digits + strings.Repeat("0", n-k)
	case 0 < n && n <= 21:
		text = digits[:n] + "." + digits[n:]
	case -6 < n && n <= 0:
		text = "0." + strings.Repeat("0", -n) + digits
	default:
		text = digits[:1]
		if k > 1 {
			text += "." + digits[1:]
		}
		if n > 0 {
			text += "e+" + strconv.Itoa(n-1)
		} else {
			text += "e" + strconv.Itoa(n-1)
		}
	}
	return parts[1] + text, true
}

var errOracle = errors.New("the oracle refuses the body")

// oracle is the exact canonical form of body by jsontext and respell.
func oracle(body []byte) (string, error) {
	value := jsontext.Value(bytes.Clone(body))
	err := value.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	depth, text := 0, string(value)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			out.WriteString(text[i : end+1])
			i = end + 1
		case c == '-' || c >= '0' && c <= '9':
			end := i
			for end < len(text) && strings.IndexByte("+-.eE0123456789", text[end]) >= 0 {
				end++
			}
			number, ok := respell(text[i:end])
			if !ok {
				return "", errOracle
			}
			out.WriteString(number)
			i = end
		default:
			switch c {
			case '[', '{':
				if depth++; depth > maxDepth {
					return "", errOracle
				}
			case ']', '}':
				depth--
			}
			out.WriteByte(c)
			i++
		}
	}
	return out.String(), nil
}

// hashers are made once, since fuzzing makes many calls.
var hashers = func() (h struct{ exact, strict, exclude, include *Hasher }) {
	fields := []string{"/a", "/x/1", "/b/a"}
	for _, made := range []struct {
		to      **Hasher
		options Options
	}{
		{&h.exact, Options{}},
		{&h.strict, Options{Strict: true}},
		{&h.exclude, Options{Exclude: []string{"/a", "/x/~*/b", "/n"}}},
		{&h.include, Options{Include: fields, AllowMissing: fields, AllowNull: fields[:1]}},
	} {
		var err error
		if *made.to, err = New(made.options); err != nil {
			panic(err)
		}
	}
	return h
}()

// agree checks body against the oracles.
func agree(t require.TestingT, body []byte) {
	given := bytes.Clone(body)
	exact, strict := hashers.exact, hashers.strict
	want, wantErr := oracle(body)
	got, err := exact.Canonical(nil, body)
	require.Equal(t, wantErr == nil, err == nil, "oracle: %v, own: %v", wantErr, err)
	if err != nil {
		checkError(t, body, err)
		return
	}
	require.Equal(t, want, string(got))
	again, err := exact.Canonical(nil, got)
	require.NoError(t, err)
	require.Equal(t, string(got), string(again), "idempotence")

	rounded := jsontext.Value(bytes.Clone(body))
	require.NoError(t, rounded.Canonicalize())
	checked, err := strict.Canonical(nil, body)
	if err != nil {
		// Strict refuses only what the RFC would print otherwise, or cannot print.
		var fault *Error
		require.ErrorAs(t, err, &fault)
		require.Equal(t, InexactNumber, fault.Kind)
		require.NotEqual(t, string(rounded), string(got))
	} else {
		require.Equal(t, string(got), string(checked))
		require.Equal(t, string(rounded), string(checked), "RFC 8785 by jsontext")
		if other, err := jcs.Transform(bytes.Clone(body)); err == nil {
			require.Equal(t, string(other), string(checked), "RFC 8785 by gowebpki/jcs")
		}
	}
	require.Equal(t, given, body, "the caller's bytes")
}

func mustNew(t require.TestingT, o Options) *Hasher {
	h, err := New(o)
	require.NoError(t, err)
	return h
}

// checkError holds what every error of a body promises.
func checkError(t require.TestingT, body []byte, err error) {
	var fault *Error
	require.ErrorAs(t, err, &fault)
	require.GreaterOrEqual(t, fault.Offset, -1)
	require.LessOrEqual(t, fault.Offset, len(body))
	require.Less(t, len(fault.Error()), 500)
	for _, c := range fault.Error() {
		require.True(t, strconv.IsPrint(c), "%q", fault.Error())
	}
}

// RFC 8785 appendix B, all of its finite values: the bits of a double and its text.
func TestAppendixB(t *testing.T) {
	t.Parallel()
	strict := mustNew(t, Options{Strict: true})
	for _, row := range []struct {
		bits uint64
		text string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		double := math.Float64frombits(row.bits)
		require.Equal(t, row.text, string(appendDouble(nil, double)), "%016x", row.bits)
		// However the double is written with its shortest digits, strict mode gives
		// the RFC's text.
		for _, format := range []byte{'e', 'f', 'g', 'E'} {
			body := strconv.AppendFloat(nil, double, format, -1, 64)
			got, err := strict.Canonical(nil, body)
			require.NoError(t, err)
			require.Equal(t, row.text, string(got), "%s", body)
		}
	}
}
