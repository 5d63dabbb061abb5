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
	const file = "../../docs/CATALOGUE.md"
	got := call(t, "", "cases", "--markdown")
	require.Equal(t, cli.OK, got.code, got.err)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got.out), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got.out, "go test ./cmd/fifoproof -update writes it anew")
}
