package conformance

// Mutant is what the suite made of an endpoint with a planted variant.
type Mutant struct {
	Name  string   `json:"name"`
	Text  string   `json:"text"`           // what the variant does otherwise
	Legal bool     `json:"legal"`          // AWS's documentation allows it
	With  string   `json:"with,omitempty"` // a faulty variant that it is combined with
	Kills []Kill   `json:"kills"`          // the cases that caught it, in the catalogue's order
	Open  []string `json:"open,omitempty"` // cases that came to inconclusive
	Exit  int      `json:"exit"`
	// Broken are cases that came to an error of the harness: a variant must be caught
	// by a verdict.
	Broken []string `json:"broken,omitempty"`
}

// Kill is a case that caught a variant: a MUST that failed, a SHOULD that was not met,
// or an INFO case that differs from the reference.
type Kill struct {
	ID    string `json:"id"`
	Level Level  `json:"level"`
}

// Killed reports whether any case caught it, and by the strongest level that did.
func (m Mutant) Killed() (by Level, ok bool) {
	for _, level := range []Level{Must, Should, Info} {
		for _, k := range m.Kills {
			if k.Level == level {
				return level, true
			}
		}
	}
	return "", false
}

// NewMutant reads the results of a run on a variant.
func NewMutant(results *Results) Mutant {
	m := Mutant{Exit: results.Summary.Exit}
	for _, r := range results.Cases {
		switch r.Verdict {
		case Fail, NonStrict:
			m.Kills = append(m.Kills, Kill{r.ID, r.Level})
		case Inconclusive:
			m.Open = append(m.Open, r.ID)
		case Errored:
			m.Broken = append(m.Broken, r.ID)
		case Pass, Noted, Skipped:
		}
	}
	return m
}

// Sound reports whether the suite did what it must: a faulty variant is killed, a legal
// one never fails a MUST, and a fault beside a legal variant is never a pass.
func (m Mutant) Sound() bool {
	by, killed := m.Killed()
	switch {
	case len(m.Broken) > 0:
		return false
	case m.Legal && m.With == "":
		return by != Must
	case m.With != "":
		return m.Exit != exitPass
	}
	return killed
}
