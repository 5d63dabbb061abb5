package producer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGroupPointer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, group, reason string }{
		{"string", `{"g":"eu-1"}`, "eu-1", ""},
		{"string with escapes", `{"g":"a\u002fb\/c"}`, "a/b/c", ""},
		{"number", `{"g":730123456789012345}`, "730123456789012345", ""},
		{"number in another spelling", `{"g":7.30123456789012345e17}`, "730123456789012345", ""},
		{"true", `{"g":true}`, "true", ""},
		{"128 characters", `{"g":"` + strings.Repeat("x", 128) + `"}`, strings.Repeat("x", 128), ""},
		{"absent", `{}`, "", "no group: /g is absent"},
		{"null", `{"g":null}`, "", "no group: /g is null"},
		{"empty", `{"g":""}`, "", "no group: /g is empty"},
		{"object", `{"g":{}}`, "", "no group: /g is neither string, number, true nor false"},
		{"array", `{"g":[1]}`, "", "no group: /g is neither string, number, true nor false"},
		{"space", `{"g":"a b"}`, "", "no group: /g holds a character other than ASCII letters, digits and punctuation"},
		{"not ASCII", `{"g":"é"}`, "", "no group: /g holds a character other than ASCII letters, digits and punctuation"},
		{"129 characters", `{"g":"` + strings.Repeat("x", 129) + `"}`, "", "no group: /g has 129 bytes, and a group at most 128"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(cfg *Config) { cfg.GroupPointer = "/g" })
			_, err := b.send(t.Context(), c.body)
			require.NoError(t, err)
			require.Equal(t, c.reason, b.records[0].Reason)
			require.Equal(t, c.group, b.records[0].Group)
		})
	}
}

// SQS takes tab, line feed, carriage return, U+0020 to U+D7FF, U+E000 to U+FFFD and
// U+10000 to U+10FFFF (API reference, SendMessage).
func TestRefusedCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"\"a\tb\r\n \u007f\u0085\ud7ff\ue000\ufffd\U00010000\U0010ffff\"", ""},
		{"\"ab\ufffe\"", "SQS refuses the character U+FFFE (byte 3): write it as an escape"},
		{"\"\uffff\"", "SQS refuses the character U+FFFF (byte 1): write it as an escape"},
		{"\"\x01\"", "SQS refuses the character U+0001 (byte 1)"},
		{"\"\xff\"", "the body is not UTF-8 (byte 1)"},
	} {
		require.Equal(t, c.want, refusedCharacter([]byte(c.body)))
	}
	b := newBench(t, nil)
	_, err := b.send(t.Context(), "\"\uffff\"", `"\uffff"`)
	require.NoError(t, err)
	require.Equal(t, []string{"1 failed", "2 accepted"}, outcomes(b.records))
}
