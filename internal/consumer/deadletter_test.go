package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

var errPoison = errors.New("poison")

// poisoned fails one message of all, and notes what it is called with.
func poisoned(calls *log, what string) handler.Handler {
	return inside(func(_ context.Context, _ receipt.Tx, e handler.Event) error {
		calls.add(fmt.Sprintf("%s/%d", e.Body, e.Attempt))
		if strings.Contains(e.Body, what) {
			return errPoison
		}
		return nil
	})
}

// Exercise 4 of the source, and wish 1: a maximum receive count of 3, ten messages of
// one group, the first of which always fails: exactly one in the dead-letter queue, the
// other nine carried out once, with one receive each.
func TestPoisonHead(t *testing.T) {
	t.Parallel()
	inWorld(t, 3, poisonHead)
}

func TestPoisonHeadOnDisk(t *testing.T) {
	t.Parallel()
	onFile(t, diskFile(t), 3, poisonHead)
}

func poisonHead(t *testing.T, w *world) {
	sent := w.sendMany(t, "g", 10)
	calls := &log{}
	summary := w.run(t, func(cfg *consumer.Config) { cfg.Handler = poisoned(calls, `"order":0`) })
	require.Equal(t, consumer.Summary{Deliveries: 12, Effects: 9, Failed: 3, Dead: 1}, summary)
	require.Equal(t, sent[:1], w.look(t, w.dead))
	require.Equal(t, "0+0", w.left(t, w.url))
	require.Equal(t, map[string][]string{"g": sent[1:]}, w.doers(), "in order")
	for _, r := range receiptsOf(t, w.store) {
		if r.Kind == receipt.Fresh {
			require.Equal(t, 1, r.ReceiveCount, "they were not carried along")
		}
	}
	var want []string
	for attempt := range 3 {
		want = append(want, fmt.Sprintf(`{"group":"g","order":0}/%d`, attempt+1))
	}
	for n := range 9 {
		want = append(want, fmt.Sprintf(`{"group":"g","order":%d}/1`, n+1))
	}
	require.Equal(t, want, calls.read())
	attempts, err := w.store.Message(t.Context(), sent[0])
	require.NoError(t, err)
	require.Len(t, attempts, 3)
	for n, r := range attempts {
		require.Equal(t, receipt.Failed, r.Kind)
		require.Contains(t, r.Reason, "poison")
		require.Equal(t, n+1, r.Attempt.Number)
	}
	require.Less(t, time.Since(w.began), time.Minute)
}
