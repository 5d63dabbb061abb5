package receipt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/receipt"
)

// The form is stored: whoever changes it makes every key on record unknown.
func TestEncodedKey(t *testing.T) {
	t.Parallel()
	for want, key := range map[string]receipt.Key{
		"1" + "00000000" + "00000000" + "00000000" + "00000000" + "00000000":                            {},
		"1" + "0000000borders.fifo" + "00000005event" + "00000000" + "00000001k" + "00000000":           {Rule: "content", Consumer: "orders.fifo", Space: "event", Value: "k"},
		"1" + "00000001c" + "00000001s" + "00000002é" + "0000000210" + "00000001m":                      {Consumer: "c", Space: "s", Group: "é", Value: "10", Message: "m"},
		"1" + "00000000" + "00000000" + "00000000" + "00000100" + strings.Repeat("x", 256) + "00000000": {Value: strings.Repeat("x", 256)},
	} {
		require.Equal(t, want, key.Encode())
	}
}

// C20: no choice of characters can make two keys meet.
func TestKeysNeverMeet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[01|"\x00a]{0,12}`)
		draw := func() receipt.Key {
			return receipt.Key{
				Consumer: part.Draw(t, "consumer"), Space: part.Draw(t, "space"), Group: part.Draw(t, "group"),
				Value: part.Draw(t, "value"), Message: part.Draw(t, "message"),
			}
		}
		a, b := draw(), draw()
		require.Equal(t, a == b, a.Encode() == b.Encode())
		// Moving a character across a border is another key.
		if a.Group != "" {
			moved := a
			moved.Space, moved.Group = a.Space+a.Group[:1], a.Group[1:]
			require.NotEqual(t, a.Encode(), moved.Encode())
		}
	})
}
