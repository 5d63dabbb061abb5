package window

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A busy table never empties, so after 2^32 ids its entry numbers start again at 0.
func TestEntryNumbersWrap(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, head := range []uint32{math.MaxUint32 - 450, math.MaxUint32 - 127, math.MaxUint32} {
		table := NewTable[int](ScopeQueue, Length)
		table.sends.head = head
		for i := range 1000 {
			now := start.Add(time.Duration(i) * time.Second)
			first, duplicate := table.Decide(now, "g", fmt.Sprint(i), i)
			require.Equal(t, i, first)
			require.False(t, duplicate)
			oldest := max(0, i-299)
			require.Equal(t, i-oldest+1, table.Len())
			for _, known := range []int{oldest, (oldest + i) / 2, i} {
				first, duplicate = table.Decide(now, "g", fmt.Sprint(known), -1)
				require.True(t, duplicate)
				require.Equal(t, known, first)
			}
		}
		require.Less(t, table.sends.head, head, "the numbers have wrapped")
	}
}

// Ids that share the part of the digest that the index keeps are told apart by the
// whole digest.
func TestEqualDigestParts(t *testing.T) {
	t.Parallel()
	var table Table[int]
	keys := make([]digest, 40)
	for i := range keys {
		keys[i][31] = byte(i + 1) // part() is 0 for all
		_, found := table.find(keys[i])
		require.False(t, found)
		table.index.insert(keys[i].part(), table.sends.next())
		table.sends.push(entry[int]{key: keys[i], first: i})
	}
	require.True(t, table.index.remove(keys[20].part(), 20))
	require.False(t, table.index.remove(keys[20].part(), 20))
	for i := range keys {
		number, found := table.find(keys[i])
		require.Equal(t, i != 20, found)
		if found {
			require.Equal(t, i, table.sends.at(number).first)
		}
	}
}

// The values that a table remembers are released with their ids, not with their chunk.
func TestDropReleasesValues(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	table := NewTable[*int](ScopeQueue, Length)
	table.Decide(start, "g", "a", new(int))
	table.Decide(start.Add(time.Second), "g", "b", new(int))
	chunk := table.sends.chunks[0]
	table.Expire(start.Add(Length))
	require.Equal(t, 1, table.Len())
	require.Nil(t, chunk[0].first)
	require.NotNil(t, chunk[1].first)
	table.Expire(start.Add(Length + time.Second))
	require.Empty(t, table.sends.chunks)
	require.Empty(t, table.index.slots)
}

// Ids that go a few at a time give back the room in the index too.
func TestIndexShrinks(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	table := NewTable[int](ScopeQueue, Length)
	for i := range 1000 {
		table.Decide(start.Add(time.Duration(i)), "g", fmt.Sprint(i), i)
	}
	require.Len(t, table.index.slots, 2048)
	for i := range 999 {
		table.Expire(start.Add(Length + time.Duration(i)))
		require.Equal(t, 999-i, table.Len())
	}
	require.Len(t, table.index.slots, minSlots)
	require.Len(t, table.sends.chunks, 1)

	for i := range 1000 {
		table.Decide(start.Add(Length), "g", fmt.Sprint("f", i), i)
	}
	for i := range 1000 {
		table.Forget("g", fmt.Sprint("f", i))
	}
	require.Equal(t, 1, table.Len())
	require.Len(t, table.index.slots, minSlots)
}

func TestWallDropsTheMonotonicReading(t *testing.T) {
	t.Parallel()
	now := time.Now()
	require.Contains(t, now.String(), " m=", "time.Now has a monotonic reading")
	wall := Interval{Start: now, End: now}.wall()
	require.NotContains(t, wall.Start.String()+wall.End.String(), " m=")
	require.False(t, Interval{Start: now}.wall().Bounded())
}

// Monotonic and wall readings that differ cannot be made by hand, so the hull is
// tested on the gaps that both give.
func TestHull(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	tests := []struct {
		name       string
		mono, wall span
		want       Gap
		judged     Expectation
		why        Reason
	}{
		{
			"clocks agree",
			span{290 * s, 291 * s},
			span{290 * s, 291 * s},
			Gap{Min: 290 * s, Max: 291 * s},
			Suppressed, "",
		},
		{
			"wall clock ahead",
			span{298 * s, 299 * s},
			span{298*s + 900*ms, 299*s + 900*ms},
			Gap{Min: 298 * s, Max: 299*s + 900*ms, Split: 900 * ms},
			Suppressed, "",
		},
		{
			"wall clock ahead, over the edge",
			span{298 * s, 299*s + 500*ms},
			span{298*s + 900*ms, 300*s + 400*ms},
			Gap{Min: 298 * s, Max: 300*s + 400*ms, Split: 900 * ms},
			Undecidable, AcrossEdge,
		},
		{
			"wall clock behind, over the edge",
			span{300*s + 500*ms, 302 * s},
			span{299*s + 600*ms, 301*s + 100*ms},
			Gap{Min: 299*s + 600*ms, Max: 302 * s, Split: 900 * ms},
			Undecidable, AcrossEdge,
		},
		{
			"a second apart is allowed",
			span{100 * s, 101 * s},
			span{101 * s, 102 * s},
			Gap{Min: 100 * s, Max: 102 * s, Split: s},
			Suppressed, "",
		},
		{
			"more than a second apart",
			span{100 * s, 101 * s},
			span{101*s + 1, 102*s + 1},
			Gap{Min: 100 * s, Max: 102*s + 1, Split: s + 1, Flaw: ClockSplit},
			Undecidable, ClockSplit,
		},
		{
			"the machine slept an hour",
			span{20 * s, 21 * s},
			span{3620 * s, 3621 * s},
			Gap{Min: 20 * s, Max: 3621 * s, Split: time.Hour, Flaw: ClockSplit},
			Undecidable, ClockSplit,
		},
		{
			"split at the later bound only",
			span{20 * s, 21 * s},
			span{20 * s, 23 * s},
			Gap{Min: 20 * s, Max: 23 * s, Split: 2 * s, Flaw: ClockSplit},
			Undecidable, ClockSplit,
		},
		{
			"wall clock set back between two sends",
			span{10 * ms, 12 * ms},
			span{-490 * ms, -488 * ms},
			Gap{Min: 0, Max: 12 * ms, Split: 500 * ms},
			Suppressed, "",
		},
		{
			"no end, clocks agree",
			span{NoMin, 200 * s},
			span{NoMin, 200 * s},
			Gap{Min: NoMin, Max: 200 * s},
			Undecidable, NoEnd,
		},
		{
			"no end, clocks split",
			span{NoMin, 200 * s},
			span{NoMin, 202 * s},
			Gap{Min: NoMin, Max: 202 * s, Split: 2 * s, Flaw: ClockSplit},
			Undecidable, ClockSplit,
		},
		{
			"centuries apart",
			span{NoMin + 1, NoMax - 1},
			span{NoMax - 1, NoMax - 1},
			Gap{Min: NoMin + 1, Max: NoMax - 1, Split: NoMax, Flaw: ClockSplit},
			Undecidable, ClockSplit,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rule := Rule{Length: Length, MaxClockSplit: time.Second}
			got := rule.hull(test.mono, test.wall)
			require.Equal(t, test.want, got)
			e, why := rule.Judge(got)
			require.Equal(t, test.judged, e)
			require.Equal(t, test.why, why)
		})
	}
}

func TestDriftSaturates(t *testing.T) {
	t.Parallel()
	for _, drift := range []float64{0, -1, math.NaN(), 1e-9, 0.5, 1, 3, 1e300, math.Inf(1)} {
		rule := Rule{Length: Length, Drift: drift}
		for _, gap := range []time.Duration{NoMin, NoMin + 1, -Length, -1, 0, 1, Length, NoMax - 1, NoMax} {
			require.LessOrEqual(t, rule.least(gap), gap, "%v of %d", drift, gap)
			require.GreaterOrEqual(t, rule.most(gap), gap, "%v of %d", drift, gap)
		}
		require.Equal(t, NoMin, rule.least(NoMin))
		require.Equal(t, NoMax, rule.most(NoMax))
	}
	require.Equal(t, 60*time.Millisecond, Rule{Drift: 200e-6}.drift(Length).Truncate(time.Microsecond))
	require.Equal(t, time.Duration(1), Rule{Drift: 200e-6}.drift(1), "rounded up")
	require.Equal(t, time.Duration(1), Rule{Drift: 200e-6}.drift(-1))
}
