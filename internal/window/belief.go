package window

import (
	"slices"
	"time"
)

// Outcome is what was seen of a send.
type Outcome uint8

const (
	// Unknown: no reply, or a reply and no proof of what became of the message.
	Unknown Outcome = iota
	// WasSuppressed: proved to have made no new message.
	WasSuppressed
	// WasDelivered: it became a message of its own.
	WasDelivered
)

// Belief is what a client may believe of one id in one scope of deduplication, from
// the sends it made and what it saw: a set of possible worlds. In each, either
// nothing was ever accepted or one of the sends is the latest that opened an interval.
// Delivered leaves one world, suppressed drops those in which the send could not
// have been suppressed, and an unanswered send keeps both that in which it was carried
// out and that in which it was not (yet).
//
// The sends must be told in the order in which they were made, none beginning before
// the one before it was answered or given up; that its message was received is an
// answer too, if it came before the next send. A send that was given up may still be
// carried out until the End of its interval, for ever if that is zero: whoever knows a
// bound (the end of the history, say) should give it. Its outcome is Unknown.
//
// A Belief is a value: Observe returns another one.
type Belief struct {
	rule    Rule
	opened  bool        // not possible that nothing was ever accepted
	open    []candidate // possible latest openings
	pending []candidate // unanswered: may open an interval some day before their end
	sends   int
}

// candidate is a send that may have opened an interval. The number tells it from
// another send at the same moment.
type candidate struct {
	number int
	Interval
}

// NewBelief is the belief about an id that was never sent before.
func NewBelief(rule Rule) Belief { return Belief{rule: rule} }

// Expect says what must happen to a probe if it is carried out, and before any later
// send is: suppressed or delivered if all worlds say so, else undecidable, with the
// reason (which is empty if decided).
func (b Belief) Expect(probe Interval) (Expectation, Reason) { return b.expect(probe, 0) }

// Past reports whether in every world the probe is surely accepted beyond or more after
// the end of the window; see [Rule.Past]. It is true of the first send of an id.
func (b Belief) Past(probe Interval, beyond time.Duration) bool {
	e, _ := b.expect(probe, beyond)
	return e == Delivered
}

// expect takes what is less than beyond past the end of the window as undecidable.
func (b Belief) expect(probe Interval, beyond time.Duration) (Expectation, Reason) {
	if probe.reversed() {
		return Undecidable, Reversed
	}
	var verdict Expectation
	for i, w := range b.worlds() {
		e, why := Delivered, Reason("")
		if w != nil {
			gap := b.rule.Gap(w.Interval, probe)
			if e, why = b.rule.Judge(gap); e == Delivered && !b.rule.Past(gap, beyond) {
				e, why = Undecidable, AcrossEdge
			}
		}
		if e == Delivered && b.reopened(w, probe, beyond) {
			e, why = Undecidable, Unanswered
		}
		if e == Undecidable {
			return Undecidable, why
		}
		if i > 0 && e != verdict {
			return Undecidable, Worlds
		}
		verdict = e
	}
	return verdict, ""
}

// reopened reports whether in world w a pending send may have opened an interval
// that ended less than beyond before the probe, or has not ended.
func (b Belief) reopened(w *candidate, probe Interval, beyond time.Duration) bool {
	return slices.ContainsFunc(b.pending, func(p candidate) bool {
		return b.mayReopen(w, p.Interval) && !b.rule.Past(b.rule.Gap(p.Interval, probe), beyond)
	})
}

// Observe tells what was seen of a send. If no world allows it, the queue broke the
// rules: ok is false, and next is what is most likely true after that (a delivered message
// opened an interval; a suppressed send changed nothing).
func (b Belief) Observe(send Interval, seen Outcome) (next Belief, ok bool) {
	self := candidate{number: b.sends, Interval: send}
	next = b
	next.sends++
	if !send.Bounded() {
		seen = Unknown // not known when, so of no use for the sends that follow
	}
	switch seen {
	case WasDelivered:
		ok = slices.ContainsFunc(b.worlds(), func(w *candidate) bool { return b.mayDeliver(w, send) })
		next.opened = true
		next.open = []candidate{self}
		return next, ok
	case WasSuppressed:
		open := b.suppressors(send)
		if len(open) == 0 {
			return next, false
		}
		next.opened = true
		next.open = open
		if len(open) == 1 { // then it was carried out in every world
			next.pending = slices.DeleteFunc(slices.Clone(b.pending), func(p candidate) bool {
				return p.number == open[0].number
			})
		}
		return next, true
	default:
		next.pending = append(slices.Clone(b.pending), self)
		return next, true
	}
}

// suppressors are the sends whose interval a suppressed send may have fallen into.
func (b Belief) suppressors(send Interval) []candidate {
	var found []candidate
	for _, c := range b.open {
		if b.maySuppress(c.Interval, send) {
			found = append(found, c)
		}
	}
	for _, p := range b.pending {
		p.Interval = p.until(send) // if it suppressed the send it was accepted before
		opens := slices.ContainsFunc(b.worlds(), func(w *candidate) bool { return b.mayReopen(w, p.Interval) })
		if !opens || !b.maySuppress(p.Interval, send) {
			continue
		}
		if i := slices.IndexFunc(found, func(c candidate) bool { return c.number == p.number }); i >= 0 {
			found[i] = p // it was a candidate before, with an earlier end
		} else {
			found = append(found, p)
		}
	}
	return found
}

// worlds are the possible latest openings; nil stands for none.
func (b Belief) worlds() []*candidate {
	worlds := make([]*candidate, 0, len(b.open)+1)
	if !b.opened {
		worlds = append(worlds, nil)
	}
	for i := range b.open {
		worlds = append(worlds, &b.open[i])
	}
	return worlds
}

// mayDeliver reports whether a send may be new in world w.
func (b Belief) mayDeliver(w *candidate, send Interval) bool {
	if w == nil {
		return true
	}
	e, _ := b.rule.Judge(b.rule.Gap(w.Interval, send))
	return e != Suppressed
}

// mayReopen reports whether a pending send may open the interval after that of w.
func (b Belief) mayReopen(w *candidate, pending Interval) bool {
	if w == nil {
		return true
	}
	g := b.rule.Gap(w.Interval, pending)
	return g.Flaw != "" || g.Max >= b.rule.Length
}

// maySuppress reports whether a send may be a duplicate of an earlier one.
func (b Belief) maySuppress(opening, send Interval) bool {
	g := b.rule.Gap(opening, send)
	return g.Flaw != "" || g.Min < b.rule.Length
}
