package fifo

import "time"

// DeadLetter is a message that left its queue to be kept in another one.
type DeadLetter struct {
	Letter
	MessageID string
	Count     int    // how often it was received, in all queues
	From      string // the queue before this one, if it was a dead letter there: see [Queue.Bury]
}

// deadLetter is m, which was taken out of the queue.
func (q *Queue) deadLetter(m *message) DeadLetter {
	q.variant.forget(q, OnDeadLetter, m)
	return DeadLetter{Letter: m.Letter, MessageID: m.id, Count: m.received(), From: m.from}
}

// Bury enqueues a dead letter of the queue that its keeper calls from. Sources:
// developer guide, "dead-letter queues" for FIFO queues.
//
//   - It keeps its MessageId, group, body and what is enclosed. Its deduplication id
//     becomes the MessageId, so that two dead letters that were sent with one id do
//     not meet.
//   - It is enqueued now: the retention and the queue's delay begin anew. It gets a
//     sequence number of this queue.
//   - The receive count goes on; the time of the first receive is that in this queue.
//
// It is no send: the memory of deduplication ids is neither asked nor told.
func (q *Queue) Bury(now time.Time, dead DeadLetter, from string) {
	now = q.advance(now)
	q.sequence += sequenceStep
	if !q.variant.KeepsDeadID {
		dead.DedupID = dead.MessageID
	}
	q.enqueue(now, &message{
		Letter: dead.Letter, id: dead.MessageID, sequence: q.sequence, from: from, earlier: int32(dead.Count),
	})
}

// Now is the latest time that the queue was told.
func (q *Queue) Now() time.Time { return q.now }

// Newest is the place of the newest message, to be given to [Queue.Withdraw].
func (q *Queue) Newest() uint64 { return q.orders }

// Holds tells whether the queue has a message that is not newer than newest.
func (q *Queue) Holds(now time.Time, newest uint64) bool {
	q.advance(now)
	return q.head != nil && q.head.order <= newest
}

// Front is the message that a receive would hand out first, if it is not newer than
// newest. ok is false where there is none: it may be in flight, delayed or newer.
func (q *Queue) Front(now time.Time, newest uint64) (letter DeadLetter, ok bool) {
	if m := q.front(now, newest); m != nil {
		return DeadLetter{Letter: m.Letter, MessageID: m.id, Count: m.received(), From: m.from}, true
	}
	return DeadLetter{}, false
}

// Withdraw takes out what Front shows. It counts as no receive.
func (q *Queue) Withdraw(now time.Time, newest uint64) (letter DeadLetter, ok bool) {
	letter, ok = q.Front(now, newest)
	if ok {
		q.remove(q.front(now, newest))
	}
	return letter, ok
}

func (q *Queue) front(now time.Time, newest uint64) *message {
	q.advance(now)
	if g, some := q.ready.top(); some && q.first(g).order <= newest {
		return q.first(g)
	}
	return nil
}
