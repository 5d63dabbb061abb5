package window_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/window"
)

const (
	unknown    = window.Unknown
	suppressed = window.WasSuppressed
	delivered  = window.WasDelivered
)

// told is a step of a belief test: a send, what must be expected of it before it is
// made, what was seen of it, and whether that was allowed.
type told struct {
	send   window.Interval
	expect window.Expectation
	why    window.Reason
	seen   window.Outcome
	broken bool
}

func TestBelief(t *testing.T) {
	t.Parallel()
	const (
		w    = window.Length
		mayb = window.Undecidable
		supp = window.Suppressed
		deli = window.Delivered
	)
	tests := []struct {
		name  string
		tells []told
	}{
		{"all answered", []told{
			{between(0, 1*s), deli, "", delivered, false},
			{between(150*s, 151*s), supp, "", suppressed, false},
			{between(298*s, 299*s), supp, "", suppressed, false},
			{between(w+1*s, w+2*s), deli, "", delivered, false},
			{between(2*w, 2*w), supp, "", suppressed, false},
			{between(2*w+2*s, 2*w+2*s), deli, "", delivered, false},
		}},
		{"a send across the edge decides what comes after: delivered", []told{
			{between(0, 1*s), deli, "", delivered, false},
			{between(w, w+2*s), mayb, window.AcrossEdge, delivered, false},
			{between(w+3*s, w+4*s), supp, "", suppressed, false},
		}},
		{"a send across the edge decides what comes after: suppressed", []told{
			{between(0, 1*s), deli, "", delivered, false},
			{between(w, w+2*s), mayb, window.AcrossEdge, suppressed, false},
			{between(w+3*s, w+4*s), deli, "", delivered, false},
		}},
		// The first message was lost, or the window is longer or slides.
		{"suppressed after the window", []told{
			{between(0, 0), deli, "", delivered, false},
			{between(150*s, 150*s), supp, "", suppressed, false},
			{between(w, w), deli, "", suppressed, true},
			{between(w+1*s, w+1*s), deli, "", delivered, false},
		}},
		{"suppressed though never sent", []told{
			{between(0, 0), deli, "", suppressed, true},
			{between(1*s, 1*s), deli, "", delivered, false},
		}},
		{"delivered inside the window", []told{
			{between(0, 0), deli, "", delivered, false},
			{between(200*s, 200*s), supp, "", delivered, true},
			{between(w, w), supp, "", suppressed, false},
		}},

		{"first send unanswered, carried out", []told{
			{since(0), deli, "", unknown, false},
			{between(1*s, 2*s), mayb, window.Unanswered, suppressed, false},
			// It was accepted by 2 s, so it can do no more.
			{between(299*s, 299*s), supp, "", suppressed, false},
			{between(w+1*s, w+1*s), mayb, window.AcrossEdge, suppressed, false},
			{between(w+2*s, w+2*s), deli, "", delivered, false},
		}},
		{"first send unanswered, not carried out in time", []told{
			{since(0), deli, "", unknown, false},
			{between(1*s, 2*s), mayb, window.Unanswered, delivered, false},
			{between(100*s, 100*s), supp, "", suppressed, false},
			// It may have been carried out at 302 s.
			{between(w+2*s, w+2*s), mayb, window.Unanswered, delivered, false},
		}},
		{"first send unanswered, given up with a bound", []told{
			{between(0, 30*s), deli, "", unknown, false},
			{between(31*s, 32*s), mayb, window.Unanswered, delivered, false},
			{between(w+32*s, w+32*s), deli, "", delivered, false},
		}},
		{"bounded, and so long ago that it does not matter", []told{
			{between(0, 30*s), deli, "", unknown, false},
			{between(w+30*s-1, w+30*s-1), mayb, window.Unanswered, unknown, false},
			{between(2*w+30*s, 2*w+30*s), deli, "", delivered, false},
		}},
		{"unanswered inside a sure window changes nothing there", []told{
			{between(0, 1*s), deli, "", delivered, false},
			{since(2 * s), mayb, window.AcrossEdge, unknown, false},
			{between(200*s, 201*s), supp, "", suppressed, false},
			{between(w-1, w-1), supp, "", suppressed, false},
			// But the send may have been carried out just after the window.
			{between(w+1*s, w+1*s), mayb, window.Unanswered, suppressed, false},
			// It was: in [2 s, 301 s], and after the window of [0 s, 1 s].
			{between(w+2*s, w+2*s), mayb, window.AcrossEdge, suppressed, false},
			{between(2*w+1*s, 2*w+1*s), deli, "", delivered, false},
		}},
		{"unanswered after the window: the worlds differ", []told{
			{between(0, 0), deli, "", delivered, false},
			{between(w-1*s, w+1*s), mayb, window.AcrossEdge, unknown, false},
			{between(w+2*s, w+2*s), mayb, window.Unanswered, suppressed, false},
			{between(w+3*s, w+3*s), supp, "", suppressed, false},
		}},
		{"two candidates, then one", []told{
			{between(0, 10*s), deli, "", unknown, false},
			{between(11*s, 20*s), mayb, window.Unanswered, unknown, false},
			{between(21*s, 21*s), mayb, window.Unanswered, suppressed, false},
			{between(299*s, 299*s), supp, "", suppressed, false},
			{between(w+10*s, w+10*s), mayb, window.Worlds, suppressed, false},
			{between(w+11*s, w+11*s), mayb, window.AcrossEdge, suppressed, false},
			{between(w+20*s, w+20*s), deli, "", delivered, false},
		}},
		// Nobody knows when, so it is as good as unknown.
		{"delivered, but without an end", []told{
			{since(0), deli, "", delivered, false},
			{between(10*s, 10*s), mayb, window.Unanswered, suppressed, false},
			{between(w+10*s, w+10*s), deli, "", delivered, false},
		}},
		{"no interval", []told{
			{between(1*s, 0), mayb, window.Reversed, unknown, false},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := window.NewBelief(window.Rule{Length: w})
			for i, tell := range test.tells {
				e, why := b.Expect(tell.send)
				require.Equal(t, tell.expect.String(), e.String(), "send %d", i)
				require.Equal(t, tell.why, why, "send %d", i)
				require.Equal(t, e == deli, b.Past(tell.send, 0), "send %d", i)
				var ok bool
				b, ok = b.Observe(tell.send, tell.seen)
				require.Equal(t, tell.broken, !ok, "send %d", i)
			}
		})
	}
}

func TestBeliefPast(t *testing.T) {
	t.Parallel()
	b := window.NewBelief(window.Rule{Length: window.Length})
	require.True(t, b.Past(window.At(start), 1000*s), "the first send of an id must be delivered")

	b, _ = b.Observe(between(0, 1*s), window.WasDelivered)
	require.False(t, b.Past(between(200*s, 200*s), 0))
	require.True(t, b.Past(between(361*s, 362*s), 60*s))
	require.False(t, b.Past(between(361*s-1, 362*s), 60*s))

	// A bounded unanswered send counts from its end.
	b, _ = b.Observe(between(310*s, 320*s), window.Unknown)
	require.False(t, b.Past(between(680*s-1, 680*s), 60*s))
	require.True(t, b.Past(between(680*s, 680*s), 60*s))
}

// A belief is a value: what is observed later leaves the earlier one alone.
func TestBeliefIsAValue(t *testing.T) {
	t.Parallel()
	b := window.NewBelief(window.Rule{Length: window.Length})
	b, _ = b.Observe(between(0, 10*s), window.Unknown)
	b, _ = b.Observe(between(11*s, 20*s), window.Unknown)
	one, _ := b.Observe(between(21*s, 22*s), window.WasDelivered)
	two, _ := b.Observe(between(21*s, 22*s), window.WasSuppressed)
	for range 2 {
		for _, belief := range []window.Belief{b, one, two} {
			belief.Observe(between(25*s, 26*s), window.Unknown)
			belief.Observe(between(25*s, 26*s), window.WasDelivered)
		}
		e, _ := one.Expect(between(310*s, 310*s))
		require.Equal(t, window.Suppressed, e)
		e, _ = two.Expect(between(310*s, 310*s))
		require.Equal(t, window.Undecidable, e)
		e, _ = two.Expect(between(400*s, 400*s))
		require.Equal(t, window.Delivered, e)
	}
}
