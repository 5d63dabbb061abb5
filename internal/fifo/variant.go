package fifo

import (
	"time"

	"fifoproof/internal/window"
)

// Variant replaces single decisions of a queue, so that a test suite can be shown
// to notice a wrong queue and to put up with a right one that is made otherwise.
// Each field is one decision; the zero value is the right queue, and fields can be
// combined.
type Variant struct {
	Memory MemoryVariant

	// Forgets are occasions on which the id of a message is forgotten. Right: none.
	Forgets Occasions

	// ContentID makes the id of a letter without one. Right: [ContentID] of the body.
	ContentID func(Letter) string
	// IgnoresExplicitID makes the id from the body on content-based queues even if
	// one is given.
	IgnoresExplicitID bool

	// What becomes of a recognised duplicate beside the answer. Right: nothing.
	EnqueuesDuplicates bool          // it is enqueued under the first copy's identity
	EnqueuesLate       time.Duration // so much later it is, if not 0
	ReplacesBody       bool          // the first copy, if it is still there, gets its body
	ResendReorders     bool          // the first copy goes to the end of its group, unless it is in flight

	// What a duplicate is answered with. Right: the first copy's identity.
	FreshMessageID, FreshSequence bool

	GroupNotLocked  bool // a message in flight does not lock its group
	GroupLockShared bool // a message in flight locks all groups
	TimeoutReorders bool // a message whose visibility timeout ended goes to the end of its group

	// KeepsDeadID leaves a dead letter its deduplication id.
	KeepsDeadID bool

	// Pick chooses a number below n: the ready group that a receive takes from next.
	// Right: the one whose first message is the oldest.
	Pick func(n int) int
}

// Aside is what variants want to know of a letter and a right queue does not.
type Aside struct {
	Batch    uint32 // number of the batch that it came in, 0 for none
	Overlaps bool   // a send of the same id was being carried out as it came in
}

// Occasions are moments in the life of a message or a queue.
type Occasions uint8

// The occasions on which a variant may forget ids.
const (
	OnReceive    Occasions = 1 << iota // a message is received for the first time
	OnTimeout                          // its visibility timeout ends
	OnDelete                           // it is deleted
	OnDeadLetter                       // it becomes a dead letter
	WhenEmpty                          // the queue has lost its last message: all ids
	OnPurge                            // the queue is purged: all ids
)

// memory decides which send is a duplicate, and of what.
type memory interface {
	// Decide returns what the send is answered with, and whether it stays out of the
	// queue.
	Decide(now time.Time, letter *Letter, fresh Sent) (sent Sent, duplicate bool)
}

// table is the right memory.
type table struct{ *window.Table[Sent] }

func (t table) Decide(now time.Time, letter *Letter, fresh Sent) (Sent, bool) {
	return t.Table.Decide(now, letter.Group, letter.DedupID, fresh)
}

func (v *Variant) memory(scope window.Scope) memory {
	if !v.Memory.right() || v.Forgets != 0 {
		return newNotebook(v.Memory, scope)
	}
	return table{window.NewTable[Sent](scope, window.Length)}
}

// forget forgets the id of m, or all ids, if occasion is one to do so.
func (v *Variant) forget(q *Queue, occasion Occasions, m *message) {
	book, wrong := q.memory.(*notebook)
	if !wrong {
		return
	}
	if occasion == OnReceive && v.Memory.FromReceive {
		book.received(q.now, m.Group, m.DedupID)
	}
	switch {
	case v.Forgets&occasion == 0:
	case occasion == WhenEmpty, occasion == OnPurge:
		book.clear()
	default:
		book.forget(m.Group, m.DedupID)
	}
}

// duplicate is told of a recognised duplicate and of its answer.
func (v *Variant) duplicate(q *Queue, now time.Time, letter Letter, sent *Sent) {
	q.sequence = max(q.sequence, sent.Sequence) // that of a message which is swallowed
	if v.EnqueuesDuplicates {
		q.enqueue(now, &message{Letter: letter, id: sent.MessageID, sequence: sent.Sequence})
	}
	if v.EnqueuesLate > 0 {
		again := &message{Letter: letter, id: sent.MessageID, sequence: sent.Sequence}
		q.late = append(q.late, late{now.Add(v.EnqueuesLate), again})
	}
	if v.ReplacesBody || v.ResendReorders {
		for m := q.head; m != nil; m = m.next {
			if m.sequence != sent.Sequence {
				continue
			}
			if v.ReplacesBody {
				m.Body, m.Enclosed = letter.Body, letter.Enclosed
			}
			if v.ResendReorders && m.state != inFlight {
				q.toEnd(m)
			}
			break
		}
	}
	if v.FreshMessageID {
		sent.MessageID = q.newID()
	}
	if v.FreshSequence {
		q.sequence += sequenceStep
		sent.Sequence = q.sequence
	}
}

// late is a duplicate that is enqueued some time after it was recognised.
type late struct {
	at time.Time
	m  *message
}

func (q *Queue) enqueueLate(now time.Time) {
	for len(q.late) > 0 && !q.late[0].at.After(now) {
		q.enqueue(q.late[0].at, q.late[0].m)
		q.late = q.late[1:]
	}
}

// toEnd moves m to the end of its group. Its place in the queue, by which it
// expires and receipts know it, stays.
func (q *Queue) toEnd(m *message) {
	g := m.group
	q.ready.remove(g)
	g.leave(m)
	g.join(m)
	q.refresh(g)
}

// timedOut is told of a message whose visibility timeout ended.
func (v *Variant) timedOut(q *Queue, m *message) {
	v.forget(q, OnTimeout, m)
	if v.TimeoutReorders {
		q.toEnd(m)
	}
}

// locked tells whether no message at all may be handed out.
func (v *Variant) locked(q *Queue) bool { return v.GroupLockShared && q.counts[inFlight] > 0 }

// pick chooses the group that a receive goes on with.
func (v *Variant) pick(q *Queue) (*group, bool) {
	if v.Pick == nil || len(q.ready.items) == 0 {
		return q.ready.top()
	}
	return q.ready.items[v.Pick(len(q.ready.items))], true
}

// Claim remembers the id of a letter as if it had been sent. No queue does that: it
// is for a variant that notes ids before it refuses the send.
func (q *Queue) Claim(now time.Time, letter Letter) {
	now = q.advance(now)
	if q.identify(&letter) == nil {
		q.memory.Decide(now, &letter, Sent{MessageID: q.newID(), Sequence: q.sequence})
	}
}
