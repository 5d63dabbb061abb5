package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/deadletter"
	"fifoproof/internal/emulator"
	"fifoproof/internal/receipt"
)

// graveyard is an endpoint with the queues orders.fifo and dead.fifo, where a message dies
// after so many receives.
type graveyard struct {
	*endpoint

	dead string // URL
	sent int
}

func newGraveyard(t *testing.T, c clock.Clock, maxReceives int) *graveyard {
	t.Helper()
	server := emulator.New(emulator.Options{Clock: c, Seed: 7})
	require.NoError(t, server.CreateQueue("dead.fifo"))
	require.NoError(t, server.CreateQueue("orders.fifo", emulator.Attribute{
		Name: "RedrivePolicy", Value: fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead.fifo","maxReceiveCount":%d}`, maxReceives),
	}))
	e := listen(t, server)
	return &graveyard{endpoint: e, dead: strings.Replace(e.queue, "orders", "dead", 1)}
}

// virtualGraveyard is one on a clock that waits move, where one receive is enough.
func virtualGraveyard(t *testing.T) *graveyard {
	t.Helper()
	return newGraveyard(t, clock.NewVirtual(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)), 1)
}

// bury sends a message and has it moved at once.
func (g *graveyard) bury(t *testing.T, group, body string) string {
	t.Helper()
	g.sent++
	id := g.send(t, group, strconv.Itoa(g.sent), body)
	for range 2 {
		out, err := g.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &g.queue, VisibilityTimeout: 1})
		require.NoError(t, err)
		for _, m := range out.Messages {
			_, err := g.client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &g.queue, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0,
			})
			require.NoError(t, err)
		}
	}
	return id
}

func (g *graveyard) depth(t *testing.T, queue string) deadletter.Depth {
	t.Helper()
	depth, err := deadletter.ReadDepth(t.Context(), g.client, queue)
	require.NoError(t, err)
	return depth
}

func (g *graveyard) dlq(t *testing.T, args ...string) outcome {
	t.Helper()
	all := append([]string{dlqCommand}, args...)
	return execute(t.Context(), append(all, "--endpoint", g.url)...)
}

func TestDLQList(t *testing.T) {
	t.Parallel()
	g := virtualGraveyard(t)
	one := g.bury(t, "tenant-7", `{"customer":{"id":42}}`)
	two := g.bury(t, "tenant-8", `{"customer":{"id":43}}`)
	for _, named := range [][]string{{"--queue", "dead.fifo"}, {"--queue", g.dead}, {"--source", "orders.fifo"}} {
		got := g.dlq(t, append([]string{"list"}, named...)...)
		require.Equal(t, cli.OK, got.code, got.err)
		require.Contains(t, got.out, one)
		require.Contains(t, got.out, two)
		require.Contains(t, got.out, "orders.fifo       unknown\n")
		require.Contains(t, got.err, "no receipts are named, so attempts and reasons are unknown")
		require.Contains(t, got.err, "consumer: 2 messages in dead.fifo\n")
	}
	got := g.dlq(t, "list", "--queue", "dead.fifo", "--where", "/customer/id=42.0")
	require.Contains(t, got.out, one)
	require.NotContains(t, got.out, two)
	require.Contains(t, got.err, "2 messages in dead.fifo · 1 chosen\n")
	require.Equal(t, deadletter.Depth{Visible: 2}, g.depth(t, g.dead))

	got = g.dlq(t, "list", "--queue", "dead.fifo", "--group", "tenant-8", "--json")
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &line))
	require.Equal(t, two, line["message_id"])
	require.NotContains(t, got.out, "43", "bodies stay out")

	got = g.dlq(t, "show", two, "--queue", "dead.fifo", "--body")
	require.Equal(t, cli.OK, got.code, got.err)
	require.Contains(t, got.out, `{"customer":{"id":43}}`)
	got = g.dlq(t, "show", "nobody", "--queue", "dead.fifo")
	require.Equal(t, cli.Failed, got.code)
	require.Contains(t, got.err, "there is no message nobody among 2 messages in dead.fifo · 0 chosen")
}

// Nothing moves without leave, nor with leave for another number.
func TestDLQNeedsApproval(t *testing.T) {
	t.Parallel()
	g := virtualGraveyard(t)
	g.bury(t, "g", "{}")
	g.bury(t, "h", "{}")
	for _, command := range []string{"redrive", "drop"} {
		got := g.dlq(t, command, "--queue", "dead.fifo")
		require.Equal(t, cli.Failed, got.code)
		require.Contains(t, got.err, "2 messages: nothing was done\nhint: approve it with --approve 2\n")
		got = g.dlq(t, command, "--queue", "dead.fifo", "--approve", "3")
		require.Equal(t, cli.Failed, got.code)
		require.Contains(t, got.err, "3 were approved, and 2 messages are meant now: nothing was done")
		got = g.dlq(t, command, "--queue", "dead.fifo", "--approve", "2", "--group", "g")
		require.Equal(t, cli.Failed, got.code)
		require.Contains(t, got.err, "2 were approved, and 1 message are meant now")
		got = g.dlq(t, command, "--queue", "dead.fifo", "--group", "nobody's")
		require.Equal(t, cli.OK, got.code)
		require.Contains(t, got.err, "there is nothing to ")
	}
	require.Equal(t, deadletter.Depth{Visible: 2}, g.depth(t, g.dead))
	require.Equal(t, deadletter.Depth{}, g.depth(t, g.queue))
}

func TestDLQRedriveAndDrop(t *testing.T) {
	t.Parallel()
	g := virtualGraveyard(t)
	one := g.bury(t, "g", `{"n":1}`)
	two := g.bury(t, "h", `{"n":2}`)
	got := g.dlq(t, "redrive", "--queue", "dead.fifo", "--group", "g", "--approve", "1")
	require.Equal(t, cli.OK, got.code, got.err)
	require.Regexp(t, `^sent           `+one+`  to orders\.fifo as \S+\n$`, got.out)
	require.Contains(t, got.err, "meant: 1 to send to orders.fifo, by sends and deletes, no move task\n")
	require.Contains(t, got.err, "consumer: 1 sent\n")
	require.Equal(t, deadletter.Depth{Visible: 1}, g.depth(t, g.queue))

	got = g.dlq(t, "drop", "--queue", "dead.fifo", "--approve", "1", "--json")
	require.Equal(t, cli.OK, got.code, got.err)
	require.JSONEq(t, `{"message_id":"`+two+`","first_message_id":"`+two+`","group":"h","source":"orders.fifo","result":"dropped"}`, got.out)
	require.Equal(t, deadletter.Depth{}, g.depth(t, g.dead))
}

// What cannot go stays, and the exit code says so.
func TestDLQRedriveThatLeaves(t *testing.T) {
	t.Parallel()
	g := virtualGraveyard(t)
	id := g.bury(t, "g", "{}")
	_, err := g.client.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &g.queue})
	require.NoError(t, err)
	got := g.dlq(t, "redrive", "--queue", "dead.fifo", "--approve", "1")
	require.Equal(t, cli.Failed, got.code)
	require.Equal(t, "failed         "+id+"  its source queue orders.fifo does not exist\n", got.out)
	got = g.dlq(t, "drop", "--queue", "dead.fifo", "--approve", "1")
	require.Contains(t, got.err, "warning: no queue names dead.fifo as its dead-letter queue: is it one?")
}

func TestDLQErrors(t *testing.T) {
	t.Parallel()
	g := virtualGraveyard(t)
	for _, c := range []struct {
		args []string
		code int
		want string
		hint string
	}{
		{[]string{"list"}, cli.Usage, "no queue is named", "--queue"},
		{[]string{"list", "--queue", "dead"}, cli.Usage, `the queue "dead" is no FIFO queue`, "did you mean dead.fifo?"},
		{[]string{"list", "--queue", "dead.fifo", "--source", "orders.fifo"}, cli.Usage, "--queue and --source", "--help"},
		{[]string{"list", "--queue", "dead.fifo", "--where", "id"}, cli.Usage, `"id" is no pointer with a value`, "/customer/id=42"},
		{[]string{"list", "--queue", "dead.fifo", "--older-than=-1s"}, cli.Usage, "--older-than", "1h"},
		{[]string{"list", "--queue", "none.fifo"}, cli.Harness, "the queue none.fifo does not exist", "--queue"},
		{[]string{"list", "--source", "dead.fifo"}, cli.Harness, "the queue dead.fifo has no dead-letter queue", "--queue"},
		{[]string{"list", "--queue", "orders.fifo"}, cli.Harness, "has a redrive policy of its own", "is it a dead-letter queue at all?"},
		{[]string{"list", "--queue", "dead.fifo", "--db", filepath.Join(t.TempDir(), "none.db")}, cli.Harness, "there are no receipts at", "--db"},
		{[]string{"show", "--queue", "dead.fifo"}, cli.Usage, "<id>", "--help"},
		{[]string{"redrive", "--queue", "dead.fifo", "--approve", "all"}, cli.Usage, "--approve", "--help"},
		{[]string{"watch", "--queue", "dead.fifo", "--once"}, cli.Usage, "an alert needs to know when", "--alert-over"},
		{[]string{"watch", "--queue", "dead.fifo", "--interval", "1ms"}, cli.Usage, "--interval 1ms is too short", "a second"},
		{[]string{"watch", "--queue", "dead.fifo", "--alert-over", "-1"}, cli.Usage, "--alert-over", ""},
		{[]string{"watch", "--queue", "dead.fifo", "--alert-over", "1", "--alert-url", "secret"}, cli.Usage, "--alert-url is no URL", "https"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			got := g.dlq(t, c.args...)
			require.Equal(t, c.code, got.code, got.err)
			require.Contains(t, got.err, c.want)
			require.Contains(t, got.err, "hint: ")
			require.Contains(t, got.err, c.hint)
			require.Empty(t, got.out)
		})
	}
}

// The alert comes with more than ten, and not with ten; --once tells by its exit code.
func TestDLQWatchOnce(t *testing.T) {
	t.Parallel()
	g := virtualGraveyard(t)
	var posted []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted = append(posted, r.Header.Get("Content-Type")+" "+string(body))
		if len(posted) > 1 {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer hook.Close()
	file := filepath.Join(t.TempDir(), "alert")
	watch := func() outcome {
		return g.dlq(t, "watch", "--queue", "dead.fifo", "--once", "--alert-over", "10", "--alert-url", hook.URL+"/token",
			"--alert-run", `echo "$FIFOPROOF_QUEUE $FIFOPROOF_DEPTH $FIFOPROOF_LIMIT $(cat)" >> `+file)
	}
	for n := range 10 {
		g.bury(t, fmt.Sprint(n), "{}")
	}
	got := watch()
	require.Equal(t, cli.OK, got.code, got.err)
	require.Contains(t, got.out, "10 messages in dead.fifo · 0 in flight\n")
	require.NoFileExists(t, file)
	require.Empty(t, posted)

	g.bury(t, "10", "{}")
	got = watch()
	require.Equal(t, cli.Failed, got.code, got.err)
	require.Contains(t, got.out, "11 messages in dead.fifo · 0 in flight · more than 10 · alert given\n")
	ran, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Regexp(t, `^dead\.fifo 11 10 {"queue":"dead\.fifo","at":"[^"]+","depth":11,"visible":11,"in_flight":0,"delayed":0,"limit":10,"over":true,"alerted":true}\n$`, string(ran))
	require.Len(t, posted, 1)
	require.Contains(t, posted[0], `application/json {"queue":"dead.fifo"`)

	got = watch()
	require.Equal(t, cli.Failed, got.code)
	require.Contains(t, got.err, "warning: the alert was not given: 127.0.0.1:")
	require.Contains(t, got.err, "answered 418 I'm a teapot")
	require.NotContains(t, got.err, "token", "the rest of the URL may be a secret")

	got = g.dlq(t, "watch", "--queue", "dead.fifo", "--once", "--alert-over", "11", "--json")
	require.Equal(t, cli.OK, got.code)
	require.Contains(t, got.out, `"over":false,"alerted":false`)
}

// A watch goes on until it is stopped.
func TestDLQWatchStops(t *testing.T) {
	t.Parallel()
	g := virtualGraveyard(t)
	ctx, cancel := context.WithCancel(t.Context())
	stop := &stopWriter{stop: cancel}
	code := run(ctx, []string{dlqCommand, "watch", "--queue", "dead.fifo", "--endpoint", g.url},
		cli.Stdio{In: strings.NewReader(""), Out: stop, Err: io.Discard}, func(string) (string, bool) { return "", false })
	require.Equal(t, cli.OK, code)
	require.Contains(t, stop.String(), "0 messages in dead.fifo")
}

// stopWriter stops whoever writes to it.
type stopWriter struct {
	bytes.Buffer

	stop func()
}

func (w *stopWriter) Write(p []byte) (int, error) {
	w.stop()
	return w.Buffer.Write(p)
}

// samples are a message that three attempts failed, a copy that was put back and has
// its effect, and one that nothing is known of.
func samples() []deadletter.Message {
	at := func(second int) time.Time { return time.Date(2026, time.January, 1, 12, 0, second, 5e6, time.UTC) }
	source := deadletter.Source{Name: "orders.fifo", By: deadletter.ByQueue}
	failed := deadletter.Message{
		ID: "6c442661-82b5-4659-9586-42b38c6e71ce", Identity: "6c442661-82b5-4659-9586-42b38c6e71ce", Group: "tenant-7\x1b[31m",
		SentAt: at(30), Looked: at(50), Receives: 4, Source: source, Size: 22, Names: []string{"body-digest", "idempotency-key"},
		Digest: deadletter.Digest{Value: strings.Repeat("ab", 32), Of: deadletter.DigestAttribute}, Sequence: "10000000000000000256",
		History: deadletter.History{Known: true, First: at(0), Last: at(20), Reason: "no stock", State: deadletter.Open},
	}
	for n := range 3 {
		failed.History.Attempts = append(failed.History.Attempts, deadletter.Attempt{
			Number: n + 1, MessageID: failed.ID, Queue: "orders.fifo", Receives: n + 1, Received: at(10 * n), Started: at(10 * n),
			Ended: at(10*n + 1), Worker: "host-17-abcd", Kind: receipt.Failed, Reason: "no stock",
		})
	}
	failed.History.Attempts[1].Kind, failed.History.Attempts[1].Ended, failed.History.Attempts[1].Reason = receipt.Pending, time.Time{}, ""
	done := deadletter.Message{
		ID: "83eaa2dc-499c-4a5c-abea-4eba1664a22a", Identity: "c9fcbad2-b0e5-41bd-845c-66e4d130f12f", Group: "g", SentAt: at(31), Source: source,
		Digest: deadletter.Digest{Value: strings.Repeat("cd", 32), Of: deadletter.DigestCanonical}, Names: []string{deadletter.AttributeFirst},
		History: deadletter.History{Known: true, First: at(0), Last: at(0), State: deadletter.Done, Reason: "slow", Attempts: []deadletter.Attempt{
			{Received: at(0), Kind: receipt.Rejected, Reason: "slow", Receives: 1, MessageID: "c9fcbad2-b0e5-41bd-845c-66e4d130f12f"},
		}},
	}
	stranger := deadletter.Message{
		ID: "e3408a2d-7916-4430-b1ad-a9a67c93ae2d", Identity: "e3408a2d-7916-4430-b1ad-a9a67c93ae2d", Group: "g", SentAt: at(32), Size: 7,
		Digest: deadletter.Digest{Value: strings.Repeat("ef", 32), Of: deadletter.DigestBytes}, Body: "no\x07 json\n<tail>", History: deadletter.History{State: deadletter.Open},
	}
	return []deadletter.Message{failed, done, stranger}
}

// universal replaces the local times of the samples by those of UTC, so that the golden
// files are the same everywhere.
func universal(text string) string {
	const form = "2006-01-02 15:04:05.000"
	for second := range 60 {
		at := time.Date(2026, time.January, 1, 12, 0, second, 5e6, time.UTC)
		text = strings.ReplaceAll(text, local(at), at.Format(form))
		text = strings.ReplaceAll(text, local(at.Add(14*24*time.Hour)), at.Add(14*24*time.Hour).Format(form))
	}
	return text
}

func TestDLQTexts(t *testing.T) {
	t.Parallel()
	var list, show, lines bytes.Buffer
	require.NoError(t, writeDLQRows(&list, samples()))
	for _, m := range samples() {
		require.NoError(t, writeDLQPage(&show, m, "dead.fifo", 14*24*time.Hour, m.Body != ""))
		show.WriteString("\n")
		require.NoError(t, writeDLQJSON(&lines, m))
	}
	golden(t, "dlq-list.txt", universal(list.String()))
	golden(t, "dlq-show.txt", universal(show.String()))
	golden(t, "dlq.jsonl", lines.String())
	require.NotContains(t, list.String()+show.String(), "\x1b")
}

func TestDLQSentences(t *testing.T) {
	t.Parallel()
	messages := samples()
	require.Equal(t, "25 messages in dead.fifo · 3 chosen · about 1,000 more behind the first ten of their groups, not to be seen before those are gone",
		dlqSeen("dead.fifo", deadletter.Listing{Seen: 25, Messages: messages, Behind: 1000}))
	require.Equal(t, "3 messages in dead.fifo · about 2 more not seen: others have them in flight, or the queue's counters lag",
		dlqSeen("dead.fifo", deadletter.Listing{Seen: 3, Messages: messages, Unseen: 2}))
	require.Equal(t, "3 messages in dead.fifo · about 2 more not seen: no more can be held at once",
		dlqSeen("dead.fifo", deadletter.Listing{Seen: 3, Messages: messages, Unseen: 2, Full: true}))
	require.Equal(t, "meant: 1 done already, to stay · 1 of an unknown source, to stay · 1 to send to orders.fifo · up to 7 from behind, by sends and deletes, no move task",
		dlqPlan(deadletter.Listing{Messages: messages, Behind: 7}))
	require.Equal(t, "2 sent · 1 failed · 1 held back · 3 came meanwhile and stay",
		dlqTally(deadletter.Tally{By: map[deadletter.Result]int{deadletter.Sent: 2, deadletter.Failed: 1, deadletter.Held: 1}, Unasked: 3}))
	require.Equal(t, "nothing was done", dlqTally(deadletter.Tally{}))
}

func TestDLQHelp(t *testing.T) {
	t.Parallel()
	for file, args := range map[string][]string{
		"help-dlq.txt": {}, "help-dlq-list.txt": {"list"}, "help-dlq-show.txt": {"show"}, "help-dlq-watch.txt": {"watch"},
		"help-dlq-redrive.txt": {"redrive"}, "help-dlq-drop.txt": {"drop"},
	} {
		got := execute(t.Context(), append(append([]string{dlqCommand}, args...), "--help")...)
		require.Equal(t, cli.OK, got.code)
		golden(t, file, got.out)
	}
	help := execute(t.Context(), dlqCommand, "redrive", "--help").out
	require.Contains(t, strings.Join(strings.Fields(help), " "), "Copies that SQS's own StartMessageMoveTask makes lack it")
}
