package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/report"
)

func TestText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, foreign(), report.Style{Target: "LocalStack 4.14.0 at http://127.0.0.1:4566"}))
	require.NotContains(t, b.String(), "\x1b")
	golden(t, "results.txt", b.Bytes())
}

func TestTextOfAllCases(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, foreign(), report.Style{Target: "LocalStack 4.14.0", All: true}))
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
