package receipt

import (
	"errors"
	"iter"
	"time"
)

// Kind says what became of a delivery.
type Kind string

const (
	// Pending is a delivery of which no more is known than that it arrived: work on
	// it has not ended, was cut off, or was put off.
	Pending Kind = "pending"
	// Fresh is the first delivery of its key: the effect happened.
	Fresh Kind = "fresh"
	// Redelivered is a message that was completed before, brought again by the
	// queue under the same MessageId: no effect.
	Redelivered Kind = "redelivered"
	// Repeated is another message (another MessageId) with a known key: a retry
	// that came after the queue's deduplication window, or an equal event that was
	// meant. No effect.
	Repeated Kind = "repeated"
	// Rejected is a delivery that no key could be made for. No effect.
	Rejected Kind = "rejected"
)

// Kinds are all kinds, in the order in which they are shown.
func Kinds() []Kind { return []Kind{Fresh, Redelivered, Repeated, Rejected, Pending} }

// Key is what makes two deliveries the same event. Two keys are one where
// Delivery.Queue, Space, Group and Value are all equal, byte for byte; each is
// stored on its own, so no choice of characters can make two keys meet.
type Key struct {
	// Rule names what the value was taken from: "attribute:idempotency-key",
	// "content", "pointer:/event_id", "attribute:NAME" or "message". It explains the
	// key and is no part of it.
	Rule string
	// Space keeps the values of different rules apart: event 7 is not order 7.
	Space string
	// Group is the message group where it is part of the key, else "" (a FIFO
	// queue's groups are never empty).
	Group string
	// Value is the key itself. A zero Key has none.
	Value string
}

// Delivery is one message in one reply of a queue.
type Delivery struct {
	Queue          string // the queue's name; its URL's host may change
	MessageID      string
	Group          string // "" where the queue has no groups
	DedupID        string // as the queue reports it; a dead-letter move replaces it
	SequenceNumber string // up to 128 bits, in decimal
	ReceiveCount   int    // how often the queue has given the message out; 0 where it does not tell
	BodyDigest     string // of what the id was made from, in hex; "" where unknown
	SentAt         time.Time
	ReceivedAt     time.Time
	Key            Key // zero where none could be made
}

// Origin is the first delivery of a key.
type Origin struct {
	MessageID  string
	ReceivedAt time.Time
}

// Receipt is what is on record about a delivery.
type Receipt struct {
	ID int64 // rises in the order in which deliveries were begun
	Delivery
	Kind   Kind
	Reason string // why it was rejected
	First  Origin // of a redelivered or repeated key; else zero
}

// Claim is the right to complete a delivery that was begun.
type Claim struct {
	ID       int64 // of the receipt
	Delivery Delivery
}

// Outcome is what Complete made of a delivery.
type Outcome struct {
	Kind  Kind   // Fresh, Redelivered or Repeated
	First Origin // of the key; this very delivery where it is Fresh
}

// Counts are the receipts by kind, and the effects on record.
type Counts struct {
	Fresh, Redelivered, Repeated, Rejected, Pending int64
	// Effects counts the rows that [Store.Complete] writes where it is given no
	// effect of the caller's own.
	Effects int64
}

// Deliveries is the number of all receipts.
func (c Counts) Deliveries() int64 {
	return c.Fresh + c.Redelivered + c.Repeated + c.Rejected + c.Pending
}

// Add counts n more receipts of a kind.
func (c *Counts) Add(kind Kind, n int64) {
	switch kind {
	case Fresh:
		c.Fresh += n
	case Redelivered:
		c.Redelivered += n
	case Repeated:
		c.Repeated += n
	case Rejected:
		c.Rejected += n
	case Pending:
		c.Pending += n
	}
}

// Filter selects receipts.
type Filter struct {
	Kinds []Kind // none: all
}

var (
	// ErrNoKey is returned by Complete for a delivery without a key, which can only
	// be rejected.
	ErrNoKey = errors.New("the delivery has no key")
	// ErrSettled is returned where a delivery was completed or rejected before.
	ErrSettled = errors.New("the receipt is settled already")
)

// Collect gathers what [Store.Receipts] yields.
func Collect(receipts iter.Seq2[Receipt, error]) ([]Receipt, error) {
	var all []Receipt
	for r, err := range receipts {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}
