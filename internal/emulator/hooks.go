package emulator

import (
	"runtime"
	"strconv"
	"sync"
	"time"

	"fifoproof/internal/fifo"
)

// hooks are the decisions of the protocol that a variant replaces; those about ids
// and order are in fifo.Variant. The zero value is the right endpoint.
type hooks struct {
	firstDigests  bool         // a duplicate is answered with the digests of the first copy
	refusedClaims bool         // a refused send leaves its id behind
	overlaps      *overlapping // tells the queue of sends of one id that overlap

	emptyReceives  func(*chance) bool // whether a receive that would find something comes back empty
	oneMessage     bool               // a receive hands out one message at most
	lateBy         time.Duration      // a message is available so much later
	staleCounters  bool               // counters are those of the last full minute
	entriesAlone   bool               // a bad id fails one entry of a batch and not all
	shortSequences bool               // sequence numbers start small and have no leading zeros

	// strike disturbs any request: see [Disturbance].
	strike func(*chance) (Effect, time.Duration)
}

// variation is what a queue keeps for hooks.
type variation struct {
	lateBy  time.Duration
	digests map[string]sentOutput // by MessageId
	counted fifo.Counts
	minute  time.Time // of counted
	empties int       // receives in a row that came back empty
}

const mostEmpties = 4 // in a row

// comesBackEmpty tells whether a receive is to find nothing although it could.
func (s *Server) comesBackEmpty(q *queue, now time.Time) bool {
	if s.hooks.emptyReceives == nil || !q.fifo.Ready(now) {
		return false
	}
	if q.empties < mostEmpties && s.hooks.emptyReceives(s.chance) {
		q.empties++
		return true
	}
	q.empties = 0
	return false
}

// firstDigests replaces the digests in the answer to a duplicate.
func (q *queue) firstDigests(out *sentOutput) {
	if first, again := q.digests[out.MessageID]; again {
		*out = first
		return
	}
	if q.digests == nil {
		q.digests = map[string]sentOutput{}
	}
	q.digests[out.MessageID] = *out
}

// refused is told of a message that is refused for something else than its ids.
func (s *Server) refused(q *queue, m *messageInput) {
	if s.hooks.refusedClaims && m.checkIDs(q.contentBased) == nil {
		claimed := *m
		if claimed.MessageBody == nil {
			claimed.MessageBody = new(string)
		}
		claimed.MessageSystemAttributes = nil // they may be what it was refused for
		q.fifo.Claim(s.now(), claimed.letter())
	}
}

// snapshot counts the messages of q at the last full minute, if that is a new one.
func (q *queue) snapshot(now time.Time) {
	if minute := now.Truncate(time.Minute); minute.After(q.minute) {
		q.minute, q.counted = minute, q.fifo.Counts(minute)
	}
}

// counts are the counters of q as they are shown.
func (s *Server) counts(q *queue) fifo.Counts {
	counts := q.fifo.Counts(s.now())
	if s.hooks.staleCounters {
		counts = q.counted
	}
	if q.lateBy > 0 && q.attributes[attrDelay] == "0" {
		counts.Visible, counts.Delayed = counts.Visible+counts.Delayed, 0
	}
	return counts
}

// sequenceNumber is a sequence number as SQS writes it.
func (s *Server) sequenceNumber(n uint64) string {
	text := fifo.Sent{Sequence: n}.SequenceNumber()
	if s.hooks.shortSequences {
		return strconv.FormatUint(n-fifo.FirstSequence, 10)
	}
	return text
}

// overlapping knows which ids are being sent. Two sends overlap in time if one comes
// in before the other is carried out; in process, where a send takes no time, each one
// lets others come in first.
type overlapping struct {
	mu    sync.Mutex
	going map[string]int // sends, by queue and id
}

// enter is told that a send comes in; leave must be called when it was carried out.
func (s *Server) enter(in *sendMessageInput) (aside fifo.Aside, leave func()) {
	o := s.hooks.overlaps
	if o == nil || in.MessageDeduplicationID == nil {
		return fifo.Aside{}, func() {}
	}
	key := text(in.QueueURL) + " " + *in.MessageDeduplicationID
	o.mu.Lock()
	aside.Overlaps = o.going[key] > 0
	o.going[key]++
	o.mu.Unlock()
	const turns = 100
	for range turns {
		runtime.Gosched()
	}
	return aside, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.going[key]--; o.going[key] == 0 {
			delete(o.going, key)
		}
	}
}
