package window_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/window"
)

// These tests hold the two halves of the package against each other. A history of
// sends of one id is made up with the true moment at which each was accepted; a Table
// decides on that. A client knows an interval around each moment, on a clock that
// drifts, and of some sends no reply. Whatever the interval rules then claim must be true.

// draws is a source of choices: rapid's, which shrinks, or a generator's, which is fast.
type draws interface {
	// upTo returns a number from 0 to most.
	upTo(most int64) int64
}

type rapidDraws struct{ t *rapid.T }

func (d rapidDraws) upTo(most int64) int64 { return rapid.Int64Range(0, most).Draw(d.t, "draw") }

type randDraws struct{ *rand.Rand }

func (d randDraws) upTo(most int64) int64 { return d.Int64N(most + 1) }

func upTo(d draws, most time.Duration) time.Duration { return time.Duration(d.upTo(int64(most))) }

// event is a send of a history.
type event struct {
	sent      window.Interval // as the client knows it
	accepted  time.Duration   // true time after start
	carried   bool            // it was accepted at all
	lost      bool            // there was no reply
	seen      window.Outcome
	duplicate bool
	first     int // the send that opened its interval; itself if new
	latest    int // the latest opening before it, or -1
}

type history struct {
	rule   window.Rule
	events []event
}

func drawHistory(d draws) history {
	drift := []float64{0, window.ClientDrift, 0.01}[d.upTo(2)]
	h := history{rule: window.Rule{Length: window.Length, Drift: drift}}
	// The true time is the clock's reading times 1+skew; 0.999 leaves room for rounding.
	skew := drift * 0.999 * (float64(d.upTo(200)) - 100) / 100
	truly := func(reading time.Duration) time.Duration {
		return reading + time.Duration(float64(reading)*skew)
	}
	var at time.Duration
	for range 2 + d.upTo(7) {
		switch d.upTo(4) {
		case 0: // at once
		case 1:
			at += upTo(d, 10*s)
		case 2:
			at += upTo(d, 2*window.Length)
		case 3: // near the edge
			at += window.Length - 500*ms + upTo(d, s)
		case 4: // at the edge
			at += window.Length - 2 + upTo(d, 4)
		}
		lasts := [...]time.Duration{0, upTo(d, 50*ms), upTo(d, 20*s)}[d.upTo(2)]
		accepted := at + [...]time.Duration{0, lasts, upTo(d, lasts)}[d.upTo(2)]
		e := event{carried: true, sent: between(at, at+lasts)}
		if d.upTo(4) == 0 { // no reply
			e.sent, e.lost = since(at), true
			switch d.upTo(2) {
			case 0:
				e.carried = false
			case 1: // carried out late
				accepted = at + upTo(d, 3*window.Length)
			}
			if d.upTo(1) == 0 { // but with a bound
				e.sent.End = start.Add(max(accepted, at+lasts) + upTo(d, 10*s))
			}
		}
		e.accepted = truly(accepted)
		at += lasts
		h.events = append(h.events, e)
	}
	h.decide()
	for i := range h.events {
		h.events[i].look(d)
	}
	return h
}

// decide lets a Table decide what is new, in the order of acceptance.
func (h history) decide() {
	var order []int
	for i, e := range h.events {
		if e.carried {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(h.events[a].accepted - h.events[b].accepted)
	})
	table := window.NewTable[int](window.ScopeQueue, window.Length)
	latest := -1
	for _, i := range order {
		e := &h.events[i]
		e.first, e.duplicate = table.Decide(start.Add(e.accepted), "g", "id", i)
		e.latest = latest
		latest = e.first
	}
}

// look is what the client sees of a send.
func (e *event) look(d draws) {
	unproved := d.upTo(7) == 0
	switch {
	case !e.carried:
	case e.lost:
		// The message may turn up, too late to say when it was accepted.
		if !e.duplicate && !e.sent.Bounded() {
			e.seen = window.WasDelivered
		}
	case unproved:
	case e.duplicate:
		e.seen = window.WasSuppressed
	default:
		e.seen = window.WasDelivered
	}
}

// tally counts what was claimed, by Expectation.
type tally [3]int

func (h history) check(t require.TestingT, rules, beliefs *tally) {
	belief := window.NewBelief(h.rule)
	for i, probe := range h.events {
		claim, _ := belief.Expect(probe.sent)
		if probe.carried && !h.overtaken(i) {
			beliefs[claim]++
			holds(t, claim, probe.duplicate, "belief", i, h)
			h.checkPairs(t, i, rules)
		}
		var ok bool
		if belief, ok = belief.Observe(probe.sent, probe.seen); !ok {
			require.Fail(t, "an honest queue is accused", "send %d of %+v", i, h)
		}
	}
}

// overtaken reports whether a send that was given up was carried out after a later one:
// that is not what Expect speaks of.
func (h history) overtaken(i int) bool {
	return slices.ContainsFunc(h.events[i+1:], func(later event) bool {
		return later.carried && later.accepted <= h.events[i].accepted && h.events[i].lost
	})
}

// checkPairs checks the rule for two sends, the first of which opened an interval.
func (h history) checkPairs(t require.TestingT, i int, rules *tally) {
	probe := h.events[i]
	for j, opening := range h.events {
		if j == i || !opening.carried || opening.duplicate {
			continue
		}
		gap := h.rule.Gap(opening.sent, probe.sent)
		truth := probe.accepted - opening.accepted
		if truth < gap.Min || truth > gap.Max {
			require.Fail(t, "the true gap is out of bounds", "%v is not in %+v: sends %d and %d of %+v", truth, gap, j, i, h)
		}
		claim, _ := h.rule.Judge(gap)
		if claim == window.Delivered && j != probe.latest {
			continue // a later send opened another interval
		}
		rules[claim]++
		holds(t, claim, probe.duplicate, "rule", i, h)
	}
}

func holds(t require.TestingT, claim window.Expectation, duplicate bool, by string, i int, h history) {
	if claim == window.Suppressed && !duplicate || claim == window.Delivered && duplicate {
		require.Fail(t, "a false claim", "%s: send %d is not %v in %+v", by, i, claim, h)
	}
}

func TestIntervalsNeverContradictExactTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rules, beliefs tally
		drawHistory(rapidDraws{t}).check(t, &rules, &beliefs)
	})
}

// The same, 300,000 claims wide, and with proof that something is claimed.
func TestIntervalsNeverContradictExactTimeAtLength(t *testing.T) {
	t.Parallel()
	var rules, beliefs tally
	d := randDraws{rand.New(rand.NewPCG(1, 5*60))}
	for range 20_000 {
		drawHistory(d).check(t, &rules, &beliefs)
		if t.Failed() {
			return
		}
	}
	t.Logf("pairs: %d undecidable, %d suppressed, %d delivered; beliefs: %d, %d, %d",
		rules[0], rules[1], rules[2], beliefs[0], beliefs[1], beliefs[2])
	for _, counts := range []tally{rules, beliefs} {
		for claim, n := range counts {
			require.Greater(t, n, 10_000, "%v", window.Expectation(claim))
		}
	}
}
