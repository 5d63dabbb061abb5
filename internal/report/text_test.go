package report_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

func TestText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, foreign(), report.Style{Target: "ExampleMQ 4.14.0 at http://127.0.0.1:4566"}))
	require.False(t, strings.ContainsFunc(b.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' }), "an endpoint cannot move the cursor")
	golden(t, "results.txt", b.Bytes())
}

func TestTextOfAllCases(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, foreign(), report.Style{Target: "ExampleMQ 4.14.0", All: true}))
	golden(t, "results-all.txt", b.Bytes())
}

// A run that passes fits on one screen: 24 lines of 80 characters.
func TestTextOfAPassFitsOnOneScreen(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, own(110), report.Style{Target: "embedded endpoint, virtual clock"}))
	golden(t, "results-pass.txt", b.Bytes())
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Less(t, len(lines), 24)
	for _, line := range lines {
		require.LessOrEqual(t, len([]rune(line)), 80, line)
	}
}

// The same reason twenty times tells no more than once.
func TestTextSharesReasons(t *testing.T) {
	t.Parallel()
	skipped := func(id string, level conformance.Level) conformance.Result {
		return conformance.Result{ID: id, Level: level, Verdict: conformance.Skipped, Reason: "the endpoint lacks the capability scope"}
	}
	r := &conformance.Results{Target: conformance.Target{Name: "x"}, Cases: []conformance.Result{
		skipped("scope/a/b", conformance.Should), skipped("scope/a/c", conformance.Must),
		{ID: "window/a/b", Level: conformance.Must, Verdict: conformance.Inconclusive, Reason: conformance.Interrupted},
	}}
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, r, report.Style{}))
	require.Contains(t, b.String(), "\nINCONCLUSIVE  1 case: interrupted\n      window/a/b (MUST)\n")
	require.Contains(t, b.String(), "\nSKIPPED  2 cases: the endpoint lacks the capability scope\n      scope/a/c (MUST), scope/a/b\n")
	var markdown bytes.Buffer
	require.NoError(t, report.Markdown(&markdown, r))
	require.Contains(t, markdown.String(), "2 questions stayed open; the run was interrupted before 1 case came to an end")
}

func TestTextInColour(t *testing.T) {
	t.Parallel()
	var plain, coloured bytes.Buffer
	require.NoError(t, report.Text(&plain, foreign(), report.Style{Target: "x"}))
	require.NoError(t, report.Text(&coloured, foreign(), report.Style{Target: "x", Colour: true}))
	require.Contains(t, coloured.String(), "\x1b[31m")
	bare := coloured.String()
	for _, code := range []string{"0", "31", "32", "33", "35", "36"} {
		bare = strings.ReplaceAll(bare, "\x1b["+code+"m", "")
	}
	require.Equal(t, plain.String(), bare, "colour stands beside the word, never for it")
}
