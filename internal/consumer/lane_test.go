package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// C77: ten messages, five each of two groups: one at a time in each group, in order, and
// the groups side by side.
func TestOneAtATimePerGroup(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		want := map[string][]string{"g": w.sendMany(t, "g", 5), "h": w.sendMany(t, "h", 5)}
		var mu sync.Mutex
		at := map[string]int{}
		watcher := &watcher{}
		summary := w.run(t, func(cfg *consumer.Config) {
			cfg.Observer = watcher
			cfg.Handler = outside(func(_ context.Context, e handler.Event) (string, error) {
				mu.Lock()
				at[e.Group]++
				require.Equal(t, 1, at[e.Group])
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				at[e.Group]--
				mu.Unlock()
				return "", nil
			})
		})
		require.Equal(t, int64(10), summary.Effects)
		require.Equal(t, want, w.doers())
		require.Equal(t, 2, watcher.widest)
		require.Less(t, time.Since(w.began), 11*time.Second, "5 s side by side, and 5 s of silence")
	})
}

// Concurrency bounds how many groups are at work, and lanes take turns.
func TestConcurrencyIsABound(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		for n := range 9 {
			w.sendMany(t, fmt.Sprint("g", n), 2)
		}
		watcher := &watcher{}
		summary := w.run(t, func(cfg *consumer.Config) {
			cfg.Concurrency, cfg.Observer, cfg.Handler = 3, watcher, sleeper(time.Second)
		})
		require.Equal(t, int64(18), summary.Effects)
		require.Equal(t, 3, watcher.widest)
		require.Less(t, time.Since(w.began), 16*time.Second, "18 s of work, three at once, and then a poll of 5 s that finds nothing")
	})
}

// On a standard queue nothing is ordered, not even by a group (fair queues), and no
// message holds back another.
func TestStandardQueue(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Queue, b.cfg.UntilEmpty = "http://sqs.example/123456789012/orders", 5*time.Second
		b.cfg.Handler = inside(func(_ context.Context, _ receipt.Tx, e handler.Event) error {
			if e.MessageID == "m1" {
				return errPoison
			}
			return nil
		})
		b.queue.give(order("m1", "g", 1), order("m2", "g", 2), order("m3", "", 3))
		summary, err := b.consumer(t).Run(t.Context())
		require.ErrorIs(t, err, errPoison)
		require.Equal(t, consumer.Summary{Deliveries: 3, Effects: 2, Failed: 1}, summary)
		require.Nil(t, b.queue.asked[0].ReceiveRequestAttemptId)
	})
}

// doubling is wish 18: it hands out every message twice, as a queue may.
type doubling struct{ consumer.Queue }

func (d doubling) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, o ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	out, err := d.Queue.ReceiveMessage(ctx, in, o...)
	if err != nil {
		return nil, err
	}
	var twice []types.Message
	for _, m := range out.Messages {
		twice = append(twice, m, m)
	}
	out.Messages = twice
	return out, nil
}

func TestEveryMessageTwice(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		want := map[string][]string{}
		for n := range 5 {
			group := fmt.Sprint("g", n)
			want[group] = w.sendMany(t, group, 8)
		}
		summary, err := w.lifeOn(t, doubling{w.client}, w.store, nil).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, consumer.Summary{Deliveries: 80, Effects: 40, Redelivered: 40}, summary)
		require.Equal(t, want, w.doers())
		require.Equal(t, receipt.Counts{Fresh: 40, Redelivered: 40, Effects: 40}, w.counts(t))
		require.Equal(t, "0+0", w.left(t, w.url))
	})
}

// C80 and throughput: while there is a backlog, several polls are in flight, each with an
// attempt id of its own.
func TestPollsSideBySide(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		for n := range 6 {
			b.queue.then(func() ([]types.Message, error) {
				time.Sleep(time.Second)
				var reply []types.Message
				for i := range 10 {
					reply = append(reply, order(fmt.Sprintf("m%d-%d", n, i), fmt.Sprint("g", n, i), 10*n+i))
				}
				return reply, nil
			})
		}
		b.cfg.UntilEmpty = 5 * time.Second
		began := time.Now()
		summary, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(60), summary.Effects)
		require.Less(t, time.Since(began), 10*time.Second, "six replies of 1 s in less than 4 s, and silence")
		ids := map[string]bool{}
		for _, in := range b.queue.asked {
			ids[*in.ReceiveRequestAttemptId] = true
		}
		require.Len(t, ids, len(b.queue.asked))
	})
}

// C63: while a failed message backs off, and while heartbeats go on, no transaction is
// open.
func TestNoTransactionWaits(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Backoff = steadily(30 * time.Second)
		b.cfg.Handler = inside(func(context.Context, receipt.Tx, handler.Event) error {
			require.Equal(t, 1, b.store.transactions())
			return errors.New("not yet")
		})
		b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
		_, stop := b.start(t)
		for range 29 {
			wait(t, time.Second)
			require.Zero(t, b.store.transactions())
		}
		require.Equal(t, []string{"record 2", "begin m1", "complete m1", "release failed m1"}, b.diary.read("record", "begin", "complete", "release"))
		require.NotEmpty(t, b.diary.read("hide hm2:30"), "the one that is held had heartbeats")
		stop()
	})
	// Neither is one while a handler reaches outside.
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 5 * time.Second
		b.cfg.Handler = outside(func(context.Context, handler.Event) (string, error) {
			require.Zero(t, b.store.transactions())
			return "", nil
		})
		b.queue.give(order("m1", "g", 1))
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
	})
}

// A handler that panics has failed, with the panic's text; the consumer lives.
func TestPanicIsAFailure(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]handler.Handler{
		"inside":  inside(func(context.Context, receipt.Tx, handler.Event) error { panic("no such account") }),
		"outside": outside(func(context.Context, handler.Event) (string, error) { panic("no such account") }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, 3, func(t *testing.T, w *world) {
				sent := w.sendMany(t, "g", 1)
				require.Equal(t, consumer.Summary{Deliveries: 3, Failed: 3, Dead: 1}, w.run(t, func(cfg *consumer.Config) { cfg.Handler = h }))
				require.Equal(t, sent, w.look(t, w.dead))
				for _, r := range receiptsOf(t, w.store) {
					require.Contains(t, r.Reason, "the handler panicked: no such account")
				}
			})
		})
	}
}

// What a handler is given, and what is kept of what it says.
func TestEvent(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		var got handler.Event
		b.cfg.UntilEmpty = 5 * time.Second
		b.cfg.Handler = outside(func(_ context.Context, e handler.Event) (string, error) {
			got = e
			return strings.Repeat("é", 1000), nil
		})
		const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		b.queue.give(message("m1", "g", `{"order": 1}`, "traceparent", trace, "first-message-id", "m0"))
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, `{"order": 1}`, got.Body, "as it was sent")
		require.Equal(t, trace, got.Traceparent)
		require.Equal(t, 1, got.Attempt)
		require.Equal(t, "m0", got.Identity())
		require.Equal(t, sha(got.Key.Encode()), got.IdempotencyKey)
		for _, entry := range b.store.inbox {
			require.Equal(t, strings.Repeat("é", 512), entry.Result, "1024 bytes")
		}
	})
}
