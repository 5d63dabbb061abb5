package fifo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"fifoproof/internal/window"
)

const (
	// InFlightLimit is how many messages may be in flight at once. A receive at
	// the limit is empty and no error (developer guide, "FIFO queue quotas").
	InFlightLimit = 120_000

	// VisibilityLimit is how long one receive may hold a message, extensions
	// included (developer guide, "visibility timeout").
	VisibilityLimit = 12 * time.Hour

	// PurgePause must pass between two purges (API reference, PurgeQueue).
	PurgePause = time.Minute
)

// Sequence numbers start where they have 20 digits, as every published sample
// does, and leave gaps: AWS calls them large and non-consecutive.
const (
	// FirstSequence is below every sequence number.
	FirstSequence = 10_000_000_000_000_000_000
	sequenceStep  = 256
)

var (
	// ErrNoDeduplicationID is a send without an id to a queue that does not make
	// one from the body.
	ErrNoDeduplicationID = errors.New("no deduplication id is given and the queue makes none from the body")

	// ErrReceiptExpired is a delete with a receipt whose visibility timeout ended
	// or whose message was received again.
	ErrReceiptExpired = errors.New("the receipt has expired")

	// ErrNotAvailable is a visibility change of a message that is gone or that the
	// receipt does not hold any more.
	ErrNotAvailable = errors.New("the message does not exist or is not available for a visibility change")

	// ErrVisibilityLimit is a visibility change beyond [VisibilityLimit].
	ErrVisibilityLimit = errors.New("the total visibility timeout is beyond 12 hours")

	// ErrNotRetryable is the reuse of a receive attempt id after one of its
	// messages was deleted or had its visibility changed.
	ErrNotRetryable = errors.New("the receive attempt is not retryable")

	// ErrPurging is a purge less than [PurgePause] after the last one.
	ErrPurging = errors.New("the queue was purged less than 60 seconds ago")
)

// Settings are the attributes of a queue that may change while it lives.
type Settings struct {
	Visibility   time.Duration // of a receive that asks for none
	Delay        time.Duration // before a message is first visible
	Retention    time.Duration // after which a message is dropped, received or not
	ContentBased bool          // make a missing deduplication id from the body
}

// Config describes a queue at its creation.
type Config struct {
	Settings

	// Scope is what one deduplication id is unique in. It holds for the queue's
	// life: a recorded run on AWS shows that the attribute reads back changed
	// while deduplication goes on as before.
	Scope window.Scope

	// NewID makes message ids. Required.
	NewID func() string

	// Variant is for tests only; the zero value is the right queue.
	Variant Variant
}

// Letter is what a producer hands in.
type Letter struct {
	Group   string // message group id
	DedupID string // deduplication id, "" to have it made from the body
	Body    string

	// Enclosed comes back with every delivery; the queue never looks at it.
	Enclosed any

	// Aside is for variants; a right queue never looks at it.
	Aside Aside
}

// Sent identifies an accepted message.
type Sent struct {
	MessageID string
	Sequence  uint64 // rises with every accepted message of the queue, 20 digits

	// Duplicate tells that nothing was enqueued and that the identity is that of
	// the message that opened the window. SQS does not say so to the producer.
	Duplicate bool
}

// SequenceNumber is Sequence as SQS writes it.
func (s Sent) SequenceNumber() string { return fmt.Sprintf("%020d", s.Sequence) }

type state uint8

const (
	delayed state = iota
	visible
	inFlight
	states // how many there are
)

// message is one message that is to be delivered. It hangs in two lists, the
// queue's and its group's, both in order of acceptance. The numbers are small so
// that a backlog is.
type message struct {
	Letter
	id       string
	sequence uint64
	order    uint64 // place in the queue; differs from sequence only in faulty variants
	sentAt   time.Time
	from     string // of a dead letter

	state           state
	changed         bool  // the visibility was changed by hand since the last receive
	place           int32 // in the in-flight heap
	count           int32 // receives in this queue
	earlier         int32 // receives of a dead letter in other queues
	firstReceivedAt time.Time

	// Of the last receive.
	take        uint64
	receivedAt  time.Time
	hiddenUntil time.Time

	group                *group
	next, prev           *message
	groupNext, groupPrev *message
}

// received is how often m was received in all queues.
func (m *message) received() int { return int(m.earlier) + int(m.count) }

type group struct {
	name       string
	head, tail *message
	place      int32 // in the heap of ready groups
}

// Queue is one FIFO queue.
type Queue struct {
	settings Settings
	newID    func() string
	variant  Variant
	memory   memory
	late     []late // of variants
	most     int    // in flight at once

	now      time.Time
	sequence uint64
	orders   uint64
	takes    uint64

	head, tail   *message
	firstDelayed *message // nothing before it is delayed
	byOrder      map[uint64]*message
	groups       map[string]*group
	ready        heap[*group]   // groups whose oldest message is visible
	hidden       heap[*message] // messages in flight
	counts       [states]int

	attempts attempts
	purgedAt time.Time
}

// New makes an empty queue.
func New(cfg Config) *Queue {
	return &Queue{
		settings: cfg.Settings,
		newID:    cfg.NewID,
		variant:  cfg.Variant,
		memory:   cfg.Variant.memory(cfg.Scope),
		most:     InFlightLimit,
		sequence: FirstSequence,
		byOrder:  map[uint64]*message{},
		groups:   map[string]*group{},
		ready: heap[*group]{
			before: func(a, b *group) bool { return a.head.order < b.head.order },
			place:  func(g *group) *int32 { return &g.place },
		},
		hidden: heap[*message]{
			before: func(a, b *message) bool { return a.hiddenUntil.Before(b.hiddenUntil) },
			place:  func(m *message) *int32 { return &m.place },
		},
		attempts: attempts{byID: map[string]*attempt{}},
	}
}

// Send accepts a letter. A duplicate is accepted too, enqueues nothing and gets
// the identity of the first one: its own body, attributes and group play no part.
// The only error is [ErrNoDeduplicationID].
func (q *Queue) Send(now time.Time, letter Letter) (Sent, error) {
	now = q.advance(now)
	m := &message{Letter: letter}
	if err := q.identify(&m.Letter); err != nil {
		return Sent{}, err
	}
	fresh := Sent{MessageID: q.newID(), Sequence: q.sequence + sequenceStep}
	sent, duplicate := q.memory.Decide(now, &m.Letter, fresh)
	if duplicate {
		sent.Duplicate = true
		q.variant.duplicate(q, now, m.Letter, &sent)
		return sent, nil
	}
	q.sequence = fresh.Sequence
	m.id, m.sequence = fresh.MessageID, fresh.Sequence
	q.enqueue(now, m)
	return sent, nil
}

// identify gives a letter without an id that of its body.
func (q *Queue) identify(letter *Letter) error {
	explicit := letter.DedupID != ""
	switch {
	case explicit && !q.settings.ContentBased:
	case !q.settings.ContentBased:
		return ErrNoDeduplicationID
	case explicit && !q.variant.IgnoresExplicitID:
	case q.variant.ContentID != nil:
		letter.DedupID = q.variant.ContentID(*letter)
	default:
		letter.DedupID = ContentID(letter.Body)
	}
	return nil
}

// ContentID is the deduplication id that SQS makes from a body: the SHA-256 of
// its bytes in lower-case hex (API reference, SendMessage).
func ContentID(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// enqueue puts m at the end of the queue and of its group.
func (q *Queue) enqueue(now time.Time, m *message) {
	q.orders++
	m.order, m.sentAt, m.state, m.place = q.orders, now, visible, nowhere
	if q.settings.Delay > 0 {
		m.state = delayed
		if q.firstDelayed == nil {
			q.firstDelayed = m
		}
	}
	q.counts[m.state]++
	q.byOrder[m.order] = m

	if m.prev = q.tail; m.prev != nil {
		m.prev.next = m
	} else {
		q.head = m
	}
	q.tail = m

	g := q.groups[m.Group]
	if g == nil {
		g = &group{name: m.Group, place: nowhere}
		q.groups[m.Group] = g
	}
	m.group = g
	g.join(m)
	q.refresh(g)
}

// join puts m at the group's end.
func (g *group) join(m *message) {
	m.groupNext = nil
	if m.groupPrev = g.tail; m.groupPrev != nil {
		m.groupPrev.groupNext = m
	} else {
		g.head = m
	}
	g.tail = m
}

// leave takes m out of the group.
func (g *group) leave(m *message) {
	if m.groupPrev != nil {
		m.groupPrev.groupNext = m.groupNext
	} else {
		g.head = m.groupNext
	}
	if m.groupNext != nil {
		m.groupNext.groupPrev = m.groupPrev
	} else {
		g.tail = m.groupPrev
	}
}

// remove takes m out of the queue altogether.
func (q *Queue) remove(m *message) {
	q.counts[m.state]--
	q.hidden.remove(m)
	delete(q.byOrder, m.order)
	if q.firstDelayed == m {
		q.firstDelayed = m.next
	}

	if m.prev != nil {
		m.prev.next = m.next
	} else {
		q.head = m.next
	}
	if m.next != nil {
		m.next.prev = m.prev
	} else {
		q.tail = m.prev
	}

	g := m.group
	if g.head == m {
		// The heap is ordered by the group's head, so it leaves before that changes.
		q.ready.remove(g)
	}
	g.leave(m)
	if g.head == nil {
		delete(q.groups, g.name)
	} else {
		q.refresh(g)
	}
	if q.head == nil {
		q.variant.forget(q, WhenEmpty, m)
	}
}

// shift moves m to another state.
func (q *Queue) shift(m *message, to state) {
	q.counts[m.state]--
	q.counts[to]++
	m.state = to
}

// refresh puts g among the ready groups, or takes it from them.
func (q *Queue) refresh(g *group) {
	if q.first(g) != nil {
		q.ready.add(g)
	} else {
		q.ready.remove(g)
	}
}

// first is the next message of g that may be handed out, nil while g is locked.
func (q *Queue) first(g *group) *message {
	m := g.head
	for q.variant.GroupNotLocked && m != nil && m.state == inFlight {
		m = m.groupNext
	}
	if m == nil || m.state != visible {
		return nil
	}
	return m
}

// Purge drops all messages, those in flight too. The memory of deduplication ids
// is kept: public evidence on AWS conflicts, and the documentation names only
// messages. Error: [ErrPurging].
func (q *Queue) Purge(now time.Time) error {
	now = q.advance(now)
	if !q.purgedAt.IsZero() && now.Sub(q.purgedAt) < PurgePause {
		return ErrPurging
	}
	q.purgedAt = now
	q.head, q.tail, q.firstDelayed = nil, nil, nil
	q.byOrder, q.groups = map[uint64]*message{}, map[string]*group{}
	q.ready.items, q.hidden.items = nil, nil
	q.counts = [states]int{}
	q.variant.forget(q, OnPurge, nil)
	return nil
}

// Counts are the three counters of a queue. A message that waits for its group's
// lock counts as visible (a recorded run on AWS: 4 visible beside 2 in flight).
type Counts struct{ Visible, InFlight, Delayed int }

// Counts counts the messages.
func (q *Queue) Counts(now time.Time) Counts {
	q.advance(now)
	return Counts{Visible: q.counts[visible], InFlight: q.counts[inFlight], Delayed: q.counts[delayed]}
}
