package conformance

import (
	"fmt"
	"slices"

	"fifoproof/internal/window"
)

// Judge turns a history into results: a pure function, so that a saved history comes
// to the same verdicts as the run that wrote it. It is an error where the history names
// cases that the catalogue does not have.
func Judge(history []Record) (*Results, error) {
	start := history[0].Run
	results := &Results{
		Target: start.Target, Run: start.Run, Version: start.Version, Profile: start.Profile,
		Policy: start.Policy, Started: start.Started,
	}
	took := 0.0
	cases := map[string]*tries{}
	for _, r := range history[1:] {
		switch {
		case r.Done != nil:
			took = r.Done.Seconds
		case r.Case != "":
			t := cases[r.Case]
			if t == nil {
				t = &tries{}
				cases[r.Case] = t
			}
			t.take(r)
		}
	}
	specs := map[string]Case{}
	for _, c := range Catalogue() {
		specs[c.ID] = c
	}
	results.leaveOut(start)
	rule := start.Rule.rule()
	findings := map[string]finding{}
	verdicts := map[string]Verdict{}
	for _, id := range start.Cases {
		c, known := specs[id]
		if !known {
			return nil, fmt.Errorf("the history has the case %s, which this program does not know", id)
		}
		f, lacking := start.lacks(c)
		if !lacking {
			f = finding{verdict: Inconclusive, seen: Interrupted, reason: Interrupted}
			if t := cases[id]; t != nil {
				f = t.judge(rule)
			}
		}
		findings[id] = f
		verdicts[id] = f.verdict
	}
	var calls, queues int
	for _, id := range start.Cases {
		c := specs[id]
		f := findings[id]
		if start.Target.Queue != "" {
			f = f.shared()
		}
		f = c.weigh(c.rest(f, verdicts), start.Own)
		r := Result{
			ID: id, Level: c.Level, Verdict: f.verdict, Expected: c.Want, Seen: f.seen, Reason: f.reason, Source: c.Source, Text: c.Text,
			Slow: f.slow, Shared: f.shares, Premise: slices.Contains(start.Premises, id),
		}
		if !Default.In(c) {
			r.Profile = Experiments
		}
		if t := cases[id]; t != nil {
			r.Fields = t.last.Fields
			r.draw(t.last, rule)
			if t.number > 1 {
				r.Tries = t.number
			}
			calls += t.calls
			queues += t.queues
		}
		results.Cases = append(results.Cases, r)
	}
	results.apply(start.Known)
	results.Summary.NotRun, results.Summary.Calls, results.Summary.Queues = len(results.NotRun), calls, queues
	results.Summary.Seconds = took
	return results, nil
}

// leaveOut lists the catalogue's cases that did not run.
func (r *Results) leaveOut(start *RunStart) {
	for _, c := range Catalogue() {
		if slices.Contains(start.Cases, c.ID) {
			continue
		}
		r.NotRun = append(r.NotRun, c.ID)
		if start.Target.Queue == "" || c.OnQueue {
			continue
		}
		if r.NotRunWhy == nil {
			r.NotRunWhy = map[string]string{}
		}
		r.NotRunWhy[c.ID] = c.offQueue()
	}
}

// tries are a case's tries; the last one counts.
type tries struct {
	number int
	last   *Evidence
	calls  int // of all
	queues int
}

// judge judges the last try. A run that was killed may have been about to see more.
func (t *tries) judge(rule window.Rule) finding {
	if !t.last.Closed && t.last.Stop == nil {
		t.last.Stop = &Stop{Verdict: Inconclusive, Reason: Interrupted}
	}
	return judge(t.last, rule)
}

func (t *tries) take(r Record) {
	if r.Try != t.number {
		t.number, t.last = r.Try, newEvidence()
	}
	queues := len(t.last.Queues)
	t.last.take(r)
	if r.Call != nil {
		t.calls++
	}
	if r.On == nil { // it was not made where it was given
		t.queues += len(t.last.Queues) - queues
	}
}

// lacks says why the target cannot do what a case needs.
func (s *RunStart) lacks(c Case) (f finding, lacking bool) {
	for _, needed := range []Capability{FIFO, c.Needs} {
		if how, missing := s.Target.Missing[needed]; missing {
			why := fmt.Sprintf("the endpoint lacks the capability %s: %s", needed, how)
			return finding{verdict: Skipped, seen: why, reason: why}, true
		}
	}
	return finding{}, false
}
