package audit

import (
	"context"
	"errors"
	"slices"
	"time"

	"fifoproof/internal/window"
)

// idState is what is known of one id in its scope.
type idState struct {
	first, last int32     // its messages, linked; -1: none
	digests     [3]uint64 // first of the deliveries keyed by the attribute, by something else, by a hash
	sentDigest  uint64    // first of the sends
	sentAt      int64     // place of that send
	group       key       // of the first send
	sent        bool      // a send of it may have made a message
	scattered   bool      // another send was to another group
	messages    int32
	sorted      []int32 // copies by SentTimestamp, made when asked for
}

// message is one message of an id: all receipts under one MessageId.
type message struct {
	next      int32
	id        int32 // index of its state
	key       key   // its MessageId
	at        int64 // of its first receipt
	sent      int64 // SentTimestamp, 0 where not told or set anew by a move
	received  int64 // of its first receipt
	lastCount uint32
	queue     uint16
	named     key
	flags     byte
	done      bool // some receipt says that the consumer was done with it
	answered  bool // a send was answered with its MessageId
}

// idPart judges one partition: all sends and deliveries of the ids in it.
type idPart struct {
	a        *auditor
	found    tally
	ids      map[key]int32
	states   []idState
	byID     map[key]int32 // messages by MessageId, queue and id
	messages []message
	lost     map[key]bool // MessageIds that were put on record as missing
	missing  []missing
	strays   []byte
	ends     ends
	rule     window.Rule
}

// missing is a message of an id that was not delivered.
type missing struct {
	id      int32 // index of its state
	message key
	group   key
	record  missingRecord
}

// judgeIDs finds copies, changed bodies, redeliveries and late ones, and what has no
// counterpart under its id.
func (a *auditor) judgeIDs(ctx context.Context) error {
	a.missing = a.spill.newFamily(missingSize, a.parts)
	a.strays = a.spill.newFamily(straySize, a.parts)
	a.unfinished = a.spill.newFamily(placeSize, a.parts)
	a.finished = a.spill.newFamily(placeSize, a.parts)
	err := a.each(ctx, func(p int, found tally) error {
		part := &idPart{
			a: a, found: found, rule: window.Rule{Length: window.Length},
			ids: map[key]int32{}, byID: map[key]int32{}, lost: map[key]bool{},
		}
		return part.judge(p)
	})
	if err != nil {
		return err
	}
	return errors.Join(a.missing.flush(), a.strays.flush(), a.unfinished.flush(), a.finished.flush())
}

func (p *idPart) judge(part int) error {
	records := int(p.a.deliveries.parts[part].count)
	p.byID = make(map[key]int32, records)
	p.ids = make(map[key]int32, records)
	p.messages = make([]message, 0, records)
	var d deliveryRecord
	err := p.a.deliveries.each(part, func(b []byte) error {
		d.get(b)
		p.delivered(&d)
		return nil
	})
	if err != nil {
		return err
	}
	var s sendRecord
	err = p.a.sends.each(part, func(b []byte) error {
		s.get(b)
		p.sent(&s)
		return nil
	})
	if err != nil {
		return err
	}
	// Digests of deliveries are compared with those of sends, which came after them.
	err = p.a.deliveries.each(part, func(b []byte) error {
		if d.get(b); d.digest != 0 && d.is(judged) && !p.a.flawed[inQueue(d.message, d.queue)] {
			p.digest(&d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range p.states {
		if st := &p.states[i]; st.messages > 1 {
			p.copies(st)
		}
	}
	p.finish()
	return errors.Join(p.a.missing.addAll(p.finishMissing()), p.a.strays.addAll(p.strays),
		p.a.unfinished.addAll(p.ends.unfinished), p.a.finished.addAll(p.ends.finished))
}

func (p *idPart) state(id key) int32 {
	n, known := p.ids[id]
	if !known {
		n = int32(len(p.states))
		p.states = append(p.states, idState{first: -1, last: -1})
		p.ids[id] = n
	}
	return n
}

// inQueue is a MessageId as one queue knows it: a move to a dead-letter queue keeps
// the MessageId.
func inQueue(message key, queue uint16) key {
	le.PutUint16(message[14:], le.Uint16(message[14:])^queue)
	return message
}

// under is a message of a queue under one of its ids. A partition holds ids whole but
// not messages: what it makes of one must not depend on which other ids are in it.
func under(id, message key, queue uint16) key {
	name := inQueue(message, queue)
	for i := range name {
		name[i] ^= id[i]
	}
	return name
}

// delivered takes note of a receipt. They come in the order of their file.
func (p *idPart) delivered(d *deliveryRecord) {
	if d.is(judged) && p.a.flawed[inQueue(d.message, d.queue)] {
		return
	}
	name := under(d.id, d.message, d.queue)
	done := d.kind.done()
	if n, known := p.byID[name]; known {
		m := &p.messages[n]
		m.done = m.done || done
		if d.is(judged) {
			p.again(m, d)
		}
		m.lastCount = d.count
		return
	}
	id := p.state(d.id)
	n := int32(len(p.messages))
	p.byID[name] = n
	m := message{
		next: -1, id: id, key: d.message, at: d.at, sent: d.sent, received: d.received, lastCount: d.count, queue: d.queue, named: d.named, flags: d.flags, done: done,
	}
	if d.is(moved) {
		m.sent = 0
	}
	p.messages = append(p.messages, m)
	st := &p.states[id]
	if st.first < 0 {
		st.first = n
	} else {
		p.messages[st.last].next = n
	}
	st.last = n
	st.messages++
	st.sorted = nil
	if late := d.received - d.sent; d.is(judged) && d.sent != 0 && late > int64(p.a.opts.Late) {
		p.found.add(Late, Note, hit{at: d.at, other: -1, reason: "delivered long after it was sent, by the queue's clock and the consumer's", gap: late, hasGap: true})
	}
}

// again judges a further receipt of a message.
func (p *idPart) again(m *message, d *deliveryRecord) {
	h := hit{at: d.at, other: m.at, gap: d.received - m.received, hasGap: true}
	switch {
	case d.sent != 0 && m.sent != 0 && d.sent != m.sent:
		h.reason = "one MessageId came with two SentTimestamps: a second copy under it, or the message was moved away and back"
		h.gap = d.sent - m.sent
		p.found.add(DoubledInside, Inconclusive, h)
	case d.count != 0 && d.count == m.lastCount:
		h.reason = "one MessageId came twice with the same receive count: a second copy under it, or a count that is not exact"
		p.found.add(DoubledInside, Inconclusive, h)
	}
	h.reason = "the same message again: its delete was late or lost, or its consumer died"
	h.gap = d.received - m.received
	p.found.add(Redelivered, Note, h)
}

// sent judges an entry of the send log. They come in the order of the log, after all
// deliveries.
func (p *idPart) sent(s *sendRecord) {
	if s.outcome == failed || s.outcome == unsent {
		return
	}
	id := p.state(s.id)
	st := &p.states[id]
	if !st.sent {
		st.sent, st.group = true, s.group
	} else if st.group != s.group {
		st.scattered = true
	}
	if s.digest != 0 {
		if st.sentDigest == 0 {
			st.sentDigest, st.sentAt = s.digest, s.at
		} else if st.sentDigest != s.digest {
			p.found.add(ChangedBody, Fail, hit{at: s.at, send: true, other: st.sentAt, otherSend: true, reason: "one id was sent with two body digests"})
		}
	}
	if s.outcome == unknown {
		p.unknown(st, s)
		return
	}
	if n, known := p.byID[under(s.id, s.message, s.queue)]; known {
		p.messages[n].answered = true
		p.swallowed(&p.messages[n], s)
		return
	}
	if !p.lost[s.message] {
		p.undelivered(id, s)
	}
}

// unknown judges a send without an answer. It may have made a message or not, and if
// it did, at any time after its start.
func (p *idPart) unknown(st *idState, s *sendRecord) {
	if all := p.sortedCopies(st); len(all) > 0 {
		newest := p.messages[all[len(all)-1]].sent
		if p.messages[all[0]].sent == 0 || newest > s.start-int64(window.Length+EdgeTolerance) {
			return
		}
	}
	p.found.add(NeverDelivered, Inconclusive, hit{at: s.at, send: true, other: -1, reason: "its outcome is unknown, and nothing of its id was delivered: it may never have reached the queue"})
}

// mustDeliver is how far beyond the window a send must make a new message. Nearer to
// its end AWS's texts leave room ("5-minute minimum"); a recorded run on AWS shows
// delivery 362 s after the first send.
const mustDeliver = time.Minute

// swallowed judges a send that was answered with a message which was delivered: as a
// duplicate it must have come while the window was open.
func (p *idPart) swallowed(m *message, s *sendRecord) {
	if m.sent == 0 || s.start == 0 || s.start-m.sent < int64(window.Length) {
		return
	}
	gap := p.rule.Gap(around(m.sent), sendInterval(s))
	if p.rule.Past(gap, mustDeliver) {
		p.found.add(NeverDelivered, Inconclusive, hit{
			at: s.at, send: true, other: m.at, gap: s.start - m.sent, hasGap: true,
			reason: "answered with a message that was sent more than a window before: suppressed too long, or the producer's clock is ahead of the queue's",
		})
	}
}

// undelivered judges a send whose message was not delivered: it may be a duplicate
// of another one that was.
func (p *idPart) undelivered(id int32, s *sendRecord) {
	st := &p.states[id]
	r := missingRecord{sequence: s.sequence, start: s.start, end: s.end, at: s.at, other: -1, queue: s.queue, flags: s.flags & hasSequence}
	for _, n := range p.nearest(st, s) {
		m := &p.messages[n]
		if m.sent == 0 || s.start == 0 {
			r.why, r.other = openNoTime, m.at
			break
		}
		gap := p.rule.Gap(around(m.sent), sendInterval(s))
		switch expected, _ := p.rule.Judge(gap); {
		case expected == window.Suppressed && gap.Max >= 0:
			return
		case expected == window.Suppressed:
			r.why, r.other = openEarlier, m.at
		case expected == window.Undecidable:
			r.why, r.other = openEdge, m.at
		}
	}
	p.lost[s.message] = true
	p.missing = append(p.missing, missing{id, s.message, s.group, r})
}

// nearest are the copies that a send can be a duplicate of: the last one that was
// taken before the send ended, and the first one after that. Where it is not known
// when some copy was sent, that one is enough to leave the question open.
func (p *idPart) nearest(st *idState, s *sendRecord) []int32 {
	all := p.sortedCopies(st)
	if len(all) < 2 || s.start == 0 || p.messages[all[0]].sent == 0 {
		return all[:min(1, len(all))]
	}
	until := max(s.start, s.end) + int64(EdgeTolerance)
	i, _ := slices.BinarySearchFunc(all, until, func(n int32, until int64) int {
		if p.messages[n].sent <= until {
			return -1
		}
		return 1
	})
	return all[max(i-1, 0):min(i+1, len(all))]
}

// finish looks at what is left of each message: nobody sent it, or nobody did it.
func (p *idPart) finish() {
	count := int64(0)
	for i := range p.messages {
		m := &p.messages[i]
		if m.flags&judged == 0 {
			continue
		}
		count++
		p.ends.add(m)
		if m.answered || p.states[m.id].sent {
			continue
		}
		r := strayRecord{message: m.key, named: m.named, sent: m.sent, received: m.received, at: m.at, queue: m.queue}
		p.strays = r.put(p.strays)
	}
	p.a.mu.Lock()
	p.a.messages += count
	p.a.mu.Unlock()
}

// finishMissing makes records of the messages that were not delivered. One whose id
// was also sent to another group may be in that one: a send that got no answer can
// have made it, and the next one was then answered with it.
func (p *idPart) finishMissing() (records []byte) {
	for i := range p.missing {
		m := &p.missing[i]
		if m.record.why == 0 && p.states[m.id].scattered {
			m.record.why = openGroup
		}
		records = m.record.put(records, m.message, m.group)
	}
	return records
}
