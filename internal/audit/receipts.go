package audit

import (
	"bytes"
	"context"
	"errors"

	"fifoproof/internal/window"
)

// receiptChunk is what a worker makes of some receipts.
type receiptChunk struct {
	deliveries, orders, effects, names []byte

	kinds   [failedAttempt + 1]int64
	foreign int64
	totals  map[uint16]deliveryTotals
	horizon int64 // the latest that is told; 0: none
	lines   int64
	cut     int64 // offset of a last line that was cut off, or -1
	err     error // about the line at which the chunk was given up

	firstNumber, lastNumber int64 // of its receipts
	breaks                  []int // order records, by index, before which a new series begins
}

// receiptParser makes records of receipts. A parser belongs to one worker.
type receiptParser struct {
	keys   *keyer
	queues cache
	sent   func(queue uint16) bool
	scope  window.Scope
	grace  int64
	one    delivered
}

func newReceiptChunk(hint int) receiptChunk {
	return receiptChunk{
		deliveries: make([]byte, 0, hint/6), orders: make([]byte, 0, hint/8), effects: make([]byte, 0, hint/20), names: make([]byte, 0, hint/15),
		totals: map[uint16]deliveryTotals{}, cut: -1,
	}
}

// parse makes records of a chunk's lines.
func (p *receiptParser) parse(c chunk) (out receiptChunk, _ error) {
	out = newReceiptChunk(len(c.text))
	out.lines, out.err = c.eachLine(func(at int64, line []byte, ended bool) error {
		err := p.one.parse(line)
		if errors.Is(err, errNoReceipt) && !ended && at > 0 {
			out.cut = at
			return nil
		}
		switch {
		case err == nil && p.one.horizon != 0:
			out.horizon = max(out.horizon, p.one.horizon)
		case err == nil:
			err = p.add(&out, at)
		}
		if err != nil {
			return &lineError{at, err}
		}
		return nil
	})
	return out, nil
}

var (
	attributeRule = []byte("attribute:idempotency-key")
	contentRule   = []byte("content")
)

func (p *receiptParser) add(out *receiptChunk, at int64) error {
	d := &p.one
	queue, err := p.queues.number(d.queue)
	if err != nil {
		return err
	}
	out.kinds[d.kind]++
	one := deliveryTotals{receipts: 1, last: d.received}
	if d.count <= 1 && d.received-d.sent > p.grace {
		one.lagging = d.received
	}
	totals := out.totals[queue]
	totals.merge(one)
	out.totals[queue] = totals

	r := deliveryRecord{
		named: p.keys.of(ofMessage, 0, d.id),
		sent:  d.sent, received: d.received, at: at,
		digest: p.keys.digest(d.digest), count: uint32(min(max(d.count, 0), 1<<31)), queue: queue, kind: d.kind,
	}
	if p.sent(queue) {
		r.flags |= judged
	} else {
		out.foreign++
	}
	if len(d.message) > 0 {
		r.message = p.keys.of(ofMessage, 0, d.message)
	} else {
		r.message = p.keys.of(ofNobody, queue, le.AppendUint64(nil, uint64(at)))
	}
	id := p.trueID(&r)
	switch {
	case id == nil:
		r.id = p.keys.of(ofNobody, queue, d.message)
	case p.scope == window.ScopeGroup:
		r.id = p.keys.of(ofID, queue, id, d.group)
	default:
		r.id = p.keys.of(ofID, queue, id)
	}
	out.deliveries = r.put(out.deliveries)

	if d.kind == fresh {
		e := placeRecord{key: p.effect(), at: at}
		out.effects = e.put(out.effects)
	}
	if r.is(judged) {
		p.order(out, at, queue)
		if !r.is(moved) && len(d.message) > 0 {
			n := nameRecord{message: inQueue(r.message, queue), id: le.Uint64(r.id[:]), at: at}
			out.names = n.put(out.names)
		}
	}
	return nil
}

// effect is the key of an effect, as the consumer knows it: two consumers' effects of
// one event are two, and so are those of one event's messages that each have it in
// their key. Where no consumer is told it goes by the queue's name, as is the default.
func (p *receiptParser) effect() key {
	d := &p.one
	consumer := d.consumer
	if len(consumer) == 0 {
		consumer = d.queue
	}
	return p.keys.of(ofEffect, 0, consumer, d.space, d.keyGroup, d.value, d.keyMessage)
}

// trueID is the id under which the message was sent, and nil where it is not known. A
// move to a dead-letter queue replaces the deduplication id by the MessageId
// (developer guide, "Configure a dead-letter queue redrive"), and a message that is
// redriven from there has a new MessageId; the producer's attribute stays. A copy that
// tells its first MessageId was redriven by 'consumer dlq redrive', with a deduplication
// id of its own.
func (p *receiptParser) trueID(r *deliveryRecord) []byte {
	d := &p.one
	byAttribute := bytes.Equal(d.rule, attributeRule)
	switch {
	case bytes.Equal(d.rule, contentRule):
		r.flags |= byHash
	case !byAttribute:
		r.flags |= byOther
	}
	replaced := len(d.id) == 0 || bytes.Equal(d.id, d.message)
	if byAttribute && !bytes.Equal(d.id, d.value) && isUUID(d.id) {
		replaced = true
	}
	if len(d.first) > 0 {
		replaced = true
		r.flags |= copied
		r.named = p.keys.of(ofMessage, 0, d.first)
	}
	switch {
	case !replaced:
		return d.id
	case byAttribute:
		r.flags |= moved
		return d.value
	default:
		r.flags |= moved
		return nil
	}
}

var hexDigits = []byte("0123456789abcdefABCDEF")

// isUUID reports whether text has the form of a MessageId.
func isUUID(text []byte) bool {
	if len(text) != 36 {
		return false
	}
	for i, b := range text {
		switch i {
		case 8, 13, 18, 23:
			if b != '-' {
				return false
			}
		default:
			if bytes.IndexByte(hexDigits, b) < 0 {
				return false
			}
		}
	}
	return true
}

// order makes the record by which the order in a group is judged.
func (p *receiptParser) order(out *receiptChunk, at int64, queue uint16) {
	d := &p.one
	if out.firstNumber == 0 {
		out.firstNumber = d.number
	} else if d.number <= out.lastNumber {
		out.breaks = append(out.breaks, len(out.orders)/orderSize)
	}
	out.lastNumber = d.number
	o := orderRecord{
		group: p.keys.of(ofGroup, queue, d.group),
		sent:  d.sent, received: d.received, at: at, count: byte(min(max(d.count, 0), 2)), kind: d.kind,
	}
	if sequence, ok := parseNumber(d.sequence); ok {
		o.sequence = sequence
		o.flags |= hasSequence
	}
	out.orders = o.put(out.orders)
}

// readReceipts makes records of all receipts in a file of lines.
func (a *auditor) readReceipts(ctx context.Context, from *inbound) error {
	a.receiptFamilies()
	a.receiptLines = lineIndex{file: from.file}
	newParse := func() func(chunk) (receiptChunk, error) { return a.receiptParser().parse }
	err := eachChunk(ctx, from.file, from.size, a.workers, newParse, func(c chunk, out receiptChunk) error {
		a.receiptLines.add(c.at, out.lines)
		if out.err != nil {
			return out.err
		}
		if out.cut >= 0 {
			number, err := a.receiptLines.number(out.cut)
			if err != nil {
				return err
			}
			a.notef("line %d of %s, the last one, was cut off and is not judged", number, a.report.Receipts.Path)
		}
		a.read(int64(len(c.text)))
		return a.takeReceipts(&out)
	})
	err = errors.Join(err, a.flushReceipts())
	a.report.Receipts.Lines = a.receiptLines.lines
	return a.receiptLines.named(err, a.report.Receipts.Path)
}

func (a *auditor) receiptFamilies() {
	a.deliveries = a.spill.newFamily(deliverySize, a.parts)
	a.orders = a.spill.newFamily(orderSize, a.parts)
	a.effects = a.spill.newFamily(placeSize, a.parts)
	a.names = a.spill.newFamily(nameSize, a.parts)
}

func (a *auditor) receiptParser() *receiptParser {
	return &receiptParser{
		keys: a.keys.twin(), queues: cache{ask: a.queues.named}, sent: a.queues.sent,
		scope: a.opts.Scope, grace: int64(a.opts.Grace),
	}
}

func (a *auditor) flushReceipts() error {
	return errors.Join(a.deliveries.flush(), a.orders.flush(), a.effects.flush(), a.names.flush())
}

// takeReceipts writes what a worker made, in the order of the file.
func (a *auditor) takeReceipts(out *receiptChunk) error {
	counts := &a.report.Deliveries
	counts.Fresh += out.kinds[fresh]
	counts.Redelivered += out.kinds[redelivered]
	counts.Repeated += out.kinds[repeated]
	counts.Rejected += out.kinds[rejected]
	counts.Pending += out.kinds[pending]
	counts.Failed += out.kinds[failedAttempt]
	counts.NotJudged += out.foreign
	for queue, totals := range out.totals {
		a.queues.at(queue).merge(totals)
	}
	if out.firstNumber != 0 {
		if a.lastReceipt != 0 && out.firstNumber <= a.lastReceipt {
			a.series++
		}
		a.lastReceipt = out.lastNumber
	}
	for i := 0; i*orderSize < len(out.orders); i++ {
		if len(out.breaks) > 0 && out.breaks[0] == i {
			a.series++
			out.breaks = out.breaks[1:]
		}
		le.PutUint32(out.orders[i*orderSize+56:], a.series)
	}
	a.horizon = max(a.horizon, out.horizon)
	return errors.Join(
		a.orders.addAll(out.orders), a.effects.addAll(out.effects), a.names.addAll(out.names), a.deliveries.addAll(out.deliveries))
}
