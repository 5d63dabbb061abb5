package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/backoff"
	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// The wait after a failed attempt is full jitter by its number in the receipts, which
// counts on over consumers, in whole seconds.
func TestBackoffGrowsWithTheAttempts(t *testing.T) {
	t.Parallel()
	inWorld(t, 0, func(t *testing.T, w *world) {
		w.send(t, "g", "id", `{"order":1}`)
		policy := backoff.Policy{Base: 3 * time.Second, Cap: 40 * time.Second}
		watcher := &watcher{}
		for range 2 { // the second goes on where the first stopped
			_, err := w.life(t, func(cfg *consumer.Config) {
				cfg.Observer, cfg.Backoff, cfg.UntilEmpty = watcher, policy, 2*time.Minute
				cfg.Handler = inside(func(_ context.Context, _ receipt.Tx, e handler.Event) error {
					if e.Attempt == 4 || e.Attempt == 8 {
						return &handler.RejectError{Err: errors.New("enough")} // which backs off, too, without a redrive policy
					}
					return errors.New("not yet")
				})
			}).Run(t.Context())
			_ = err
		}
		first, second := seeded(), seeded()
		var want []time.Duration
		for attempt := 1; attempt <= 3; attempt++ {
			want = append(want, backoff.Seconds(policy.Wait(attempt, first)))
		}
		for attempt := 5; attempt <= 7; attempt++ {
			want = append(want, backoff.Seconds(policy.Wait(attempt, second)))
		}
		require.Equal(t, want, watcher.waits)
	})
}

// A handler may name the earliest moment; SQS's 12 hours bound it.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "hide hm1:2"},
		{1500 * time.Millisecond, "hide hm1:2"},
		{70500 * time.Millisecond, "hide hm1:71"},
		{100 * time.Hour, "hide hm1:43190"}, // 43,200 s since the receive, of which 10 are over
	} {
		bubble(t, func(t *testing.T, b *bench) {
			b.cfg.Backoff = steadily(2 * time.Second)
			b.cfg.Handler = outside(func(context.Context, handler.Event) (string, error) {
				if c.after > time.Hour {
					time.Sleep(10 * time.Second)
				}
				return "", fmt.Errorf("503: %w", &handler.RetryError{Err: errors.New("busy"), After: c.after})
			})
			b.queue.give(order("m1", "g", 1))
			_, stop := b.start(t)
			wait(t, 11*time.Second)
			require.Contains(t, b.diary.read("hide"), c.want)
			require.Equal(t, consumer.Summary{Deliveries: 1, Failed: 1}, stop())
		})
	}
}

// Nothing can be carried out until somebody mends something outside: the consumer is not
// ready, one message at a time is tried after a back-off, and none comes nearer to the
// dead-letter queue by that. When it is mended, all goes on.
func TestHaltedHandler(t *testing.T) {
	t.Parallel()
	inWorld(t, 3, func(t *testing.T, w *world) {
		want := map[string][]string{"g": w.sendMany(t, "g", 3), "h": w.sendMany(t, "h", 3)}
		var mended atomic.Bool
		calls := &log{}
		watcher := &watcher{}
		c := w.life(t, func(cfg *consumer.Config) {
			cfg.Observer, cfg.Backoff, cfg.UntilEmpty = watcher, steadily(10*time.Second), 0
			cfg.Handler = outside(func(_ context.Context, e handler.Event) (string, error) {
				calls.add(fmt.Sprintf("%v", time.Since(w.began)))
				if !mended.Load() {
					return "", &handler.HaltError{Err: errors.New("401 Unauthorized")}
				}
				return "", nil
			})
		})
		stop := running(t, c)
		wait(t, 35*time.Second)
		require.Equal(t, []string{"0s", "0s", "10s", "20s", "30s"}, calls.read(), "both groups, and then one message every 10 s")
		require.Equal(t, []string{"ready", "not ready: handler: 401 Unauthorized"}, watcher.readiness())
		require.Zero(t, c.Summary().Deliveries, "all are in hand")
		wait(t, 10*time.Minute)
		mended.Store(true)
		wait(t, 10*time.Second)
		require.Equal(t, []string{"ready", "not ready: handler: 401 Unauthorized", "ready"}, watcher.readiness())
		require.Equal(t, consumer.Summary{Deliveries: 6, Effects: 6}, stop())
		require.Equal(t, want, w.doers())
		for _, r := range receiptsOf(t, w.store) {
			require.Equal(t, 1, r.ReceiveCount)
			if r.Kind == receipt.Failed {
				require.Contains(t, r.Reason, "401 Unauthorized")
			}
		}
		require.Equal(t, "0+0", w.left(t, w.dead))
	})
	// Stopped while it is not mended, everything is given back.
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Handler = outside(func(context.Context, handler.Event) (string, error) {
			return "", &handler.HaltError{Err: errors.New("404 Not Found")}
		})
		b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
		_, stop := b.start(t)
		wait(t, 5*time.Second)
		require.Equal(t, consumer.Summary{Deliveries: 2, Failed: 1, HeldBack: 1}, stop())
		hides := b.diary.read("hide")
		require.Equal(t, []string{"hide hm2:0", "hide hm1:0"}, hides[len(hides)-2:])
	})
}

// The run with an end has one also where nothing can be carried out.
func TestHaltedUntilEmpty(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 30 * time.Second
		b.cfg.Handler = outside(func(context.Context, handler.Event) (string, error) {
			return "", &handler.HaltError{Err: errors.New("404 Not Found")}
		})
		b.queue.give(order("m1", "g", 1), order("m2", "h", 2))
		_, err := b.consumer(t).Run(t.Context())
		require.ErrorContains(t, err, "messages of the queue orders.fifo that could not be completed: 2")
		require.ErrorContains(t, err, "404 Not Found")
	})
}

// Failures are rationed in the log, and no body is in it.
func TestFailuresAreRationed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.UntilEmpty = 5 * time.Second
		b.cfg.Handler = inside(func(context.Context, receipt.Tx, handler.Event) error { return errors.New("no") })
		var reply []types.Message
		for n := range 10 {
			reply = append(reply, order(fmt.Sprint("m", n), fmt.Sprint("g", n), n))
		}
		b.queue.give(reply...)
		_, err := b.consumer(t).Run(t.Context())
		require.ErrorContains(t, err, "could not be completed: 10")
		require.Equal(t, 5, strings.Count(b.log.String(), "not completed, comes again"))
		require.Contains(t, b.log.String(), "--kind failed'\" number=5")
		require.NotContains(t, b.log.String(), "order\"")
	})
}
