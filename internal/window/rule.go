package window

import (
	"math"
	"time"
)

// Expectation is what the rules say about a probe.
type Expectation uint8

const (
	// Undecidable: nothing may be concluded, neither pass nor fail.
	Undecidable Expectation = iota
	// Suppressed: the probe must have been taken for a duplicate.
	Suppressed
	// Delivered: the probe must have become a new message.
	Delivered
)

// String returns "undecidable", "suppressed" or "delivered".
func (e Expectation) String() string {
	switch e {
	case Suppressed:
		return "suppressed"
	case Delivered:
		return "delivered"
	default:
		return "undecidable"
	}
}

// Rule is the deduplication interval as a client's clock sees it.
type Rule struct {
	// Length of the interval.
	Length time.Duration

	// Drift is how far the client's clock may run off the queue's, as a fraction of
	// the gap: the true gap is within Drift times the gap of what the clock says. Zero for a
	// clock that both share. Values below zero count as zero.
	Drift float64

	// MaxClockSplit is how far the monotonic and the wall clock may disagree about a
	// gap before it proves nothing. Zero demands that they agree to the nanosecond,
	// which holds only for times without a monotonic reading.
	MaxClockSplit time.Duration
}

const (
	// ClientDrift is the drift to allow for between an ordinary machine and a queue
	// elsewhere: 200 ppm, 60 ms in five minutes, several times what the clock of a
	// server loses or gains when left alone. (A clock that is being slewed at the Linux
	// kernel's limit, 500 ppm, exceeds it for that while.)
	ClientDrift = 200e-6

	// ClientClockSplit is the disagreement to allow for between a machine's clocks. A
	// smaller step of the wall clock, or a shorter sleep of the machine, widens the gap
	// by as much and does no harm.
	ClientClockSplit = time.Second
)

// ClientRule is the rule for a queue with a clock of its own, as seen by a client.
// For a queue on the client's own (virtual) clock use Rule{Length: Length}, which
// is exact to the nanosecond.
func ClientRule() Rule {
	return Rule{Length: Length, Drift: ClientDrift, MaxClockSplit: ClientClockSplit}
}

// Gap bounds the time between the acceptance of an opening send in [s1, e1] and of
// a probe in [s2, e2]: it lies in [s2-e1-eps, e2-s1+eps], eps being Drift times the
// gap. Linux's monotonic clock stops while a machine sleeps, and a wall clock can be
// set; so the bounds are the hull of what both clocks say, and where they disagree by
// more than MaxClockSplit the gap has a Flaw.
func (r Rule) Gap(opening, probe Interval) Gap {
	g := r.hull(spanOf(opening, probe), spanOf(opening.wall(), probe.wall()))
	if opening.reversed() || probe.reversed() {
		g.Flaw = Reversed
	}
	return g
}

func (r Rule) hull(mono, wall span) Gap {
	var split time.Duration
	if mono.min != NoMin {
		split = distance(mono.min, wall.min)
	}
	if mono.max != NoMax {
		split = max(split, distance(mono.max, wall.max))
	}
	g := Gap{
		Min:   r.least(min(mono.min, wall.min)),
		Max:   r.most(max(mono.max, wall.max)),
		Split: split,
	}
	// The order of two sends is not lost to a wall clock that was set back a little
	// between them.
	if mono.min >= 0 {
		g.Min = max(g.Min, 0)
	}
	if split > r.MaxClockSplit {
		g.Flaw = ClockSplit
	}
	return g
}

// Expect says what must have happened to a probe, given that the send in opening
// opened an interval, and given that the probe was carried out.
//
//   - Suppressed: the greatest possible gap is below Length.
//   - Delivered: the least possible gap is Length or more.
//   - Undecidable: anything else.
//
// A negative gap (the sends overlap) counts by its size: two sends of one id less
// than Length apart cannot both be new, in whichever order they were accepted.
func (r Rule) Expect(opening, probe Interval) Expectation {
	e, _ := r.Judge(r.Gap(opening, probe))
	return e
}

// Judge is Expect for a gap, with the reason why it is undecidable (else empty).
func (r Rule) Judge(g Gap) (Expectation, Reason) {
	switch {
	case g.Flaw != "":
		return Undecidable, g.Flaw
	case g.Min >= r.Length:
		return Delivered, ""
	case g.Max < r.Length && g.Min > -r.Length:
		return Suppressed, ""
	case g.Min == NoMin:
		return Undecidable, NoEnd
	case g.Max < r.Length:
		return Undecidable, ProbeFirst
	default:
		return Undecidable, AcrossEdge
	}
}

// Past reports whether a probe is surely accepted beyond or more after the end of
// the window. Just outside, AWS's texts leave room (the API reference also says
// "5-minute minimum"), so that delivery there is a SHOULD; a recorded run on AWS
// shows delivery 362 s after the first send, so that it is a MUST from a minute on.
func (r Rule) Past(g Gap, beyond time.Duration) bool {
	return g.Flaw == "" && g.Min >= r.Length && g.Min-r.Length >= beyond
}

// LatestInside returns the latest start of a probe that must still be suppressed,
// given that it is answered within allowance of its start. There is none, and ok is
// false, when the opening send was answered too late for that, or not at all: such
// a send is no opening to plan with.
func (r Rule) LatestInside(opening Interval, allowance time.Duration) (start time.Time, ok bool) {
	if !opening.Bounded() || opening.reversed() || r.most(0) >= r.Length {
		return time.Time{}, false
	}
	gap := bisect(0, r.Length, func(gap time.Duration) bool { return r.most(gap) < r.Length })
	start = opening.Start.Add(gap).Add(-max(allowance, 0))
	return start, !start.Before(opening.End)
}

// EarliestOutside returns the earliest start of a probe that is surely accepted
// beyond or more after the end of the window (see Past); 0 asks for the first start at which
// it must be delivered. However long the probe then takes, it only gets later. There
// is none, and ok is false, when the end of the opening send is not known.
func (r Rule) EarliestOutside(opening Interval, beyond time.Duration) (start time.Time, ok bool) {
	const horizon = NoMax / 2 // 146 years: not within it means never
	want := max(r.Length, 0) + max(beyond, 0)
	if !opening.Bounded() || opening.reversed() || r.least(horizon) < want {
		return time.Time{}, false
	}
	tooSoon := bisect(-1, horizon, func(gap time.Duration) bool { return r.least(gap) < want })
	return opening.End.Add(tooSoon + 1), true
}

// least and most are the bounds of the true gap for what the clock says.
func (r Rule) least(gap time.Duration) time.Duration {
	eps := r.drift(gap)
	if gap < NoMin+eps {
		return NoMin
	}
	return gap - eps
}

func (r Rule) most(gap time.Duration) time.Duration {
	eps := r.drift(gap)
	if gap > NoMax-eps {
		return NoMax
	}
	return gap + eps
}

// drift is the drift allowance for a gap, rounded up.
func (r Rule) drift(gap time.Duration) time.Duration {
	if !(r.Drift > 0) || gap == NoMin || gap == NoMax { // also not a number
		return 0
	}
	eps := math.Ceil(math.Abs(float64(gap)) * r.Drift)
	if eps >= math.MaxInt64 {
		return NoMax
	}
	return time.Duration(eps)
}

// distance is the size of a - b, which cannot be told for values 292 years apart.
func distance(a, b time.Duration) time.Duration {
	if a < b {
		a, b = b, a
	}
	if b < 0 && a > NoMax+b {
		return NoMax
	}
	return a - b
}

// bisect returns the last gap in [low, high) for which holds is true: it must be
// true of low, and false from some gap on that is not above high.
func bisect(low, high time.Duration, holds func(time.Duration) bool) time.Duration {
	for high-1 > low {
		if mid := low + (high-low)/2; holds(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// Ends is where on the client's clock the window ends that was opened at the reading
// opened: at the earliest, or with latest at the latest, drift allowance included.
func (r Rule) Ends(opened time.Duration, latest bool) time.Duration {
	if latest {
		return opened + r.Length + r.drift(r.Length)
	}
	return opened + r.Length - r.drift(r.Length)
}
