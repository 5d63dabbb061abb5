package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"fifoproof/internal/awserr"
	"fifoproof/internal/window"
)

// Verdict is what a case comes to.
type Verdict string

const (
	// Pass: what is expected was seen, with proof.
	Pass Verdict = "pass"
	// NonStrict: a SHOULD was not met.
	NonStrict Verdict = "non-strict"
	// Fail: a MUST was not met, or an INFO case differs on our own endpoint.
	Fail Verdict = "fail"
	// Inconclusive: nothing was proved either way.
	Inconclusive Verdict = "inconclusive"
	// Noted: an INFO case was measured.
	Noted Verdict = "info"
	// Skipped: the endpoint lacks what the case needs, or is too slow for it.
	Skipped Verdict = "skipped"
	// Errored: the harness itself went wrong, so its word is worth nothing.
	Errored Verdict = "error"
)

// finding is a verdict and its grounds.
type finding struct {
	verdict Verdict
	seen    string // what was seen, claim by claim
	reason  string // why there is no verdict, or what differs

	// byAbsence: the verdict rests on something that did not arrive, so the case's
	// premises must hold.
	byAbsence bool
	slow      bool
	shares    bool // nothing was missed, but on a queue that others may read
}

// judge turns the evidence of a case into its finding, before the case's level and its
// premises are weighed. It is a pure function.
func judge(e *Evidence, rule window.Rule) finding {
	if e.Flaw != "" {
		return finding{verdict: Errored, seen: e.Flaw, reason: e.Flaw}
	}
	var seen []string
	absence := false
	expected := newExpectations(rule)
	measured := measurement{rule: rule}
	for i, c := range e.Claims {
		if c.Measured {
			measured.take(e, i, expected)
			continue
		}
		f := e.judgeClaim(i, expected)
		seen = append(seen, f.seen)
		absence = absence || f.byAbsence
		if f.verdict != Pass {
			// What follows an open question is open too: a late copy of these sends
			// would be taken for one of the next.
			f.seen = strings.Join(seen, "; ")
			return f
		}
	}
	if len(measured.probes) > 0 {
		f := measured.finding()
		seen = []string{f.seen} // that its ids were opened goes without saying
		absence = true
		if f.verdict != Pass {
			f.seen = strings.Join(seen, "; ")
			return f
		}
	}
	if e.Stop != nil && !e.Stop.After {
		return e.Stop.finding(seen)
	}
	for _, a := range e.Answers {
		seen = append(seen, a.What+": "+a.Seen)
		if a.Seen != a.Want {
			return finding{verdict: Fail, seen: strings.Join(seen, "; "), reason: a.differs()}
		}
	}
	if e.Stop != nil {
		return e.Stop.finding(seen)
	}
	if len(e.Claims)+len(e.Answers) == 0 {
		return finding{verdict: Errored, seen: "nothing", reason: "the case claims nothing"}
	}
	return finding{verdict: Pass, seen: strings.Join(seen, "; "), byAbsence: absence}
}

// differs says how the answer is not what is wanted.
func (a Answer) differs() string {
	if a.Seen == "not "+a.Want {
		return a.What + ": " + a.Seen
	}
	return fmt.Sprintf("%s: %s, not %s", a.What, a.Seen, a.Want)
}

// finding is what a case comes to that stopped, having seen so much.
func (s *Stop) finding(seen []string) finding {
	return finding{
		verdict: s.Verdict, seen: strings.Join(append(seen, awserr.Sentence(s.Reason, s.Detail)), "; "), reason: s.Reason,
		slow: s.Slow,
	}
}

// weigh applies the case's level.
func (c Case) weigh(f finding, own bool) finding {
	switch {
	case c.Level == Should && f.verdict == Fail:
		f.verdict = NonStrict
	case c.Level == Info && f.verdict == Pass:
		f.verdict = Noted
	case c.Level == Info && !own && (f.verdict == Fail || f.verdict == Inconclusive):
		f.verdict = Noted
	}
	return f
}

// expectations is what the rules of the window make of the sends so far.
type expectations struct {
	rule    window.Rule
	beliefs map[key]window.Belief
	opened  map[key]window.Interval // the latest send that was new
}

func newExpectations(rule window.Rule) *expectations {
	return &expectations{rule: rule, beliefs: map[key]window.Belief{}, opened: map[key]window.Interval{}}
}

// send takes a send in, and tells what the rules expect of it. why tells what they
// leave open, if anything; past is how far past a window it must be to be due.
func (x *expectations) send(s Send, past time.Duration) (expected window.Expectation, why window.Reason) {
	k := s.key()
	belief, known := x.beliefs[k]
	if !known {
		belief = window.NewBelief(x.rule)
	}
	expected, why = belief.Expect(s.At)
	outcome := window.Unknown
	switch {
	case !s.At.Bounded():
		expected, why = window.Undecidable, noAnswer
	case expected == window.Delivered && belief.Past(s.At, past):
		outcome = window.WasDelivered
		x.opened[k] = s.At
	case expected == window.Delivered:
		expected, why = window.Undecidable, window.AcrossEdge
	case expected == window.Suppressed:
		outcome = window.WasSuppressed
	}
	x.beliefs[k], _ = belief.Observe(s.At, outcome)
	return expected, why
}

// noAnswer: what the rules say of a send holds only if it was carried out.
const noAnswer window.Reason = "a send was not answered, and may have been carried out or not"

// hold holds the times of a claim's sends against the rules: do as many of them have
// to be delivered as the case means? why tells what they leave open, if anything. gap
// is how long after an earlier claim's opening the last of them came, in words.
func (x *expectations) hold(e *Evidence, c Claim) (gap, why string) {
	due := 0
	earlier := maps.Clone(x.opened)
	for _, s := range e.Sends[c.First:c.Last] {
		if s.Fence {
			continue
		}
		if opening, ok := earlier[s.key()]; ok {
			gap = " after " + gapText(x.rule.Gap(opening, s.At))
		}
		expected, reason := x.send(s, c.Past)
		if expected == window.Delivered {
			due++
		}
		why = cmp.Or(string(reason), why)
	}
	if why == "" && due != c.Want {
		why = "the sends fell on the other side of the end of the window than they were meant to"
	}
	return gap, why
}

// judgeClaim judges the i-th claim, all before it having passed, and says in words
// what was seen.
func (e *Evidence) judgeClaim(i int, x *expectations) finding {
	c := e.Claims[i]
	for _, s := range e.Sends[c.First:c.Last] {
		if s.Refused != "" {
			return finding{verdict: Fail, seen: c.What + ": refused with " + s.Refused, reason: "a send that must be accepted was refused with " + s.Refused}
		}
	}
	copies := len(e.copiesOf(i))
	gap, why := x.hold(e, c)
	seen := fmt.Sprintf("%s: %s%s", c.What, count(copies), gap)
	differs := fmt.Sprintf("%s: %s, not %d", c.What, count(copies), c.Want)
	switch {
	case why != "":
		return finding{verdict: Inconclusive, seen: seen, reason: "the times prove nothing: " + why}
	case copies > c.Want:
		return finding{verdict: Fail, seen: seen, reason: differs}
	case !c.Fenced:
		return finding{verdict: Inconclusive, seen: seen + ", no fence", reason: noFence}
	case copies < c.Want:
		return finding{verdict: Fail, seen: seen, reason: differs, byAbsence: true}
	}
	return finding{verdict: Pass, seen: seen, byAbsence: true}
}

const noFence = "a fresh message behind the sends did not arrive, so their absence proves nothing"

// gapText writes the bounds of a gap in seconds, to the nanosecond where they are one.
func gapText(g window.Gap) string {
	switch {
	case g.Min == window.NoMin || g.Max == window.NoMax:
		return "unknown length"
	case g.Min == g.Max:
		return secondsText(g.Min)
	}
	return fmt.Sprintf("%.3f to %.3f s", g.Min.Seconds(), g.Max.Seconds())
}

func secondsText(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
}

func count(copies int) string {
	switch copies {
	case 0:
		return "no copy"
	case 1:
		return "1 copy"
	}
	return fmt.Sprintf("%d copies", copies)
}

// copiesOf are the copies that came between the first send of the i-th claim and
// the first of the next one on the same queue, or the end of the history. Replies
// are told apart by their order: on a clock that stands still all times are equal.
func (e *Evidence) copiesOf(i int) []Delivery {
	c := e.Claims[i]
	last := math.MaxInt
	for _, next := range e.Claims[i+1:] {
		if next.Queue == c.Queue && next.After > c.After {
			last = next.After
			break
		}
	}
	var out []Delivery
	for _, d := range e.copies(c.Queue) {
		if d.Reply > c.After && d.Reply <= last && (c.Digest == "" || d.BodyDigest == c.Digest) {
			out = append(out, d)
		}
	}
	return out
}
