package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

// TestJudgeIsTheRun: a saved history comes to the very results of its run, byte for
// byte, also where the run was cut short.
func TestJudgeIsTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran := call(t, "", "verify", "--json", "--out", dir, "--strict", "--allow-skip", "window/basic/ten-identical")
	require.Equal(t, cli.OK, ran.code)
	again := call(t, "", "judge", "--json", dir)
	require.Equal(t, ran.code, again.code)
	require.Equal(t, ran.out, again.out)

	// Everything that the folder holds comes from the history.
	kept := map[string][]byte{}
	for _, name := range []string{"results.json", "report.html", "report.txt", "summary.md", "junit.xml", "badge.svg", "badge.json", "exit"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		kept[name] = content
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	}
	require.Equal(t, cli.OK, call(t, "", "judge", "--keep", dir).code)
	for name, want := range kept {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if name == "report.txt" {
			// The run knows the target in more words than its results.
			_, want, _ = bytes.Cut(want, []byte("\n"))
			_, content, _ = bytes.Cut(content, []byte("\n"))
		}
		require.Equal(t, string(want), string(content), name)
	}
}

// TestJudgeOfAKilledRun: the last line may be cut off, and cases that did not come to
// their end are open.
func TestJudgeOfAKilledRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Equal(t, cli.OK, call(t, "", "verify", "--case", "lifecycle", "--out", dir).code)
	file := filepath.Join(dir, "history.jsonl")
	history, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, history[:len(history)/2], 0o600))
	got := call(t, "", "judge", dir)
	require.Equal(t, cli.Inconclusive, got.code, got.out)
	require.Contains(t, got.out, "inconclusive")

	lines := bytes.SplitAfter(history, []byte("\n"))
	lines[3] = []byte("{\"call\":\n")
	require.NoError(t, os.WriteFile(file, bytes.Join(lines, nil), 0o600))
	got = call(t, "", "judge", dir)
	require.Equal(t, cli.Harness, got.code)
	require.Contains(t, got.err, "line 4: ")
}
