package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/consumer"
	"fifoproof/internal/emulator"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

// world is the unmodified SDK on an endpoint in this process, on a clock that
// waits move.
type world struct {
	clock  *clock.Virtual
	client *sqs.Client
	url    string
	path   string // of the receipts
	cut    func(action string) error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{clock: clock.NewVirtual(start), path: filepath.Join(t.TempDir(), "receipts.db")}
	server := emulator.New(emulator.Options{Clock: w.clock})
	require.NoError(t, server.CreateQueue("orders.fifo"))
	w.client = sqs.New(sqs.Options{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String("http://embedded"),
		HTTPClient:   &http.Client{Transport: wire{w, server.RoundTripper()}},
		Retryer:      aws.NopRetryer{},
	})
	answer, err := w.client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("orders.fifo")})
	require.NoError(t, err)
	w.url = aws.ToString(answer.QueueUrl)
	return w
}

// wire loses requests where the test says so.
type wire struct {
	world *world
	next  http.RoundTripper
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.world.cut != nil {
		if err := w.world.cut(r.Header.Get("X-Amz-Target")); err != nil {
			return nil, err
		}
	}
	return w.next.RoundTrip(r)
}

func (w *world) send(t *testing.T, group, id, body string) string {
	t.Helper()
	out, err := w.client.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: &w.url, MessageGroupId: &group, MessageDeduplicationId: &id, MessageBody: &body,
	})
	require.NoError(t, err)
	return aws.ToString(out.MessageId)
}

// life is one process: a consumer and a store of its own on the same file.
func (w *world) life(t *testing.T, change func(*consumer.Config)) (*consumer.Consumer, *sqlite.Store) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), w.path)
	require.NoError(t, err)
	cfg := consumer.Config{Queue: w.url, Clock: w.clock, UntilEmpty: 5 * time.Second}
	if change != nil {
		change(&cfg)
	}
	c, err := consumer.New(cfg, w.client, store)
	require.NoError(t, err)
	return c, store
}

func (w *world) run(t *testing.T) consumer.Summary {
	t.Helper()
	c, store := w.life(t, nil)
	summary, err := c.Run(t.Context())
	require.NoError(t, err)
	require.NoError(t, store.Close())
	return summary
}

func (w *world) counts(t *testing.T) receipt.Counts {
	t.Helper()
	store, err := sqlite.Open(t.Context(), w.path, sqlite.ReadOnly())
	require.NoError(t, err)
	counts, err := store.Counts(t.Context())
	require.NoError(t, err)
	require.NoError(t, store.Close())
	return counts
}

// A late retry, after SQS has forgotten the id, is a new message to the queue and
// a known event to the consumer.
func TestLateRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.send(t, "g", "id", `{"order":1}`)
	require.Equal(t, first, w.send(t, "g", "id", `{"order":1}`), "a duplicate inside the window")
	require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, w.run(t))
	require.NoError(t, clock.Sleep(t.Context(), w.clock, 5*time.Minute))
	require.NotEqual(t, first, w.send(t, "g", "id", `{ "order" : 1 }`))
	require.Equal(t, consumer.Summary{Deliveries: 1, Repeated: 1}, w.run(t))
	require.Equal(t, receipt.Counts{Fresh: 1, Repeated: 1, Effects: 1}, w.counts(t))
}

// Thirty messages of three groups: the receipts, and so the effects, keep each
// group's order.
func TestOrderInGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := map[string][]string{}
	for n := range 30 {
		group := fmt.Sprintf("g%d", n%3)
		sent[group] = append(sent[group], w.send(t, group, fmt.Sprintf("id%d", n), fmt.Sprintf(`{"order":%d}`, n)))
	}
	require.Equal(t, consumer.Summary{Deliveries: 30, Effects: 30}, w.run(t))
	store, err := sqlite.Open(t.Context(), w.path, sqlite.ReadOnly())
	require.NoError(t, err)
	got := map[string][]string{}
	for r, err := range store.Receipts(t.Context(), receipt.Filter{}) {
		require.NoError(t, err)
		got[r.Group] = append(got[r.Group], r.MessageID)
	}
	require.NoError(t, store.Close())
	require.Equal(t, sent, got)
}

// The consumer is killed at each point of its work, with the queue and the file
// as real as they get. The message comes again after its visibility timeout, and
// there is one effect.
func TestKilled(t *testing.T) {
	t.Parallel()
	dead := errors.New("killed")
	die := func(action string) func(string) error {
		return func(called string) error {
			if called == "AmazonSQS."+action {
				panic(dead)
			}
			return nil
		}
	}
	for _, c := range []struct {
		name string
		kill func(w *world, cfg *consumer.Config)
		then consumer.Summary
		want receipt.Counts
	}{
		{
			"inside the effect",
			func(_ *world, cfg *consumer.Config) {
				cfg.Effect = func(context.Context, receipt.Tx, receipt.Claim) error { panic(dead) }
			},
			consumer.Summary{Deliveries: 2, Effects: 2},
			receipt.Counts{Pending: 2, Fresh: 2, Effects: 2},
		},
		{
			"between commit and delete",
			func(w *world, _ *consumer.Config) { w.cut = die("DeleteMessageBatch") },
			consumer.Summary{Deliveries: 2, Redelivered: 2},
			receipt.Counts{Fresh: 2, Redelivered: 2, Effects: 2},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.send(t, "g", "id1", `{"order":1}`)
			w.send(t, "g", "id2", `{"order":2}`)
			first, store := w.life(t, func(cfg *consumer.Config) { c.kill(w, cfg) })
			require.PanicsWithError(t, dead.Error(), func() { _, _ = first.Run(t.Context()) })
			require.NoError(t, store.Close())
			w.cut = nil

			require.Zero(t, w.run(t).Deliveries, "hidden for 30 s")
			require.NoError(t, clock.Sleep(t.Context(), w.clock, 30*time.Second))
			require.Equal(t, c.then, w.run(t))
			require.Zero(t, w.run(t).Deliveries)
			require.Equal(t, c.want, w.counts(t))
		})
	}
}

// A delete that is lost on the way: the retries run out, and the redelivery is
// recorded as what it is.
func TestLostDeletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(t, "g", "id", `{"order":1}`)
	lost := 0
	w.cut = func(action string) error {
		if action == "AmazonSQS.DeleteMessageBatch" && lost < 3 {
			lost++
			return errors.New("connection reset by peer")
		}
		return nil
	}
	c, store := w.life(t, func(cfg *consumer.Config) { cfg.UntilEmpty = 40 * time.Second })
	summary, err := c.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, lost)
	require.Equal(t, consumer.Summary{Deliveries: 2, Effects: 1, Redelivered: 1}, summary)
	require.NoError(t, store.Close())
}

// A rejected message stays, its follower waits behind it, other groups go on, and
// the run ends all the same.
func TestRejectedStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := w.send(t, "g", "id1", `{"order":`)
	w.send(t, "g", "id2", `{"order":2}`)
	w.send(t, "h", "id3", `{"order":3}`)
	c, store := w.life(t, func(cfg *consumer.Config) { cfg.UntilEmpty = 2 * time.Minute })
	summary, err := c.Run(t.Context())
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.Equal(t, int64(1), summary.Effects)
	require.Equal(t, summary.Rejected, summary.HeldBack, "they come together, every time")
	require.GreaterOrEqual(t, summary.Rejected, int64(4), "every 30 s for 2 min")

	// When it is taken away, the follower is next.
	require.NoError(t, clock.Sleep(t.Context(), w.clock, time.Minute))
	out, err := w.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &w.url, MaxNumberOfMessages: 10})
	require.NoError(t, err)
	require.Equal(t, bad, aws.ToString(out.Messages[0].MessageId))
	_, err = w.client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &w.url, ReceiptHandle: out.Messages[0].ReceiptHandle})
	require.NoError(t, err)
	require.NoError(t, clock.Sleep(t.Context(), w.clock, time.Minute))
	require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, w.run(t))
}

// Stopped inside a reply: what was not begun is there at once for the next
// consumer, in order, and not only after its visibility timeout.
func TestStopGivesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var sent []string
	for n := range 5 {
		sent = append(sent, w.send(t, "g", fmt.Sprintf("id%d", n), fmt.Sprintf(`{"order":%d}`, n)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	c, store := w.life(t, func(cfg *consumer.Config) {
		cfg.Effect = func(context.Context, receipt.Tx, receipt.Claim) error { cancel(); return nil }
	})
	summary, err := c.Run(ctx)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.Equal(t, consumer.Summary{Deliveries: 5, Effects: 1, HeldBack: 4}, summary)

	out, err := w.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &w.url, MaxNumberOfMessages: 10})
	require.NoError(t, err)
	var left []string
	for _, m := range out.Messages {
		left = append(left, aws.ToString(m.MessageId))
	}
	require.Equal(t, sent[1:], left)
}

func TestQueueThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.client.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &w.url})
	require.NoError(t, err)
	c, store := w.life(t, nil)
	_, err = c.Run(t.Context())
	var missing *types.QueueDoesNotExist
	require.ErrorAs(t, err, &missing)
	require.NoError(t, store.Close())
}
