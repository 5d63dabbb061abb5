package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
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
		0: "0.0 s", 840 * time.Millisecond: "0.8 s", 42 * time.Second: "42 s", 330 * time.Second: "5 min 30 s",
	} {
		require.Equal(t, want, report.Duration(d))
	}
}
