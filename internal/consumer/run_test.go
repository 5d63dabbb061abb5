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

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// Five seconds of silence after the last message: one poll of that length.
func TestUntilEmpty(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
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
		require.Equal(t, 5100*time.Millisecond, time.Since(began), "the scripted empty reply came early and cost 100 ms")
	})
}

// A silence longer than a long poll takes several.
func TestUntilEmptyForLong(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
		b.cfg.UntilEmpty = 45 * time.Second
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, int32(20), b.queue.asked[0].WaitTimeSeconds)
		require.Equal(t, 60*time.Second, time.Since(began))
	})
}

// A rejected message comes back after every back-off: without a redrive policy for
// ever. It must not keep the run alive, and neither must what is held behind it.
func TestUntilEmptyWithARejectedMessage(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 20 * time.Second
		for n := range 100 {
			b.queue.then(func() ([]types.Message, error) {
				time.Sleep(3 * time.Second)
				reply := []types.Message{again(message("m1", "g", "no json"), n)}
				if n == 0 {
					reply = append(reply, order("m2", "g", 2))
				}
				return reply, nil
			})
		}
		summary, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Zero(t, summary.Effects)
		require.Equal(t, int64(8), summary.Rejected, "at 3 s, when it was news, and 20 s of nothing new after that")
		require.Equal(t, int64(1), summary.HeldBack, "the follower was kept, and given back once")
		require.Equal(t, 5, strings.Count(b.log.String(), "stays on the queue"), "five lines, then a count")
		require.Contains(t, b.log.String(), `msg="more rejected deliveries, listed by 'consumer receipts --kind rejected'" number=3`)
	})
}

// An endpoint that has no long polls must not be hammered.
func TestHurriedReplies(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.queue.hurried = true
		b.cfg.UntilEmpty = 5 * time.Second
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Len(t, b.queue.asked, 50)
	})
}

// Throttling and expired credentials pass; the run backs off and recovers, and says
// that it was not ready.
func TestThrottledAndExpired(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
		b.cfg.UntilEmpty = 5 * time.Second
		watcher := &watcher{}
		b.cfg.Observer = watcher
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
		require.Equal(t, (500+1000+2000)*time.Millisecond+5*time.Second, time.Since(began))
		require.Equal(t, 3, strings.Count(b.log.String(), "polling again after a pause"))
		require.Equal(t, []string{
			"not ready: queue: receiving from the queue orders.fifo: RequestThrottled",
			"not ready: queue: receiving from the queue orders.fifo: ExpiredToken",
			"ready",
		}, watcher.readiness())
		require.Equal(t, 3, watcher.failed("receive"))
	})
}

// An outage is no silence: 9 failing polls last longer than 5 s, and the message
// behind them is still taken.
func TestOutageIsNoSilence(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 5 * time.Second
		for range 9 {
			b.queue.fail(errors.New("connection refused"))
		}
		b.queue.give()
		b.queue.give(order("m1", "g", 1))
		summary, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(1), summary.Effects)
	})
}

func TestLastingTrouble(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
		for range 20 {
			b.queue.fail(errors.New("connection refused"))
		}
		_, err := b.consumer(t).Run(t.Context())
		require.EqualError(t, err, "giving up after 10 failing polls in a row: receiving from the queue orders.fifo: connection refused")
		require.Equal(t, (500+1000+2000+4000+8000+16000+3*20000)*time.Millisecond, time.Since(began))
	})
}

// Failures that are far between are no series.
func TestTroubleNowAndThen(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = time.Minute
		for range 30 {
			b.queue.fail(errors.New("connection reset"))
			b.queue.give()
		}
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
	})
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
			bubble(t, func(t *testing.T, b *bench) {
				began := time.Now()
				b.queue.fail(refusal)
				_, err := b.consumer(t).Run(t.Context())
				require.ErrorIs(t, err, refusal)
				require.Len(t, b.queue.asked, 1)
				require.Zero(t, time.Since(began))
			})
		})
	}
}

// A store that is away for half a minute, as a database that is restarted, costs time
// and nothing else: no receive, no attempt, no message.
func TestStoreComesBack(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"record", "begin", "complete"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				began := time.Now()
				b.cfg.UntilEmpty = 5 * time.Second
				watcher := &watcher{}
				b.cfg.Observer = watcher
				b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
				down := time.Time{}
				b.store.before = func(called, _ string) error {
					if called == call && down.IsZero() {
						down = time.Now()
					}
					if !down.IsZero() && time.Since(down) < 30*time.Second {
						return errDisk
					}
					return nil
				}
				summary, err := b.consumer(t).Run(t.Context())
				require.NoError(t, err)
				require.Equal(t, consumer.Summary{Deliveries: 2, Effects: 2}, summary)
				require.Equal(t, []string{"delete hm1", "delete hm2"}, b.diary.read("delete"))
				require.LessOrEqual(t, time.Since(began), 45*time.Second)
				require.Contains(t, b.diary.read("hide"), "hide hm1:30 hm2:30", "hidden meanwhile")
				require.Equal(t, []string{"ready", "not ready: store: " + storeWords(call), "ready"}, brief(watcher.readiness()))
				require.GreaterOrEqual(t, watcher.failed("store"), 15)
			})
		})
	}
}

// storeWords is how the failure of a call is told.
func storeWords(call string) string {
	if call == "record" {
		return "recording what the queue orders.fifo delivered: the disk is full"
	}
	return "the disk is full"
}

// brief leaves out what was told before the first word of the queue, which comes with
// the first answered poll and so before or after the first call to the store.
func brief(told []string) []string {
	if len(told) == 2 {
		return append([]string{"ready"}, told...)
	}
	return told
}

// A store that fails for two minutes ends the run, and what it had in hand is given
// back: every further poll would raise the receive counts of good messages, which the
// redrive policy counts.
func TestBrokenStoreEndsTheRun(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
		b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
		b.store.before = func(string, string) error { return errDisk }
		_, err := b.consumer(t).Run(t.Context())
		require.ErrorIs(t, err, errDisk)
		require.ErrorContains(t, err, "the store has failed for 2m0s, at last when recording")
		require.Len(t, b.queue.asked, 1)
		require.InDelta(t, 120, time.Since(began).Seconds(), 2)
		hides := b.diary.read("hide")
		require.Equal(t, []string{"hide hm2:0", "hide hm1:0"}, hides[len(hides)-2:])
	})
}

// One message that the store will not have, while others go through, is put off and
// does not end the run.
func TestOneMessageBreaksTheStore(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.queue.give(order("m1", "g", 1))
		b.store.before = func(call, message string) error {
			if call == "complete" && message == "m1" {
				return errDisk
			}
			return nil
		}
		for n := range 20 {
			b.queue.then(func() ([]types.Message, error) {
				time.Sleep(10 * time.Second)
				return []types.Message{order(fmt.Sprintf("x%d", n), "h", 10+n)}, nil
			})
		}
		b.cfg.UntilEmpty = 15 * time.Second
		summary, err := b.consumer(t).Run(t.Context())
		require.ErrorIs(t, err, errDisk)
		require.ErrorContains(t, err, "messages of the queue orders.fifo that could not be completed: 1, one of them: message m1")
		require.Equal(t, consumer.Summary{Deliveries: 21, Effects: 20, HeldBack: 1}, summary)
	})
}

// A handler's failure that is not made good before the end is told.
func TestUnfinishedBusiness(t *testing.T) {
	t.Parallel()
	errBank := errors.New("the bank is closed")
	failing := func(times int) handler.Handler {
		return inside(func(_ context.Context, _ receipt.Tx, e handler.Event) error {
			if e.MessageID == "m1" && e.Attempt <= times {
				return errBank
			}
			return nil
		})
	}
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 5 * time.Second
		b.cfg.Handler = failing(99)
		b.queue.give(order("m1", "g", 1), order("m2", "h", 2))
		summary, err := b.consumer(t).Run(t.Context())
		require.ErrorIs(t, err, errBank)
		require.ErrorContains(t, err, "messages of the queue orders.fifo that could not be completed: 1")
		require.Equal(t, consumer.Summary{Deliveries: 2, Effects: 1, Failed: 1}, summary)
	})
	// Had it come again in time, all would have been well.
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 5 * time.Second
		b.cfg.Handler = failing(1)
		b.queue.give(order("m1", "g", 1))
		b.queue.give(again(order("m1", "g", 1), 3))
		summary, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, consumer.Summary{Deliveries: 2, Effects: 1, Failed: 1}, summary)
	})
}

// A reply that comes in spite of the end is recorded and given back at once, not only
// when the handlers have ended.
func TestReplyAfterTheEnd(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
		b.cfg.Handler = sleeper(15 * time.Second)
		b.queue.give(order("m1", "g", 1))
		b.queue.then(func() ([]types.Message, error) {
			time.Sleep(3 * time.Second)
			return []types.Message{order("m2", "h", 2), order("m3", "g", 3)}, nil
		})
		back := time.Duration(0)
		b.queue.onHide = func(_ string, seconds int32) (*types.BatchResultErrorEntry, error) {
			if seconds == 0 {
				back = time.Since(began)
			}
			return nil, nil
		}
		_, stop := b.start(t)
		wait(t, time.Second)
		require.Equal(t, consumer.Summary{Deliveries: 3, Effects: 1, HeldBack: 2}, stop())
		require.Equal(t, 3*time.Second, back)
		require.Equal(t, 15*time.Second, time.Since(began))
	})
}

// Run waits for several things side by side, which a clock that walks cannot serve.
func TestRunNeedsTheMachinesClock(t *testing.T) {
	t.Parallel()
	_, err := setup(t).consumer(t).Run(t.Context())
	require.ErrorContains(t, err, "running needs the machine's clock")
}

func TestRepeatsAreRationed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
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
	})
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
