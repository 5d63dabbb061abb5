package window_test

import (
	"encoding/hex"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/window"
)

// original is what a queue must remember to answer a duplicate as SQS does: with
// the MessageId (a UUID) and the SequenceNumber (20 digits, a counter) of the first.
type original struct {
	MessageID [16]byte
	Sequence  uint64
}

// hexID makes 64 hexadecimal digits, as a content hash is, that differ with n.
func hexID(buffer *[64]byte, n int) string {
	var raw [32]byte
	for i := range 8 {
		raw[i] = byte(n >> (8 * i))
	}
	hex.Encode(buffer[:], raw[:])
	return string(buffer[:])
}

// fill accepts n ids, spread over four minutes, and returns the time of the last.
func fill(table *window.Table[original], n int) time.Time {
	var buffer [64]byte
	now := start
	step := 4 * time.Minute / time.Duration(n)
	for i := range n {
		now = start.Add(time.Duration(i) * step)
		table.Decide(now, "group", hexID(&buffer, i), original{Sequence: uint64(i)})
	}
	return now
}

// heapInUse is the memory in the heap's spans once all garbage is gone.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // the second one finishes the sweep of the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

// The aim for a million live ids is 96 bytes each, values included. A quarter of a
// million fills the index to the same degree and costs a quarter of the time;
// BenchmarkMillion has the figure for all of them. Not parallel, since the heap belongs
// to the whole process.
func TestTableMemory(t *testing.T) {
	const n = 250_000
	before := heapInUse()
	table := window.NewTable[original](window.ScopeGroup, window.Length)
	last := fill(table, n)
	require.Equal(t, n, table.Len())
	full := heapInUse() - before
	require.LessOrEqual(t, full, int64(96*n), "with all of them live")

	// Half of them gone: what is left still costs no more than its share.
	table.Expire(start.Add(window.Length + 2*time.Minute))
	half := table.Len()
	require.InDelta(t, n/2, half, 2)
	require.LessOrEqual(t, heapInUse()-before, int64(98*half), "after half of them")

	table.Expire(last.Add(window.Length))
	require.Zero(t, table.Len())
	require.LessOrEqual(t, heapInUse()-before, int64(256<<10), "after the window has passed")
	runtime.KeepAlive(table)
}

// With ids of up to 128 characters, which is all that SQS takes, nothing is
// allocated for a duplicate.
func TestDuplicateAllocatesNothing(t *testing.T) {
	table := window.NewTable[original](window.ScopeGroup, window.Length)
	group, id := string(make([]byte, 128)), string(make([]byte, 128))
	table.Decide(start, group, id, original{})
	require.Zero(t, testing.AllocsPerRun(100, func() { table.Decide(start, group, id, original{}) }))
}
