package handler_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/handler"
)

func TestAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0":                                   "0",
		"-0.000":                              "0",
		"0e99999999":                          "0",
		"12.34":                               "12.34",
		"-12.340":                             "-12.34",
		"1e3":                                 "1000",
		"1234E-2":                             "12.34",
		"0.1":                                 "0.1", // a double's is 0.1000000000000000055
		"0.000000001":                         "0.000000001",
		"1.0000000000000000000000":            "1",
		"10000000000000000000000000000e-28":   "1",
		"9223372036.854775807":                "9223372036.854775807",  // 2^63-1 billionths
		"-9223372036.854775808":               "-9223372036.854775808", // -2^63
		"999999999.999999999":                 "999999999.999999999",   // 18 digits
		"0." + strings.Repeat("0", 9) + "0e0": "0",
	} {
		got, err := handler.ParseAmount(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
	for text, want := range map[string]string{
		"":                       "is no decimal number",
		"+1":                     "is no decimal number",
		"01":                     "is no decimal number",
		"1.":                     "is no decimal number",
		".5":                     "is no decimal number",
		"0x10":                   "is no decimal number",
		"12,34":                  "is no decimal number",
		"1 ":                     "is no decimal number",
		"1\n":                    "is no decimal number",
		"NaN":                    "is no decimal number",
		"true":                   "is no decimal number",
		"0.0000000001":           "has more than 9 decimals",
		"1e-10":                  "has more than 9 decimals",
		"9223372036.854775808":   "is too large",
		"-9223372036.854775809":  "is too large",
		"1e10":                   "is too large",
		"1e999999999":            "is too large",
		"1e99999999999999999999": "has an exponent that is out of range",
		"1e-9223372036854775808": "has an exponent that is out of range",
		"1e9223372036854775807":  "has an exponent that is out of range",
	} {
		_, err := handler.ParseAmount(text)
		require.EqualError(t, err, want, text)
	}
	require.Equal(t, "-9223372036.854775808", handler.Amount(math.MinInt64).String())
}

// Against math/big: whatever is accepted is exactly what was written, and whatever is
// refused cannot be held.
func TestAmountIsExact(t *testing.T) {
	t.Parallel()
	billion := big.NewRat(1_000_000_000, 1)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "text")
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		scaled := new(big.Rat).Mul(exact, billion)
		got, err := handler.ParseAmount(text)
		if holds := scaled.IsInt() && scaled.Num().IsInt64(); !holds {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, scaled.Num().Int64(), int64(got))
		again, err := handler.ParseAmount(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
