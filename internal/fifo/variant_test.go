package fifo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/fifo"
	"fifoproof/internal/window"
)

// What each variant does wrong is shown in package emulator, over the protocol. Here
// is what does not show there.

// The memories of wrong queues are bounded by what is live, too.
func TestWrongMemoriesForget(t *testing.T) {
	t.Parallel()
	for name, variant := range map[string]fifo.MemoryVariant{
		"slides":       {Slides: true},
		"keeps 100":    {KeepsAtMost: 100},
		"keeps 10,000": {KeepsAtMost: 10_000},
		"learns 100":   {LearnsAtMost: 100},
		"swallows":     {Swallows: true},
	} {
		var queue *fifo.Queue
		b := newBench(t, func(cfg *fifo.Config) { cfg.Variant.Memory = variant; cfg.Retention = time.Minute })
		queue = b.queue
		for i := range 20_000 {
			b.sendID("a", fmt.Sprint(i), "x")
			b.pass(time.Second)
		}
		require.Less(t, queue.Remembered(), 8_000, name)
	}
}

// A swallowed message uses up its sequence number: no other one has it.
func TestSwallowedSequenceNumber(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *fifo.Config) { cfg.Variant.Memory.Swallows = true })
	b.sendID("a", "x", "first")
	b.pass(window.Length)
	swallowed := b.sendID("a", "x", "swallowed")
	require.Equal(t, fifo.Counts{Visible: 1}, b.queue.Counts(b.now))
	require.Greater(t, b.sendID("a", "y", "next").Sequence, swallowed.Sequence)
}

// A long poll must know of a copy that is still to come.
func TestLateCopyIsAnEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *fifo.Config) { cfg.Variant.EnqueuesLate = 90 * time.Second })
	b.sendID("a", "x", "first")
	b.delete(b.receive(1)[0])
	b.sendID("a", "x", "second")
	at, ok := b.queue.NextEvent(b.now)
	require.True(t, ok)
	require.Equal(t, start.Add(90*time.Second), at)
	b.now = at
	require.Equal(t, []string{"second"}, bodies(b.receive(1)))
}
