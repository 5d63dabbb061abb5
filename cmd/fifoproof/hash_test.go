package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestHash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, body string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
		return file
	}
	spaced := write("spaced.json", "{\"b\": 1.0,\n \"a\": \"\\u00e9\"}\n")
	odd := write("back\\slash\nbreak.json", `[]`)
	bad := write("bad.json", `{"a":1,"a":2}`)
	const canonical = `{"a":"é","b":1}`

	for _, tt := range []struct {
		name     string
		in       string
		args     []string
		code     int
		out, err string
	}{
		{"a file", "", []string{spaced}, cli.OK, sumOf(canonical) + "  " + spaced + "\n", ""},
		{"standard input", `{"b":1,"a":"é"}`, nil, cli.OK, sumOf(canonical) + "  -\n", ""},
		{"standard input by name", "1.50", []string{"-"}, cli.OK, sumOf("1.5") + "  -\n", ""},
		{"as sha256sum escapes names", "", []string{odd}, cli.OK, `\` + sumOf("[]") + "  " + dir + `/back\\slash\nbreak.json` + "\n", ""},
		{"canonical text", "", []string{"--canonical", spaced}, cli.OK, canonical + "\n", ""},
		{"lines", "1.0\n\n {\"a\": 1}\r\n[2]", []string{"--lines"}, cli.OK, sumOf("1") + "  1\n" + sumOf(`{"a":1}`) + "  3\n" + sumOf("[2]") + "  4\n", ""},
		{"lines of several files", "[]", []string{"--lines", odd, "-"}, cli.OK, `\` + sumOf("[]") + "  " + dir + `/back\\slash\nbreak.json:1` + "\n" + sumOf("[]") + "  -:1\n", ""},
		{"a bad body among good ones", "", []string{spaced, bad, odd}, cli.Failed, sumOf(canonical) + "  " + spaced + "\n\\" + sumOf("[]") + "  " + dir + `/back\\slash\nbreak.json` + "\n", "bad.json: content hash: duplicate name"},
		{"a bad line among good ones", "[1]\n[1 2]\n[3]\n", []string{"--lines"}, cli.Failed, sumOf("[1]") + "  1\n" + sumOf("[3]") + "  3\n", "-: line 2: content hash: "},
		{"a file that is not there", "", []string{filepath.Join(dir, "none"), spaced}, cli.Failed, sumOf(canonical) + "  " + spaced + "\n", "none: no such file"},
		{"a folder", "", []string{dir}, cli.Failed, "", "is a directory"},
		{"nothing", "", nil, cli.Failed, "", "empty body"},
		{"exclude", `{"a":1,"sent_at":"now"}`, []string{"--exclude", "/sent_at"}, cli.OK, sumOf(`{"a":1}`) + "  -\n", ""},
		{"include", `{"a":1,"b":2}`, []string{"--include", "/b"}, cli.OK, sumOf(`{"/b":2}`) + "  -\n", ""},
		{"strict", `[9007199254740993]`, []string{"--strict"}, cli.Failed, "", "number 9007199254740993 at /0 does not survive an IEEE 754 double"},
		{"exact", `[9007199254740993]`, nil, cli.OK, sumOf(`[9007199254740993]`) + "  -\n", ""},
		{"group", `1`, []string{"--group", "g"}, cli.OK, sumOf(`["fifoproof/1","g",1]`) + "  -\n", ""},
		{"bad pointer", `1`, []string{"--exclude", "a"}, cli.Usage, "", "hint:"},
		{"exclude and include", `1`, []string{"--exclude", "/a", "--include", "/b"}, cli.Usage, "", "hint:"},
		{"canonical and group", `1`, []string{"--canonical", "--group", "g"}, cli.Usage, "", "exclude each other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := call(t, tt.in, append([]string{"hash"}, tt.args...)...)
			require.Equal(t, tt.code, got.code, got.err)
			require.Equal(t, tt.out, got.out)
			require.Contains(t, got.err, tt.err)
		})
	}
}

// TestHashLongLine: a line is as long as SQS allows a body to be, and longer.
func TestHashLongLine(t *testing.T) {
	t.Parallel()
	body := `"` + strings.Repeat("x", 3<<20) + `"`
	got := call(t, body+"\n"+body, "hash", "--lines")
	require.Equal(t, cli.OK, got.code)
	require.Equal(t, sumOf(body)+"  1\n"+sumOf(body)+"  2\n", got.out)
}
