package window_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/window"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// send is a step of a table test: at a time after start, a group, an id, and the
// number of the step whose message the send must be taken for (its own: new).
type send struct {
	at        time.Duration
	group, id string
	want      int
}

func TestTable(t *testing.T) {
	t.Parallel()
	const (
		queue = window.ScopeQueue
		group = window.ScopeGroup
		ns    = time.Nanosecond
		w     = window.Length
		half  = w / 2
	)
	long := strings.Repeat("x", 500)
	// "Any messages sent with the same deduplication ID are accepted successfully but
	// aren't delivered during the 5-minute deduplication interval" (API reference,
	// SendMessage). Where nothing else is said, that is the source.
	tests := []struct {
		name  string
		scope window.Scope
		sends []send
	}{
		{"ten at once", queue, []send{
			{0, "g", "a", 0},
			{0, "g", "a", 0},
			{0, "g", "a", 0},
			{0, "g", "a", 0},
			{0, "g", "a", 0},
			{0, "g", "a", 0},
			{0, "g", "a", 0},
			{0, "g", "a", 0},
			{0, "g", "a", 0},
			{0, "g", "a", 0},
		}},
		{"one nanosecond inside", queue, []send{{0, "g", "a", 0}, {w - ns, "g", "a", 0}}},
		{"a gap of the interval is outside", queue, []send{{0, "g", "a", 0}, {w, "g", "a", 1}}},
		{"edge from an odd start", queue, []send{{7, "g", "a", 0}, {w + 6, "g", "a", 0}, {w + 7, "g", "a", 2}}},
		// AWS has published nothing on this; all public emulators do it so.
		{"a duplicate does not extend", queue, []send{{0, "g", "a", 0}, {half, "g", "a", 0}, {w, "g", "a", 2}}},
		{"many duplicates do not extend", queue, []send{
			{0, "g", "a", 0},
			{100 * time.Second, "g", "a", 0},
			{200 * time.Second, "g", "a", 0},
			{w - ns, "g", "a", 0},
			{w, "g", "a", 4},
		}},
		{"a new message opens a new interval", queue, []send{
			{0, "g", "a", 0}, {w, "g", "a", 1}, {2*w - ns, "g", "a", 1}, {2 * w, "g", "a", 3},
		}},
		// Recorded on AWS: sends at 0, 2 and 362 s; the third is delivered.
		{"well outside", queue, []send{
			{0, "g", "a", 0}, {2 * time.Second, "g", "a", 0}, {362 * time.Second, "g", "a", 2},
		}},
		{"each id has its own interval", queue, []send{
			{0, "g", "a", 0}, {time.Second, "g", "b", 1}, {w, "g", "a", 2}, {w, "g", "b", 1}, {w + time.Second, "g", "b", 4},
		}},
		{"ids are taken to the letter", queue, []send{
			{0, "g", "abc", 0}, {0, "g", "ABC", 1}, {0, "g", "abc ", 2}, {0, "g", "", 3}, {0, "g", "", 3},
		}},
		{"long ids differ at their end", queue, []send{{0, "g", long + "1", 0}, {0, "g", long + "2", 1}, {0, "g", long + "1", 0}}},
		{"scope queue: another group is a duplicate", queue, []send{{0, "g1", "a", 0}, {1, "g2", "a", 0}, {2, "", "a", 0}}},
		{"scope queue, interleaved", queue, []send{{0, "g1", "a", 0}, {1, "g2", "a", 0}, {2, "g1", "a", 0}}},
		{"scope group: another group is another message", group, []send{{0, "g1", "a", 0}, {1, "g2", "a", 1}}},
		{"scope group, interleaved", group, []send{
			{0, "g1", "a", 0},
			{1, "g2", "a", 1},
			{2, "g1", "a", 0},
			{3, "g2", "a", 1},
			{w, "g1", "a", 4},
			{w, "g2", "a", 1},
			{w + 1, "g2", "a", 6},
		}},
		{"group and id do not run together", group, []send{
			{0, "a:b", "c", 0}, {0, "a", "b:c", 1}, {0, "a:bc", "", 2}, {0, "", "a:bc", 3}, {0, "\x01", "a", 4}, {0, "", "\x01a", 5},
		}},
		{"time that runs backwards stands still", queue, []send{
			{10 * time.Second, "g", "a", 0},
			{0, "g", "b", 1},
			{w, "g", "a", 0},
			{w + 10*time.Second - ns, "g", "b", 1},
			{w + 10*time.Second, "g", "b", 4},
		}},
		{"a set-back clock does not revive an id", queue, []send{{0, "g", "a", 0}, {w, "g", "b", 1}, {0, "g", "a", 2}}},
		{"centuries", queue, []send{
			{0, "g", "a", 0}, {1<<63 - 1, "g", "a", 1}, {1<<63 - 1, "g", "a", 1},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			table := window.NewTable[int](test.scope, w)
			for i, s := range test.sends {
				first, duplicate := table.Decide(start.Add(s.at), s.group, s.id, i)
				require.Equal(t, s.want, first, "send %d", i)
				require.Equal(t, s.want != i, duplicate, "send %d", i)
			}
		})
	}
}

func TestTableLengthIsAParameter(t *testing.T) {
	t.Parallel()
	table := window.NewTable[int](window.ScopeQueue, time.Second)
	table.Decide(start, "g", "a", 1)
	_, duplicate := table.Decide(start.Add(time.Second-1), "g", "a", 2)
	require.True(t, duplicate)
	_, duplicate = table.Decide(start.Add(time.Second), "g", "a", 3)
	require.False(t, duplicate)

	none := window.NewTable[int](window.ScopeQueue, 0)
	for range 3 {
		_, duplicate = none.Decide(start, "g", "a", 1)
		require.False(t, duplicate, "without a length nothing is a duplicate")
	}
}

func TestTableBeforeYearOne(t *testing.T) {
	t.Parallel()
	early := time.Time{}.Add(-time.Hour)
	table := window.NewTable[int](window.ScopeQueue, window.Length)
	table.Decide(early, "g", "a", 1)
	_, duplicate := table.Decide(early.Add(window.Length), "g", "a", 2)
	require.False(t, duplicate)
}

func TestTableHoldsLiveIDsOnly(t *testing.T) {
	t.Parallel()
	table := window.NewTable[int](window.ScopeQueue, window.Length)
	require.Zero(t, table.Len())
	table.Expire(start)
	for i := range 1000 {
		table.Decide(start.Add(time.Duration(i)*time.Second), "g", fmt.Sprint(i), i)
		require.Equal(t, min(i+1, 300), table.Len())
	}
	now := start.Add(999 * time.Second)
	table.Decide(now, "g", "999", 0)
	require.Equal(t, 300, table.Len(), "a duplicate takes no room")
	table.Expire(now.Add(100 * time.Second))
	require.Equal(t, 200, table.Len())
	table.Expire(now)
	require.Equal(t, 200, table.Len())
	table.Expire(now.Add(window.Length - 1))
	require.Equal(t, 1, table.Len())
	table.Expire(now.Add(window.Length))
	require.Zero(t, table.Len())
}

// Forget carries two of the emulator's planted faults.
func TestTableForget(t *testing.T) {
	t.Parallel()
	table := window.NewTable[int](window.ScopeGroup, window.Length)
	table.Forget("g", "a")
	table.Decide(start, "g", "a", 1)
	table.Decide(start, "h", "a", 2)
	table.Forget("g", "a")
	table.Forget("g", "a")
	require.Equal(t, 1, table.Len())

	first, duplicate := table.Decide(start.Add(time.Second), "g", "a", 3)
	require.False(t, duplicate)
	require.Equal(t, 3, first)
	first, duplicate = table.Decide(start.Add(window.Length), "g", "a", 4)
	require.True(t, duplicate, "the first, forgotten interval must not end the second")
	require.Equal(t, 3, first)
	require.Equal(t, 1, table.Len(), "h's interval has ended")
	_, duplicate = table.Decide(start.Add(window.Length+time.Second), "g", "a", 5)
	require.False(t, duplicate)
}
