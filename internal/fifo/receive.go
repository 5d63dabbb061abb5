package fifo

import "time"

// Receipt is what a receive hands out for one message and what a delete or a
// visibility change must show. It is worth nothing on another queue.
type Receipt struct {
	Order uint64 // the message's place in the queue
	Take  uint64 // the receive, counted over the queue's life
}

// Ask is one receive.
type Ask struct {
	Max        int           // at most so many messages
	Visibility time.Duration // hides them so long; negative: as the queue has it

	// AttemptID, if not "", lets the same receive be made again within 5 minutes:
	// it gets the same messages and receipts while they are in flight, and hides
	// them anew (API reference, ReceiveRequestAttemptId).
	AttemptID string

	// MaxReceives, if not 0, is how often a message is handed out at most: where it
	// would be handed out once more it leaves the queue instead, as a dead letter,
	// and its group goes on with its next message (recorded of AWS).
	MaxReceives int
}

// Delivery is one message in a consumer's hands.
type Delivery struct {
	Letter
	MessageID       string
	Sequence        uint64
	SentAt          time.Time
	FirstReceivedAt time.Time
	Count           int    // how often it was received in all queues, this time included
	From            string // of a dead letter: see [Queue.Bury]
	Receipt         Receipt
}

// SequenceNumber is Sequence as SQS writes it.
func (d Delivery) SequenceNumber() string { return Sent{Sequence: d.Sequence}.SequenceNumber() }

// Receive takes up to ask.Max messages, oldest group first, each group in order,
// and hands over the dead letters that it met on the way, in the same order. Both
// are empty where nothing may be given out. The only error is [ErrNotRetryable].
func (q *Queue) Receive(now time.Time, ask Ask) (got []Delivery, dead []DeadLetter, err error) {
	now = q.advance(now)
	visibility := ask.Visibility
	if visibility < 0 {
		visibility = q.settings.Visibility
	}
	if ask.AttemptID != "" {
		again, err := q.attempts.repeat(q, ask.AttemptID)
		if err != nil {
			return nil, nil, err
		}
		if len(again) > 0 {
			for _, m := range again {
				m.receivedAt = now
				q.hide(m, now.Add(visibility))
			}
			return deliveries(again), nil, nil
		}
	}
	taken, dead := q.take(now, ask, visibility)
	if ask.AttemptID != "" && len(taken) > 0 {
		q.attempts.note(now, ask.AttemptID, taken)
	}
	return deliveries(taken), dead, nil
}

func (q *Queue) take(now time.Time, ask Ask, visibility time.Duration) (taken []*message, dead []DeadLetter) {
	for len(taken) < ask.Max && q.counts[inFlight] < q.most && !q.variant.locked(q) {
		g, ok := q.variant.pick(q)
		if !ok {
			break
		}
		for m := q.first(g); m != nil && m.state == visible; {
			if len(taken) == ask.Max || q.counts[inFlight] >= q.most {
				break
			}
			next := m.groupNext
			if ask.MaxReceives > 0 && int(m.count) >= ask.MaxReceives {
				q.remove(m)
				dead = append(dead, q.deadLetter(m))
			} else {
				q.hand(now, m, visibility)
				taken = append(taken, m)
			}
			m = next
		}
		if g.head != nil {
			q.refresh(g)
		}
	}
	return taken, dead
}

// hand puts m in flight.
func (q *Queue) hand(now time.Time, m *message, visibility time.Duration) {
	q.takes++
	m.take = q.takes
	m.count++
	m.receivedAt = now
	m.changed = false
	if m.count == 1 {
		m.firstReceivedAt = now
		q.variant.forget(q, OnReceive, m)
	}
	q.shift(m, inFlight)
	q.hide(m, now.Add(visibility))
}

// Ready tells whether a receive would find a message now.
func (q *Queue) Ready(now time.Time) bool {
	q.advance(now)
	_, ok := q.ready.top()
	return ok
}

func (q *Queue) hide(m *message, until time.Time) {
	m.hiddenUntil = until
	q.hidden.add(m)
}

func deliveries(messages []*message) []Delivery {
	out := make([]Delivery, len(messages))
	for i, m := range messages {
		out[i] = Delivery{
			Letter: m.Letter, MessageID: m.id, Sequence: m.sequence,
			SentAt: m.sentAt, FirstReceivedAt: m.firstReceivedAt, Count: m.received(), From: m.from,
			Receipt: Receipt{Order: m.order, Take: m.take},
		}
	}
	return out
}

// held is the message that receipt holds now, or nil. exists tells whether the
// message is in the queue at all.
func (q *Queue) held(receipt Receipt) (m *message, exists bool) {
	m, exists = q.byOrder[receipt.Order]
	if !exists || m.state != inFlight || m.take != receipt.Take {
		return nil, exists
	}
	return m, true
}

// Delete ends a message for good. Deleting one that is gone succeeds, so that a
// delete whose reply was lost can be made again; AWS publishes nothing on this for
// FIFO queues. Error: [ErrReceiptExpired], also after a redelivery.
func (q *Queue) Delete(now time.Time, receipt Receipt) error {
	q.advance(now)
	m, exists := q.held(receipt)
	switch {
	case !exists:
		return nil
	case m == nil:
		return ErrReceiptExpired
	}
	q.remove(m)
	q.variant.forget(q, OnDelete, m)
	return nil
}

// ChangeVisibility lets the message come back after d from now, d = 0 at once.
// Errors: [ErrNotAvailable], [ErrVisibilityLimit].
func (q *Queue) ChangeVisibility(now time.Time, receipt Receipt, d time.Duration) error {
	now = q.advance(now)
	m, _ := q.held(receipt)
	if m == nil {
		return ErrNotAvailable
	}
	// In whole seconds, so that the full 12 hours can be asked for right after the
	// receive.
	if now.Sub(m.receivedAt).Truncate(time.Second)+d > VisibilityLimit {
		return ErrVisibilityLimit
	}
	m.changed = true
	q.hide(m, now.Add(d))
	q.advance(now)
	return nil
}
