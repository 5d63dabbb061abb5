package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result is what a run of the program left.
type result struct {
	code     int
	out, err string
}

func call(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return callContext(t.Context(), stdin, args...)
}

func callContext(ctx context.Context, stdin string, args ...string) result {
	var out, err bytes.Buffer
	code := run(ctx, args, cli.Stdio{In: strings.NewReader(stdin), Out: &out, Err: &err}, os.LookupEnv)
	return result{code, out.String(), err.String()}
}

// serve starts an endpoint on loopback with the queue orders.fifo, on a clock that
// stands still, and hides the machine's own AWS configuration from the program.
func serve(t *testing.T, wrap func(http.Handler) http.Handler) *emulator.Server {
	t.Helper()
	for _, name := range []string{
		"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_ENDPOINT_URL_SQS",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	server := emulator.New(emulator.Options{Clock: clock.NewManual(time.Now(), time.Millisecond)})
	require.NoError(t, server.CreateQueue("orders.fifo"))
	var handler http.Handler = server
	if wrap != nil {
		handler = wrap(handler)
	}
	listener := httptest.NewServer(handler)
	t.Cleanup(listener.Close)
	t.Setenv("AWS_ENDPOINT_URL", listener.URL)
	return server
}

func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "")
	got := call(t, "", "--help")
	require.Equal(t, cli.OK, got.code)
	require.Empty(t, got.err)
	golden(t, "testdata/help.txt", got.out)
}

// TestDocumentIsFresh: docs/cli/producer.md is what --help says.
func TestDocumentIsFresh(t *testing.T) {
	t.Parallel()
	document, err := cli.Markdown(&flags{}, program)
	require.NoError(t, err)
	golden(t, "../../docs/cli/producer.md", document)
}

// golden compares with a file; -update writes it anew.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "go test ./cmd/producer -update writes it anew")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		err  string
	}{
		{"no queue", nil, "producer: no queue is named\nhint: name one with --queue, or see the IDs only with --dry-run\n"},
		{"standard queue", []string{"--queue", "orders"}, "producer: the queue \"orders\" is no FIFO queue: the name of one ends in .fifo\nhint: only FIFO queues deduplicate; did you mean orders.fifo?\n"},
		{"standard queue by URL", []string{"--queue", "http://127.0.0.1:1/1/orders"}, "is no FIFO queue"},
		{"both groups", []string{"--dry-run", "--group", "g", "--group-pointer", "/g"}, "producer: --group and --group-pointer exclude each other\nhint: "},
		{"bad group", []string{"--dry-run", "--group", "a b"}, "producer: the group \"a b\" holds a character other than ASCII letters, digits and punctuation\nhint: 'producer --help' lists what there is\n"},
		{"bad group pointer", []string{"--dry-run", "--group-pointer", "g"}, "producer: the group pointer cannot be used: "},
		{"bad exclusion", []string{"--dry-run", "--exclude", ""}, "producer: "},
		{"exclusion and inclusion", []string{"--dry-run", "--exclude", "/a", "--include", "/b"}, "cannot be combined"},
		{"repeat", []string{"--dry-run", "--repeat", "0"}, "producer: --repeat sends every line once or more\n"},
		{"json and quiet", []string{"--dry-run", "--json", "-q"}, "producer: --json and --quiet exclude each other\n"},
		{"stdin twice", []string{"--dry-run", "-", "-"}, "producer: standard input can be read only once"},
		{"unknown flag", []string{"--delay", "5"}, "producer: unknown flag --delay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := call(t, "{}", c.args...)
			require.Equal(t, cli.Usage, got.code)
			require.Contains(t, got.err, c.err)
			require.Contains(t, got.err, "\nhint: ")
			require.Empty(t, got.out)
		})
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	const id = "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777" // printf '{"a":1,"b":2}' | sha256sum
	got := call(t, "{\"b\":2,\"a\":1}\n{\"a\":1.0, \"b\":2}\n{\"a\":1,\"a\":2}\n", "--dry-run", "--group-pointer", "/a", "--explain")
	require.Equal(t, cli.Failed, got.code)
	require.Equal(t, ""+
		"     1  1               "+id+"\n"+
		"        canonical  {\"a\":1,\"b\":2}\n"+
		"     2  1               "+id+"  same id as line 1\n"+
		"        canonical  {\"a\":1,\"b\":2}\n", got.out)
	require.Equal(t, ""+
		"producer: line 3: duplicate name \"a\" at /a (byte 7)\n"+
		"producer: 3 lines · 1 id · 1 repeated · 1 failed · dry run, nothing was sent\n"+
		"hint: mend the bad line; ids were made for 2 other messages\n", got.err)
}

func TestDryRunLeavesTheLogAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sends.jsonl")
	got := call(t, "{}", "--dry-run", "--log", path, "--queue", "orders.fifo")
	require.Equal(t, cli.OK, got.code)
	require.Contains(t, got.err, "the dry run sends nothing, so "+path+" is left as it is")
	require.NoFileExists(t, path)
}

func TestExclude(t *testing.T) {
	t.Parallel()
	got := call(t, `{"a":1,"at":7}`, "--dry-run", "--exclude", "/at", "--exclude", "/tpyo", "--explain")
	require.Equal(t, cli.OK, got.code)
	require.Contains(t, got.out, "        canonical  {\"a\":1}\n        left out   /at\n")
	require.Contains(t, got.err, "producer: warning: /tpyo matched nothing in any line: is it spelled right?\n")
}

func TestSend(t *testing.T) {
	serve(t, nil)
	log := filepath.Join(t.TempDir(), "sends.jsonl")
	input := "{\"a\":1,\"b\":2}\n\n{\"b\":2,\"a\":1}\n{\"a\":\n"
	got := call(t, input, "--queue", "orders.fifo", "--log", log)
	require.Equal(t, cli.Failed, got.code, got.err)
	rows := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	require.Len(t, rows, 2)
	first, second := strings.Fields(rows[0]), strings.Fields(rows[1])
	require.Equal(t, []string{"1", "default", "43258cff783f"}, first[:3])
	require.Equal(t, "accepted", first[5])
	require.Equal(t, []string{"3", "default", "43258cff783f", first[3], first[4], "duplicate", "of", "line", "1"}, second)
	require.Contains(t, got.err, "producer: using region us-east-1 and test credentials for the loopback endpoint ")
	require.Contains(t, got.err, "producer: line 4: ")
	require.Regexp(t, `producer: 3 lines · 1 accepted \(not known to be duplicates\) · 1 duplicate · 1 failed · ([\d,]+/s · )?log `+log+`\n`, got.err)
	require.NotContains(t, got.out+got.err, "\x1b", "no control characters in a pipe")

	again := call(t, input, "--queue", "orders.fifo", "--log", log, "--quiet")
	require.Empty(t, again.out)
	require.Contains(t, again.err, "producer: 3 lines · 0 accepted · 2 duplicate · 1 failed")
}

func TestSendJSON(t *testing.T) {
	serve(t, nil)
	got := call(t, "{\"a\":1}\n{\n{\"a\":1}\n", "--queue", "orders.fifo", "--json", "--explain", "--group", "g")
	require.Equal(t, cli.Failed, got.code)
	var lines []map[string]any
	decoder := json.NewDecoder(strings.NewReader(got.out))
	for decoder.More() {
		var line map[string]any
		require.NoError(t, decoder.Decode(&line))
		lines = append(lines, line)
	}
	require.Len(t, lines, 4)
	outcomes := []any{}
	for _, line := range lines[:3] {
		require.Equal(t, "message", line["type"])
		require.Equal(t, "stdin", line["source"])
		outcomes = append(outcomes, line["outcome"])
	}
	require.Equal(t, []any{"accepted", "failed", "duplicate"}, outcomes)
	require.Equal(t, map[string]any{"canonical": `{"a":1}`, "left_out": []any{}}, lines[0]["explanation"])
	require.Equal(t, "line 1", lines[2]["original"])
	summary := lines[3]
	require.Equal(t, "summary", summary["type"])
	require.Equal(t, "accepted means: not known to be a duplicate", summary["note"])
	for name, want := range map[string]int{"lines": 3, "accepted": 1, "duplicate": 1, "failed": 1, "unknown": 0, "unsent": 0, "retries": 0, "warnings": 0} {
		require.EqualValues(t, want, summary[name], name)
	}
}

// The trace that the program was started in goes along; a broken one stops nothing.
func TestTraceparent(t *testing.T) {
	var bodies []string
	serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".SendMessageBatch") {
				bodies = append(bodies, string(body))
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		})
	})
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" // W3C Trace Context, section 3.2.3
	for value, want := range map[string]string{trace: "", "": "", trace[:54]: "producer: warning: TRACEPARENT is ignored: a trace context has 55 characters, this has 54\n"} {
		t.Setenv("TRACEPARENT", value)
		bodies = nil
		got := call(t, "{}", "--queue", "orders.fifo")
		require.Equal(t, cli.OK, got.code, got.err)
		require.Len(t, bodies, 1)
		require.Equal(t, value == trace, strings.Contains(bodies[0], trace), value)
		require.Equal(t, value == trace, strings.Contains(bodies[0], "traceparent"), value)
		require.Contains(t, got.err, want)
		require.Equal(t, want != "", strings.Contains(got.err, "TRACEPARENT"))
	}
}

func TestCreate(t *testing.T) {
	serve(t, nil)
	missing := call(t, "{}", "--queue", "new.fifo")
	require.Equal(t, cli.Harness, missing.code)
	require.Contains(t, missing.err, "producer: the queue new.fifo does not exist")
	require.Contains(t, missing.err, "hint: make it with 'producer --create'")
	require.Equal(t, cli.OK, call(t, "{}", "--queue", "new.fifo", "--create").code)
	require.Equal(t, cli.OK, call(t, "{}", "--queue", "new.fifo", "--create").code, "one that exists is used")
	require.Equal(t, cli.OK, call(t, "{}", "--queue", "new.fifo").code)
}

func TestLikelyLossIsSaid(t *testing.T) {
	serve(t, nil)
	lines := "{\"v\":1,\"g\":\"a\"}\n{\"v\":1,\"g\":\"b\"}\n"
	got := call(t, lines, "--queue", "orders.fifo", "--group-pointer", "/g", "--exclude", "/g")
	require.Equal(t, cli.OK, got.code)
	require.Contains(t, got.err, `producer: warning: likely loss: line 2 has the id of line 1, but the group "b" and not "a"`)
	safe := call(t, lines, "--queue", "orders.fifo", "--group-pointer", "/g", "--exclude", "/g", "--hash-group")
	require.NotContains(t, safe.err, "likely loss")
}

func TestSurroundings(t *testing.T) {
	serve(t, nil)
	dir := t.TempDir()
	corrupt := filepath.Join(dir, "corrupt.jsonl")
	require.NoError(t, os.WriteFile(corrupt, []byte("no\nno\n"), 0o600))
	for _, c := range []struct {
		name string
		args []string
		err  string
	}{
		{"no such file", []string{"--queue", "orders.fifo", "none.ndjson"}, "producer: opening the input: open none.ndjson: no such file or directory\n"},
		{"directory", []string{"--queue", "orders.fifo", dir}, "producer: opening the input: " + dir + " is a directory\n"},
		{"corrupt log", []string{"--queue", "orders.fifo", "--log", corrupt}, "producer: reading the send log " + corrupt + ": line 1: no send log entry\nhint: "},
		{"endpoint down", []string{"--queue", "orders.fifo", "--endpoint", "http://127.0.0.1:1"}, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := call(t, "{}", c.args...)
			require.Equal(t, cli.Harness, got.code, got.err)
			require.Contains(t, got.err, c.err)
			require.Empty(t, got.out)
		})
	}
}

// The queue is deleted between two batches: what was sent is reported, the rest counted.
func TestQueueGoesAwayInTheMiddle(t *testing.T) {
	sends := 0
	serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".SendMessageBatch") {
				if sends++; sends == 2 {
					w.Header().Set("X-Amzn-Query-Error", "AWS.SimpleQueueService.NonExistentQueue;Sender")
					w.WriteHeader(http.StatusBadRequest)
					_, _ = w.Write([]byte(`{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"gone"}`))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	})
	file := filepath.Join(t.TempDir(), "in.ndjson")
	var lines strings.Builder
	for i := range 25 {
		lines.WriteString(strings.Repeat(" ", i) + "{\"n\":" + strings.Repeat("1", i+1) + "}\n")
	}
	require.NoError(t, os.WriteFile(file, []byte(lines.String()), 0o600))
	got := call(t, "", "--queue", "orders.fifo", "-q", file)
	require.Equal(t, cli.Harness, got.code)
	require.Contains(t, got.err, "25 lines · 10 accepted (not known to be duplicates) · 0 duplicate · 0 failed · 15 not sent")
	require.Contains(t, got.err, "from line 11 on: AWS.SimpleQueueService.NonExistentQueue: gone\nhint: make it with 'producer --create'")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sends := 0
	serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".SendMessageBatch") {
				if sends++; sends == 2 {
					cancel()
				}
			}
			next.ServeHTTP(w, r)
		})
	})
	log := filepath.Join(t.TempDir(), "sends.jsonl")
	got := callContext(ctx, strings.Repeat("{\"n\":1}\n", 1000), "--queue", "orders.fifo", "-q", "--log", log)
	require.Equal(t, cli.Harness, got.code)
	require.Contains(t, got.err, "1 accepted (not known to be duplicates) · 19 duplicate · 0 failed")
	require.Contains(t, got.err, "interrupted, the rest was not read")
	require.Contains(t, got.err, "producer: interrupted\nhint: send the input again to go on: ")
	raw, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, 20, bytes.Count(raw, []byte("\n")), "the batch in flight is in the log")
}
