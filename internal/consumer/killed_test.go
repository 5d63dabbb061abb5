package consumer_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

var errKilled = errors.New("killed")

// mortal is a process that may be killed: from then on nothing that it calls comes to
// anything.
type mortal struct {
	consumer.Queue
	receipt.Store

	mu   sync.Mutex
	dead bool
	end  context.CancelFunc
}

func (m *mortal) kill() {
	m.mu.Lock()
	m.dead = true
	m.mu.Unlock()
	m.end()
}

func (m *mortal) alive() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	return nil
}

func (m *mortal) DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput, o ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.Queue.DeleteMessageBatch(ctx, in, o...)
}

func (m *mortal) ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, o ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.Queue.ChangeMessageVisibilityBatch(ctx, in, o...)
}

func (m *mortal) Complete(ctx context.Context, c receipt.Claim, now time.Time, result string, effect receipt.Effect) error {
	if err := m.alive(); err != nil {
		return err
	}
	var own receipt.Effect
	if effect != nil {
		own = func(ctx context.Context, tx receipt.Tx, claim receipt.Claim) error {
			if err := effect(ctx, tx, claim); err != nil {
				return err
			}
			return m.alive() // killed before the commit
		}
	}
	return m.Store.Complete(ctx, c, now, result, own)
}

func (m *mortal) Release(ctx context.Context, c receipt.Claim, end receipt.Ending) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Release(ctx, c, end)
}

func (m *mortal) Settle(ctx context.Context, id int64, end receipt.Ending) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Settle(ctx, id, end)
}

// dies runs a consumer in a process that the test kills.
func (w *world) dies(t *testing.T, change func(cfg *consumer.Config, m *mortal)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := &mortal{Queue: w.client, Store: w.store, end: cancel}
	_, _ = w.lifeOn(t, m, m, func(cfg *consumer.Config) {
		cfg.Drain = time.Second
		change(cfg, m)
	}).Run(ctx)
	require.Error(t, m.alive(), "it was killed")
}

// C58: the handler calls a payment API and its process is killed right after. That is
// at least once: the call is made again when the lease has ended, with the same key,
// by which the other side can know it. How long that takes is an option.
func TestKilledAfterTheCall(t *testing.T) {
	t.Parallel()
	for _, lease := range []time.Duration{60 * time.Second, 90 * time.Second} {
		t.Run(lease.String(), func(t *testing.T) {
			t.Parallel()
			inWorld(t, 0, func(t *testing.T, w *world) {
				w.send(t, "g", "id", `{"order":1}`)
				calls := &log{}
				var at []time.Time
				pay := func(killed func()) handler.Handler {
					return outside(func(_ context.Context, e handler.Event) (string, error) {
						calls.add(e.IdempotencyKey)
						at = append(at, time.Now())
						killed()
						return "paid", nil
					})
				}
				w.dies(t, func(cfg *consumer.Config, m *mortal) { cfg.Handler, cfg.Lease = pay(m.kill), lease })
				watcher := &watcher{}
				summary := w.run(t, func(cfg *consumer.Config) {
					cfg.Handler, cfg.Lease, cfg.UntilEmpty, cfg.Observer = pay(func() {}), lease, 2*lease, watcher
				})
				require.Equal(t, int64(1), summary.Effects)
				require.Len(t, calls.read(), 2)
				require.Equal(t, calls.read()[0], calls.read()[1])
				require.Len(t, calls.read()[0], 64)
				require.GreaterOrEqual(t, at[1].Sub(at[0]), lease)
				require.Less(t, at[1].Sub(at[0]), lease+5*time.Second)
				require.Contains(t, watcher.events, "took over "+receiptsOf(t, w.store)[0].MessageID)
			})
		})
	}
}

// The consumer is killed at each point of its work. The message comes again after its
// visibility timeout, and there is one effect.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		kill func(w *world, cfg *consumer.Config, m *mortal)
		then consumer.Summary
		want receipt.Counts
	}{
		{
			"inside the transaction",
			func(_ *world, cfg *consumer.Config, m *mortal) {
				cfg.Handler = inside(func(ctx context.Context, tx receipt.Tx, _ handler.Event) error {
					_, err := tx.ExecContext(ctx, "CREATE TABLE ledger (n INTEGER)")
					m.kill()
					return err
				})
			},
			consumer.Summary{Deliveries: 2, Effects: 2},
			receipt.Counts{Pending: 2, Fresh: 2, Effects: 2},
		},
		{
			"between commit and delete",
			func(w *world, cfg *consumer.Config, m *mortal) {
				cfg.Handler = inside(func(ctx context.Context, _ receipt.Tx, e handler.Event) error {
					if e.Body == `{"order":2}` { // the lane goes on while the delete is under way
						<-ctx.Done()
					}
					return ctx.Err()
				})
				w.cut = func(action string) error {
					if action == "DeleteMessageBatch" {
						m.kill()
						return errKilled
					}
					return nil
				}
			},
			consumer.Summary{Deliveries: 2, Effects: 1, Redelivered: 1},
			receipt.Counts{Pending: 1, Fresh: 2, Redelivered: 1, Effects: 1}, // the first one's was its handler's
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, 0, func(t *testing.T, w *world) {
				w.send(t, "g", "id1", `{"order":1}`)
				w.send(t, "g", "id2", `{"order":2}`)
				w.dies(t, func(cfg *consumer.Config, m *mortal) {
					cfg.Concurrency = 1
					c.kill(w, cfg, m)
				})
				w.cut = nil
				require.Zero(t, w.run(t, nil).Deliveries, "hidden for 30 s")
				wait(t, 30*time.Second)
				require.Equal(t, c.then, w.run(t, nil))
				require.Zero(t, w.run(t, nil).Deliveries)
				require.Equal(t, c.want, w.counts(t))
				require.Equal(t, "0+0", w.left(t, w.url))
			})
		})
	}
}
