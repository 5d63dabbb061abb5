package report

import (
	"fmt"
	"strings"

	"fifoproof/internal/conformance"
)

// timeline is a case as a drawing: what was sent, what was received, and the windows
// as the rules have them, over the whole case and near the end of a window; and the
// same as tables, for exact times and for readers who do not see the drawing.
type timeline struct {
	Drawings   []*drawing
	Sends      []sendRow
	Deliveries []deliveryRow
	Lanes      bool // the events are of more than one queue or group
	Omitted    int
}

type sendRow struct {
	N                      int
	What, Lane, ID, Answer string
	From, Until            string
}

type deliveryRow struct {
	Of, What, Lane, ID string
	From, Until        string
}

// drawing is one panel of a timeline. Lengths down are pixels.
type drawing struct {
	ID, Title, Desc, Caption string
	Zoom                     bool
	Height, AxisY            int
	Ticks                    []axisTick
	Lanes                    []lane
	Marks                    []mark
	Labels                   []mark
}

// lane is the row of sends and the row of deliveries of one queue and group.
type lane struct {
	Name                  string
	NameY, SendY, GotY    int
	SentLabelY, GotLabelY int
	Shades                []shade
	Bars                  []bar
	Got                   []tick
	Numbers               []mark
	Nothing               bool
}

// SendTop is where the lane's windows begin.
func (l lane) SendTop() int { return l.SendY - 3 }

// Tall is how tall the lane's windows are.
func (l lane) Tall() int { return l.GotY + track + 3 - l.SendTop() }

// SendMid is the middle of the row of sends.
func (l lane) SendMid() int { return l.SendY + track/2 }

// GotMid is the middle of the row of deliveries.
func (l lane) GotMid() int { return l.GotY + track/2 }

// NothingY is where an empty row of deliveries says so.
func (l lane) NothingY() int { return l.GotMid() - 3 }

// TickEnd is where the ticks of the axis end.
func (d *drawing) TickEnd() int { return d.AxisY + 4 }

// TickText is where the labels of the axis stand.
func (d *drawing) TickText() int { return d.AxisY + 17 }

// Class is how the label lies beside its instant.
func (m mark) Class() string {
	if m.Anchor == anchorEnd {
		return "end-anchor"
	}
	return m.Anchor
}

// shade is a window: solid between its soft edges, each as wide as the uncertainty.
type shade struct {
	In, Solid, Out [2]percent // x and width
}

// bar is a send, from the start of its attempt to its end.
type bar struct {
	X, Width percent
	Class    string
	Tip      string
}

// tick is a delivery: a line over the receive call, a mark where it ended.
type tick struct {
	X         percent
	Call      [2]percent
	Class     string
	Tip       string
	CallShown bool
}

// Where a label lies at its instant: it begins there, or it ends there.
const (
	anchorStart = "start"
	anchorEnd   = "end"
)

// mark is a labelled instant.
type mark struct {
	X      percent
	Y      int
	Label  string
	Anchor string // start, middle or end
}

// newTimeline draws r; nil where nothing was recorded. id begins the ids in the drawing.
func newTimeline(id string, r conformance.Result) *timeline {
	if len(r.Sends)+len(r.Deliveries) == 0 {
		return nil
	}
	t := &timeline{Omitted: r.Omitted}
	p := plotOf(r)
	t.Lanes = len(p.lanes) > 1
	t.rows(r, p)
	whole := p.draw(scale{0, p.whole()}, 0, sinceStart, p.lanes)
	whole.ID, whole.Title, whole.Desc = id, "timeline of "+r.ID, p.describe()
	t.Drawings = append(t.Drawings, whole)
	for i, z := range p.zooms() {
		drawn := p.draw(z.scale, z.window.end(), aside("end"), p.lanesOf(z.window))
		for k := range drawn.Lanes {
			drawn.Lanes[k].Nothing = false // it says so of the case, not of a stretch of it
		}
		drawn.ID, drawn.Zoom = fmt.Sprintf("%s-zoom%d", id, i+1), true
		drawn.Title, drawn.Caption = "the end of the window, enlarged", z.caption()
		drawn.Desc = z.caption()
		t.Drawings = append(t.Drawings, drawn)
	}
	return t
}

func (t *timeline) rows(r conformance.Result, p *plot) {
	for i, s := range r.Sends {
		row := sendRow{N: i + 1, What: s.Claim, Lane: p.laneName(s.Queue, s.Group), ID: orNone(s.ID), From: instant(s.Start), Until: noAnswer, Answer: noAnswer}
		if s.Fence && row.What == "" {
			row.What = fence
		}
		if s.End != nil {
			row.Until = instant(*s.End)
			row.Answer = orNone(s.MessageID)
		}
		if s.Refused != "" {
			row.Answer = "refused: " + s.Refused
		}
		t.Sends = append(t.Sends, row)
	}
	for _, d := range r.Deliveries {
		row := deliveryRow{Of: p.sentBy(d), What: "redelivery", Lane: p.laneName(d.Queue, d.Group), ID: orNone(d.ID), From: instant(d.Start), Until: instant(d.End)}
		switch {
		case d.Fence:
			row.What = fence
		case d.Copy:
			row.What = "copy"
		}
		t.Deliveries = append(t.Deliveries, row)
	}
}

// The heights of a drawing's parts, in pixels.
const (
	markRow   = 15 // labels of deciding instants
	nameRow   = 16
	numberRow = 13
	track     = 14
	between   = 8
	laneGap   = 10
	axisRow   = 20
)

// draw lays out the lanes over the scale.
func (p *plot) draw(s scale, origin float64, say func(away, step float64) string, lanes []laneKey) *drawing {
	d := &drawing{Ticks: s.ticks(origin, 6, say)}
	y := markRow
	for _, key := range lanes {
		l := lane{}
		if len(p.lanes) > 1 {
			l.Name, l.NameY = key.name(p), y+11
			y += nameRow
		}
		l.SendY = y + numberRow
		l.GotY = l.SendY + track + between
		l.SentLabelY, l.GotLabelY = l.SendY+11, l.GotY+11
		p.fill(&l, s, key)
		d.Lanes = append(d.Lanes, l)
		y = l.GotY + track + numberRow + laneGap
	}
	d.AxisY = y - laneGap + 4
	d.Height = d.AxisY + axisRow
	p.mark(d, s, lanes)
	return d
}

// fill puts the events of one lane into it.
func (p *plot) fill(l *lane, s scale, key laneKey) {
	for _, w := range p.shades(key) {
		if _, width, ok := s.clip(w.Opened[0], w.Ends[1]); !ok || width == 0 {
			continue
		}
		part := func(a, b float64) [2]percent {
			x, width, _ := s.clip(a, b)
			return [2]percent{percent(x), percent(width)}
		}
		l.Shades = append(l.Shades, shade{part(w.Opened[0], w.Opened[1]), part(w.Opened[1], w.Ends[0]), part(w.Ends[0], w.Ends[1])})
	}
	var sent, got numbers
	for i, send := range p.r.Sends {
		if !p.in(send.Queue, send.Group, key) {
			continue
		}
		end := s.to
		if send.End != nil {
			end = *send.End
		}
		x, width, ok := s.bar(send.Start, end)
		if !ok {
			continue
		}
		class := "send"
		switch {
		case send.Refused != "":
			class += " refused"
		case send.End == nil:
			class += " lost"
		}
		if send.Fence {
			class += " fence"
		}
		l.Bars = append(l.Bars, bar{percent(x), percent(width), class, p.sendTip(i)})
		if send.End != nil {
			x += width / 2
		}
		sent.add(x, i+1)
	}
	for _, r := range p.r.Deliveries {
		if !p.in(r.Queue, r.Group, key) {
			continue
		}
		x, _, ok := s.clip(r.End, r.End)
		if !ok {
			continue
		}
		class := "got again"
		if r.Copy {
			class = "got copy"
		}
		if r.Fence {
			class = "got fence"
		}
		from, width, _ := s.clip(r.Start, r.End)
		l.Got = append(l.Got, tick{
			X: percent(x), Call: [2]percent{percent(from), percent(width)}, CallShown: width > 1, Class: class,
			Tip: fmt.Sprintf("message %s received at %s", p.sentBy(r), instant(r.End)),
		})
		got.addText(x, p.sentBy(r))
	}
	l.Nothing = len(l.Got) == 0
	l.Numbers = append(sent.marks(l.SendY-3), got.marks(l.GotY+track+11)...)
}

// mark puts the ends of the windows into the drawing, and a label for those that lie
// apart. Of windows that outlast the drawing it says until when they do.
func (p *plot) mark(d *drawing, s scale, lanes []laneKey) {
	const apart = 38 // per cent: what a label takes on a phone
	var inside []*endLabel
	var beyond *endLabel
	for _, w := range p.windows {
		x := s.at(w.end())
		switch {
		case !p.anyLane(w, lanes) || x < 0:
		case x > 100 && w.start() > s.to:
		case x > 100:
			if beyond == nil {
				beyond = &endLabel{first: w.end(), from: 100, to: 100, text: "window until "}
			}
			beyond.last = w.end()
		default:
			d.Marks = append(d.Marks, mark{X: percent(x)})
			if n := len(inside); n > 0 && x-inside[n-1].to < apart {
				inside[n-1].to, inside[n-1].last = x, w.end()
				continue
			}
			inside = append(inside, &endLabel{w.end(), w.end(), x, x, "window ends at "})
		}
	}
	if beyond != nil && (len(inside) == 0 || inside[len(inside)-1].to < 100-apart) {
		inside = append(inside, beyond)
	}
	for _, l := range inside {
		d.Labels = append(d.Labels, l.mark())
	}
}

// endLabel says where one window ends, or several that end close together, which lie
// in order.
type endLabel struct {
	first, last float64 // when
	from, to    float64 // where, in per cent
	text        string
}

func (l *endLabel) mark() mark {
	text := l.text + instant(l.first)
	if l.last-l.first > 5e-4 {
		text = fmt.Sprintf("%s%.3f–%.3f s", strings.NewReplacer("window", "windows", "ends", "end").Replace(l.text), l.first, l.last)
	}
	m := mark{X: percent((l.from + l.to) / 2), Y: markRow - 5, Label: text, Anchor: "middle"}
	switch {
	case m.X < 25:
		m.Anchor = anchorStart
	case m.X > 75:
		m.Anchor = anchorEnd
	}
	return m
}

// describe says the drawing in words.
func (p *plot) describe() string {
	copies, again, fences := 0, 0, 0
	for _, d := range p.r.Deliveries {
		switch {
		case d.Fence:
			fences++
		case d.Copy:
			copies++
		default:
			again++
		}
	}
	parts := []string{plural(len(p.r.Sends), "send")}
	for _, part := range []struct {
		n    int
		noun string
	}{{copies, "received cop"}, {again, "redeliver"}, {fences, "received fence"}} {
		switch {
		case part.n == 0:
		case strings.HasSuffix(part.noun, "fence"):
			parts = append(parts, plural(part.n, part.noun))
		case part.n == 1:
			parts = append(parts, "1 "+part.noun+"y")
		default:
			parts = append(parts, fmt.Sprintf("%d %sies", part.n, part.noun))
		}
	}
	clauses := []string{join(parts) + " over " + span(p.whole())}
	if len(p.r.Deliveries) == 0 {
		clauses = append(clauses, "nothing was received")
	}
	for i, w := range p.windows {
		if i == 2 {
			clauses = append(clauses, plural(len(p.windows)-2, "more window"))
			break
		}
		clauses = append(clauses, fmt.Sprintf("the window of id %s from %s to %s", orNone(shorten(w.ID)), instant(w.start()), instant(w.end())))
	}
	return strings.Join(append(clauses, "each time is in the tables below"), "; ")
}
