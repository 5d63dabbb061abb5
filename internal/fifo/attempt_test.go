package fifo_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/fifo"
)

// API reference, ReceiveMessage, ReceiveRequestAttemptId.
func TestReceiveAttempt(t *testing.T) {
	t.Parallel()
	attempt := func(b *bench) ([]fifo.Delivery, error) {
		got, dead, err := b.queue.Receive(b.now, fifo.Ask{Max: 2, Visibility: -1, AttemptID: "try"})
		require.Empty(b.t, dead)
		return got, err
	}
	setup := func(t *testing.T) (*bench, []fifo.Delivery) {
		b := newBench(t)
		b.send("a", "1", "2", "3")
		b.send("b", "4")
		first, err := attempt(b)
		require.NoError(t, err)
		require.Equal(t, []string{"1", "2"}, bodies(first))
		return b, first
	}

	t.Run("the same messages, hidden anew", func(t *testing.T) {
		t.Parallel()
		b, first := setup(t)
		b.pass(20 * time.Second)
		again, err := attempt(b)
		require.NoError(t, err)
		require.Equal(t, first, again)
		b.pass(20 * time.Second)
		b.delete(again[0])
	})
	t.Run("not retryable after a delete", func(t *testing.T) {
		t.Parallel()
		b, first := setup(t)
		b.delete(first[1])
		_, err := attempt(b)
		require.ErrorIs(t, err, fifo.ErrNotRetryable)
	})
	t.Run("not retryable after a visibility change", func(t *testing.T) {
		t.Parallel()
		b, first := setup(t)
		b.change(first[0], 0)
		_, err := attempt(b)
		require.ErrorIs(t, err, fifo.ErrNotRetryable)
	})
	t.Run("an ordinary receive once the visibility is over", func(t *testing.T) {
		t.Parallel()
		b, first := setup(t)
		b.pass(30 * time.Second)
		again, err := attempt(b)
		require.NoError(t, err)
		require.Equal(t, bodies(first), bodies(again))
		require.Equal(t, 2, again[0].Count)
	})
	t.Run("forgotten after five minutes", func(t *testing.T) {
		t.Parallel()
		b, first := setup(t)
		b.change(first[0], time.Hour)
		b.change(first[1], time.Hour)
		b.pass(5*time.Minute - 1)
		_, err := attempt(b)
		require.ErrorIs(t, err, fifo.ErrNotRetryable)
		b.pass(1)
		again, err := attempt(b)
		require.NoError(t, err)
		require.Equal(t, []string{"4"}, bodies(again))
	})
	t.Run("another id is another receive", func(t *testing.T) {
		t.Parallel()
		b, _ := setup(t)
		got, _, err := b.queue.Receive(b.now, fifo.Ask{Max: 2, Visibility: -1, AttemptID: "other"})
		require.NoError(t, err)
		require.Equal(t, []string{"4"}, bodies(got))
	})
}
