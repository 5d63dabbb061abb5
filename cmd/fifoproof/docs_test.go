package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

// TestCatalogueIsFresh: docs/CATALOGUE.md is what 'fifoproof cases --markdown' prints.
func TestCatalogueIsFresh(t *testing.T) {
	t.Parallel()
	got := call(t, "", "cases", "--markdown")
	require.Equal(t, cli.OK, got.code, got.err)
	isFresh(t, "../../docs/CATALOGUE.md", got.out)
}

// TestDocumentIsFresh: docs/cli/fifoproof.md is what --help says.
func TestDocumentIsFresh(t *testing.T) {
	t.Parallel()
	document, err := cli.Markdown(&grammar{}, commandLine)
	require.NoError(t, err)
	isFresh(t, "../../docs/cli/fifoproof.md", document)
}

// isFresh compares with a file; -update writes it anew.
func isFresh(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "go test ./cmd/fifoproof -update writes it anew")
}
