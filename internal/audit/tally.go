package audit

import "slices"

// hit is one case of a finding, by the places of its lines.
type hit struct {
	at        int64
	send      bool  // at is in the send log, else among the receipts
	other     int64 // the line beside which it is one; -1: none
	otherSend bool
	reason    string
	gap       int64 // nanoseconds, with hasGap
	hasGap    bool
}

// before orders hits: the send log first, then by place.
func (h hit) before(o hit) bool {
	if h.send != o.send {
		return h.send
	}
	return h.at < o.at
}

type tallyKey struct {
	kind    Kind
	verdict Verdict
}

type tallied struct {
	count int64
	first hit
}

// tally counts findings and keeps the first of each.
type tally map[tallyKey]tallied

func (t tally) add(kind Kind, verdict Verdict, h hit) {
	k := tallyKey{kind, verdict}
	entry, known := t[k]
	if !known || h.before(entry.first) {
		entry.first = h
	}
	entry.count++
	t[k] = entry
}

// merge adds all of another tally.
func (t tally) merge(o tally) {
	for k, theirs := range o {
		ours, known := t[k]
		if !known || theirs.first.before(ours.first) {
			ours.first = theirs.first
		}
		ours.count += theirs.count
		t[k] = ours
	}
}

// excuse turns the failures of a kind into inconclusive findings, for a reason.
func (t tally) excuse(kind Kind, reason string) {
	failed, known := t[tallyKey{kind, Fail}]
	if !known {
		return
	}
	delete(t, tallyKey{kind, Fail})
	failed.first.reason = reason
	t.merge(tally{tallyKey{kind, Inconclusive}: failed})
}

// keys are what was found, in the order in which it is shown: failures of all kinds,
// then what is inconclusive, then notes.
func (t tally) keys() (keys []tallyKey) {
	for _, verdict := range []Verdict{Fail, Inconclusive, Note} {
		for _, kind := range Kinds() {
			if _, known := t[tallyKey{kind, verdict}]; known {
				keys = append(keys, tallyKey{kind, verdict})
			}
		}
	}
	return slices.Clip(keys)
}
