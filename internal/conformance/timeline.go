package conformance

import (
	"slices"
	"time"

	"fifoproof/internal/window"
)

// draw fills in the timeline of a result.
func (r *Result) draw(e *Evidence, rule window.Rule) {
	t := timeline{Evidence: e, rule: rule}
	r.QueueTime = t.at(time.Duration(e.Ended.Mono))
	r.Windows = t.windows()
	r.Edge = t.edge()
	var left int
	r.Sends, left = first(t.sends())
	r.Omitted = left
	r.Deliveries, left = first(t.deliveries())
	r.Omitted += left
}

// first keeps the first mostShown of a list, and counts the rest.
func first[T any](list []T) (shown []T, left int) {
	if len(list) <= mostShown {
		return list, 0
	}
	return list[:mostShown], len(list) - mostShown
}

// timeline tells a case's evidence in seconds since its start.
type timeline struct {
	*Evidence
	rule window.Rule
}

func (t timeline) at(mono time.Duration) float64 {
	return (mono - time.Duration(t.Began.Mono)).Seconds()
}

// number is the place of a queue among the case's, from 0.
func (t timeline) number(queue string) int { return max(slices.Index(t.Queues, queue), 0) }

func (t timeline) sends() []Sent {
	claimed := make([]string, len(t.Sends))
	for _, c := range t.Claims {
		for i := c.First; i < c.Last; i++ {
			claimed[i] = c.What
		}
	}
	var out []Sent
	for i, s := range t.Sends {
		sent := Sent{
			Queue: t.number(s.Queue), Group: s.Group, ID: s.ID, Start: t.at(s.At.Mono.Start), MessageID: s.MessageID,
			Refused: s.Refused, Fence: s.Fence, Claim: claimed[i],
		}
		if s.At.Bounded() {
			sent.End = new(t.at(s.At.Mono.End))
		}
		out = append(out, sent)
	}
	return out
}

// windows are those that the rules say were opened, the first mostShown of them.
func (t timeline) windows() []Window {
	x := newExpectations(t.rule)
	var out []Window
	for _, s := range t.Sends {
		if s.Fence || s.Refused != "" {
			continue
		}
		if expected, _ := x.send(s, 0); expected != window.Delivered {
			continue
		}
		w := Window{
			Queue: t.number(s.Queue), ID: s.ID, Opened: [2]float64{t.at(s.At.Mono.Start), t.at(s.At.Mono.End)},
			Ends: [2]float64{t.at(t.rule.Ends(s.At.Mono.Start, false)), t.at(t.rule.Ends(s.At.Mono.End, true))},
		}
		if s.Scope == window.ScopeGroup {
			w.Group = s.Group
		}
		if out = append(out, w); len(out) == mostShown {
			break
		}
	}
	return out
}

// edge is the measured end of the window, of a case that measures it.
func (t timeline) edge() *Edge {
	x := newExpectations(t.rule)
	m := measurement{rule: t.rule}
	for i, c := range t.Claims {
		if c.Measured {
			m.take(t.Evidence, i, x)
		} else {
			x.hold(t.Evidence, c)
		}
	}
	if len(m.probes) == 0 {
		return nil
	}
	return m.edge()
}

func (t timeline) deliveries() []Received {
	type place struct {
		handle string
		reply  int
	}
	copies := map[place]bool{}
	for _, q := range t.Queues {
		for _, d := range t.copies(q) {
			copies[place{d.Handle, d.Reply}] = true
		}
	}
	var out []Received
	for _, d := range t.Deliveries {
		out = append(out, Received{
			Queue: t.number(d.Queue), Group: d.Group, ID: d.ID, Start: t.at(d.At.Mono.Start), End: t.at(d.At.Mono.End),
			MessageID: d.MessageID, Fence: d.Fence, Copy: copies[place{d.Handle, d.Reply}],
		})
	}
	return out
}
