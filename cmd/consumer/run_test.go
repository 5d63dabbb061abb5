package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	// A user without any AWS configuration, whatever this machine has.
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("AWS_CONFIG_FILE", os.DevNull)
	_ = os.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	goleak.VerifyTestMain(m,
		// The SDK keeps its connections to the endpoint for the next call.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	)
}

// endpoint is an SQS endpoint with a queue orders.fifo, and a client to send with.
// Its clock is moved by whoever waits, so an empty poll is over at once.
type endpoint struct {
	url    string
	client *sqs.Client
	queue  string
}

func serve(t *testing.T, attributes ...emulator.Attribute) *endpoint {
	t.Helper()
	server := emulator.New(emulator.Options{Clock: clock.NewVirtual(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))})
	require.NoError(t, server.CreateQueue("orders.fifo", attributes...))
	return listen(t, server)
}

// listen serves an endpoint that has a queue orders.fifo.
func listen(t *testing.T, server http.Handler) *endpoint {
	t.Helper()
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	e := &endpoint{url: listener.URL, client: sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(listener.URL), HTTPClient: listener.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})}
	answer, err := e.client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("orders.fifo")})
	require.NoError(t, err)
	e.queue = aws.ToString(answer.QueueUrl)
	return e
}

func (e *endpoint) send(t *testing.T, group, id, body string) string {
	t.Helper()
	out, err := e.client.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: &e.queue, MessageGroupId: &group, MessageDeduplicationId: &id, MessageBody: &body,
	})
	require.NoError(t, err)
	return aws.ToString(out.MessageId)
}

type outcome struct {
	code     int
	out, err string
}

func execute(ctx context.Context, args ...string) outcome {
	var out, talk bytes.Buffer
	code := run(ctx, args, cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &talk}, func(string) (string, bool) { return "", false })
	return outcome{code, out.String(), talk.String()}
}

func (e *endpoint) consume(t *testing.T, db string, args ...string) outcome {
	t.Helper()
	return execute(t.Context(), append([]string{"--queue", "orders.fifo", "--endpoint", e.url, "--db", db, "--until-empty", "100ms"}, args...)...)
}

func database(t *testing.T) string { return filepath.Join(t.TempDir(), "receipts.db") }

// One event as two messages: one effect, a warning that names the first, and
// nothing on standard output, which is for --json.
func TestConsume(t *testing.T) {
	t.Parallel()
	e, db := serve(t), database(t)
	first := e.send(t, "g", "id1", `{"order":1}`)
	second := e.send(t, "h", "id2", `{ "order": 1.0 }`)
	got := e.consume(t, db, "--concurrency", "1") // in the order in which they were sent
	require.Equal(t, cli.OK, got.code, got.err)
	require.Empty(t, got.out)
	require.Contains(t, got.err, "consumer: 2 deliveries · 1 effect · 0 redelivered · 1 repeated · 0 rejected · "+db+"\n")
	require.Contains(t, got.err, "consumer: warning: this key was seen before in another message, so there is no second effect · message "+
		second+" · group h · first "+first+" · received ")
	require.Contains(t, got.err, "test credentials")
	require.NotContains(t, got.err, "\x1b", "no control characters outside a terminal")

	got = e.consume(t, db, "--json")
	require.Equal(t, cli.OK, got.code)
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &line))
	require.Positive(t, line["elapsed_ms"])
	delete(line, "elapsed_ms")
	require.Equal(t, map[string]any{
		"queue": "orders.fifo", "db": db, "deliveries": 0.0, "effects": 0.0, "redelivered": 0.0, "repeated": 0.0,
		"rejected": 0.0, "failed": 0.0, "dead": 0.0, "held_back": 0.0, "interrupted": false,
	}, line)
}

// The queue's scope is read from the queue: where it is the message group, equal
// bodies in two groups are two events.
func TestConsumeReadsTheScope(t *testing.T) {
	t.Parallel()
	e := serve(t,
		emulator.Attribute{Name: "DeduplicationScope", Value: "messageGroup"},
		emulator.Attribute{Name: "FifoThroughputLimit", Value: "perMessageGroupId"})
	e.send(t, "g", "id", `{"order":1}`)
	e.send(t, "h", "id", `{"order":1}`)
	got := e.consume(t, database(t))
	require.Contains(t, got.err, "2 deliveries · 2 effects")
}

func TestConsumeKeys(t *testing.T) {
	t.Parallel()
	for flags, effects := range map[string]string{
		"":                    "3 effects",
		"--exclude /sent_at":  "2 effects",
		"--include /event_id": "2 effects",
		"--key pointer:/event_id --exclude /sent_at": "2 effects",
		"--key message":          "3 effects",
		"--key content --strict": "3 effects",
	} {
		e := serve(t)
		e.send(t, "g", "1", `{"event_id":"a","sent_at":1}`)
		e.send(t, "g", "2", `{"event_id":"a","sent_at":2}`)
		e.send(t, "g", "3", `{"event_id":"b","sent_at":2}`)
		got := e.consume(t, database(t), strings.Fields(flags)...)
		require.Equal(t, cli.OK, got.code, got.err)
		require.Contains(t, got.err, "3 deliveries · "+effects, flags)
	}
}

func TestConsumeRejected(t *testing.T) {
	t.Parallel()
	e, db := serve(t), database(t)
	e.send(t, "g", "1", "no json, but 5000 EUR")
	got := e.consume(t, db)
	require.Equal(t, cli.Failed, got.code)
	// Without a redrive policy it comes again after its back-off, on the endpoint's clock.
	require.Regexp(t, ` · 0 effects · .* · [1-9] rejected · `+regexp.QuoteMeta(db), got.err)
	require.NotContains(t, got.err, "5000", "bodies stay out of the log")
	shown := execute(t.Context(), "receipts", "--db", db)
	require.NotContains(t, shown.out, "5000")
}

// Stopped by a signal while a long poll waits: summary, exit code 0.
func TestConsumeStopped(t *testing.T) {
	t.Parallel()
	manual := clock.NewManual(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), time.Hour)
	server := emulator.New(emulator.Options{Clock: manual})
	require.NoError(t, server.CreateQueue("orders.fifo"))
	ctx, stop := context.WithCancel(t.Context())
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") == "AmazonSQS.ReceiveMessage" {
			stop()
		}
		server.ServeHTTP(w, r)
	}))
	defer listener.Close()
	got := execute(ctx, "--queue", "orders.fifo", "--endpoint", listener.URL, "--db", database(t), "--json")
	require.Equal(t, cli.OK, got.code, got.err)
	require.Contains(t, got.out, `"interrupted":true`)
}

func TestConsumeStoppedAtOnce(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	got := execute(ctx, "--queue", "orders.fifo", "--endpoint", "http://127.0.0.1:1", "--db", database(t))
	require.Equal(t, cli.OK, got.code)
	require.Contains(t, got.err, "consumer: stopped before it began")
}

func TestConsumeErrors(t *testing.T) {
	t.Parallel()
	e := serve(t)
	folder := t.TempDir()
	text := filepath.Join(folder, "notes.txt")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600))
	for _, c := range []struct {
		args []string
		code int
		want string
		hint string
	}{
		{nil, cli.Usage, "no queue is named", "name one with --queue"},
		{[]string{"--queue", "orders"}, cli.Usage, `the queue "orders" is no FIFO queue`, "did you mean orders.fifo?"},
		{[]string{"--queue", "o.fifo", "--until-empty", "-1s"}, cli.Usage, "--until-empty", ""},
		{[]string{"--queue", "o.fifo", "--key", "event_id"}, cli.Usage, `there is no key rule "event_id"`, "a rule is content, pointer:/FIELD, attribute:NAME or message"},
		{[]string{"--queue", "o.fifo", "--key", "message", "--include", "/a"}, cli.Usage, "--key message and --include exclude each other", "leave out --key"},
		{[]string{"--queue", "o.fifo", "--key", "message", "--strict"}, cli.Usage, "--key message and --strict exclude each other", "leave out --key"},
		{[]string{"--queue", "o.fifo", "--include", "/a", "--exclude", "/b"}, cli.Usage, "reading the selection of fields", "--help"},
		{[]string{"--queue", "o.fifo", "stray"}, cli.Usage, "stray", "--help"},
		{[]string{"--queue", "other.fifo", "--endpoint", e.url}, cli.Harness, "the queue other.fifo does not exist", "producer --create"},
		{[]string{"--queue", "orders.fifo", "--endpoint", e.url, "--db", text}, cli.Harness, text, "--db"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			got := execute(t.Context(), c.args...)
			require.Equal(t, c.code, got.code, got.err)
			require.Contains(t, got.err, c.want)
			require.Contains(t, got.err, "hint: ")
			require.Contains(t, got.err, c.hint)
			require.Empty(t, got.out)
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for file, args := range map[string][]string{"help.txt": {"--help"}, "help-receipts.txt": {receiptsCommand, "--help"}} {
		got := execute(t.Context(), args...)
		require.Equal(t, cli.OK, got.code)
		golden(t, file, got.out)
	}
	got := execute(t.Context(), "--version")
	require.Equal(t, cli.OK, got.code)
	require.Regexp(t, `^consumer `+regexp.QuoteMeta(cli.Version)+`\ncommit `, got.out)
}

// TestDocumentIsFresh: docs/cli/consumer.md is what --help says.
func TestDocumentIsFresh(t *testing.T) {
	t.Parallel()
	document, err := cli.Markdown(&consumeFlags{}, consume)
	require.NoError(t, err)
	golden(t, "../../../docs/cli/consumer.md", document)
}

// golden compares with a file; -update writes it anew.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestTalkOnATerminal(t *testing.T) {
	t.Parallel()
	var w bytes.Buffer
	talk := newTalk(&w, true, logText)
	talk.line = true
	talk.sayf("a %s", "note")
	require.Equal(t, "\r\x1b[Kconsumer: a note\n", w.String())
	require.Equal(t, "1,234,567", thousands(1234567))
	require.Equal(t, "123", thousands(123))
	require.Equal(t, "a b", clean("a\x07b"))
	require.Equal(t, "1 effect", plural(1, "effect", "effects"))
}
