package audit

import (
	"context"
	"slices"
)

// Why a missing message need not be lost; the numbers are missingRecord.why.
const (
	openEarlier byte = iota + 1
	openEdge
	openNoTime
	openGroup
)

var openReasons = [...]string{
	openEarlier: "another message of its id was delivered, sent after it by the clocks of producer and queue: one of them may be the other's duplicate",
	openEdge:    "another message of its id was delivered, sent about a window away: it may be a duplicate of that one",
	openGroup:   "not delivered; its id was sent to several groups, and it may wait in any of them",
	openNoTime:  "another message of its id was delivered, and it is not known when that was sent",
}

// resolveAtOnce is how many messages are looked for in one pass over the other side.
const resolveAtOnce = 500_000

// resolve looks for missing messages among the deliveries of other ids and queues, and
// for the senders of strays among all sends: a move to a dead-letter queue gives a
// message another id, and a redrive from there another MessageId.
func (a *auditor) resolve(ctx context.Context) error {
	a.behind = a.spill.newFamily(missingSize, a.parts)
	if err := inRounds(ctx, a.missing, a.rescue); err != nil {
		return err
	}
	if err := a.behind.flush(); err != nil {
		return err
	}
	return inRounds(ctx, a.strays, a.accuse)
}

// inRounds gives do the records of a family, whole partitions at a time.
func inRounds(ctx context.Context, f *family, do func(ctx context.Context, records []byte) error) error {
	var records []byte
	for p := range f.parts {
		part, err := f.load(p)
		if err != nil {
			return err
		}
		records = append(records, part...)
		if len(records) == 0 || p < len(f.parts)-1 && len(records)/f.size < resolveAtOnce {
			continue
		}
		if err := do(ctx, records); err != nil {
			return err
		}
		records = records[:0]
	}
	return nil
}

// rescue drops the missing messages that were delivered after all, and passes on the
// others by their groups.
func (a *auditor) rescue(ctx context.Context, records []byte) error {
	wanted := make(map[key]bool, len(records)/missingSize)
	var m missingRecord
	for b := range slices.Chunk(records, missingSize) {
		message, _ := m.get(b)
		wanted[message] = false
	}
	var d deliveryRecord
	for p := range a.deliveries.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := a.deliveries.each(p, func(b []byte) error {
			d.get(b)
			for _, name := range [...]key{d.message, d.named} {
				if _, want := wanted[name]; want {
					wanted[name] = true
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var out []byte
	for b := range slices.Chunk(records, missingSize) {
		message, group := m.get(b)
		if !wanted[message] {
			out = m.put(out[:0], group, message)
			if err := a.behind.add(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// accuse judges the strays whose MessageId no send was answered with, and whose
// deduplication id names no such message either.
func (a *auditor) accuse(ctx context.Context, records []byte) error {
	wanted := make(map[key]bool, 2*len(records)/straySize)
	var r strayRecord
	for b := range slices.Chunk(records, straySize) {
		r.get(b)
		wanted[r.message], wanted[r.named] = false, false
	}
	var s sendRecord
	for p := range a.sends.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := a.sends.each(p, func(b []byte) error {
			s.get(b)
			if _, want := wanted[s.message]; want && s.outcome <= duplicate {
				wanted[s.message] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for b := range slices.Chunk(records, straySize) {
		r.get(b)
		if !wanted[r.message] && !wanted[r.named] {
			a.stray(&r)
		}
	}
	return nil
}

// stray judges a message that nobody sent: what was sent before the log begins or
// after it ends cannot be in it, and at both ends the clocks of producer and queue
// cannot tell.
func (a *auditor) stray(r *strayRecord) {
	q := a.queues.at(r.queue)
	first, last := q.firstStart+int64(EdgeTolerance), q.lastEnd-int64(EdgeTolerance)
	h := hit{at: r.at, other: -1}
	switch {
	case q.firstStart == 0:
		h.reason = "no send of it is on record, and the send log does not tell when it was written"
	case r.sent == 0:
		h.reason = "no send of it is on record, and it is not told when it was sent: that may have been before or after the send log"
	case r.sent < first:
		h.reason = "no send of it is on record; it was sent before the send log begins, or about then"
	case r.sent > last:
		h.reason = "no send of it is on record; it was sent after the send log ends, or about then"
	default:
		h.reason = "no send of it is on record: another producer sent it, or nobody did"
		a.found.add(Stray, Fail, h)
		return
	}
	a.found.add(Stray, Inconclusive, h)
}
