package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var when = time.Date(2026, 11, 30, 1, 2, 4, 0, time.UTC)

// pack packs a build whose files have the times and modes of this run.
func pack(t *testing.T) (folder string) {
	t.Helper()
	from, to := t.TempDir(), t.TempDir()
	for folder, program := range map[string]string{"p_1.2.3_linux_amd64": "prog", "p_1.2.3_windows_arm64": "prog.exe"} {
		require.NoError(t, os.Mkdir(filepath.Join(from, folder), 0o700))
		for _, name := range []string{program, "README.md", "LICENSE"} {
			require.NoError(t, os.WriteFile(filepath.Join(from, folder, name), []byte("content of "+name), 0o600))
		}
	}
	sbom := filepath.Join(t.TempDir(), "sbom.json")
	require.NoError(t, os.WriteFile(sbom, []byte(`{"bomFormat": "CycloneDX", "metadata": {"tools": [{"name": "tool", "hashes": [{"alg": "MD5"}]}], "component": {"name": "p"}}, "components": []}`), 0o600))
	p := packer{from: from, to: to, version: "1.2.3", sbom: sbom, when: when}
	require.NoError(t, p.run())
	return to
}

func TestPack(t *testing.T) {
	t.Parallel()
	folder := pack(t)

	file, err := os.Open(filepath.Join(folder, "p_1.2.3_linux_amd64.tar.gz"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	unpacked, err := gzip.NewReader(file)
	require.NoError(t, err)
	archive := tar.NewReader(unpacked)
	for _, want := range []struct {
		name string
		mode int64
	}{{"LICENSE", 0o644}, {"README.md", 0o644}, {"prog", 0o755}} {
		header, err := archive.Next()
		require.NoError(t, err)
		require.Equal(t, "p_1.2.3_linux_amd64/"+want.name, header.Name)
		require.Equal(t, want.mode, header.Mode)
		require.True(t, when.Equal(header.ModTime))
		require.Zero(t, header.Uid+header.Gid)
		require.Empty(t, header.Uname+header.Gname)
	}

	zipped, err := zip.OpenReader(filepath.Join(folder, "p_1.2.3_windows_arm64.zip"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = zipped.Close() })
	require.Len(t, zipped.File, 3)
	require.Equal(t, "p_1.2.3_windows_arm64/prog.exe", zipped.File[2].Name)
	require.Equal(t, os.FileMode(0o755), zipped.File[2].Mode())

	text, err := os.ReadFile(filepath.Join(folder, "fifoproof_1.2.3_sbom.cdx.json"))
	require.NoError(t, err)
	var bom map[string]any
	require.NoError(t, json.Unmarshal(text, &bom))
	require.Equal(t, map[string]any{
		"timestamp": "2026-11-30T01:02:04Z",
		"component": map[string]any{"name": "p", "version": "1.2.3"},
		"tools":     []any{map[string]any{"name": "tool"}},
	}, bom["metadata"])
	require.Equal(t, "CycloneDX", bom["bomFormat"])
}

func TestPackGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	one, other := pack(t), pack(t)
	sums, err := os.ReadFile(filepath.Join(one, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(sums), "\n"))
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for _, folder := range []string{one, other} {
			content, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			is := sha256.Sum256(content)
			require.Equal(t, sum, hex.EncodeToString(is[:]), name)
		}
	}
}
