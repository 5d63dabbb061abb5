package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

type outcome struct {
	code     int
	out, err string
}

func call(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	var out, talk bytes.Buffer
	code := run(context.Background(), args, cli.Stdio{In: strings.NewReader(in), Out: &out, Err: &talk}, noEnv)
	return outcome{code, out.String(), talk.String()}
}

// TestHelp holds the help texts: they are what most people read first.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"", "verify", "plan", "judge", "report", "cases", "fields", "hash", "audit", "clean", "mutants", "serve", "completion"} {
		args := append(strings.Fields(command), "--help")
		got := call(t, "", args...)
		require.Equal(t, cli.OK, got.code, "%q", args)
		require.Empty(t, got.err, "%q", args)
		file := filepath.Join("testdata", strings.TrimPrefix(command+"-help.txt", "-"))
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, []byte(got.out), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got.out, "go test ./cmd/fifoproof -update writes it anew")
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "deep", "out")
	got := call(t, "", "verify", "--json", "--out", folder)
	require.Equal(t, cli.OK, got.code)
	require.Equal(t, "report: "+filepath.Join(folder, "report.html")+"\n", got.err)
	var results struct {
		Target  map[string]string
		Summary map[string]float64
		Cases   []map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &results))
	require.Equal(t, "embedded", results.Target["name"])
	require.Zero(t, results.Summary["exit"])
	require.Greater(t, results.Summary["queue_seconds"], 300.0, "five minutes of queue time at least")
	require.Len(t, results.Cases, int(results.Summary["cases"]))
	for _, c := range results.Cases {
		for _, field := range []string{"id", "level", "verdict", "expected", "seen"} {
			require.NotEmpty(t, c[field], "%v: %s", c["id"], field)
		}
	}
	kept, err := os.ReadFile(filepath.Join(folder, "results.json"))
	require.NoError(t, err)
	require.Equal(t, got.out, string(kept))
	text, err := os.ReadFile(filepath.Join(folder, "report.txt"))
	require.NoError(t, err)
	require.Contains(t, string(text), "exit 0")
}

func TestVerifyShowsAllCases(t *testing.T) {
	t.Parallel()
	got := call(t, "", "verify", "--all", "--profile", "experiments")
	require.Equal(t, cli.OK, got.code)
	require.Empty(t, got.err)
	ids, err := os.ReadFile("../../internal/conformance/testdata/ids.txt")
	require.NoError(t, err)
	for id := range strings.Lines(string(ids)) {
		require.Regexp(t, `(?m)^  (pass|info) .*`+regexp.QuoteMeta(strings.TrimSpace(id))+` `, got.out)
	}
}

func TestVerifyInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, talk bytes.Buffer
	code := run(ctx, []string{"verify"}, cli.Stdio{Out: &out, Err: &talk}, noEnv)
	require.Equal(t, cli.Inconclusive, code)
	require.Contains(t, out.String(), "interrupted")
}

func TestVerifyFolderCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	got := call(t, "", "verify", "--out", filepath.Join(file, "out"))
	require.Equal(t, cli.Harness, got.code)
	require.Empty(t, got.out, "nothing runs whose results could not be kept")
	require.Contains(t, got.err, "making the folder for the results")
}

func TestCases(t *testing.T) {
	t.Parallel()
	got := call(t, "", "cases", "--json", "--case", "lifecycle/resend/after-delete")
	require.Equal(t, cli.OK, got.code)
	var cases []map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &cases))
	require.Len(t, cases, 1)
	require.Equal(t, "MUST", cases[0]["level"])
	require.NotEmpty(t, cases[0]["source"])

	require.Equal(t, cli.Usage, call(t, "", "cases", "--case", "nothing").code)
}

func TestFields(t *testing.T) {
	t.Parallel()
	got := call(t, `{"amount": 10.00, "sent_at": "now", "twins": [1, 1]}`, "fields", "-", "--exclude", "/sent_at", "--json")
	require.Equal(t, cli.OK, got.code, got.err)
	var matrix struct {
		ID     string `json:"deduplication_id"`
		Fields []struct{ Pointer, Changed, Added, Removed string }
		Wrong  []string
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &matrix))
	require.Empty(t, matrix.Wrong)
	// printf '{"amount":10,"twins":[1,1]}' | sha256sum
	require.Equal(t, "59cf0eaa", matrix.ID[:8])
	seen := map[string][3]string{}
	for _, f := range matrix.Fields {
		seen[f.Pointer] = [3]string{f.Changed, f.Added, f.Removed}
	}
	require.Equal(t, map[string][3]string{
		"":         {"-", "new message", "-"},
		"/amount":  {"new message", "-", "new message"},
		"/sent_at": {"duplicate", "-", "duplicate"},
		"/twins":   {"-", "new message", "new message"},
		"/twins/0": {"new message", "-", "new message"},
		"/twins/1": {"new message", "-", "new message"}, // the same body as without its twin
	}, seen)
}

func TestFieldsRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		args []string
		code int
		err  string
	}{
		{`{"a":1}`, []string{"fields", "-", "--exclude", "a"}, cli.Usage, "JSON pointer"},
		{`{"a":1,"a":2}`, []string{"fields", "-"}, cli.Failed, "duplicate"},
		{``, []string{"fields", "-"}, cli.Failed, "-:"},
		{`{"a":1}`, []string{"fields", "missing.json"}, cli.Failed, "missing.json"},
		{`{"a":1}`, []string{"fields", "-", "--target", "http://127.0.0.1:1"}, cli.Harness, "nobody answers"},
		{`{"a":1}`, []string{"fields", "-", "--target", "nonsense"}, cli.Usage, "nonsense"},
	} {
		got := call(t, tt.in, tt.args...)
		require.Equal(t, tt.code, got.code, "%q: %s", tt.args, got.err)
		require.Empty(t, got.out, "%q", tt.args)
		require.Contains(t, got.err, tt.err, "%q", tt.args)
	}
}
