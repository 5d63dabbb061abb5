package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/aws/smithy-go"

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
	// Skipped: the endpoint lacks what the case needs.
	Skipped Verdict = "skipped"
	// Errored: the harness itself went wrong, so its word is worth nothing.
	Errored Verdict = "error"
)

// Interrupted is the reason of a case that was stopped before its end.
const Interrupted = "interrupted"

// finding is a verdict and its grounds.
type finding struct {
	verdict Verdict
	seen    string // what was seen, claim by claim
	reason  string // why there is no verdict, or what differs
}

// judge turns the evidence of a case into its finding. stepErr is what ended the
// case's steps early, if anything did. It is a pure function.
func judge(c Case, e *Evidence, stepErr error, rule window.Rule, own bool) finding {
	if e.Disagreement != "" {
		return finding{verdict: Errored, seen: e.Disagreement, reason: e.Disagreement}
	}
	var seen []string
	expected := newExpectations(rule)
	for i := range e.Claims {
		said, verdict, reason := e.judgeClaim(i, expected)
		seen = append(seen, said)
		if verdict != Pass {
			// What follows an open question is open too: a late copy of these sends
			// would be taken for one of the next.
			return c.weigh(finding{verdict, strings.Join(seen, "; "), reason}, own)
		}
	}
	if stepErr != nil {
		f := unfinished(stepErr)
		f.seen = strings.Join(append(seen, f.reason), "; ")
		return c.weigh(f, own)
	}
	for _, a := range e.Answers {
		seen = append(seen, a.What+": "+a.Seen)
		if a.Seen != a.Want {
			return c.weigh(finding{Fail, strings.Join(seen, "; "), fmt.Sprintf("%s: %s, not %s", a.What, a.Seen, a.Want)}, own)
		}
	}
	if len(e.Claims)+len(e.Answers) == 0 {
		return finding{verdict: Errored, seen: "nothing", reason: "the case claims nothing"}
	}
	return c.weigh(finding{verdict: Pass, seen: strings.Join(seen, "; ")}, own)
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

// hold holds the times of a claim's sends against the rules: do as many of them have
// to be delivered as the case means? why tells what they leave open, if anything. gap
// is how long after an earlier claim's opening the last of them came, in words.
func (x *expectations) hold(e *Evidence, c Claim) (gap, why string) {
	due := 0
	earlier := maps.Clone(x.opened)
	for _, s := range e.Sends[c.First:c.Last] {
		k := s.key()
		belief, known := x.beliefs[k]
		if !known {
			belief = window.NewBelief(x.rule)
		}
		if opening, ok := earlier[k]; ok {
			gap = " after " + gapText(x.rule.Gap(opening, s.At))
		}
		expected, reason := belief.Expect(s.At)
		outcome := window.Unknown
		switch {
		case expected == window.Delivered && belief.Past(s.At, c.Past):
			outcome = window.WasDelivered
			x.opened[k] = s.At
			due++
		case expected == window.Suppressed:
			outcome = window.WasSuppressed
		case expected == window.Delivered:
			reason = window.AcrossEdge
			fallthrough
		default:
			why = string(reason)
		}
		x.beliefs[k], _ = belief.Observe(s.At, outcome)
	}
	if why == "" && due != c.Want {
		why = "the sends fell on the other side of the end of the window than they were meant to"
	}
	return gap, why
}

// judgeClaim judges the i-th claim, all before it having passed, and says in words
// what was seen.
func (e *Evidence) judgeClaim(i int, x *expectations) (seen string, v Verdict, reason string) {
	c := e.Claims[i]
	for _, s := range e.Sends[c.First:c.Last] {
		if s.Refused != "" {
			return c.What + ": refused with " + s.Refused, Fail, "a send that must be accepted was refused with " + s.Refused
		}
	}
	copies := len(e.copiesOf(i))
	gap, why := x.hold(e, c)
	seen = fmt.Sprintf("%s: %s%s", c.What, count(copies), gap)
	differs := fmt.Sprintf("%s: %s, not %d", c.What, count(copies), c.Want)
	switch {
	case why != "":
		return seen, Inconclusive, "the times prove nothing: " + why
	case copies > c.Want:
		return seen, Fail, differs
	case !c.Fenced:
		return seen + ", no fence", Inconclusive, "a fresh message behind the sends did not arrive, so their absence proves nothing"
	case copies < c.Want:
		return seen, Fail, differs
	}
	return seen, Pass, ""
}

// gapText writes the bounds of a gap in seconds, to the nanosecond where they are one.
func gapText(g window.Gap) string {
	switch {
	case g.Min == window.NoMin || g.Max == window.NoMax:
		return "unknown length"
	case g.Min == g.Max:
		return strconv.FormatFloat(g.Min.Seconds(), 'f', -1, 64) + " s"
	}
	return fmt.Sprintf("%.3f to %.3f s", g.Min.Seconds(), g.Max.Seconds())
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
		if next.Queue == c.Queue {
			last = next.After
			break
		}
	}
	var out []Delivery
	for _, d := range e.copies(c.Queue) {
		if d.Reply > c.After && d.Reply <= last {
			out = append(out, d)
		}
	}
	return out
}

// unfinished says what it means that a case could not take all its steps.
func unfinished(err error) finding {
	var answered smithy.APIError
	switch {
	case errors.Is(err, errUnable), errors.Is(err, errPremise):
		return finding{verdict: Inconclusive, reason: err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return finding{verdict: Inconclusive, reason: Interrupted}
	case errors.As(err, &answered):
		return finding{verdict: Inconclusive, reason: "the endpoint answered " + answered.ErrorCode() + ": " + answered.ErrorMessage()}
	}
	return finding{verdict: Errored, reason: err.Error()}
}
