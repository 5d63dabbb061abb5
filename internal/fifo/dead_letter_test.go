package fifo_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/fifo"
	"fifoproof/internal/window"
)

// receiveAtMost receives with a limit on receives, at once visible again.
func (b *bench) receiveAtMost(most, limit int) (got []fifo.Delivery, dead []fifo.DeadLetter) {
	b.t.Helper()
	got, dead, err := b.queue.Receive(b.now, fifo.Ask{Max: most, Visibility: 0, MaxReceives: limit})
	require.NoError(b.t, err)
	return got, dead
}

// Recorded of AWS: with a maxReceiveCount of 2 the third receive returns nothing of
// the message, which is in the dead-letter queue then, and its group goes on with its
// next message in the same receive.
func TestDeadLetterAtTheReceiveAfterTheLast(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.sendID("g", "x", "one")
	b.sendID("g", "y", "two")
	for count := 1; count <= 2; count++ {
		got, dead := b.receiveAtMost(1, 2)
		require.Equal(t, []string{"one"}, bodies(got))
		require.Equal(t, count, got[0].Count)
		require.Empty(t, dead)
	}
	require.Equal(t, 2, b.queue.Counts(b.now).Visible, "it moves at a receive and not before")
	got, dead := b.receiveAtMost(1, 2)
	require.Equal(t, []string{"two"}, bodies(got))
	require.Len(t, dead, 1)
	require.Equal(t, fifo.DeadLetter{
		Letter: fifo.Letter{Group: "g", DedupID: "x", Body: "one"}, MessageID: first.MessageID, Count: 2,
	}, dead[0])
	require.Equal(t, 1, b.queue.Counts(b.now).Visible)

	// The memory belongs to the source queue and does not notice.
	require.True(t, b.sendID("g", "x", "again").Duplicate)
	b.pass(window.Length)
	require.False(t, b.sendID("g", "x", "again").Duplicate)
}

func TestManyDeadLettersAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "a1", "a2", "a3")
	b.send("b", "b1")
	b.receiveAtMost(10, 1)
	b.send("a", "a4")
	got, dead := b.receiveAtMost(1, 1)
	require.Equal(t, []string{"a4"}, bodies(got))
	require.Len(t, dead, 3, "those that stood before it, and no other")
	got, dead = b.receiveAtMost(10, 1)
	require.Empty(t, got)
	require.Len(t, dead, 2)
	require.Equal(t, []string{"b1", "a4"}, []string{dead[0].Body, dead[1].Body}, "the oldest group first")
	require.Equal(t, fifo.Counts{}, b.queue.Counts(b.now))
	_, ok := b.queue.NextEvent(b.now)
	require.False(t, ok)
}

// Developer guide, "dead-letter queues": the enqueue time is reset on FIFO queues, the
// deduplication id becomes the MessageId.
func TestBury(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *fifo.Config) {
		cfg.Delay = 10 * time.Second
		cfg.Retention, cfg.Visibility = time.Minute, time.Hour
	})
	before := b.sendID("g", "x", "before")
	dead := fifo.DeadLetter{Letter: fifo.Letter{Group: "g", DedupID: "x", Body: "one", Enclosed: 7}, MessageID: "m", Count: 3}
	b.pass(5 * time.Second)
	b.queue.Bury(b.now, dead, "source")
	dead.MessageID = "n" // sent with the same id
	b.queue.Bury(b.now, dead, "source")
	require.Equal(t, 3, b.queue.Counts(b.now).Delayed, "the queue's delay holds for them")

	b.pass(10 * time.Second)
	got := b.receive(10)
	require.Equal(t, []string{"before", "one", "one"}, bodies(got))
	require.Equal(t, "m", got[1].MessageID)
	require.Equal(t, "m", got[1].DedupID)
	require.Equal(t, "n", got[2].DedupID)
	require.Equal(t, 7, got[1].Enclosed)
	require.Equal(t, "source", got[1].From)
	require.Empty(t, got[0].From)
	require.Equal(t, 4, got[1].Count, "the count goes on")
	require.Equal(t, start.Add(5*time.Second), got[1].SentAt)
	require.Equal(t, b.now, got[1].FirstReceivedAt)
	require.Greater(t, got[1].Sequence, before.Sequence)
	require.Greater(t, got[2].Sequence, got[1].Sequence)

	b.pass(45 * time.Second)
	require.Equal(t, 2, b.queue.Counts(b.now).InFlight, "the retention began at the move")
	b.pass(5 * time.Second)
	require.Equal(t, fifo.Counts{}, b.queue.Counts(b.now))
	require.False(t, b.sendID("g", "m", "m").Duplicate, "a move is no send")
}

// A dead-letter queue may have one too. What was received elsewhere does not count
// towards its own limit.
func TestDeadLetterOfADeadLetterQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.queue.Bury(b.now, fifo.DeadLetter{Letter: fifo.Letter{Group: "g", Body: "one"}, MessageID: "m", Count: 5}, "first")
	got, dead := b.receiveAtMost(1, 1)
	require.Len(t, got, 1)
	require.Empty(t, dead)
	got, dead = b.receiveAtMost(1, 1)
	require.Empty(t, got)
	require.Equal(t, []fifo.DeadLetter{{
		Letter: fifo.Letter{Group: "g", DedupID: "m", Body: "one"}, MessageID: "m", Count: 6, From: "first",
	}}, dead)
}

func TestWithdraw(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "a1", "a2")
	b.send("b", "b1")
	held := b.receive(1)[0]
	newest := b.queue.Newest()
	b.send("c", "c1")

	front, ok := b.queue.Front(b.now, newest)
	require.True(t, ok)
	letter, ok := b.queue.Withdraw(b.now, newest)
	require.True(t, ok)
	require.Equal(t, front, letter)
	require.Equal(t, "b1", letter.Body, "group a is locked")
	_, ok = b.queue.Withdraw(b.now, newest)
	require.False(t, ok, "c1 is newer")
	require.True(t, b.queue.Holds(b.now, newest))

	b.change(held, 0)
	for _, want := range []string{"a1", "a2"} {
		letter, ok = b.queue.Withdraw(b.now, newest)
		require.True(t, ok)
		require.Equal(t, want, letter.Body)
	}
	require.False(t, b.queue.Holds(b.now, newest))
	require.NoError(t, b.queue.Delete(b.now, held.Receipt), "it is gone")
	require.Equal(t, fifo.Counts{Visible: 1}, b.queue.Counts(b.now))
}
