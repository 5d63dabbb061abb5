package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds got against testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if strings.HasSuffix(name, ".html") {
		// A whole page in a message helps nobody: the first line that differs does.
		wanted, found := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
		for i := range min(len(wanted), len(found)) {
			require.Equal(t, wanted[i], found[i], "%s, line %d", name, i+1)
		}
		require.Len(t, found, len(wanted), name)
		return
	}
	require.Equal(t, string(want), string(got))
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, foreign()))
	golden(t, "results.json", b.Bytes())
}

func TestFields(t *testing.T) {
	t.Parallel()
	matrix := &conformance.FieldMatrix{
		ID: "e4d909c290d0fb1ca068ffaddf22cbd0e4d909c290d0fb1ca068ffaddf22cbd0",
		Fields: []conformance.Field{
			{Pointer: "", Kind: "object", Changed: "-", Added: "new message", Removed: "-"},
			{Pointer: "/sent_at", Kind: "string", Changed: "duplicate", Added: "-", Removed: "duplicate"},
		},
		Wrong: []string{"/sent_at changed"},
	}
	var b bytes.Buffer
	require.NoError(t, report.Fields(&b, matrix, "embedded endpoint, virtual clock"))
	golden(t, "fields.txt", b.Bytes())
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                                     "0.0 s",
		800 * time.Millisecond:                "0.8 s",
		59 * time.Second:                      "59 s",
		330 * time.Second:                     "5 min 30 s",
		360*time.Second - time.Millisecond:    "6 min 0 s",
		59*time.Second + 999*time.Millisecond: "1 min 0 s",
	} {
		require.Equal(t, want, report.Duration(d))
	}
}
