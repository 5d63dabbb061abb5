package audit

import (
	"context"
	"time"

	"fifoproof/internal/window"
)

// groupState is what is known of one message group of a queue.
type groupState struct {
	series uint32
	set    bool   // last is one of this series
	last   newest // with the greatest number of this series so far
	all    newest // of all series
	open   bool   // the last receipt says that the message is not done
	active int64  // when the last receipt was received
}

// newest is the delivery with the greatest SequenceNumber.
type newest struct {
	sequence           number
	sent, received, at int64
}

// judgeGroups judges the order of deliveries in each group, and then which of the
// missing messages are lost.
func (a *auditor) judgeGroups(ctx context.Context) error {
	if a.behind.total() > 0 {
		if err := a.traffic(ctx); err != nil {
			return err
		}
	}
	return a.each(ctx, func(p int, found tally) error {
		groups := map[key]*groupState{}
		var o orderRecord
		err := a.orders.each(p, func(b []byte) error {
			o.get(b)
			g, known := groups[o.group]
			if !known {
				g = &groupState{}
				groups[o.group] = g
			}
			g.next(&o, found)
			return nil
		})
		if err != nil {
			return err
		}
		var m missingRecord
		return a.behind.each(p, func(b []byte) error {
			group, _ := m.get(b)
			a.lost(groups[group], &m, found)
			return nil
		})
	})
}

// next judges a delivery of the group; they come in the order of their file.
func (g *groupState) next(o *orderRecord, found tally) {
	g.open = !o.kind.done()
	g.active = o.received
	if o.flags&hasSequence == 0 {
		found.add(OutOfOrder, Inconclusive, hit{at: o.at, other: -1, reason: "the receipt has no SequenceNumber to judge the order by"})
		return
	}
	if o.series != g.series {
		g.series, g.set = o.series, false
	}
	this := newest{o.sequence, o.sent, o.received, o.at}
	if g.all.sequence.less(o.sequence) {
		g.all = this
	}
	switch {
	case !g.set || g.last.sequence.less(o.sequence):
		g.last, g.set = this, true
	case o.sequence == g.last.sequence || o.kind == redelivered || o.count > 1:
		// The same again, or not its first receive: a message that comes back is behind
		// those that were received with it.
	default:
		g.fell(o, found)
	}
}

// fell judges a first receive behind a later message.
func (g *groupState) fell(o *orderRecord, found tally) {
	h := hit{at: o.at, other: g.last.at}
	verdict := Inconclusive
	switch {
	case o.count == 0:
		h.reason = "behind a later message of its group, and the receive count is not told: it may have been received before"
	case o.received < g.last.received:
		h.reason = "on record behind a later message of its group, and received before that by the consumer's clock"
	case o.sent != 0 && o.sent > g.last.sent && g.last.sent != 0:
		h.reason = "its SequenceNumber is lower than that of a message that was sent before it: the queue was made anew, or its numbers do not rise"
	default:
		h.reason = "first received behind a later message of its group"
		verdict = Fail
	}
	found.add(OutOfOrder, verdict, h)
}

// lost judges a missing message by what was delivered of its group and its queue. A
// later message of the group proves that the queue does not hold it any more, since
// FIFO gives out nothing behind a message that is still there.
//
// Where none was delivered, the message may still wait: in a backlog, behind another
// one of its group that is not deleted yet, or hidden because a consumer died that had
// just received it. None of these is left where a later message was delivered two
// grace times before the receipts end, and in the last grace time the consumer was
// busy with still later ones, up to date, and heard nothing of the group.
func (a *auditor) lost(g *groupState, m *missingRecord, found tally) {
	q, grace := a.queues.at(m.queue), int64(a.opts.Grace)
	h := hit{at: m.at, send: true, other: m.other}
	verdict := Inconclusive
	switch {
	case a.forgotten(m):
		h.reason = "no delivery of it is on record, and its message was sent before the moment before which receipts may have been forgotten, or about then"
	case m.why != 0:
		h.reason = openReasons[m.why]
	case q.receipts == 0:
		h.reason = "there is no receipt of its queue at all: its consumer may keep another file"
	case g.provesGone(m):
		h.reason = "accepted and never delivered, while a later message of its group was"
		h.other = g.all.at
		verdict = Fail
	case g != nil && g.open:
		h.reason = "not delivered; the message that was last received in its group is not done, and may be in its way"
	case m.start == 0 || q.passed < max(m.start, m.end)+int64(clockSlack):
		h.reason = "not delivered, and it may still be in the queue: the receipts end too soon after it"
	case g != nil && q.last-g.active < grace:
		h.reason = "not delivered, and it may still be in the queue: a message of its group was received just before the receipts end"
	case q.last-q.lagging < grace:
		h.reason = "not delivered, and it may still be in the queue: the receipts end while the consumer works off a backlog"
	case q.busy <= fullReply:
		h.reason = "not delivered, and it may still be in the queue: the consumer received too little before the receipts end"
	default:
		h.reason = "accepted and never delivered, while messages that were sent much later were"
		verdict = Fail
	}
	found.add(NeverDelivered, verdict, h)
}

// forgotten reports whether receipts of a message's deliveries may have been on record
// once. The horizon is by the consumer's clock, the sending by the producer's; and the
// send may have been a duplicate of one that is in another log, up to a window before.
func (a *auditor) forgotten(m *missingRecord) bool {
	return a.horizon != 0 && m.start < a.horizon+int64(clockSlack+window.Length+mustDeliver)
}

const (
	// clockSlack is how far the producer's clock may be off the queue's and the consumer's.
	clockSlack = time.Minute
	// fullReply is how many messages one receive can bring (API reference,
	// ReceiveMessage). A consumer that received more has polled twice.
	fullReply = 10
)

// traffic counts what tells whether a message can still be in its queue.
func (a *auditor) traffic(ctx context.Context) error {
	grace := int64(a.opts.Grace)
	look := func(do func(d *deliveryRecord, q *queueTotals)) error {
		var d deliveryRecord
		for p := range a.deliveries.parts {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := a.deliveries.each(p, func(b []byte) error {
				if d.get(b); d.is(judged) && !d.is(moved) && d.sent != 0 && d.count <= 1 {
					do(&d, a.queues.at(d.queue))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := look(func(d *deliveryRecord, q *queueTotals) {
		if d.received <= q.last-2*grace {
			q.passed = max(q.passed, d.sent)
		}
	})
	if err != nil {
		return err
	}
	return look(func(d *deliveryRecord, q *queueTotals) {
		if d.received > q.last-grace && d.sent >= q.passed {
			q.busy++
		}
	})
}

// provesGone reports whether a later message of the same group was delivered. Numbers
// begin again where a queue is made anew, so the times must agree.
func (g *groupState) provesGone(m *missingRecord) bool {
	return g != nil && m.flags&hasSequence != 0 && m.sequence.less(g.all.sequence) &&
		(g.all.sent == 0 || g.all.sent >= m.start-int64(EdgeTolerance))
}

// judgeEffects finds keys whose effect the consumer had twice.
func (a *auditor) judgeEffects(ctx context.Context) error {
	return a.each(ctx, func(p int, found tally) error {
		first := make(map[key]int64, a.effects.parts[p].count)
		var e placeRecord
		return a.effects.each(p, func(b []byte) error {
			e.get(b)
			if at, again := first[e.key]; again {
				found.add(EffectTwice, Fail, hit{at: e.at, other: at, reason: "two receipts of one key are fresh: its effect happened twice"})
				return nil
			}
			first[e.key] = e.at
			return nil
		})
	})
}
