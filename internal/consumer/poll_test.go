package consumer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/receipt"
)

var errDisk = errors.New("the disk is full")

// Receipts first, then the messages in the order in which the queue gave them,
// then the deletes, in one call.
func TestPollOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), order("m2", "h", 2), order("m3", "g", 3))
	received, err := b.consumer(t).Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, received)
	require.Equal(t, []string{
		"receive 3", "record 3", "begin m1", "complete m1", "begin m2", "complete m2", "begin m3", "complete m3",
		"delete hm1 hm2 hm3",
	}, b.diary.read())
	require.Equal(t, receipt.Counts{Fresh: 3, Effects: 3}, b.counts(t))
}

// What the queue is asked for: everything it knows, and an attempt id of its own
// for each call, which standard queues refuse (ReceiveMessage, API reference).
func TestPollRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.Wait = 1500 * time.Millisecond
	c := b.consumer(t)
	for range 2 {
		received, err := c.Poll(t.Context())
		require.NoError(t, err)
		require.Zero(t, received)
	}
	in := b.queue.asked[0]
	require.Equal(t, queueURL, aws.ToString(in.QueueUrl))
	require.Equal(t, int32(10), in.MaxNumberOfMessages)
	require.Equal(t, int32(2), in.WaitTimeSeconds, "rounded up to whole seconds")
	require.Equal(t, int32(30), in.VisibilityTimeout, "whatever the queue has")
	require.Equal(t, []types.MessageSystemAttributeName{"All"}, in.MessageSystemAttributeNames)
	require.Equal(t, []string{"All"}, in.MessageAttributeNames)
	require.NotEmpty(t, aws.ToString(in.ReceiveRequestAttemptId))
	require.NotEqual(t, in.ReceiveRequestAttemptId, b.queue.asked[1].ReceiveRequestAttemptId)

	b.cfg.Queue = "http://sqs.example/123456789012/orders"
	_, err := b.consumer(t).Poll(t.Context())
	require.NoError(t, err)
	require.Nil(t, b.queue.asked[2].ReceiveRequestAttemptId)
}

func TestReceiptFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(message("m1", "g", `{"order": 1}`, "idempotency-key", "k1", "body-digest", "b1"))
	_, err := b.consumer(t).Poll(t.Context())
	require.NoError(t, err)
	got := b.receipts(t)
	require.Len(t, got, 1)
	require.Equal(t, receipt.Delivery{
		Queue: "orders.fifo", MessageID: "m1", Group: "g", DedupID: "d-m1", SequenceNumber: "18849496460467696128",
		ReceiveCount: 2, BodyDigest: "b1", Fingerprint: "b1",
		SentAt:     time.Date(2026, time.January, 1, 0, 0, 0, 123e6, time.UTC), // 1767225600123 ms after 1970
		ReceivedAt: start,
		Key:        receipt.Key{Rule: "attribute:idempotency-key", Consumer: "orders.fifo", Space: "event", Value: "k1"},
	}, got[0].Delivery)
}

// An endpoint may leave out or garble whatever it likes: what can be keyed is
// handled, what cannot is rejected, and nothing panics.
func TestHostileReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	garbled := order("m2", "g", 2)
	garbled.Attributes["ApproximateReceiveCount"] = "many"
	garbled.Attributes["SentTimestamp"] = "yesterday"
	b.queue.give(types.Message{}, types.Message{MessageId: aws.String("m1")}, garbled)
	_, err := b.consumer(t).Poll(t.Context())
	require.NoError(t, err)
	got := b.receipts(t)
	require.Len(t, got, 3)
	require.Equal(t, receipt.Rejected, got[0].Kind)
	require.Equal(t, "the queue tells no MessageId", got[0].Reason)
	require.Equal(t, receipt.Rejected, got[1].Kind)
	require.Equal(t, receipt.Fresh, got[2].Kind)
	require.Zero(t, got[2].ReceiveCount)
	require.True(t, got[2].SentAt.IsZero())
}

func TestKindsAndSummary(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1))
	b.queue.give(order("m1", "g", 1), message("m2", "h", `{ "order" : 1.0 }`))
	c := b.consumer(t)
	for range 2 {
		_, err := c.Poll(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, consumer.Summary{Deliveries: 3, Effects: 1, Redelivered: 1, Repeated: 1}, c.Summary())
	require.Equal(t, receipt.Counts{Fresh: 1, Redelivered: 1, Repeated: 1, Effects: 1}, b.counts(t))
	require.Contains(t, b.log.String(), "message=m2 group=h first=m1 received=2026-01-01T00:00:00.000Z")
	require.NotContains(t, b.log.String(), "order\"", "no body is logged")
}

func TestTwoGroupsOneBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), order("m2", "h", 1), order("m3", "g", 1))
	b.cfg.Grouped = true
	c := b.consumer(t)
	_, err := c.Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, consumer.Summary{Deliveries: 3, Effects: 2, Repeated: 1}, c.Summary())
}

// A rejected message stays, and holds back those of its group that came with it;
// other groups are none of its business.
func TestRejected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), message("m2", "g", `{"order":`), order("m3", "g", 3), order("m4", "h", 4))
	c := b.consumer(t)
	_, err := c.Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{
		"receive 4", "record 4", "begin m1", "complete m1", "settle rejected m2", "begin m4", "complete m4",
		"delete hm1 hm4", "hide hm3:0", "hide hm2:4",
	}, b.diary.read(), "the follower first, so that it cannot overtake; without a redrive policy the other backs off")
	require.Equal(t, consumer.Summary{Deliveries: 4, Effects: 2, Rejected: 1, HeldBack: 1}, c.Summary())
	got := b.receipts(t)
	require.Equal(t, receipt.Rejected, got[1].Kind)
	require.NotEmpty(t, got[1].Reason)
	require.Equal(t, receipt.Key{}, got[1].Key)
	require.Equal(t, receipt.Pending, got[2].Kind)
	require.Contains(t, b.log.String(), "message=m2")
}

// On a standard queue there are no groups, so nothing is held back.
func TestNoGroups(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(message("m1", "", `{`), order("m2", "", 2))
	c := b.consumer(t)
	_, err := c.Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, consumer.Summary{Deliveries: 2, Effects: 1, Rejected: 1}, c.Summary())
}

func TestFailedCompletion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), order("m2", "g", 2), order("m3", "h", 3))
	b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
	broken := true
	b.store.before = func(call, message string) error {
		if broken && call == "complete" && message == "m1" {
			return errDisk
		}
		return nil
	}
	c := b.consumer(t)
	received, err := c.Poll(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.ErrorContains(t, err, "message m1 of the queue orders.fifo")
	require.Equal(t, 3, received)
	broken = false
	_, err = c.Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{
		"receive 3", "record 3", "begin m1", "complete m1", "release pending m1", "begin m3", "complete m3",
		"delete hm3", "hide hm2:0", "hide hm1:2",
		"receive 2", "record 2", "begin m1", "complete m1", "begin m2", "complete m2", "delete hm1 hm2",
	}, b.diary.read())
	require.Equal(t, receipt.Counts{Fresh: 3, Pending: 2, Effects: 3}, b.counts(t))
}

// Without receipts nothing is touched; the messages go back in an order in which
// no group can be overtaken.
func TestFailedRecord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
	b.store.before = func(string, string) error { return errDisk }
	_, err := b.consumer(t).Poll(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, []string{"receive 2", "record 2", "hide hm2:0", "hide hm1:0"}, b.diary.read())
}

// The context ends while the first of three is at work: it is finished and
// deleted, the others are given back.
func TestStopInsideAReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), order("m2", "g", 2), order("m3", "h", 3))
	ctx, cancel := context.WithCancel(t.Context())
	b.store.before = func(call, _ string) error {
		if call == "complete" {
			cancel()
		}
		return nil
	}
	c := b.consumer(t)
	_, err := c.Poll(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{
		"receive 3", "record 3", "begin m1", "complete m1", "delete hm1", "hide hm2:0 hm3:0",
	}, b.diary.read(), "one of each group in a call")
	require.Equal(t, consumer.Summary{Deliveries: 3, Effects: 1, HeldBack: 2}, c.Summary())
}

func TestStopWhileWaiting(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.queue.script = append(b.queue.script, func() ([]types.Message, error) {
		cancel()
		return nil, &smithy.CanceledError{Err: context.Canceled}
	})
	_, err := b.consumer(t).Poll(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestGiveBackFails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
	b.store.before = func(string, string) error { return errDisk }
	b.queue.onHide = func(string, int32) (*types.BatchResultErrorEntry, error) { return nil, errors.New("gone") }
	_, err := b.consumer(t).Poll(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, []string{"receive 2", "record 2"}, b.diary.read())
	require.Contains(t, b.log.String(), "messages=2")
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*consumer.Config)
		want   string
	}{
		{func(c *consumer.Config) { c.Queue = "" }, "the queue's URL is missing"},
		{func(c *consumer.Config) { c.Wait = 21 * time.Second }, "a poll of 21s is outside of SQS's 0 to 20 s"},
		{func(c *consumer.Config) { c.Wait = -1 }, "outside of SQS's"},
		{func(c *consumer.Config) { c.UntilEmpty = -time.Second }, "a silence of -1s cannot be waited for"},
		{func(c *consumer.Config) {
			c.Hash = selecting(t)
			c.Key = rule(t, "message")
		}, "a selection of fields has no effect on the key message"},
		{func(c *consumer.Config) { c.Visibility = 1500 * time.Millisecond }, "a visibility timeout of 1.5s is not in whole seconds"},
		{func(c *consumer.Config) { c.Visibility = 43201 * time.Second }, "a visibility timeout of 12h0m1s is not in whole seconds from 1 s to 12 h"},
		{func(c *consumer.Config) { c.Lease = time.Millisecond }, "a lease of 1ms ends before it could be renewed"},
		{func(c *consumer.Config) { c.Concurrency = -1 }, "-1 groups at once"},
		{func(c *consumer.Config) { c.MaxReceives = -1 }, "a maximum receive count of -1"},
		{func(c *consumer.Config) { c.Backoff.Cap = 13 * time.Hour }, "a back-off of 0s up to 13h0m0s is outside of SQS's 0 to 12 h"},
		{func(c *consumer.Config) { c.Drain = -1 }, "a drain of -1ns cannot be"},
		{func(c *consumer.Config) { c.Repeated = "twice" }, `no policy "twice" for repeats`},
		{func(c *consumer.Config) { c.Handler = both{} }, "the handler both is not either transactional or external"},
	} {
		b := setup(t)
		c.change(&b.cfg)
		_, err := consumer.New(b.cfg, b.queue, b.store)
		require.ErrorContains(t, err, c.want)
	}
}
