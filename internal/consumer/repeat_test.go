package consumer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// Exercise 1 of the source, its third part: two equal events a day apart. By default the
// second is a repeat without effect; with the policy run, or with a pointer key that
// differs, it has its own.
func TestEqualEventsADayApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		policy        receipt.Policy
		rule          string
		first, second string
		then          consumer.Summary
	}{
		{"by default", "", "", `{"order":1}`, `{ "order": 1.0 }`, consumer.Summary{Deliveries: 1, Repeated: 1}},
		{"rejected", receipt.Refuse, "", `{"order":1}`, `{"order":1}`, consumer.Summary{Deliveries: 3, Rejected: 3}},
		{"run", receipt.Run, "", `{"order":1}`, `{"order":1}`, consumer.Summary{Deliveries: 1, Effects: 1}},
		{"a pointer key", "", "pointer:/event", `{"order":1,"event":1}`, `{"order":1,"event":2}`, consumer.Summary{Deliveries: 1, Effects: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, 3, func(t *testing.T, w *world) {
				watcher := &watcher{}
				set := func(cfg *consumer.Config) {
					cfg.Observer, cfg.Repeated = watcher, c.policy
					if c.rule != "" {
						cfg.Key = rule(t, c.rule)
					}
				}
				first := w.send(t, "g", "id", c.first)
				require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, w.run(t, set))
				wait(t, 24*time.Hour)
				second := w.send(t, "g", "id", c.second)
				require.NotEqual(t, first, second)
				require.Equal(t, c.then, w.run(t, set))
				if c.then.Repeated > 0 {
					require.Contains(t, watcher.events, "settled "+second+": repeated true")
					require.Equal(t, first, receiptsOf(t, w.store)[1].First.MessageID)
				}
			})
		})
	}
}

// With the policy run the MessageId joins the key of a repeat, so that its own
// redelivery has no second effect.
func TestRepeatedRunIsStillIdempotent(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		calls := &log{}
		set := func(cfg *consumer.Config) {
			cfg.Repeated = receipt.Run
			cfg.Handler = inside(func(_ context.Context, _ receipt.Tx, e handler.Event) error {
				calls.add(e.IdempotencyKey)
				return nil
			})
		}
		w.send(t, "g", "id1", `{"order":1}`)
		require.Equal(t, int64(1), w.run(t, set).Effects)
		w.send(t, "g", "id2", `{"order":1}`)
		w.dies(t, func(cfg *consumer.Config, m *mortal) {
			set(cfg)
			w.cut = func(action string) error { // between commit and delete
				if action == "DeleteMessageBatch" {
					m.kill()
					return errKilled
				}
				return nil
			}
		})
		w.cut = nil
		wait(t, 30*time.Second)
		require.Equal(t, consumer.Summary{Deliveries: 1, Redelivered: 1}, w.run(t, set))
		require.Len(t, calls.read(), 2)
		require.NotEqual(t, calls.read()[0], calls.read()[1], "another event has another key")
	})
}

// Two consumers of one database with names of their own each have their own effect of an
// event; with one name there is one.
func TestOneKeyTwoConsumers(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		sent := 0
		as := func(name string) consumer.Summary {
			sent++
			w.send(t, "g", fmt.Sprint("id", sent), `{"order":1}`)
			return w.run(t, func(cfg *consumer.Config) { cfg.Name = name })
		}
		one := consumer.Summary{Deliveries: 1, Effects: 1}
		require.Equal(t, one, as(""))
		require.Equal(t, one, as("ledger"))
		require.Equal(t, one, as("audit"))
		require.Equal(t, consumer.Summary{Deliveries: 1, Repeated: 1}, as("orders.fifo"), "the default name is the queue's")
		require.Equal(t, consumer.Summary{Deliveries: 1, Repeated: 1}, as("audit"))
	})
}

// rivals sends one event as two messages in two groups and lets one consumer work on
// both at once, with a handler of 40 s and a lease of 15 s.
func rivals(t *testing.T, w *world, second string, attributes ...string) (calls *log, watched *watcher, summary consumer.Summary) {
	t.Helper()
	calls, watched = &log{}, &watcher{}
	w.send(t, "g", "id1", `{"order":1}`, attributes...)
	c := w.life(t, func(cfg *consumer.Config) {
		cfg.Lease, cfg.Observer, cfg.UntilEmpty = 15*time.Second, watched, 40*time.Second
		cfg.Handler = outside(func(_ context.Context, e handler.Event) (string, error) {
			calls.add(e.MessageID)
			time.Sleep(40 * time.Second)
			return "paid", nil
		})
	})
	ended := make(chan error)
	go func() {
		var err error
		summary, err = c.Run(t.Context())
		ended <- err
	}()
	wait(t, 5*time.Second)
	w.send(t, "h", "id2", second, attributes...)
	require.NoError(t, <-ended)
	return calls, watched, summary
}

// C61: the key is claimed before the handler is called, so that of two deliveries at
// once only one makes the call. C60: the one that loses the race waits; it is no failure
// of the store, and in the end a duplicate that is deleted.
func TestClaimBeforeCall(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		calls, _, _ := rivals(t, w, `{"order":1}`)
		require.Len(t, calls.read(), 1)
	})
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 5 * time.Second
		b.cfg.Handler = outside(func(context.Context, handler.Event) (string, error) {
			b.diary.notef("call")
			return "", nil
		})
		b.queue.give(order("m1", "g", 1))
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"record 1", "begin m1", "call", "complete m1", "delete hm1"},
			b.diary.read("record", "begin", "call", "complete", "delete"))
	})
}

func TestLosingTheInsertRace(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		calls, watched, summary := rivals(t, w, `{"order":1}`)
		require.Len(t, calls.read(), 1)
		require.Equal(t, int64(1), summary.Effects)
		require.Equal(t, int64(1), summary.Repeated)
		require.Equal(t, int64(2), summary.Deliveries, "it waited in hand, and did not come nearer to a dead-letter queue")
		require.Zero(t, summary.Failed)
		require.Zero(t, watched.failed("store"))
		require.Equal(t, []string{"ready"}, watched.readiness())
		require.Equal(t, "0+0", w.left(t, w.url))
	})
}

// C68: a key in flight with one body, and a second message with the key and another
// body: that is told before the wait, as a conflict.
func TestConflictIsToldFirst(t *testing.T) {
	t.Parallel()
	inWorld(t, 3, func(t *testing.T, w *world) {
		calls, _, summary := rivals(t, w, `{"order":2}`, "idempotency-key", "k")
		require.Len(t, calls.read(), 1)
		require.Equal(t, consumer.Summary{Deliveries: 4, Effects: 1, Rejected: 3}, summary)
		all := receiptsOf(t, w.store)
		require.Equal(t, receipt.Rejected, all[1].Kind)
		require.Contains(t, all[1].Reason, "the key is known with another body")
		require.Less(t, all[3].ReceivedAt.Sub(w.began), 10*time.Second, "while the first was still at work")
		require.Equal(t, "1+0", w.left(t, w.dead))
	})
}

// C93: what was replayed is done, at work or failed: skipped, left alone, carried out.
func TestReplayed(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		done := w.send(t, "g", "id1", `{"order":1}`)
		require.Equal(t, int64(1), w.run(t, nil).Effects)
		failed := w.send(t, "g", "id2", `{"order":2}`)
		_, err := w.life(t, func(cfg *consumer.Config) {
			cfg.Handler = inside(func(context.Context, receipt.Tx, handler.Event) error { return errPoison })
		}).Run(t.Context())
		require.ErrorIs(t, err, errPoison)
		wait(t, time.Minute)
		w.send(t, "h", "copy1", `{"order":1}`, "first-message-id", done)
		w.send(t, "i", "copy2", `{"order":2}`, "first-message-id", failed)
		summary := w.run(t, nil)
		require.Equal(t, int64(1), summary.Effects, "that which failed, by whichever of its copies came first")
		require.Equal(t, int64(2), summary.Redelivered, "a copy is the message itself, which was done")
	})
}
