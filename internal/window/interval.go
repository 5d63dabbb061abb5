package window

import (
	"math"
	"time"
)

// Interval is what a client knows of the moment at which a send was accepted: not
// before the start of its first attempt and not after its last answer. Both bounds
// count as possible moments.
//
// A zero End means that no end is known: an attempt went unanswered and may still be
// carried out. Times that carry Go's monotonic reading are compared on both clocks;
// keep it (no UTC, no Round, no JSON in between) as long as the judging is done in
// the process that sent. A saved history, which cannot keep it, sets Mono instead.
type Interval struct {
	Start, End time.Time
	Mono       Mono
}

// Mono are the monotonic readings of an interval from a saved history, since some
// moment that all intervals of that history share. End means nothing where the
// interval has no end.
type Mono struct {
	Start, End time.Duration
	Kept       bool // false: the times carry their own readings, or there are none
}

// At is the interval of a send that is known to the instant, as on a virtual clock.
func At(t time.Time) Interval { return Interval{Start: t, End: t} }

// Bounded reports whether the interval has a known end.
func (i Interval) Bounded() bool { return !i.End.IsZero() }

func (i Interval) reversed() bool { return i.Bounded() && i.length() < 0 }

func (i Interval) length() time.Duration {
	if i.Mono.Kept {
		return i.Mono.End - i.Mono.Start
	}
	return i.End.Sub(i.Start)
}

// wall is the interval without monotonic readings.
func (i Interval) wall() Interval {
	return Interval{Start: i.Start.Round(0), End: i.End.Round(0)}
}

// until is the interval with an end that is no later than that of other, if that
// has one.
func (i Interval) until(other Interval) Interval {
	if other.Bounded() && (!i.Bounded() || since(i.end(), other.end()) > 0) {
		i.End, i.Mono.End = other.End, other.Mono.End
	}
	return i
}

// reading is one bound of an interval.
type reading struct {
	at   time.Time
	mono time.Duration
	kept bool
}

func (i Interval) start() reading { return reading{i.Start, i.Mono.Start, i.Mono.Kept} }
func (i Interval) end() reading   { return reading{i.End, i.Mono.End, i.Mono.Kept} }

// since is a minus b: on the kept monotonic clock if both have it, else on the clock
// that both times carry.
func since(a, b reading) time.Duration {
	if a.kept && b.kept {
		return a.mono - b.mono
	}
	return a.at.Sub(b.at)
}

// The bounds of a gap that has none.
const (
	NoMin time.Duration = math.MinInt64
	NoMax time.Duration = math.MaxInt64
)

// Gap bounds the time from the acceptance of an opening send to that of a probe.
type Gap struct {
	// Min and Max are the least and the greatest possible gap, clock drift included.
	// Min is NoMin if the opening send has no known end, Max is NoMax if the probe
	// has none. A negative gap means that the probe may have been accepted first.
	Min, Max time.Duration

	// Split is how far the monotonic and the wall clock disagree about the gap.
	Split time.Duration

	// Flaw tells why nothing can be concluded from Min and Max. Empty if it can.
	Flaw Reason
}

// Reason tells in words why an expectation is undecidable.
type Reason string

const (
	// AcrossEdge: some of the possible gaps are inside the window, some are not.
	AcrossEdge Reason = "the possible gaps lie on both sides of the end of the window"
	// NoEnd: an opening send without a known end may be carried out at any time.
	NoEnd Reason = "the opening send was not answered and may have been carried out at any time since"
	// ClockSplit: one of the clocks was set, or stood still while the machine slept.
	ClockSplit Reason = "the monotonic and the wall clock disagree about the gap"
	// Reversed: the caller's interval is no interval.
	Reversed Reason = "a send ended before it started"
	// ProbeFirst: the probe was accepted before the opening send's window.
	ProbeFirst Reason = "the probe may have been accepted a window or more before the opening send"
	// Unanswered: another send, not answered, may have opened an interval meanwhile.
	Unanswered Reason = "an unanswered send of the same id may have opened an interval meanwhile"
	// Worlds: an earlier send's outcome is unknown, and the worlds differ.
	Worlds Reason = "what is known of the earlier sends allows both"
)

// span is a gap on one clock.
type span struct{ min, max time.Duration }

// spanOf compares on the monotonic clock where all bounds have a reading of it (kept,
// or in their times, where [time.Time.Sub] uses it), else on the wall clock.
func spanOf(opening, probe Interval) span {
	s := span{min: NoMin, max: NoMax}
	if opening.Bounded() {
		s.min = since(probe.start(), opening.end())
	}
	if probe.Bounded() {
		s.max = since(probe.end(), opening.start())
	}
	return s
}
