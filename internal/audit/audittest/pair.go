package audittest

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"fifoproof/internal/producer"
	"fifoproof/internal/receipt"
)

// Pair says what to make. The same Pair makes the same bytes.
type Pair struct {
	Messages int    // different events that are sent; both files have somewhat more lines
	Groups   int    // message groups, taken in turn
	Each     int    // how many faults of each kind to plant
	Seed     uint64 // of everything that is chosen at random
}

// Fault is what is planted. Each is a finding of the audit's kinds.
type Fault string

// The faults.
const (
	Loss        Fault = "loss"         // accepted, never delivered
	Inside      Fault = "inside"       // delivered a second time, up to 298 s later
	Outside     Fault = "outside"      // delivered a second time, 302 s later or more
	Edge        Fault = "edge"         // delivered a second time, within 0.9 s of the window
	Swap        Fault = "swap"         // delivered behind the next message of its group
	Stray       Fault = "stray"        // delivered, never sent
	Changed     Fault = "changed"      // delivered with another body digest
	TwiceDone   Fault = "twice-done"   // its effect happened a second time
	Redelivered Fault = "redelivered"  // came again under its MessageId
	Late        Fault = "late"         // delivered 90 s after it was sent
	Unanswered  Fault = "unanswered"   // no answer to the send, and no delivery
	LostReply   Fault = "lost-reply"   // no answer to the send, and delivered: no finding
	DeadLetter  Fault = "dead-letter"  // received only from a dead-letter queue: no finding
	Redriven    Fault = "redriven"     // dead-lettered, moved back under a new MessageId: no finding
	FailedOnce  Fault = "failed-once"  // its first attempt failed, and it came again
	CopyDone    Fault = "copy-done"    // failed, redriven by 'consumer dlq redrive', and done: no finding
	TwoWorkers  Fault = "two-workers"  // another consumer has the effect of the same key: redelivered, no more
	RunAgain    Fault = "run-again"    // meant a second time, 302 s later or more, with the MessageId in the key: no more than that
	TwoNames    Fault = "two-names"    // came again under its MessageId with another deduplication id
	OtherTaker  Fault = "known-to-all" // sent by two producers, each answered with a MessageId of its own, one delivered: no finding
)

// Faults are all faults, in the order in which they are planted in turn.
func Faults() []Fault {
	return []Fault{
		Loss, Inside, Outside, Edge, Swap, Stray, Changed, TwiceDone, Redelivered, Late,
		Unanswered, LostReply, DeadLetter, Redriven, OtherTaker, FailedOnce, CopyDone, TwoWorkers, RunAgain, TwoNames,
	}
}

// Planted tells where the faults are: the lines at which an audit must point, in
// order. Those of Loss and Unanswered are in the send log, all others are among the
// receipts.
type Planted map[Fault][]int64

// history is the time from the first send to the last.
const history = 4 * time.Hour

// Queues of a pair.
const (
	QueueURL   = "https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo"
	queue      = "orders.fifo"
	deadLetter = "orders-dead.fifo"
)

// maker writes a pair.
type maker struct {
	pair            Pair
	random          *rand.Rand
	sends, receipts *bufio.Writer
	sendLines       int64
	receiptLines    int64
	planted         Planted
	agenda          agenda
	turns           uint64
	line            []byte
	held            map[int]delivery // by group: delivered behind the next of its group
	step            time.Duration
}

var began = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// Write writes a pair and returns what was planted.
func (p Pair) Write(sendLog, receipts io.Writer) (Planted, error) {
	faults := Faults()
	// A fault's events reach to the next message of its group, and no further.
	room := (p.Messages * 3 / 4) / max(p.Each*len(faults), 1)
	if p.Groups < 1 || p.Messages < 4*p.Groups || room < 4*p.Groups {
		return nil, fmt.Errorf("%d messages in %d groups have no room for %d faults of each kind", p.Messages, p.Groups, p.Each)
	}
	m := &maker{
		pair: p, random: chance(p.Seed, 1),
		sends: bufio.NewWriterSize(sendLog, 1<<20), receipts: bufio.NewWriterSize(receipts, 1<<20),
		planted: Planted{}, held: map[int]delivery{}, step: history / time.Duration(p.Messages),
	}
	next, place := 0, p.Groups+m.random.IntN(room-2*p.Groups)
	for i := range p.Messages {
		now := time.Duration(i) * m.step
		m.until(now)
		fault := Fault("")
		if next < p.Each*len(faults) && i == place {
			fault = faults[next%len(faults)]
			next++
			place = next*room + p.Groups + m.random.IntN(room-2*p.Groups)
		}
		m.message(i, now, fault)
	}
	m.until(time.Duration(1<<62 - 1))
	if err := m.sends.Flush(); err != nil {
		return nil, fmt.Errorf("writing the send log: %w", err)
	}
	if err := m.receipts.Flush(); err != nil {
		return nil, fmt.Errorf("writing the receipts: %w", err)
	}
	return m.planted, nil
}

// until lets everything happen that is due.
func (m *maker) until(now time.Duration) {
	for len(m.agenda) > 0 && m.agenda[0].at <= now {
		e := m.agenda.pop()
		if e.send != nil {
			m.send(*e.send)
		} else {
			e.delivery.received = e.at
			m.deliver(*e.delivery)
		}
	}
}

// later puts an event on the agenda. Events of one moment keep their order.
func (m *maker) later(at time.Duration, e event) {
	m.turns++
	e.at, e.turn = at, m.turns
	m.agenda.push(e)
}

// message sends message i and lets happen what follows from it.
func (m *maker) message(i int, now time.Duration, fault Fault) {
	s := sending{n: i, at: now, message: m.messageID(uint64(i)), outcome: string(producer.Accepted)}
	d := delivery{n: i, message: s.message, sent: now + 2*time.Millisecond, kind: string(receipt.Fresh), count: 1, queue: queue}
	arrives := now + m.delay(i)
	again := s
	second := d
	second.message = m.messageID(uint64(i) + 1<<40)
	switch fault {
	case "":
		if m.random.IntN(20) == 0 { // an ordinary retry, seen for what it is
			again.at, again.outcome = now+time.Duration(m.random.Int64N(int64(290*time.Second))), string(producer.Duplicate)
			m.later(again.at, event{send: &again})
		}
	case Loss:
		s.planted = fault
		m.send(s)
		return
	case Inside, Outside, Edge:
		gap := map[Fault]time.Duration{
			Inside:  time.Second + time.Duration(m.random.Int64N(int64(297*time.Second))),
			Outside: 302*time.Second + time.Duration(m.random.Int64N(int64(30*time.Minute))),
			Edge:    300*time.Second + time.Duration(m.random.Int64N(int64(1800*time.Millisecond))) - 900*time.Millisecond,
		}[fault]
		again.at, again.message = now+gap, second.message
		m.later(again.at, event{send: &again})
		second.sent, second.kind, second.planted, second.extra = d.sent+gap, string(receipt.Repeated), fault, true
		m.later(again.at+m.delay(i), event{delivery: &second})
	case Swap:
		d.planted, d.held = fault, true
	case Stray:
		m.send(s)
		stray := delivery{n: i + 1<<40, group: new(i % m.pair.Groups), message: second.message, sent: d.sent, kind: string(receipt.Fresh), count: 1, queue: queue, planted: fault, extra: true}
		m.later(arrives, event{delivery: &d})
		m.later(arrives, event{delivery: &stray})
		return
	case Changed:
		d.planted, d.changed = fault, true
	case TwiceDone, Redelivered:
		second.message, second.count, second.planted = d.message, 2, fault
		if second.kind = string(receipt.Redelivered); fault == TwiceDone {
			second.kind = string(receipt.Fresh)
		}
		m.later(arrives+31*time.Second, event{delivery: &second})
	case Late:
		d.sent, d.planted = arrives-90*time.Second, fault
	case Unanswered:
		s.message, s.outcome, s.planted = "", string(producer.Unknown), fault
		m.send(s)
		return
	case LostReply:
		s.message, s.outcome = "", string(producer.Unknown)
	case DeadLetter:
		d.queue, d.replaced = deadLetter, d.message
	case Redriven:
		d.replaced, d.message, d.extra = d.message, second.message, true
	case FailedOnce:
		d.kind = string(receipt.Failed)
		second.message, second.count, second.planted = d.message, 2, fault
		m.later(arrives+31*time.Second, event{delivery: &second})
	case CopyDone:
		d.kind = string(receipt.Failed)
		second.first, second.replaced, second.sent, second.extra = d.message, m.digest(i+1<<42), arrives+time.Minute, true
		m.later(second.sent+m.delay(i), event{delivery: &second})
	case TwoWorkers:
		second.message, second.count, second.planted, second.consumer = d.message, 2, fault, "mailer"
		m.later(arrives+31*time.Second, event{delivery: &second})
	case RunAgain:
		gap := 302*time.Second + time.Duration(m.random.Int64N(int64(30*time.Minute)))
		again.at, again.message = now+gap, second.message
		m.later(again.at, event{send: &again})
		second.sent, second.planted, second.extra, second.keyMessage = d.sent+gap, fault, true, second.message
		m.later(again.at+m.delay(i), event{delivery: &second})
	case TwoNames:
		second.message, second.count, second.kind, second.planted = d.message, 2, string(receipt.Redelivered), fault
		second.replaced = m.digest(i + 1<<42)
		m.later(arrives+31*time.Second, event{delivery: &second})
	case OtherTaker:
		again.at, again.message = now+10*time.Second, second.message
		m.later(again.at, event{send: &again})
	}
	m.send(s)
	m.later(arrives, event{delivery: &d})
}

// delay is how long message i takes: the same for all of its group.
func (m *maker) delay(i int) time.Duration {
	return 40*time.Millisecond + time.Duration(i%m.pair.Groups%50)*time.Millisecond
}

// chance is the same for the same seeds, which is the point.
func chance(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // nothing here is secret
}

func (m *maker) messageID(n uint64) string {
	r := chance(m.pair.Seed, n)
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

func (m *maker) plant(f Fault, line int64) {
	if f != "" {
		m.planted[f] = append(m.planted[f], line)
	}
}
