package conformance

import "slices"

// The cases that every proof of absence rests on, beside its own fence.
const (
	orderPremise  = "receive/order/in-group"
	unlockPremise = "receive/group/unlocked-by-delete"
)

// withPremises gives each case that may prove an absence the premises that it has.
func withPremises(cases []Case) []Case {
	base := []string{orderPremise, unlockPremise}
	for i := range cases {
		c := &cases[i]
		switch {
		case slices.Contains(base, c.ID):
		case c.Area() == "validate" || c.Area() == "response":
			// They read answers.
		default:
			c.Premises = append(slices.Clone(base), c.Premises...)
		}
	}
	return cases
}

// Close adds to the selected cases the premises that they build on, and tells which
// those are. The order is that of the catalogue.
func Close(catalogue, selected []Case) (cases []Case, added []string) {
	need := map[string]bool{}
	chosen := map[string]bool{}
	for _, c := range selected {
		chosen[c.ID] = true
		for _, p := range c.Premises {
			need[p] = true
		}
	}
	for _, c := range catalogue {
		switch {
		case chosen[c.ID]:
			cases = append(cases, c)
		case need[c.ID]:
			cases = append(cases, c)
			added = append(added, c.ID)
		}
	}
	return cases, added
}

// rest weighs a verdict that rests on an absence by the premises of its case: it
// counts only where all of them have passed on this target.
func (c Case) rest(f finding, verdicts map[string]Verdict) finding {
	if !f.byAbsence {
		return f
	}
	for _, p := range c.Premises {
		v, ran := verdicts[p]
		if v == Pass {
			continue
		}
		word := "was not run"
		if ran {
			word = "came to " + string(v)
		}
		return finding{verdict: Inconclusive, seen: f.seen, reason: "its premise " + p + " " + word}
	}
	return f
}
