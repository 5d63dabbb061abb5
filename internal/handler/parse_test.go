package handler_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/handler"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]struct{ name, promise string }{
		"record":                       {"record", "exactly once: a row in the table effects"},
		"ledger":                       {"ledger:inbox", "exactly once: a balance"},
		"ledger:version":               {"ledger:version", "exactly once: a balance"},
		"ledger:upsert":                {"ledger:upsert", "exactly once: a balance"},
		"ledger:naive":                 {"ledger:naive", "naive: "},
		"print":                        {"print", "at least once: "},
		"exec sh -c 'exit 0'":          {"exec", "at least once: "},
		"http https://shop.test/hook ": {"http", "at least once: "},
	} {
		h, err := handler.Parse(spec, handler.Options{Output: io.Discard})
		require.NoError(t, err, spec)
		require.Equal(t, want.name, handler.Name(h), spec)
		require.Contains(t, handler.Describe(h), want.promise, spec)
		_, transactional := h.(handler.Transactional)
		_, external := h.(handler.External)
		require.Equal(t, h != nil, transactional != external, "%s is one of the two, or nil", spec)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"":                         `no handler is named`,
		"mail":                     `there is no handler "mail"`,
		"record twice":             `the handler record takes no "twice"`,
		"record:x":                 `the handler record takes nothing behind a colon`,
		"print:json":               `the handler print takes nothing behind a colon`,
		"ledger:double":            `there is no form "double" of the handler ledger`,
		"ledger:":                  `there is no form "" of the handler ledger`,
		"exec":                     `the handler exec needs a command`,
		"exec ''":                  `the handler exec needs a command`,
		"exec 'true":               `the command of the handler exec has a quote ' without its end`,
		`exec true \`:              `the command of the handler exec ends in a backslash`,
		"exec no-such-program-1b3": `the command of the handler exec cannot be run: exec: "no-such-program-1b3": executable file not found in $PATH`,
		"http":                     `the handler http needs a URL`,
		"http shop.test/hook":      `the URL of the handler http does not begin with http:// or https://`,
		"http ftp://shop.test":     `the URL of the handler http does not begin with http:// or https://`,
		"http https:///hook":       `the URL of the handler http has no host`,
		"http https://a.test/ x":   `the handler http takes one URL, without blanks`,
		// url.Parse's own error would quote the password, or what it took for a port.
		"http https://me:geheim/x@shop.test": `the URL of the handler http cannot be read`,
	} {
		h, err := handler.Parse(spec, handler.Options{Output: io.Discard})
		require.EqualError(t, err, want, spec)
		require.Nil(t, h, spec)
	}
	_, err := handler.Parse("print", handler.Options{})
	require.EqualError(t, err, "the handler print has nothing to print on")
	_, err = handler.Parse("http https://a.test", handler.Options{Timeout: -1})
	require.EqualError(t, err, "a timeout of -1ns leaves the handler http no time")
	_, err = handler.Parse("exec true", handler.Options{Grace: -1})
	require.EqualError(t, err, "a grace of -1ns cannot be given to a command")
	_, err = handler.Parse("ledger", handler.Options{Ledger: handler.Booking{Amount: "amount"}})
	require.ErrorContains(t, err, "the handler ledger: ")
	require.ErrorContains(t, err, `did you mean "/amount"?`)
}

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                      nil,
		"  a\tb\nc ":            {"a", "b", "c"},
		`sh -c 'echo "x y"'`:    {"sh", "-c", `echo "x y"`},
		`"it's" '' ""`:          {"it's", "", ""},
		`a\ b "q\"q" 'b\s' \\`:  {"a b", `q"q`, `b\s`, `\`},
		`--to="Jo Doe" $HOME *`: {"--to=Jo Doe", "$HOME", "*"},
		"ü\u00a0x \u65e5":       {"ü\u00a0x", "\u65e5"},
	} {
		words, err := handler.Words(text)
		require.NoError(t, err, text)
		require.Equal(t, want, words, text)
	}
}
