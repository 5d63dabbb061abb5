package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLay lays cases side by side as a run in real time does: those that wait all begin
// at once, the others follow each other in eight slots, and the last receives come when
// the last of those that wait is done.
func TestLay(t *testing.T) {
	t.Parallel()
	cases := []Planned{{ID: "long", Wait: 300, Ends: 302, Demand: Demand{Seconds: 303, Calls: 9, Queues: 1}}}
	for range 9 {
		cases = append(cases, Planned{ID: "quick", Ends: 3, Demand: Demand{Seconds: 4, Calls: 5, Queues: 2}})
	}
	var p Plan
	p.lay(cases, Setup{})
	require.InDelta(t, 303, p.Seconds, 1e-9, "302 s, and a last receive of one")
	require.InDelta(t, 300, p.Longest, 1e-9)
	require.Equal(t, 9+9*5, p.Calls)
	require.Equal(t, 1+9*2, p.Queues)
	require.InDelta(t, 3, p.Cases[8].Begins, 1e-9, "the ninth waits for a slot")
	require.InDelta(t, 6, p.Cases[8].Ends, 1e-9)
	require.Equal(t, "long", p.Cases[9].ID)

	p = Plan{}
	p.lay(cases[1:], Setup{})
	require.InDelta(t, 7, p.Seconds, 1e-9, "two rounds of three seconds, and a last receive")

	p = Plan{}
	p.lay(cases, Setup{Virtual: true})
	require.Zero(t, p.Seconds, "nothing is waited for")
}
