package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// sleeper takes its time over every message.
func sleeper(d time.Duration) handler.Handler {
	return outside(func(ctx context.Context, _ handler.Event) (string, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return "", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
}

// C70: a heartbeat hides a message for the visibility timeout from now; it adds nothing
// to what is left. With 30 s it comes after 10 s at the latest, so well before the end,
// and a process that dies then leaves the message to others 30 s later, not more.
func TestBeatCountsFromNow(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
		b.cfg.Handler = sleeper(65 * time.Second)
		var beats []time.Duration
		b.queue.onHide = func(_ string, seconds int32) (*types.BatchResultErrorEntry, error) {
			require.Equal(t, int32(30), seconds, "the timeout itself, however much was left")
			beats = append(beats, time.Since(began))
			return nil, nil
		}
		b.queue.give(order("m1", "g", 1))
		b.cfg.UntilEmpty = 5 * time.Second
		summary, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(1), summary.Effects)
		last := time.Duration(0)
		for _, beat := range beats {
			require.LessOrEqual(t, beat-last, 10*time.Second)
			last = beat
		}
		require.Greater(t, last, 55*time.Second, "until the end of the work")
		require.Less(t, last, 65*time.Second, "and not after it")
		require.LessOrEqual(t, len(beats), 9)
	})
	inWorld(t, 0, func(t *testing.T, w *world) {
		id := w.send(t, "g", "id", `{"order":1}`)
		var died time.Time
		w.dies(t, func(cfg *consumer.Config, m *mortal) {
			cfg.Handler = outside(func(context.Context, handler.Event) (string, error) {
				time.Sleep(25 * time.Second) // the last heartbeat was at 22.5 s
				died = time.Now()
				m.kill()
				return "", errKilled
			})
		})
		wait(t, time.Until(died.Add(27*time.Second)))
		require.Empty(t, w.look(t, w.url), "hidden until 52.5 s")
		wait(t, time.Until(died.Add(28*time.Second)))
		require.Equal(t, []string{id}, w.look(t, w.url))
	})
}

// C72: ten messages of one group, 2 s each, visibility 5 s: none comes again, and what
// is finished gets no heartbeat any more.
func TestFullReplyOfOneGroup(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		sent := w.sendMany(t, "g", 10)
		summary := w.run(t, func(cfg *consumer.Config) {
			cfg.Visibility, cfg.Handler = 5*time.Second, sleeper(2*time.Second)
		})
		require.Equal(t, consumer.Summary{Deliveries: 10, Effects: 10}, summary)
		require.Equal(t, map[string][]string{"g": sent}, w.doers())
	})
	bubble(t, func(t *testing.T, b *bench) {
		var reply []types.Message
		for n := range 10 {
			reply = append(reply, order(fmt.Sprintf("m%d", n), "g", n))
		}
		b.queue.give(reply...)
		b.cfg.Visibility, b.cfg.Handler, b.cfg.UntilEmpty = 5*time.Second, sleeper(2*time.Second), 5*time.Second
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		lines := b.diary.read("hide", "delete")
		for n := range 10 {
			gone := slices.Index(lines, fmt.Sprintf("delete hm%d", n))
			require.GreaterOrEqual(t, gone, 0)
			require.NotContains(t, strings.Join(lines[gone:], "\n"), fmt.Sprintf("hm%d:", n), "stopped before it was deleted")
		}
		require.Contains(t, lines[0], "hm9:5", "those that wait are hidden, too")
	})
}

// A message is deleted only when the heartbeat that is under way has come back.
func TestDeleteWaitsForTheBeat(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.queue.give(order("m1", "g", 1))
		b.cfg.UntilEmpty = 30 * time.Second
		b.cfg.Handler = sleeper(11 * time.Second)
		b.queue.onHide = func(string, int32) (*types.BatchResultErrorEntry, error) {
			time.Sleep(6 * time.Second) // sent after 7.5 s, and so at work when the handler ends
			b.diary.notef("the beat is over")
			return nil, nil
		}
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"the beat is over", "hide hm1:30", "delete hm1"}, b.diary.read("hide", "the", "delete"))
	})
}

// C73: ten messages of ten groups and one worker that needs 10 s for each, visibility
// 30 s: those that wait have a heartbeat from the receive on.
func TestWaitingForAWorker(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		for n := range 10 {
			w.send(t, fmt.Sprint("g", n), fmt.Sprint(n), fmt.Sprintf(`{"order":%d}`, n))
		}
		summary := w.run(t, func(cfg *consumer.Config) {
			cfg.Concurrency, cfg.Handler = 1, sleeper(10*time.Second)
		})
		require.Equal(t, consumer.Summary{Deliveries: 10, Effects: 10}, summary)
	})
	// Where heartbeats come to nothing, what has expired is dropped before it begins.
	for name, answer := range map[string]func(string, int32) (*types.BatchResultErrorEntry, error){
		"refused": func(string, int32) (*types.BatchResultErrorEntry, error) { return expired(), nil },
		"cut off": func(string, int32) (*types.BatchResultErrorEntry, error) { return nil, errors.New("broken pipe") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				var begun log
				b.cfg.Concurrency = 1
				b.cfg.Handler = outside(func(_ context.Context, e handler.Event) (string, error) {
					begun.add(e.MessageID)
					time.Sleep(40 * time.Second)
					return "", nil
				})
				b.queue.onHide = answer
				b.queue.give(order("m1", "g", 1), order("m2", "h", 2), order("m3", "i", 3))
				_, stop := b.start(t)
				wait(t, 41*time.Second)
				require.Equal(t, consumer.Summary{Deliveries: 3, Effects: 1, HeldBack: 2}, stop())
				require.Equal(t, []string{"m1"}, begun.read())
				require.Contains(t, b.receipts(t)[1].Reason, "its visibility timeout ran out before its turn")
			})
		})
	}
}

// A message that comes again while its first delivery waits is worked on once, by the
// handle that is good.
func TestComesAgainWhileWaiting(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Handler, b.cfg.UntilEmpty = sleeper(time.Second), 5*time.Second
		b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
		b.queue.give(again(order("m2", "g", 2), 3))
		summary, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, consumer.Summary{Deliveries: 3, Effects: 2, HeldBack: 1}, summary)
		require.Equal(t, []string{"delete hm1", "delete hm2-3"}, b.diary.read("delete"))
	})
}

// What was overtaken on the way here is worked on in the order of sequence numbers, as
// numbers, however long they are.
func TestOrderIsTheSequence(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		var calls log
		b.cfg.UntilEmpty = 5 * time.Second
		b.cfg.Handler = outside(func(_ context.Context, e handler.Event) (string, error) {
			calls.add(e.MessageID)
			time.Sleep(time.Second)
			return "", nil
		})
		numbered := func(id, sequence string) types.Message {
			m := order(id, "g", len(id)+len(sequence))
			m.Body = &id
			m.Attributes["SequenceNumber"] = sequence
			m.MessageAttributes["idempotency-key"] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &id}
			return m
		}
		b.queue.give(numbered("m1", "8"), numbered("m4", "340282366920938463463374607431768211455"))
		b.queue.give(numbered("m2", "9"), numbered("m3", "00010"))
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"m1", "m2", "m3", "m4"}, calls.read())
	})
}

// No heartbeat comes after the back-off was asked for: it would undo that.
func TestBackoffHasTheLastWord(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Backoff = steadily(2 * time.Second)
		b.cfg.Handler = outside(func(context.Context, handler.Event) (string, error) { return "", errPoison })
		b.queue.onHide = func(string, int32) (*types.BatchResultErrorEntry, error) {
			time.Sleep(9 * time.Second) // longer than to the next heartbeat
			return nil, nil
		}
		b.queue.give(order("m1", "g", 1))
		_, stop := b.start(t)
		wait(t, 20*time.Second)
		require.Equal(t, []string{"hide hm1:2"}, b.diary.read("hide"))
		stop()
	})
}

// SQS lets nobody hide a message for more than 12 hours in all. The last heartbeat asks
// for what is left.
func TestTwelveHours(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
		b.cfg.Visibility, b.cfg.Handler = time.Hour, sleeper(13*time.Hour)
		var latest time.Time
		b.queue.onHide = func(_ string, seconds int32) (*types.BatchResultErrorEntry, error) {
			latest = time.Now().Add(time.Duration(seconds) * time.Second)
			if latest.After(began.Add(12 * time.Hour)) {
				return expired(), nil
			}
			return nil, nil
		}
		b.queue.give(order("m1", "g", 1))
		_, stop := b.start(t)
		wait(t, 13*time.Hour+time.Second)
		require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, stop())
		require.Equal(t, began.Add(12*time.Hour), latest)
		require.Empty(t, b.log.String())
	})
}

// The lease is renewed while a handler reaches outside, after a third of it; it is not
// where the effect is in the transaction, which is itself the lease.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Lease, b.cfg.Handler, b.cfg.UntilEmpty = 12*time.Second, sleeper(25*time.Second), 5*time.Second
		b.queue.give(order("m1", "g", 1))
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"begin m1", "renew m1", "renew m1", "renew m1", "renew m1", "renew m1", "renew m1", "complete m1"},
			b.diary.read("begin", "renew", "complete"), "at 4, 8, 12, 16, 20 and 24 s")
	})
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 5 * time.Second
		b.cfg.Handler = inside(func(context.Context, receipt.Tx, handler.Event) error { time.Sleep(time.Minute); return nil })
		b.queue.give(order("m1", "g", 1))
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Empty(t, b.diary.read("renew"))
		require.NotEmpty(t, b.diary.read("hide"))
	})
}

// Somebody else has the lease: the handler's context ends, and whatever it says then
// counts for nothing. The message waits for what comes of the other's attempt.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	for name, ending := range map[string]error{"a success": nil, "a failure": errors.New("interrupted")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				began := time.Now()
				b.store.before = func(call, _ string) error {
					if call == "renew" && time.Since(began) > 15*time.Second {
						return receipt.ErrLost
					}
					return nil
				}
				var told time.Duration
				b.cfg.Handler = outside(func(ctx context.Context, _ handler.Event) (string, error) {
					<-ctx.Done()
					told = time.Since(began)
					require.ErrorIs(t, context.Cause(ctx), receipt.ErrLost)
					return "", ending
				})
				b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
				c, stop := b.start(t)
				wait(t, 25*time.Second)
				require.Equal(t, 20*time.Second, told, "the second renewal")
				require.Equal(t, consumer.Summary{Deliveries: 1, HeldBack: 1}, c.Summary(), "the follower is held")
				require.Empty(t, b.diary.read("complete", "release"))
				require.Contains(t, b.diary.read("hide"), "hide hm1:30", "for a lease")
				require.Equal(t, int64(2), stop().HeldBack)
			})
		})
	}
}

// A store that fails to renew is asked again; the handler goes on.
func TestRenewalFailsForAWhile(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		failures := 0
		b.store.before = func(call, _ string) error {
			if call == "renew" && failures < 3 {
				failures++
				return errDisk
			}
			return nil
		}
		b.cfg.Handler, b.cfg.UntilEmpty = sleeper(25*time.Second), 5*time.Second
		b.queue.give(order("m1", "g", 1))
		summary, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(1), summary.Effects)
		require.Equal(t, 3, failures)
	})
}
