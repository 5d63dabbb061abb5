package timeline

import (
	"fmt"
	"time"

	"fifoproof/internal/receipt"
)

// panelRows is how many messages share a drawing and its axis.
const panelRows = 40

// The heights of a drawing's parts, in pixels.
const (
	rowHeight  = 18
	headHeight = 20
	axisHeight = 24
	barHeight  = 8
)

// panel is one drawing with the table of what it shows. Lengths down are pixels.
type panel struct {
	ID, Title, Desc, Caption string
	Height, AxisY            int
	Ticks                    []tick
	Heads                    []head
	Rows                     []row
	Table                    []line
	Groups                   bool // the table has more than one group
}

// TickEnd is where the ticks of the axis end.
func (p *panel) TickEnd() int { return p.AxisY + 4 }

// TickText is where the labels of the axis stand.
func (p *panel) TickText() int { return p.AxisY + 16 }

// head names the group of the rows below it.
type head struct {
	Y    int
	Text string
}

// row is a message.
type row struct {
	Y     int // its middle
	Label string
	Bars  []bar
	Marks []mark
}

// TextY is where the row's label stands.
func (r row) TextY() int { return r.Y + 4 }

// BarY is where the row's bars begin.
func (r row) BarY() int { return r.Y - barHeight/2 }

// bar is an attempt, mark a delivery.
type bar struct {
	X, Width percent
	Kind     receipt.Kind
	Open     bool // its end is not on record
	Tip      string
}

type mark struct {
	X    percent
	Kind receipt.Kind
	Tip  string
}

// line is a row of the table: one delivery.
type line struct {
	ID                                int64
	Group, Message, Received          string
	Nth, Count                        int // the n-th on record, by the queue's count
	Kind                              receipt.Kind
	Attempt                           int
	Worker, Started, Ended, Took, Why string
}

// draft is what a panel will show.
type draft struct {
	parts []part
	rows  int
}

// part is a group in a panel, or as much of it as has room.
type part struct {
	group    *group
	messages []*message
	again    bool // it began in the panel before
}

// cut deals groups out to panels, in order.
func cut(groups []*group) (drafts []draft) {
	var now draft
	end := func() {
		if now.rows > 0 {
			drafts = append(drafts, now)
		}
		now = draft{}
	}
	for _, g := range groups {
		if now.rows+len(g.messages) > panelRows {
			end()
		}
		for rest, again := g.messages, false; len(rest) > 0; again = true {
			room := min(panelRows-now.rows, len(rest))
			now.parts = append(now.parts, part{g, rest[:room], again})
			now.rows += room
			if rest = rest[room:]; len(rest) > 0 {
				end()
			}
		}
	}
	end()
	return drafts
}

// draw lays a panel out.
func (d draft) draw(number int, queues bool) *panel {
	s := d.scale()
	p := &panel{ID: fmt.Sprintf("panel-%d", number), Ticks: s.ticks(), Groups: len(d.parts) > 1}
	y, counts := 0, receipt.Counts{}
	for _, part := range d.parts {
		p.Heads = append(p.Heads, head{y + 14, part.title(queues)})
		y += headHeight
		for _, m := range part.messages {
			r := row{Y: y + rowHeight/2, Label: shorten(m.key.identity, 9)}
			r.fill(m, s)
			p.Rows = append(p.Rows, r)
			p.Table = append(p.Table, lines(m, part.place(queues))...)
			y += rowHeight
			for _, r := range m.receipts {
				counts.Add(r.Kind, 1)
			}
		}
	}
	p.AxisY, p.Height = y+4, y+4+axisHeight
	p.Title = fmt.Sprintf("%s over %s", plural(d.rows, "message"), span(s.to.Sub(s.from)))
	p.Caption = fmt.Sprintf("from %s UTC, %s long", stamp(s.from), span(s.to.Sub(s.from)))
	p.Desc = describe(counts) + "; each is in the table below"
	return p
}

// scale holds all instants of the panel.
func (d draft) scale() *scale {
	s := &scale{}
	for _, part := range d.parts {
		for _, m := range part.messages {
			for _, r := range m.receipts {
				s.add(r.ReceivedAt, r.Attempt.Started, r.Attempt.Ended)
			}
		}
	}
	s.settle()
	return s
}

// place is the part's group for a table's cell, with its queue where there are several.
func (p part) place(queues bool) string {
	text := orDash(shorten(p.group.name, 60))
	if queues {
		text = shorten(p.group.queue, 60) + " · " + text
	}
	return text
}

func (p part) title(queues bool) string {
	text := "group " + shorten(p.group.name, 60)
	if p.group.name == "" {
		text = "without a group"
	}
	if queues {
		text = shorten(p.group.queue, 60) + " · " + text
	}
	if p.again {
		text += ", continued"
	}
	return text
}

// fill puts a message's deliveries and attempts into its row.
func (r *row) fill(m *message, s *scale) {
	const thin = 0.1 // per cent: what has no width is not drawn
	for i, one := range m.receipts {
		if a := one.Attempt; !a.Started.IsZero() {
			ended, known := m.attemptEnd(i, s.to)
			b := bar{X: s.at(a.Started), Kind: one.Kind, Open: !known}
			b.Width = max(s.at(ended)-b.X, thin)
			b.Tip = fmt.Sprintf("attempt %d by %s from %s, ", a.Number, orDash(a.Worker), stamp(a.Started))
			if known {
				b.Tip += "took " + span(a.Ended.Sub(a.Started))
			} else {
				b.Tip += "no end on record"
			}
			b.Tip += tail(one)
			r.Bars = append(r.Bars, b)
		}
		tip := fmt.Sprintf("%s: delivery %d of message %s, received %s", one.Kind, i+1, one.MessageID, stamp(one.ReceivedAt))
		if waited := one.ReceivedAt.Sub(one.SentAt); !one.SentAt.IsZero() && waited >= 0 {
			tip += ", " + span(waited) + " after it was sent"
		}
		r.Marks = append(r.Marks, mark{s.at(one.ReceivedAt), one.Kind, tip + tail(one)})
	}
}

// tail is why, behind a sentence.
func tail(r receipt.Receipt) string {
	if text := why(r); text != "" {
		return ": " + text
	}
	return ""
}

func lines(m *message, group string) (list []line) {
	for i, r := range m.receipts {
		l := line{
			ID: r.ID, Group: group, Message: r.MessageID, Received: stamp(r.ReceivedAt),
			Nth: i + 1, Count: r.ReceiveCount, Kind: r.Kind, Why: why(r),
		}
		if a := r.Attempt; a != (receipt.Attempt{}) {
			l.Attempt, l.Worker, l.Started, l.Ended = a.Number, a.Worker, stamp(a.Started), "no end on record"
			if !a.Ended.IsZero() {
				l.Ended, l.Took = stamp(a.Ended), span(max(a.Ended.Sub(a.Started), time.Duration(0)))
			}
		}
		list = append(list, l)
	}
	return list
}
