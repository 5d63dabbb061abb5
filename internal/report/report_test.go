package report_test

import (
	"bytes"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"
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

// results has a case of each verdict.
func results() *conformance.Results {
	sends := []conformance.Sent{
		{Group: "g", ID: "id", Start: 0, End: new(0.004), MessageID: "m-1"},
		{Group: "g", ID: "f1d2d2f924e986ac86fdf7b36c94bcdf", Start: 1.01},
	}
	return &conformance.Results{
		Target:  conformance.Target{Name: "http://127.0.0.1:4566", Product: "unknown", Clock: "real"},
		Run:     "7f3a",
		Version: "0.1.0",
		Started: time.Date(2026, time.November, 29, 9, 30, 0, 0, time.UTC),
		Summary: conformance.Summary{
			Cases: 6, Pass: 1, NonStrict: 1, Fail: 1, Inconclusive: 1, Info: 1, Error: 1,
			Seconds: 365.2, QueueTime: 361, Exit: 1,
		},
		Cases: []conformance.Result{
			{ID: "window/basic/ten-identical", Level: conformance.Must, Verdict: conformance.Pass, Expected: "one copy", Seen: "ten identical sends: 1 copy", Source: "SQS API reference", QueueTime: 1.5},
			{ID: "window/resend/outside-soon", Level: conformance.Should, Verdict: conformance.NonStrict, Expected: "one more copy", Seen: "the resend: no copy after 300.060 to 300.190 s", Reason: "the resend: no copy, not 1", Source: "developer guide", QueueTime: 301},
			{ID: "lifecycle/resend/after-delete", Level: conformance.Must, Verdict: conformance.Fail, Expected: "no copy of the resend", Seen: "the resend: 1 copy after 1.010 to 1.016 s", Reason: "the resend: 1 copy, not 0", Source: "recorded on AWS 2024-04-30", QueueTime: 3, Sends: sends},
			{ID: "scope/group/interleaved", Level: conformance.Must, Verdict: conformance.Inconclusive, Expected: "two copies", Seen: "the endpoint refuses: a queue with DeduplicationScope=messageGroup: InvalidAttributeName", Reason: "the endpoint refuses: a queue with DeduplicationScope=messageGroup: InvalidAttributeName", Source: "CreateQueue"},
			{ID: "response/duplicate/message-id", Level: conformance.Info, Verdict: conformance.Noted, Expected: "the first one's", Seen: "the duplicate's MessageId: another one", Source: "not published by AWS"},
			{ID: "receive/control/one-body-two-ids", Level: conformance.Must, Verdict: conformance.Errored, Expected: "two copies, one effect", Seen: "the wire saw 3 deliveries, the consumer has 2 receipts", Reason: "the wire saw 3 deliveries, the consumer has 2 receipts", Source: "developer guide"},
		},
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, results(), report.Style{Target: "SQS endpoint at http://127.0.0.1:4566"}))
	require.NotContains(t, b.String(), "\x1b")
	golden(t, "results.txt", b.Bytes())
}

func TestTextInColour(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, results(), report.Style{Target: "x", Colour: true}))
	require.Contains(t, b.String(), "\x1b[31mfail        \x1b[0m", "colour stands beside the word, never for it")
}

// localStack is a second target, on which one failure is known.
func localStack() *conformance.Results {
	r := results()
	r.Target = conformance.Target{Name: "http://127.0.0.1:4566", Product: "LocalStack", Version: "4.14.0", Clock: "real"}
	r.Cases = append(r.Cases[2:3:3], conformance.Result{
		ID: "scope/group/other-group", Level: conformance.Must, Verdict: conformance.Skipped, Expected: "two copies",
		Seen: "the endpoint lacks the capability scope: a|b", Reason: "the endpoint lacks the capability scope: a|b", Source: "CreateQueue",
	})
	r.Cases[0].Known = &conformance.Known{Link: "https://example.org/issues/1", Note: "an id is forgotten with its message"}
	r.Summary = conformance.Summary{Cases: 2, Fail: 1, Known: 1, Skipped: 1, Exit: 2}
	return r
}

func TestKnown(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, localStack(), report.Style{Target: "LocalStack 4.14.0"}))
	golden(t, "known.txt", b.Bytes())
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*conformance.Results{"junit.xml": results(), "junit-known.xml": localStack()} {
		var b bytes.Buffer
		require.NoError(t, report.JUnit(&b, r))
		golden(t, name, b.Bytes())
		var parsed junit.Testsuites
		require.NoError(t, xml.Unmarshal(b.Bytes(), &parsed))
		require.Equal(t, len(r.Cases), parsed.Tests)
	}
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	all := []*conformance.Results{results(), localStack()}
	var text, markdown bytes.Buffer
	require.NoError(t, report.Matrix(&text, all))
	require.NoError(t, report.MatrixMarkdown(&markdown, all))
	golden(t, "matrix.txt", text.Bytes())
	golden(t, "matrix.md", markdown.Bytes())
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, results()))
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

func TestCases(t *testing.T) {
	t.Parallel()
	cases := []conformance.Case{
		{ID: "a/b/c", Level: conformance.Must, Source: "s", Text: "One short sentence.", Want: "w"},
		{ID: "a/b/d", Level: conformance.Info, Source: "s", Want: "w", Wait: 330 * time.Second, Text: "A paragraph that is long enough to be broken into more than one line, since nobody reads a line that goes on and on across a wide terminal."},
	}
	var text, asJSON bytes.Buffer
	require.NoError(t, report.Cases(&text, cases))
	require.NoError(t, report.CasesJSON(&asJSON, cases))
	golden(t, "cases.txt", text.Bytes())
	golden(t, "cases.json", asJSON.Bytes())
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		800 * time.Millisecond:                "0.8 s",
		59 * time.Second:                      "59 s",
		330 * time.Second:                     "5 min 30 s",
		360*time.Second - time.Millisecond:    "6 min 0 s",
		59*time.Second + 999*time.Millisecond: "1 min 0 s",
	} {
		require.Equal(t, want, report.Duration(d))
	}
}
