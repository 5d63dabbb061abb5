package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/consumer"
	"fifoproof/internal/receipt"
)

// Five seconds of silence after the last message: one poll of that length.
func TestUntilEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1))
	b.queue.give()
	b.cfg.UntilEmpty = 5 * time.Second
	var progress []consumer.Summary
	b.cfg.Progress = func(s consumer.Summary) { progress = append(progress, s) }
	summary, err := b.consumer(t).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, summary)
	require.Equal(t, []consumer.Summary{summary}, progress)
	require.Equal(t, int32(5), b.queue.asked[0].WaitTimeSeconds)
	require.Equal(t, start.Add(5100*time.Millisecond), b.clock.Now(), "the scripted empty reply came early and cost 100 ms")
}

// A silence longer than a long poll takes several.
func TestUntilEmptyForLong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.UntilEmpty = 45 * time.Second
	_, err := b.consumer(t).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, int32(20), b.queue.asked[0].WaitTimeSeconds)
	require.Equal(t, start.Add(60*time.Second), b.clock.Now())
}

// A rejected message comes back after every visibility timeout until the redrive
// policy takes it away, if there is one. It must not keep the run alive.
func TestUntilEmptyWithARejectedMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.UntilEmpty = 20 * time.Second
	for range 100 {
		b.queue.script = append(b.queue.script, func() ([]types.Message, error) {
			if err := clock.Sleep(t.Context(), b.clock, 3*time.Second); err != nil {
				return nil, err
			}
			return []types.Message{message("m1", "g", "no json"), order("m2", "g", 2)}, nil
		})
	}
	summary, err := b.consumer(t).Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, summary.Effects)
	require.Equal(t, int64(8), summary.Rejected, "at 3 s, when it was news, and 20 s of nothing new after that")
	require.Equal(t, 5, strings.Count(b.log.String(), "stays on the queue"), "five lines, then a count")
	require.Contains(t, b.log.String(), `msg="more rejected deliveries, listed by 'consumer receipts --kind rejected'" number=3`)
}

// An endpoint that has no long polls must not be hammered.
func TestHurriedReplies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.hurried = true
	b.cfg.UntilEmpty = 5 * time.Second
	_, err := b.consumer(t).Run(t.Context())
	require.NoError(t, err)
	require.Len(t, b.queue.asked, 50)
}

func TestPassingTrouble(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.UntilEmpty = 5 * time.Second
	for _, err := range []error{
		errors.New("connection refused"),
		&smithy.GenericAPIError{Code: "RequestThrottled"},
		&smithy.GenericAPIError{Code: "ExpiredToken"},
	} {
		b.queue.fail(err)
	}
	b.queue.give(order("m1", "g", 1))
	summary, err := b.consumer(t).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1), summary.Effects)
	require.Equal(t, start.Add((500+1000+2000)*time.Millisecond+5*time.Second), b.clock.Now())
	require.Equal(t, 3, strings.Count(b.log.String(), "polling again after a pause"))
}

// An outage is no silence: 9 failing polls last longer than 5 s, and the message
// behind them is still taken.
func TestOutageIsNoSilence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.UntilEmpty = 5 * time.Second
	for range 9 {
		b.queue.fail(errors.New("connection refused"))
	}
	b.queue.give()
	b.queue.give(order("m1", "g", 1))
	summary, err := b.consumer(t).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1), summary.Effects)
}

func TestLastingTrouble(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 20 {
		b.queue.fail(errors.New("connection refused"))
	}
	_, err := b.consumer(t).Run(t.Context())
	require.EqualError(t, err, "giving up after 10 failing polls in a row: receiving from the queue orders.fifo: connection refused")
	require.Equal(t, start.Add((500+1000+2000+4000+8000+16000+3*20000)*time.Millisecond), b.clock.Now())
}

// Failures that are far between are no series.
func TestTroubleNowAndThen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.UntilEmpty = time.Minute
	for range 30 {
		b.queue.fail(errors.New("connection reset"))
		b.queue.give()
	}
	_, err := b.consumer(t).Run(t.Context())
	require.NoError(t, err)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"no queue":       &types.QueueDoesNotExist{},
		"no queue, code": &smithy.GenericAPIError{Code: "AWS.SimpleQueueService.NonExistentQueue"},
		"denied":         &smithy.GenericAPIError{Code: "AccessDenied"},
		"bad signature":  fmt.Errorf("operation error SQS: %w", &smithy.GenericAPIError{Code: "SignatureDoesNotMatch"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.queue.fail(refusal)
			_, err := b.consumer(t).Run(t.Context())
			require.ErrorIs(t, err, refusal)
			require.Len(t, b.queue.asked, 1)
			require.Equal(t, start, b.clock.Now())
		})
	}
}

// A store that cannot record anything ends the run at once: every further poll
// would raise the receive counts of good messages, which the redrive policy
// counts.
func TestBrokenStoreEndsTheRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1))
	b.store.onBegin = func() error { return errDisk }
	_, err := b.consumer(t).Run(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.Len(t, b.queue.asked, 1)
}

func TestUnfinishedBusiness(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.UntilEmpty = 5 * time.Second
	b.queue.give(order("m1", "g", 1), order("m2", "h", 2))
	b.store.onComplete = func(c receipt.Claim) error {
		if c.Delivery.MessageID == "m1" {
			return errDisk
		}
		return nil
	}
	summary, err := b.consumer(t).Run(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.ErrorContains(t, err, "1 messages of the queue orders.fifo could not be completed")
	require.Equal(t, consumer.Summary{Deliveries: 2, Effects: 1, HeldBack: 1}, summary)

	// Had it come again in time, all would have been well.
	b = setup(t)
	b.cfg.UntilEmpty = 5 * time.Second
	b.queue.give(order("m1", "g", 1))
	b.queue.give(order("m1", "g", 1))
	failed := false
	b.store.onComplete = func(receipt.Claim) error {
		if !failed {
			failed = true
			return errDisk
		}
		return nil
	}
	_, err = b.consumer(t).Run(t.Context())
	require.NoError(t, err)
}

// Every message failing, for ever, with empty polls between: the store, not the
// queue, is the trouble, and the run does not go on as if nothing were.
func TestCompletionsThatKeepFailing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 50 {
		b.queue.give(order("m1", "g", 1))
		b.queue.give()
	}
	b.store.onComplete = func(receipt.Claim) error { return errDisk }
	summary, err := b.consumer(t).Run(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, int64(10), summary.HeldBack)
}

// A process that dies between the receipts and the completion, or between the
// completion and the delete, leaves one effect in the end.
func TestCrashes(t *testing.T) {
	t.Parallel()
	dead := errors.New("killed")
	for _, c := range []struct {
		name  string
		kill  func(b *bench)
		first receipt.Kind
		then  receipt.Kind
	}{
		{"before the completion", func(b *bench) { b.store.onComplete = func(receipt.Claim) error { panic(dead) } }, receipt.Pending, receipt.Fresh},
		{"inside the effect", func(b *bench) {
			b.cfg.Effect = func(context.Context, receipt.Tx, receipt.Claim) error { panic(dead) }
		}, receipt.Pending, receipt.Fresh},
		{"before the delete", func(b *bench) {
			b.queue.onDelete = func(int, []string) (map[string]types.BatchResultErrorEntry, error) { panic(dead) }
		}, receipt.Fresh, receipt.Redelivered},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.queue.give(order("m1", "g", 1))
			c.kill(b)
			require.PanicsWithError(t, dead.Error(), func() { _, _ = b.consumer(t).Poll(t.Context()) })

			b.store.onComplete, b.queue.onDelete, b.cfg.Effect = nil, nil, nil
			b.queue.give(order("m1", "g", 1))
			_, err := b.consumer(t).Poll(t.Context())
			require.NoError(t, err)
			got := b.receipts(t)
			require.Len(t, got, 2)
			require.Equal(t, c.first, got[0].Kind)
			require.Equal(t, c.then, got[1].Kind)
			require.Equal(t, int64(1), b.counts(t).Effects)
		})
	}
}

func TestRepeatsAreRationed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.UntilEmpty = 5 * time.Second
	b.queue.give(order("m0", "g", 1))
	for n := range 40 {
		b.queue.give(order(fmt.Sprintf("r%d", n), "g", 1))
	}
	summary, err := b.consumer(t).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(40), summary.Repeated)
	require.Equal(t, 5, strings.Count(b.log.String(), "first=m0"))
	require.Contains(t, b.log.String(), `--kind repeated'" number=35`)
}

// The SDK puts a frame of a hundred characters around an error; the person reads
// its end, the program still finds its type.
func TestErrorsAreBrief(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   error
		want string
	}{
		{
			&smithy.OperationError{ServiceID: "SQS", OperationName: "ReceiveMessage", Err: &types.QueueDoesNotExist{Message: aws.String("no such queue")}},
			"receiving from the queue orders.fifo: QueueDoesNotExist: no such queue",
		},
		{&smithy.OperationError{Err: &smithy.GenericAPIError{Code: "AccessDenied"}}, "receiving from the queue orders.fifo: AccessDenied"},
		{
			&smithy.OperationError{Err: &url.Error{Op: "Post", URL: "http://127.0.0.1:1/", Err: errors.New("connection refused")}},
			"receiving from the queue orders.fifo: connection refused",
		},
	} {
		b := setup(t)
		b.queue.fail(c.in)
		_, err := b.consumer(t).Poll(t.Context())
		require.EqualError(t, err, c.want)
		require.ErrorIs(t, err, c.in)
	}
}
