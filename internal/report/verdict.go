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
	counted := map[conformance.Weight]int{}
	for _, r := range results.Cases {
		w := results.Policy.Weigh(r)
		counted[w]++
		if w == conformance.CountsFailed {
			failed[r.Level]++
		}
		if r.Reason == conformance.Interrupted {
			interrupted++
		}
	}
	var clauses []string
	add := func(v conformance.Verdict, clause string) {
		if len(clauses) == 0 {
			amounts = v // the first clause is the gravest
		}
		clauses = append(clauses, clause)
	}
	if counted[conformance.CountsFailed] > 0 {
		var parts []string
		for _, level := range levels {
			if n := failed[level]; n > 0 {
				parts = append(parts, plural(n, string(level)+" case"))
			}
		}
		add(conformance.Fail, join(parts)+" failed")
	}
	if len(results.Stale) > 0 {
		add(conformance.Fail, "the list of known failures is out of date")
	}
	if n := counted[conformance.CountsErrored]; n > 0 {
		add(conformance.Errored, "the harness contradicts itself in "+plural(n, "case"))
	}
	if n := counted[conformance.CountsOpen]; n > 0 {
		add(conformance.Inconclusive, plural(n, "question")+" stayed open")
	}
	if interrupted > 0 {
		add(conformance.Inconclusive, "the run was interrupted before "+plural(interrupted, "case")+" came to an end")
	}
	switch {
	case len(results.Cases) == 0:
		return "no case was run", conformance.Inconclusive
	case len(clauses) > 0:
		return strings.Join(clauses, "; "), amounts
	case results.Summary.Known > 0:
		return "nothing failed that was not known", conformance.Pass
	default:
		return "every rule that was tested held", conformance.Pass
	}
}

// join makes "a", "a and b", "a, b and c".
func join(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
