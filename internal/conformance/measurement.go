package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fifoproof/internal/window"
)

// measurement gathers the probes of a ladder: each an id of its own that is sent again
// after a gap of its own.
type measurement struct {
	rule   window.Rule
	probes []measured
	differ string // how the first probe differs from the rules, in words that a list can hold
	when   string // and after which gap
	times  []time.Duration
}

// measured is one probe.
type measured struct {
	gap       window.Gap
	delivered bool
	open      bool
}

// take judges the i-th claim, a measured one, of a single send.
func (m *measurement) take(e *Evidence, i int, x *expectations) {
	c := e.Claims[i]
	var probe *Send
	for j := c.First; j < c.Last; j++ {
		if s := &e.Sends[j]; !s.Fence && s.Refused == "" && s.At.Bounded() {
			probe = s
		}
	}
	if probe == nil {
		return // without an answer nothing is known of its gap
	}
	opening, known := x.opened[probe.key()]
	if !known {
		return
	}
	p := measured{gap: m.rule.Gap(opening, probe.At), delivered: len(e.copiesOf(i)) > 0}
	p.open = !p.delivered && !c.Fenced || p.gap.Flaw != ""
	expected, _ := x.send(*probe, 0)
	m.times = append(m.times, probe.At.Mono.End-probe.At.Mono.Start)
	m.probes = append(m.probes, p)
	if p.open || m.differ != "" {
		return
	}
	if expected == window.Suppressed && p.delivered {
		m.differ, m.when = "an id was delivered again inside the window", "delivered after "+gapText(p.gap)
	}
	if expected == window.Delivered && !p.delivered {
		m.differ, m.when = "an id was still suppressed outside of the window", "still suppressed after "+gapText(p.gap)
	}
}

// finding is what the ladder comes to.
func (m *measurement) finding() finding {
	decided := slices.ContainsFunc(m.probes, func(p measured) bool { return !p.open })
	edge := m.edge()
	seen := edge.String()
	switch {
	case !decided:
		return finding{verdict: Inconclusive, seen: seen, reason: noFence}
	case m.differ != "":
		return finding{verdict: Fail, seen: seen + "; " + m.when, reason: m.differ, byAbsence: true}
	}
	return finding{verdict: Pass, seen: seen, byAbsence: true}
}

// edge is the measured end of the window.
func (m *measurement) edge() *Edge {
	e := &Edge{}
	slices.SortStableFunc(m.probes, func(a, b measured) int {
		return int(min(max(a.gap.Min-b.gap.Min, -1), 1))
	})
	for _, p := range m.probes {
		e.Probes = append(e.Probes, Probe{Min: p.gap.Min.Seconds(), Max: p.gap.Max.Seconds(), Delivered: p.delivered, Open: p.open})
		switch {
		case p.open:
		case p.delivered && (e.DeliveredFrom == nil || p.gap.Max.Seconds() < *e.DeliveredFrom):
			e.DeliveredFrom = new(p.gap.Max.Seconds())
		case !p.delivered && (e.SuppressedUpTo == nil || p.gap.Min.Seconds() > *e.SuppressedUpTo):
			e.SuppressedUpTo = new(p.gap.Min.Seconds())
		}
	}
	if len(m.times) > 0 {
		slices.Sort(m.times)
		e.RoundTrip = m.times[len(m.times)/2].Seconds()
	}
	return e
}

// String says where the window ends.
func (e *Edge) String() string {
	var parts []string
	if e.SuppressedUpTo != nil {
		parts = append(parts, "suppressed up to "+preciseText(*e.SuppressedUpTo))
	}
	if e.DeliveredFrom != nil {
		parts = append(parts, "delivered from "+preciseText(*e.DeliveredFrom))
	}
	if len(parts) == 0 {
		return "nothing measured"
	}
	return strings.Join(parts, ", ")
}

// preciseText writes seconds to the millisecond, or to the nanosecond where they are
// known to it.
func preciseText(seconds float64) string {
	exact := secondsText(time.Duration(seconds*1e9 + 0.5))
	if len(exact) > len("299.999999999 s") || len(exact) < len("300.001 s") {
		return fmt.Sprintf("%.3f s", seconds)
	}
	return exact
}
