package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"fifoproof/internal/conformance"
)

// plot is what a timeline draws: the events of a case by queue and group.
type plot struct {
	r       conformance.Result
	lanes   []laneKey
	queues  bool // there is more than one queue
	groups  bool // there is more than one group
	windows []window
	numbers map[string]int // by MessageId: the first send that got it
}

// mostLanes bounds the lanes of a drawing; the last one holds all further groups.
const mostLanes = 6

type laneKey struct {
	queue int
	group string
	rest  int // of the last lane: how many groups share it
}

func (k laneKey) name(p *plot) string {
	switch {
	case k.rest > 0:
		return fmt.Sprintf("%d more groups", k.rest)
	case p.queues && p.groups:
		return fmt.Sprintf("queue %d · group %s", k.queue+1, shorten(k.group))
	case p.queues:
		return fmt.Sprintf("queue %d", k.queue+1)
	default:
		return "group " + shorten(k.group)
	}
}

// window is a deduplication window with its middle instants.
type window struct{ conformance.Window }

func (w window) start() float64 { return (w.Opened[0] + w.Opened[1]) / 2 }
func (w window) end() float64   { return (w.Ends[0] + w.Ends[1]) / 2 }

func plotOf(r conformance.Result) *plot {
	p := &plot{r: r, numbers: map[string]int{}}
	for _, w := range r.Windows {
		p.windows = append(p.windows, window{w})
	}
	slices.SortStableFunc(p.windows, func(a, b window) int {
		switch {
		case a.end() < b.end():
			return -1
		case a.end() > b.end():
			return 1
		default:
			return 0
		}
	})
	add := func(queue int, group string) {
		key := laneKey{queue: queue, group: group}
		if !slices.Contains(p.lanes, key) {
			p.lanes = append(p.lanes, key)
		}
	}
	for i, s := range r.Sends {
		add(s.Queue, s.Group)
		if s.MessageID != "" && p.numbers[s.MessageID] == 0 {
			p.numbers[s.MessageID] = i + 1
		}
	}
	for _, d := range r.Deliveries {
		add(d.Queue, d.Group)
	}
	slices.SortStableFunc(p.lanes, func(a, b laneKey) int { return a.queue - b.queue })
	for _, key := range p.lanes {
		p.queues = p.queues || key.queue != p.lanes[0].queue
		p.groups = p.groups || key.group != p.lanes[0].group
	}
	if len(p.lanes) > mostLanes {
		p.lanes[mostLanes-1].rest = len(p.lanes) - mostLanes + 1
		p.lanes = p.lanes[:mostLanes]
	}
	return p
}

func (p *plot) laneName(queue int, group string) string {
	return laneKey{queue: queue, group: group}.name(p)
}

// in reports whether an event of the queue and group belongs to the lane.
func (p *plot) in(queue int, group string, key laneKey) bool {
	if key.rest == 0 {
		return key.queue == queue && key.group == group
	}
	return !slices.ContainsFunc(p.lanes, func(other laneKey) bool {
		return other.rest == 0 && other.queue == queue && other.group == group
	})
}

// applies reports whether the window counts in the lane: in all groups of its queue
// where ids are known by queue.
func (w window) applies(key laneKey) bool {
	return key.rest > 0 || w.Queue == key.queue && (w.Group == "" || w.Group == key.group)
}

func (p *plot) anyLane(w window, lanes []laneKey) bool {
	return slices.ContainsFunc(lanes, w.applies)
}

func (p *plot) lanesOf(w window) []laneKey {
	var out []laneKey
	for _, key := range p.lanes {
		if w.applies(key) {
			out = append(out, key)
		}
	}
	return out
}

// shades are the windows of a lane. Many that lie over one another are drawn as one,
// whose soft edges hold all of theirs; drawn singly, they would be a solid block.
func (p *plot) shades(key laneKey) []window {
	const most = 4
	var out []window
	for _, w := range p.windows {
		if w.applies(key) {
			out = append(out, w)
		}
	}
	if len(out) <= most {
		return out
	}
	hull := out[0]
	for _, w := range out[1:] {
		hull.Opened = [2]float64{min(hull.Opened[0], w.Opened[0]), max(hull.Opened[1], w.Opened[1])}
		hull.Ends = [2]float64{min(hull.Ends[0], w.Ends[0]), max(hull.Ends[1], w.Ends[1])}
	}
	return []window{hull}
}

// whole is how long the main drawing lasts: to the last event, and to the end of a
// window where that is not far beyond.
func (p *plot) whole() float64 {
	last := 0.0
	for _, s := range p.r.Sends {
		last = max(last, s.Start)
		if s.End != nil {
			last = max(last, *s.End)
		}
	}
	for _, d := range p.r.Deliveries {
		last = max(last, d.End)
	}
	for _, w := range p.windows {
		if end := w.Ends[1]; end <= 1.5*last {
			last = max(last, end)
		}
	}
	if last <= 0 {
		return 1 // all of it happened at one instant of a virtual clock
	}
	return last * 1.02
}

// sentBy is the number of the send that a delivery's message came from.
func (p *plot) sentBy(d conformance.Received) string {
	if n := p.numbers[d.MessageID]; n > 0 {
		return strconv.Itoa(n)
	}
	return "?"
}

func (p *plot) sendTip(i int) string {
	s := p.r.Sends[i]
	what := s.Claim
	if s.Fence && what == "" {
		what = fence
	}
	tip := fmt.Sprintf("send %d", i+1)
	if what != "" {
		tip += " (" + what + ")"
	}
	if s.End == nil {
		return tip + fmt.Sprintf(" from %s, no answer", instant(s.Start))
	}
	tip += fmt.Sprintf(" from %s to %s", instant(s.Start), instant(*s.End))
	if s.Refused != "" {
		tip += ", refused: " + s.Refused
	}
	return tip
}

// zoom is a window whose end a send came close to.
type zoom struct {
	window window
	send   int // index of the send
	s      conformance.Sent
	scale  scale
}

// mostZooms bounds the enlarged drawings of a case: a ladder of probes has its own picture.
const mostZooms = 2

// zooms are the ends of windows that a send of the same id came so close to that the
// main drawing cannot show on which side it lies.
func (p *plot) zooms() []zoom {
	if p.r.Edge != nil {
		return nil
	}
	const near, tiny = 0.05, 1e-9
	var out []zoom
	whole := p.whole()
	for _, w := range p.windows {
		best, far := -1, near*whole
		for i, s := range p.r.Sends {
			same := s.Queue == w.Queue && s.ID == w.ID && (w.Group == "" || w.Group == s.Group)
			if !same || s.Start <= w.Opened[1] || s.End == nil {
				continue
			}
			if away := math.Abs(s.Start - w.end()); away < far {
				best, far = i, away
			}
		}
		if best < 0 {
			continue
		}
		s := p.r.Sends[best]
		half := max(math.Abs(s.Start-w.end()), math.Abs(*s.End-w.end()), (w.Ends[1]-w.Ends[0])/2, tiny) * 1.6
		if half > whole/20 {
			continue // the main drawing shows it
		}
		out = append(out, zoom{w, best, s, scale{w.end() - half, w.end() + half}})
		if len(out) == mostZooms {
			break
		}
	}
	return out
}

// caption says on which side of the window's end the send lies, and by how much.
func (z zoom) caption() string {
	name := fmt.Sprintf("send %d", z.send+1)
	if z.s.Claim != "" {
		name += " (" + z.s.Claim + ")"
	}
	// What is left of a float64 at five minutes is a twentieth of a picosecond.
	const nothing = 1e-12
	switch before, after := z.window.Ends[0]-*z.s.End, z.s.Start-z.window.Ends[1]; {
	case before > nothing:
		return fmt.Sprintf("%s is over %s before its window ends: inside", name, span(before))
	case after >= -nothing:
		if after <= nothing {
			return name + " begins at the very end of its window: outside"
		}
		return fmt.Sprintf("%s begins %s after its window has ended: outside", name, span(after))
	default:
		return name + " lies across the end of its window, so it cannot be said on which side"
	}
}
