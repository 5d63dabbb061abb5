package window_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/window"
)

const (
	s  = time.Second
	ms = time.Millisecond
)

// between is an interval given by its bounds after start.
func between(from, to time.Duration) window.Interval {
	return window.Interval{Start: start.Add(from), End: start.Add(to)}
}

// since is an interval whose end is not known.
func since(from time.Duration) window.Interval { return window.Interval{Start: start.Add(from)} }

func TestExpect(t *testing.T) {
	t.Parallel()
	var (
		exact = window.Rule{Length: window.Length}
		aws   = window.ClientRule()
	)
	const (
		w = window.Length
		// 200 ppm of five minutes.
		eps = 60 * ms
	)
	tests := []struct {
		name           string
		rule           window.Rule
		opening, probe window.Interval
		want           window.Expectation
		why            window.Reason
	}{
		{"same instant", exact, between(0, 0), between(0, 0), window.Suppressed, ""},
		{"299.999999999 s", exact, between(0, 0), between(w-1, w-1), window.Suppressed, ""},
		{"300 s", exact, between(0, 0), between(w, w), window.Delivered, ""},
		{"greatest gap 299.999999999 s", exact, between(1*s, 2*s), between(280*s, w+1*s-1), window.Suppressed, ""},
		{"greatest gap 300 s", exact, between(1*s, 2*s), between(280*s, w+1*s), window.Undecidable, window.AcrossEdge},
		{"least gap 299.999999999 s", exact, between(1*s, 2*s), between(w+2*s-1, 400*s), window.Undecidable, window.AcrossEdge},
		{"least gap 300 s", exact, between(1*s, 2*s), between(w+2*s, 400*s), window.Delivered, ""},
		{"drift, surely inside", aws, between(0, 0), between(w-eps, w-eps), window.Suppressed, ""},
		{"drift, not surely inside", aws, between(0, 0), between(w-eps+1*ms, w-eps+1*ms), window.Undecidable, window.AcrossEdge},
		{"drift, not surely outside", aws, between(0, 0), between(w+eps-1*ms, w+eps-1*ms), window.Undecidable, window.AcrossEdge},
		{"drift, surely outside", aws, between(0, 0), between(w+eps+1*ms, w+eps+1*ms), window.Delivered, ""},
		{"drift of nothing is nothing", aws, between(0, 0), between(0, 0), window.Suppressed, ""},

		// Sends that overlap: one of them is the duplicate, whichever it is.
		{"overlapping", exact, between(0, 10*s), between(5*s, 6*s), window.Suppressed, ""},
		{"probe perhaps just less than a window earlier", exact, between(0, w), between(1, 1), window.Suppressed, ""},
		{"probe perhaps a window earlier", exact, between(0, w+1), between(1, 1), window.Undecidable, window.ProbeFirst},

		// An unanswered attempt may be carried out later.
		{"opening without end", exact, since(0), between(10*s, 10*s), window.Undecidable, window.NoEnd},
		{"opening without end, long ago", exact, since(0), between(1000*s, 1000*s), window.Undecidable, window.NoEnd},
		{"probe without end, inside so far", exact, between(0, 0), since(10 * s), window.Undecidable, window.AcrossEdge},
		{"probe without end, outside already", exact, between(0, 0), since(w), window.Delivered, ""},
		{"both without end", exact, since(0), since(w), window.Undecidable, window.NoEnd},

		{"opening reversed", exact, between(1*s, 0), between(10*s, 10*s), window.Undecidable, window.Reversed},
		{"probe reversed", exact, between(0, 0), between(10*s, 9*s), window.Undecidable, window.Reversed},
		{"nothing known", exact, window.Interval{}, window.Interval{}, window.Undecidable, window.NoEnd},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.rule.Expect(test.opening, test.probe))
			e, why := test.rule.Judge(test.rule.Gap(test.opening, test.probe))
			require.Equal(t, test.want, e)
			require.Equal(t, test.why, why)
		})
	}
}

func TestExpectationString(t *testing.T) {
	t.Parallel()
	require.Equal(t, "suppressed", window.Suppressed.String())
	require.Equal(t, "delivered", window.Delivered.String())
	require.Equal(t, "undecidable", window.Undecidable.String())
}

func TestGapBounds(t *testing.T) {
	t.Parallel()
	rule := window.Rule{Length: window.Length, Drift: 0.01, MaxClockSplit: s}
	require.Equal(t,
		window.Gap{Min: 99 * s, Max: 303 * s},
		rule.Gap(between(0, 100*s), between(200*s, 300*s)))
	require.Equal(t,
		window.Gap{Min: -50500 * ms, Max: 101 * s},
		rule.Gap(between(0, 100*s), between(50*s, 100*s)))
	require.Equal(t,
		window.Gap{Min: window.NoMin, Max: window.NoMax},
		rule.Gap(since(0), since(100*s)))
}

// Times that carry a monotonic reading: both clocks are read, and agree here.
func TestGapReadsBothClocks(t *testing.T) {
	t.Parallel()
	opened := time.Now()
	rule := window.ClientRule()
	rule.Drift = 0
	gap := rule.Gap(window.At(opened), window.At(opened.Add(w299)))
	require.Equal(t, window.Gap{Min: w299, Max: w299}, gap)

	// One reading lost: then there is only the wall clock.
	gap = rule.Gap(window.At(opened.Round(0)), window.At(opened.Add(w299)))
	require.Equal(t, window.Gap{Min: w299, Max: w299}, gap)
}

const w299 = 299 * s

func TestPast(t *testing.T) {
	t.Parallel()
	rule := window.Rule{Length: window.Length}
	for _, test := range []struct {
		gap    window.Gap
		beyond time.Duration
		want   bool
	}{
		{window.Gap{Min: 300 * s, Max: 301 * s}, 0, true},
		{window.Gap{Min: 300*s - 1, Max: 301 * s}, 0, false},
		{window.Gap{Min: 360 * s, Max: 361 * s}, 60 * s, true},
		{window.Gap{Min: 360*s - 1, Max: 361 * s}, 60 * s, false},
		{window.Gap{Min: 360 * s, Max: 361 * s, Flaw: window.ClockSplit}, 0, false},
		{window.Gap{Min: window.NoMin, Max: window.NoMax}, 0, false},
		{window.Gap{Min: window.NoMax, Max: window.NoMax}, window.NoMax - window.Length, true},
	} {
		require.Equal(t, test.want, rule.Past(test.gap, test.beyond), "%+v by %v", test.gap, test.beyond)
	}
}

func TestPlanOnASharedClock(t *testing.T) {
	t.Parallel()
	rule := window.Rule{Length: window.Length}
	opening := window.At(start)

	inside, ok := rule.LatestInside(opening, 0)
	require.True(t, ok)
	require.Equal(t, start.Add(window.Length-1), inside, "299.999999999 s")
	outside, ok := rule.EarliestOutside(opening, 0)
	require.True(t, ok)
	require.Equal(t, start.Add(window.Length), outside)
	outside, ok = rule.EarliestOutside(opening, time.Minute)
	require.True(t, ok)
	require.Equal(t, start.Add(6*time.Minute), outside)
}

func TestPlanHasNoAnswer(t *testing.T) {
	t.Parallel()
	rule := window.ClientRule()
	for name, plan := range map[string]func() (time.Time, bool){
		"no end, inside":        func() (time.Time, bool) { return rule.LatestInside(since(0), 0) },
		"no end, outside":       func() (time.Time, bool) { return rule.EarliestOutside(since(0), 0) },
		"reversed, inside":      func() (time.Time, bool) { return rule.LatestInside(between(s, 0), 0) },
		"reversed, outside":     func() (time.Time, bool) { return rule.EarliestOutside(between(s, 0), 0) },
		"slow opening":          func() (time.Time, bool) { return rule.LatestInside(between(0, 301*s), 0) },
		"allowance of a window": func() (time.Time, bool) { return rule.LatestInside(between(0, s), window.Length) },
		"no window":             func() (time.Time, bool) { return window.Rule{}.LatestInside(between(0, 0), 0) },
		"boundless drift": func() (time.Time, bool) {
			return window.Rule{Length: s, Drift: 1}.EarliestOutside(between(0, 0), 0)
		},
	} {
		_, ok := plan()
		require.False(t, ok, name)
	}
}

// What is planned is decidable, and one nanosecond nearer to the edge is not.
func TestPlanIsTight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		duration := func(name string, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, name))
		}
		rule := window.Rule{
			Length: 1 + duration("length", time.Hour),
			Drift:  rapid.SampledFrom([]float64{0, 1e-9, 50e-6, window.ClientDrift, 0.01, 0.6}).Draw(t, "drift"),
		}
		opening := between(0, duration("opening", 2*s))
		allowance := duration("allowance", 2*s)
		probe := func(at time.Time, lasts time.Duration) window.Interval {
			return window.Interval{Start: at, End: at.Add(lasts)}
		}
		if at, ok := rule.LatestInside(opening, allowance); ok {
			require.Equal(t, window.Suppressed, rule.Expect(opening, probe(at, allowance)))
			require.NotEqual(t, window.Suppressed, rule.Expect(opening, probe(at.Add(1), allowance)))
		}
		beyond := duration("beyond", time.Minute)
		at, ok := rule.EarliestOutside(opening, beyond)
		require.True(t, ok)
		gap := rule.Gap(opening, probe(at, allowance))
		require.Equal(t, window.Delivered, rule.Expect(opening, probe(at, allowance)))
		require.True(t, rule.Past(gap, beyond))
		require.False(t, rule.Past(rule.Gap(opening, probe(at.Add(-1), allowance)), beyond))
	})
}
