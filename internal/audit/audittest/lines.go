package audittest

import (
	"cmp"
	"container/heap"
	"encoding/hex"
	"strconv"
	"time"
)

// sending is an entry of the send log.
type sending struct {
	n       int // the event
	at      time.Duration
	message string
	outcome string
	planted Fault
}

// delivery is a receipt.
type delivery struct {
	n        int
	group    *int // where it is not that of event n
	message  string
	replaced string // what stands in the place of the deduplication id
	first    string // the first MessageId of a redriven copy
	consumer string // where it is not the queue's name

	keyMessage string // the MessageId in the key
	sent       time.Duration
	received   time.Duration
	kind       string
	count      int
	queue      string
	planted    Fault
	changed    bool // another body digest
	extra      bool // a message besides that of event n: its number follows from the time
	held       bool // until the next of its group was delivered
}

// event is what is on the agenda.
type event struct {
	at       time.Duration
	turn     uint64
	send     *sending
	delivery *delivery
}

// agenda is a heap by time.
type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].turn < a[j].turn
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push and Pop are for package heap.
func (a *agenda) Push(e any) { *a = append(*a, e.(event)) }

// Pop is for package heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	(*a)[last] = event{}
	*a = (*a)[:last]
	return e
}

func (a *agenda) push(e event) { heap.Push(a, e) }
func (a *agenda) pop() event   { return heap.Pop(a).(event) }

// text appends a string member; none of these needs an escape.
func (m *maker) text(name, value string) {
	m.line = append(m.line, ',', '"')
	m.line = append(m.line, name...)
	m.line = append(m.line, `":"`...)
	m.line = append(m.line, value...)
	m.line = append(m.line, '"')
}

func (m *maker) when(name string, at time.Duration) {
	m.line = append(m.line, '"')
	m.line = append(m.line, name...)
	m.line = append(m.line, `":"`...)
	m.line = began.Add(at).AppendFormat(m.line, time.RFC3339Nano)
	m.line = append(m.line, '"')
}

// digest is the body digest of event n, which is its id as well.
func (m *maker) digest(n int) string {
	r := chance(m.pair.Seed+1, uint64(n))
	var text [64]byte
	var sum [32]byte
	for i := 0; i < len(sum); i += 8 {
		for v, j := r.Uint64(), i; j < i+8; v, j = v>>8, j+1 {
			sum[j] = byte(v)
		}
	}
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

// sequence rises with the time of sending, as the numbers of SQS do, and has 20 digits.
func sequence(at time.Duration) string {
	return strconv.FormatUint(10_000_000_000_000_000_000+uint64(at)*256, 10)
}

// send writes an entry.
func (m *maker) send(s sending) {
	m.sendLines++
	m.plant(s.planted, m.sendLines)
	id := m.digest(s.n)
	m.line = append(m.line[:0], `{"v":1,"run":"5f0c9a3e"`...)
	m.text("queue", QueueURL)
	m.text("source", "orders.ndjson")
	m.line = append(m.line, `,"line":`...)
	m.line = strconv.AppendInt(m.line, int64(s.n)+1, 10)
	m.line = append(m.line, `,"copy":1`...)
	m.text("group", "cus_"+strconv.Itoa(s.n%m.pair.Groups))
	m.text("id", id)
	m.text("body_digest", id)
	m.line = append(m.line, `,"attempts":[{"start_ns":`...)
	m.line = strconv.AppendInt(m.line, int64(s.at), 10)
	if s.message == "" {
		m.line = append(m.line, `,"end_ns":null,`...)
		m.when("start", s.at)
		m.line = append(m.line, `,"end":null,"error":"read tcp 10.0.0.7:443: \"connection reset\" by peer"`...)
	} else {
		m.line = append(m.line, `,"end_ns":`...)
		m.line = strconv.AppendInt(m.line, int64(s.at+5*time.Millisecond), 10)
		m.line = append(m.line, ',')
		m.when("start", s.at)
		m.line = append(m.line, ',')
		m.when("end", s.at+5*time.Millisecond)
	}
	m.line = append(m.line, `}]`...)
	m.text("message_id", s.message)
	if s.message == "" {
		m.text("sequence_number", "")
	} else {
		m.text("sequence_number", sequence(s.at))
	}
	m.text("outcome", s.outcome)
	m.line = append(m.line, "}\n"...)
	_, _ = m.sends.Write(m.line) // a bufio.Writer keeps its error for Flush
}

// deliver writes a receipt, or holds it back until the next of its group.
func (m *maker) deliver(d delivery) {
	group := d.n % m.pair.Groups
	if d.group != nil {
		group = *d.group
	}
	if d.held {
		d.held = false
		m.held[group] = d
		return
	}
	m.receive(d, group)
	if held, ok := m.held[group]; ok {
		delete(m.held, group)
		held.received = d.received
		m.receive(held, group)
	}
}

func (m *maker) receive(d delivery, group int) {
	m.receiptLines++
	m.plant(d.planted, m.receiptLines)
	id, digest := m.digest(d.n), m.digest(d.n)
	if d.changed {
		digest = m.digest(d.n + 1<<41)
	}
	dedup := id
	if d.replaced != "" {
		dedup = d.replaced
	}
	order := time.Duration(d.n) * m.step
	if d.extra {
		order = d.sent - 2*time.Millisecond
	}
	m.line = append(m.line[:0], `{"receipt":`...)
	m.line = strconv.AppendInt(m.line, m.receiptLines, 10)
	m.text("kind", d.kind)
	m.text("queue", d.queue)
	m.text("message_id", d.message)
	if d.first != "" {
		m.text("redriven_id", d.first)
	}
	m.text("group", "cus_"+strconv.Itoa(group))
	m.text("dedup_id", dedup)
	m.text("sequence_number", sequence(order))
	m.line = append(m.line, `,"receive_count":`...)
	m.line = strconv.AppendInt(m.line, int64(d.count), 10)
	m.text("body_digest", digest)
	m.line = append(m.line, `,"key":{"rule":"attribute:idempotency-key","space":"event"`...)
	m.text("consumer", cmp.Or(d.consumer, queue))
	m.text("value", id)
	if d.keyMessage != "" {
		m.text("message", d.keyMessage)
	}
	m.line = append(m.line, `},`...)
	m.when("sent_at", d.sent.Truncate(time.Millisecond))
	m.line = append(m.line, ',')
	m.when("received_at", d.received)
	m.line = append(m.line, "}\n"...)
	_, _ = m.receipts.Write(m.line) // as above
}
