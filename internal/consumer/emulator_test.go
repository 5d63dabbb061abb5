package consumer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// A late retry, after SQS has forgotten the id, is a new message to the queue and
// a known event to the consumer.
func TestLateRetry(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		first := w.send(t, "g", "id", `{"order":1}`)
		require.Equal(t, first, w.send(t, "g", "id", `{"order":1}`), "a duplicate inside the window")
		require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, w.run(t, nil))
		wait(t, 5*time.Minute)
		require.NotEqual(t, first, w.send(t, "g", "id", `{ "order" : 1 }`))
		require.Equal(t, consumer.Summary{Deliveries: 1, Repeated: 1}, w.run(t, nil))
		require.Equal(t, receipt.Counts{Fresh: 1, Repeated: 1, Effects: 1}, w.counts(t))
	})
}

// Thirty messages of three groups, ten lanes: the effects keep each group's order.
func TestOrderInGroups(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		sent := map[string][]string{}
		for _, group := range []string{"g0", "g1", "g2"} {
			sent[group] = w.sendMany(t, group, 10)
		}
		require.Equal(t, consumer.Summary{Deliveries: 30, Effects: 30}, w.run(t, nil))
		require.Equal(t, sent, w.doers())
	})
}

// A delete that is lost on the way: the retries run out, and the redelivery is
// recorded as what it is.
func TestLostDeletes(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		w.send(t, "g", "id", `{"order":1}`)
		lost := 0
		w.cut = func(action string) error {
			if action == "DeleteMessageBatch" && lost < 3 {
				lost++
				return errors.New("connection reset by peer")
			}
			return nil
		}
		summary := w.run(t, func(cfg *consumer.Config) { cfg.UntilEmpty = 40 * time.Second })
		require.Equal(t, 3, lost)
		require.Equal(t, consumer.Summary{Deliveries: 2, Effects: 1, Redelivered: 1}, summary)
	})
}

// Without a redrive policy a rejected message stays and backs off, its follower waits
// behind it, other groups go on, and the run ends all the same.
func TestRejectedStays(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		bad := w.send(t, "g", "id1", `{"order":`)
		w.send(t, "g", "id2", `{"order":2}`)
		w.send(t, "h", "id3", `{"order":3}`)
		summary := w.run(t, func(cfg *consumer.Config) { cfg.UntilEmpty = time.Minute })
		require.Equal(t, int64(1), summary.Effects)
		require.Equal(t, int64(1), summary.HeldBack, "received once, and given back at the end")
		require.Greater(t, summary.Rejected, int64(3))

		// When it is taken away, the follower is next.
		wait(t, 6*time.Minute)
		out, err := w.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &w.url, MaxNumberOfMessages: 10})
		require.NoError(t, err)
		require.Equal(t, bad, aws.ToString(out.Messages[0].MessageId))
		_, err = w.client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &w.url, ReceiptHandle: out.Messages[0].ReceiptHandle})
		require.NoError(t, err)
		wait(t, time.Minute)
		require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, w.run(t, nil))
	})
}

// C81: stopped with messages at work and waiting. What was not begun is there at once
// for the next consumer, in order, and nothing was sent: the number of messages is what
// it was.
func TestStopKeepsTheNumberOfMessages(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		sent := w.sendMany(t, "g", 5)
		ctx, cancel := context.WithCancel(t.Context())
		c := w.life(t, func(cfg *consumer.Config) {
			cfg.Handler = inside(func(context.Context, receipt.Tx, handler.Event) error { cancel(); return nil })
		})
		summary, err := c.Run(ctx)
		require.NoError(t, err)
		require.Equal(t, consumer.Summary{Deliveries: 5, Effects: 1, HeldBack: 4}, summary)
		require.Equal(t, "4+0", w.left(t, w.url), "one was done and deleted")
		require.Equal(t, 5, w.called("SendMessage"))
		require.Equal(t, sent[1:], w.look(t, w.url))
		for _, r := range receiptsOf(t, w.store)[1:] {
			require.Equal(t, receipt.Pending, r.Kind)
			require.Contains(t, r.Reason, "given back: the consumer stopped")
		}
	})
}

// C79: the signal comes during a 20 s poll, with one handler at work and a maximum
// receive count of 1, where a handler that is cut off would cost its message. The poll
// ends at once, the handler is let finish, and nothing is in the dead-letter queue.
func TestStoppedWithOneReceive(t *testing.T) {
	t.Parallel()
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.send(t, "g", "id", `{"order":1}`)
		entered := make(chan struct{})
		c := w.life(t, func(cfg *consumer.Config) {
			cfg.UntilEmpty, cfg.MaxReceives = 0, 1
			cfg.Handler = outside(func(ctx context.Context, _ handler.Event) (string, error) {
				close(entered)
				time.Sleep(7 * time.Second)
				return "", ctx.Err()
			})
		})
		stop := running(t, c)
		<-entered
		wait(t, 2*time.Second)
		require.Equal(t, 2, w.called("ReceiveMessage"), "one poll is in flight")
		began := time.Now()
		require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, stop())
		require.Equal(t, 5*time.Second, time.Since(began), "what the handler had left to do, and no poll of 20 s")
		require.Equal(t, "0+0", w.left(t, w.url))
		require.Equal(t, "0+0", w.left(t, w.dead))
	})
}

// The drain has a bound: a handler that takes longer has its context ended, its attempt
// failed, and its message is there for others at once.
func TestDrainBound(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]func(entered chan struct{}) handler.Handler{
		"outside": func(entered chan struct{}) handler.Handler {
			return outside(func(ctx context.Context, _ handler.Event) (string, error) {
				close(entered)
				<-ctx.Done()
				return "", ctx.Err()
			})
		},
		"inside": func(entered chan struct{}) handler.Handler {
			return inside(func(ctx context.Context, _ receipt.Tx, _ handler.Event) error {
				close(entered)
				<-ctx.Done()
				return ctx.Err()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, 0, func(t *testing.T, w *world) {
				sent := w.sendMany(t, "g", 3)
				entered := make(chan struct{})
				stop := running(t, w.life(t, func(cfg *consumer.Config) {
					cfg.UntilEmpty, cfg.Drain, cfg.Handler = 0, 3*time.Second, h(entered)
				}))
				<-entered
				wait(t, 40*time.Second)
				began := time.Now()
				require.Equal(t, consumer.Summary{Deliveries: 3, Failed: 1, HeldBack: 2}, stop())
				require.Equal(t, 3*time.Second, time.Since(began))
				require.Equal(t, sent, w.look(t, w.url), "all are back, in order")
				r := receiptsOf(t, w.store)[0]
				require.Equal(t, receipt.Failed, r.Kind)
				require.Contains(t, r.Reason, "stopped: the time that handlers had to end was over")
			})
		})
	}
}

// C80: the first reply is lost. The SDK makes the call again with the same attempt id,
// and gets the same messages, without anybody waiting for their visibility timeout.
func TestReplyIsLost(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		w.sendMany(t, "g", 10)
		lost := false
		w.lose = func(action string) error {
			if action == "ReceiveMessage" && !lost {
				lost = true
				return errors.New("connection reset by peer")
			}
			return nil
		}
		c := w.lifeOn(t, w.sdk(retry.NewStandard()), w.store, nil)
		summary, err := c.Run(t.Context())
		require.NoError(t, err)
		require.True(t, lost)
		require.Equal(t, consumer.Summary{Deliveries: 10, Effects: 10}, summary)
		for _, r := range receiptsOf(t, w.store) {
			require.Less(t, r.ReceivedAt.Sub(w.began), 5*time.Second)
			require.Equal(t, 1, r.ReceiveCount)
		}
	})
}

// C78: one group, a poll of 20 s, a handler of 10 ms, 20 messages. The second ten come
// only when the first are deleted, which no poll may hold up.
func TestDeletesDoNotWaitForThePoll(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		w.sendMany(t, "g", 20)
		stop := running(t, w.life(t, func(cfg *consumer.Config) {
			cfg.UntilEmpty = 0
			cfg.Handler = outside(func(context.Context, handler.Event) (string, error) {
				time.Sleep(10 * time.Millisecond)
				return "", nil
			})
		}))
		wait(t, 250*time.Millisecond)
		require.Equal(t, "0+0", w.left(t, w.url), "20 times 10 ms, whatever a poll takes")
		require.Equal(t, consumer.Summary{Deliveries: 20, Effects: 20}, stop())
	})
}

func TestQueueThatIsGone(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		_, err := w.client.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &w.url})
		require.NoError(t, err)
		_, err = w.life(t, nil).Run(t.Context())
		var missing *types.QueueDoesNotExist
		require.ErrorAs(t, err, &missing)
	})
}

// C32: a failed attempt is made again by redelivery of the same message. Nothing is
// sent, so no window of deduplication can swallow a retry, and attempts are counted on
// the message alone.
func TestRetriesAreRedeliveries(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		id := w.send(t, "g", "id", `{"order":1}`)
		summary := w.run(t, func(cfg *consumer.Config) {
			cfg.UntilEmpty = 2 * time.Minute
			cfg.Handler = inside(func(_ context.Context, _ receipt.Tx, e handler.Event) error {
				if e.Attempt < 5 {
					require.Equal(t, id, w.send(t, "g", "id", `{"order":1}`), "the producer's own retry, which is acknowledged and dropped")
					return errors.New("not yet")
				}
				return nil
			})
		})
		require.Equal(t, consumer.Summary{Deliveries: 5, Effects: 1, Failed: 4}, summary)
		for n, r := range receiptsOf(t, w.store) {
			require.Equal(t, id, r.MessageID)
			require.Equal(t, n+1, r.Attempt.Number)
			require.Equal(t, n+1, r.ReceiveCount)
		}
		require.Equal(t, 5, w.called("SendMessage"), "the producer's")
	})
}
