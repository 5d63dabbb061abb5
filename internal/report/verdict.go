package report

import (
	"fmt"
	"slices"
	"strings"

	"fifoproof/internal/conformance"
)

// verdicts are all verdicts in the order in which they are counted.
var verdicts = []conformance.Verdict{
	conformance.Pass, conformance.Noted, conformance.NonStrict, conformance.Fail,
	conformance.Inconclusive, conformance.Skipped, conformance.Errored,
}

// gravest are all verdicts in the order in which they need looking at.
var gravest = []conformance.Verdict{
	conformance.Fail, conformance.Errored, conformance.Inconclusive, conformance.NonStrict,
	conformance.Skipped, conformance.Noted, conformance.Pass,
}

var levels = []conformance.Level{conformance.Must, conformance.Should, conformance.Info}

// weight is how a verdict counts for the exit code.
type weight int

const (
	countsNot weight = iota // it does not
	countsOpen
	countsErrored
	countsFailed
)

// weigh says how r counts under the run's policy: the same rule by which the run's
// exit code was found.
func weigh(policy conformance.Policy, r conformance.Result) weight {
	warn := policy.Inconclusive == conformance.Warn
	switch {
	case r.Known != nil:
		return countsNot
	case r.Verdict == conformance.Fail, r.Verdict == conformance.NonStrict && policy.Strict:
		return countsFailed
	case r.Verdict == conformance.Errored:
		return countsErrored
	case r.Verdict == conformance.Inconclusive && !warn:
		return countsOpen
	case r.Verdict == conformance.Skipped && !warn && !r.Slow && !slices.Contains(policy.AllowSkip, r.ID):
		if r.Level == conformance.Must || policy.Strict && r.Level == conformance.Should {
			return countsOpen
		}
	}
	return countsNot
}

// differs reports whether r is a measurement that is not as our reference has it.
func differs(r conformance.Result) bool {
	return r.Verdict == conformance.Noted && r.Reason != ""
}

// settled reports whether r leaves nothing to explain.
func settled(r conformance.Result) bool {
	return r.Verdict == conformance.Pass || r.Verdict == conformance.Noted
}

// attention are the results that did not pass and are not known, gravest first, MUST
// before SHOULD before INFO.
func attention(results *conformance.Results) []conformance.Result {
	var out []conformance.Result
	for _, r := range results.Cases {
		if !settled(r) && r.Known == nil {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b conformance.Result) int {
		if by := slices.Index(gravest, a.Verdict) - slices.Index(gravest, b.Verdict); by != 0 {
			return by
		}
		return slices.Index(levels, a.Level) - slices.Index(levels, b.Level)
	})
	return out
}

// tally is how many of each verdict there are.
type tally map[conformance.Verdict]int

func tallyOf(cases []conformance.Result) tally {
	t := tally{}
	for _, r := range cases {
		t[r.Verdict]++
	}
	return t
}

// words names the verdicts that occur: "69 pass, 5 info".
func (t tally) words(separator string) string {
	var parts []string
	for _, v := range verdicts {
		if t[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", t[v], v))
		}
	}
	return strings.Join(parts, separator)
}

// area is a group of results whose ids begin alike.
type area struct {
	name  string
	cases []conformance.Result
	tally tally
}

// areas groups results by the first part of their id, in order of appearance.
func areas(cases []conformance.Result) []*area {
	var out []*area
	byName := map[string]*area{}
	for _, r := range cases {
		name := areaOf(r.ID)
		a, known := byName[name]
		if !known {
			a = &area{name: name}
			byName[name] = a
			out = append(out, a)
		}
		a.cases = append(a.cases, r)
	}
	for _, a := range out {
		a.tally = tallyOf(a.cases)
	}
	return out
}

func areaOf(id string) string {
	name, _, _ := strings.Cut(id, "/")
	return name
}

// queueTime is the longest time that passed on the endpoint's clock in one case.
func (a *area) queueTime() float64 {
	longest := 0.0
	for _, r := range a.cases {
		longest = max(longest, r.QueueTime)
	}
	return longest
}

// conclusion is the verdict on the run in one sentence, and what it amounts to.
func conclusion(results *conformance.Results) (sentence string, amounts conformance.Verdict) {
	failed, interrupted := map[conformance.Level]int{}, 0
	counted := map[weight]int{}
	for _, r := range results.Cases {
		w := weigh(results.Policy, r)
		counted[w]++
		if w == countsFailed {
			failed[r.Level]++
		}
		if r.Reason == conformance.Interrupted {
			interrupted++
		}
	}
	s := results.Summary
	switch {
	case len(results.Cases) == 0:
		return "no case was run", conformance.Inconclusive
	case counted[countsFailed] > 0:
		var parts []string
		for _, level := range levels {
			if n := failed[level]; n > 0 {
				parts = append(parts, plural(n, string(level)+" case"))
			}
		}
		sentence, amounts = join(parts)+" failed", conformance.Fail
		if failed[conformance.Must] == 0 {
			sentence += ", no MUST among them"
		}
	case len(results.Stale) > 0:
		sentence, amounts = "no case failed anew, but the known-failing list is out of date", conformance.Fail
	case counted[countsErrored] > 0:
		sentence, amounts = "no case failed, but the harness contradicts itself in "+plural(counted[countsErrored], "case"), conformance.Errored
	case counted[countsOpen] > 0:
		sentence, amounts = "no case failed, but "+plural(counted[countsOpen], "question")+" stayed open", conformance.Inconclusive
	case s.Known > 0:
		sentence, amounts = "nothing failed that was not known", conformance.Pass
	default:
		sentence, amounts = "every rule that was tested held", conformance.Pass
	}
	if interrupted > 0 {
		sentence += fmt.Sprintf("; the run was interrupted, and %s did not come to an end", plural(interrupted, "case"))
	}
	return sentence, amounts
}

// join makes "a", "a and b", "a, b and c".
func join(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
