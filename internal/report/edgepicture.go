package report

import (
	"fmt"
	"math"

	"fifoproof/internal/conformance"
)

// edgePicture is a measured end of the window as a drawing: the gaps of the probes on
// an axis, what was suppressed to the left, what was delivered to the right.
type edgePicture struct {
	Case     string
	Bracket  string
	Note     string // how many probes, how long a call took
	Drawings []*edgeDrawing
}

// edgeDrawing is one axis of gaps. Lengths down are pixels.
type edgeDrawing struct {
	ID, Title, Desc, Caption string
	Zoom                     bool
	Ticks                    []axisTick
	Suppressed, Delivered    [2]percent // x and width of the sure sides
	Soft                     [2]percent // between them
	HasSuppressed            bool
	HasDelivered             bool
	HasSoft                  bool
	Probes                   []edgeProbe
	Marks                    []mark
}

type edgeProbe struct {
	X, Width percent
	Y        int
	Class    string
	Tip      string
}

// The rows of an edge drawing, in pixels.
const (
	rowSuppressed = 26
	rowOpen       = 50
	rowDelivered  = 74
)

// newEdge draws the edge that r measured; id begins the ids in the drawing.
func newEdge(id string, r conformance.Result, exact bool) *edgePicture {
	e := r.Edge
	p := &edgePicture{Case: r.ID, Bracket: bracket(e)}
	open := 0
	for _, probe := range e.Probes {
		if probe.Open {
			open++
		}
	}
	p.Note = plural(len(e.Probes), "probe")
	if open > 0 {
		p.Note += fmt.Sprintf(", %d of them undecided", open)
	}
	if exact {
		p.Note += ", at exact instants of a virtual clock"
	} else {
		p.Note += ", a call took " + span(e.RoundTrip)
	}
	from, to := 290.0, 310.0
	for _, probe := range e.Probes {
		from, to = min(from, math.Floor(probe.Min)-1), max(to, math.Ceil(probe.Max)+1)
	}
	whole := drawEdge(e, scale{from, to}, 0, sinceStart)
	whole.ID, whole.Title = id, "the end of the window: gaps between two sends of one id, and what became of the second"
	whole.Desc = p.Bracket + "; " + p.Note
	p.Drawings = append(p.Drawings, whole)
	if near, ok := nearEdge(e); ok && (near.to-near.from) < (to-from)/6 {
		origin := math.Round((near.from + near.to) / 2)
		if near.at(origin) < 0 || near.at(origin) > 100 {
			origin = (near.from + near.to) / 2
		}
		drawn := drawEdge(e, near, origin, aside(instantShort(origin)))
		drawn.ID, drawn.Title, drawn.Zoom = id+"-zoom", "the same, enlarged around the edge", true
		drawn.Desc = p.Bracket
		drawn.label(e)
		drawn.Caption = fmt.Sprintf("around the edge: %s wide", span(near.to-near.from))
		p.Drawings = append(p.Drawings, drawn)
	}
	return p
}

func instantShort(s float64) string {
	if s == math.Round(s) {
		return fmt.Sprintf("%.0f s", s)
	}
	return instant(s)
}

// nearEdge is the stretch around the bracket.
func nearEdge(e *conformance.Edge) (scale, bool) {
	if e.SuppressedUpTo == nil || e.DeliveredFrom == nil {
		return scale{}, false
	}
	from, to := min(*e.SuppressedUpTo, *e.DeliveredFrom), max(*e.SuppressedUpTo, *e.DeliveredFrom)
	for _, probe := range e.Probes { // the two probes that make the bracket, whole
		if probe.Max == *e.SuppressedUpTo || probe.Min == *e.DeliveredFrom {
			from, to = min(from, probe.Min), max(to, probe.Max)
		}
	}
	margin := max((to-from)*0.8, 1e-9)
	return scale{from - margin, to + margin}, true
}

func drawEdge(e *conformance.Edge, s scale, origin float64, say func(away, step float64) string) *edgeDrawing {
	d := &edgeDrawing{Ticks: s.ticks(origin, 5, say)}
	part := func(from, to float64) ([2]percent, bool) {
		x, width, ok := s.clip(from, to)
		return [2]percent{percent(x), percent(width)}, ok && width > 0
	}
	if up := e.SuppressedUpTo; up != nil {
		d.Suppressed, d.HasSuppressed = part(s.from, *up)
		d.end(s, *up)
	}
	if from := e.DeliveredFrom; from != nil {
		d.Delivered, d.HasDelivered = part(*from, s.to)
		d.end(s, *from)
	}
	if e.SuppressedUpTo != nil && e.DeliveredFrom != nil {
		d.Soft, d.HasSoft = part(min(*e.SuppressedUpTo, *e.DeliveredFrom), max(*e.SuppressedUpTo, *e.DeliveredFrom))
	}
	for _, probe := range e.Probes {
		x, width, ok := s.bar(probe.Min, probe.Max)
		if !ok {
			continue
		}
		drawn := edgeProbe{X: percent(x), Width: percent(width), Y: rowSuppressed, Class: "suppressed"}
		switch {
		case probe.Open:
			drawn.Y, drawn.Class = rowOpen, "undecided"
		case probe.Delivered:
			drawn.Y, drawn.Class = rowDelivered, "delivered"
		}
		digits := max(digitsOf(probe.Min), digitsOf(probe.Max))
		drawn.Tip = fmt.Sprintf("gap %s to %s s: %s", decimals(probe.Min, digits), decimals(probe.Max, digits), drawn.Class)
		d.Probes = append(d.Probes, drawn)
	}
	return d
}

// label writes the bracket beside its two ends, away from one another.
func (d *edgeDrawing) label(e *conformance.Edge) {
	if len(d.Marks) != 2 {
		return
	}
	digits := bracketDigits(e)
	d.Marks[0].Label, d.Marks[0].Anchor = down(*e.SuppressedUpTo, digits)+" s", anchorEnd
	d.Marks[1].Label, d.Marks[1].Anchor = up(*e.DeliveredFrom, digits)+" s", anchorStart
	if d.Marks[0].X > d.Marks[1].X { // the endpoint contradicts itself
		d.Marks[0].Anchor, d.Marks[1].Anchor = d.Marks[1].Anchor, d.Marks[0].Anchor
	}
}

func (d *edgeDrawing) end(s scale, t float64) {
	if x := s.at(t); x >= 0 && x <= 100 {
		d.Marks = append(d.Marks, mark{X: percent(x)})
	}
}
