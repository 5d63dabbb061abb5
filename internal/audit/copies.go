package audit

import (
	"slices"

	"fifoproof/internal/window"
)

// sortedCopies are the messages of an id by SentTimestamp; those without one are
// first.
func (p *idPart) sortedCopies(st *idState) []int32 {
	if st.sorted == nil && st.messages > 0 {
		st.sorted = make([]int32, 0, st.messages)
		for n := st.first; n >= 0; n = p.messages[n].next {
			st.sorted = append(st.sorted, n)
		}
		slices.SortStableFunc(st.sorted, func(a, b int32) int {
			switch x, y := p.messages[a].sent, p.messages[b].sent; {
			case x < y:
				return -1
			case x > y:
				return 1
			default:
				return 0
			}
		})
	}
	return st.sorted
}

// copies judges the different messages of one id, each with the one before it.
func (p *idPart) copies(st *idState) {
	last := int32(-1)
	for _, n := range p.sortedCopies(st) {
		m := &p.messages[n]
		if m.flags&judged == 0 || m.flags&moved != 0 {
			continue
		}
		if last >= 0 {
			p.pair(&p.messages[last], m)
		}
		last = n
	}
}

func (p *idPart) pair(first, second *message) {
	h := hit{at: second.at, other: first.at, gap: second.sent - first.sent, hasGap: true}
	if first.sent == 0 || second.sent == 0 {
		h = hit{at: max(first.at, second.at), other: min(first.at, second.at)}
		h.reason = "two messages of one id, and a receipt that does not tell when its message was sent"
		p.found.add(DoubledInside, Inconclusive, h)
		return
	}
	switch p.rule.Expect(around(first.sent), around(second.sent)) {
	case window.Suppressed:
		h.reason = "two messages of one id were sent less than the window apart, by the queue's clock"
		p.found.add(DoubledInside, Fail, h)
	case window.Delivered:
		h.reason = "the window was over when the id was sent again: the queue did right, a retry came late"
		p.found.add(DoubledOutside, Note, h)
	case window.Undecidable:
		h.reason = "two messages of one id were sent within a second of the window apart"
		p.found.add(DoubledInside, Inconclusive, h)
	}
}

// digest judges the body digest of a delivery. A consumer that selects fields of its
// own makes other digests than the producer: those are compared with each other only,
// and prove nothing, since the selection may have been changed in between.
func (p *idPart) digest(d *deliveryRecord) {
	class := 0
	switch {
	case d.is(byHash):
		class = 2
	case d.is(byOther):
		class = 1
	}
	st := &p.states[p.ids[d.id]]
	if st.digests[class] == 0 {
		st.digests[class] = d.digest
	}
	first := p.messages[st.first].at
	switch {
	case class == 0 && st.sentDigest != 0 && d.digest != st.sentDigest:
		p.found.add(ChangedBody, Fail, hit{at: d.at, other: st.sentAt, otherSend: true, reason: "delivered with another body digest than it was sent with"})
	case class == 1 && st.sentDigest != 0 && d.digest != st.sentDigest && d.digest == st.digests[1]:
		p.found.add(ChangedBody, Inconclusive, hit{at: d.at, other: st.sentAt, otherSend: true, reason: "delivered with another body digest than it was sent with, and the message may have lost the attribute that tells it"})
	case d.digest == st.digests[class]:
	case class == 2:
		p.found.add(ChangedBody, Inconclusive, hit{at: d.at, other: first, reason: "one id was delivered with two body digests, which the consumer made by a selection that may have changed"})
	default:
		p.found.add(ChangedBody, Fail, hit{at: d.at, other: first, reason: "one id was delivered with two body digests"})
	}
}

// around is a SentTimestamp as an interval: two of them are [EdgeTolerance] wider
// apart, and nearer, than their difference.
func around(sent int64) window.Interval {
	t := fromNano(sent)
	return window.Interval{Start: t.Add(-EdgeTolerance / 2), End: t.Add(EdgeTolerance / 2)}
}

// sendInterval is when a send was accepted that was answered: not before its first
// attempt, and not after the answer.
func sendInterval(s *sendRecord) window.Interval {
	i := window.Interval{Start: fromNano(s.start).Add(-EdgeTolerance / 2)}
	if s.end != 0 {
		i.End = fromNano(s.end).Add(EdgeTolerance / 2)
	}
	return i
}
