package receipt

import (
	"cmp"
	"errors"
	"iter"
	"time"
)

// Kind says what became of a delivery.
type Kind string

const (
	// Pending is a delivery of which no more is known than that it arrived: work on
	// it has not ended, was cut off by a crash, or was put off (Reason says so where
	// the consumer could).
	Pending Kind = "pending"
	// Fresh is the delivery that completed its key: the effect happened.
	Fresh Kind = "fresh"
	// Redelivered is a message that was completed before, brought again by the
	// queue under the same MessageId: no effect.
	Redelivered Kind = "redelivered"
	// Repeated is another message (another MessageId) with a known key: a retry
	// that came after the queue's deduplication window, or an equal event that was
	// meant. No effect.
	Repeated Kind = "repeated"
	// Rejected is a delivery that will never have an effect: no key could be made
	// for it, its key is known with another fingerprint, or its handler refused it.
	Rejected Kind = "rejected"
	// Failed is a delivery whose attempt ended without effect and may be tried again.
	Failed Kind = "failed"
)

// Kinds are all kinds, in the order in which they are shown.
func Kinds() []Kind { return []Kind{Fresh, Redelivered, Repeated, Rejected, Failed, Pending} }

// Done reports whether the message is finished with, its effect having happened.
func (k Kind) Done() bool { return k == Fresh || k == Redelivered || k == Repeated }

// Delivery is one message in one reply of a queue.
type Delivery struct {
	Queue          string // the queue's name; its URL's host may change
	MessageID      string
	OriginID       string // MessageId of the message that this is a redriven copy of; "" where it is none
	Group          string // "" where the queue has no groups
	DedupID        string // as the queue reports it; a dead-letter move replaces it
	SequenceNumber string // up to 128 bits, in decimal
	ReceiveCount   int    // how often the queue has given the message out; 0 where it does not tell
	BodyDigest     string // of what the id was made from, in hex; "" where unknown
	Fingerprint    string // what deliveries of one key must share; "" where there is none to compare
	SentAt         time.Time
	ReceivedAt     time.Time
	Key            Key // zero where none could be made
}

// Identity is the MessageId that attempts and repeats are found by: that of the
// first message, where this one is a redriven copy.
func (d Delivery) Identity() string { return cmp.Or(d.OriginID, d.MessageID) }

// Origin is the delivery of a key that had the effect.
type Origin struct {
	MessageID  string // its [Delivery.Identity]
	ReceivedAt time.Time
}

// Attempt is one go at carrying out a delivery's effect. Zero where none was made.
type Attempt struct {
	Number  int // from 1, over all deliveries of the message, redriven copies included
	Worker  string
	Started time.Time
	Ended   time.Time // zero: at work, or its worker died
}

// Receipt is what is on record about a delivery.
type Receipt struct {
	ID int64 // rises in the order in which deliveries were recorded
	Delivery
	Kind    Kind
	Reason  string // why it was rejected, failed or put off
	First   Origin // of a redelivered or repeated key; else zero
	Attempt Attempt
}

// Claim is the right to carry out a delivery's effect: a lease on its key.
type Claim struct {
	ID       int64 // of the receipt
	Delivery Delivery
	Attempt  int    // its number, from 1
	Token    string // the fencing token: whoever takes the lease over has another one
	Key      string // encoded, as the inbox knows it
}

// Policy says what to do with a known key that comes under another MessageId.
type Policy string

const (
	// Skip has no second effect: the receipt is Repeated. The default.
	Skip Policy = "skip"
	// Run carries the effect out again: the MessageId joins the key.
	Run Policy = "run"
	// Refuse rejects the message.
	Refuse Policy = "reject"
)

// Terms are what a claim is asked for under.
type Terms struct {
	Worker string
	// Lease is how long the claim holds when it is neither renewed nor ended. It
	// always has an end: zero or less is over at once.
	Lease    time.Duration
	Repeated Policy // "": Skip
	// Now is the consumer's clock. A store whose database several machines share
	// judges leases by the database's clock instead.
	Now time.Time
}

// Decision is what [Store.Begin] made of a delivery.
type Decision struct {
	// Kind is Fresh where the caller holds Claim and must carry out the effect,
	// Pending where the key is in flight elsewhere, else what the receipt now says:
	// Redelivered, Repeated or Rejected.
	Kind   Kind
	Claim  Claim     // of Fresh
	First  Origin    // of Redelivered and Repeated, and of what was rejected as a repeat
	Result string    // of Redelivered and Repeated: what Complete was given for the key
	Until  time.Time // of Pending: when the lease that is in the way ends, by Terms.Now's clock
	Reason string    // of Rejected and Pending
	// TookOver is set where the claim's key was leased by somebody whose lease has ended.
	TookOver bool
	// Repeats is set where the key is known under another MessageId, whatever the
	// policy made of that.
	Repeats bool
}

// Ending is how an attempt ends without effect.
type Ending struct {
	// Kind is Failed (may be tried again), Rejected (never will be) or Pending (given
	// back: it counts as no attempt).
	Kind   Kind
	Reason string
	At     time.Time
}

// Counts are the receipts by kind, and the effects on record.
type Counts struct {
	Fresh, Redelivered, Repeated, Rejected, Failed, Pending int64
	// Effects counts the rows that [Store.Complete] writes where it is given no
	// effect of the caller's own.
	Effects int64
}

// Deliveries is the number of all receipts.
func (c Counts) Deliveries() int64 {
	return c.Fresh + c.Redelivered + c.Repeated + c.Rejected + c.Failed + c.Pending
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
	case Failed:
		c.Failed += n
	case Pending:
		c.Pending += n
	}
}

// Filter selects receipts. Its zero value selects all; what is set must all hold.
type Filter struct {
	Kinds   []Kind // any of them
	Queue   string
	Group   string
	Message string // a MessageId, or the first MessageId of a redriven copy
	Key     string // a key's value
	Since   time.Time
	Until   time.Time // not included
}

var (
	// ErrNoKey is returned by Begin for a delivery without a key, which can only be
	// rejected.
	ErrNoKey = errors.New("the delivery has no key")
	// ErrNotReceipts is returned by drivers for a database that is only to be read and
	// holds something else than receipts.
	ErrNotReceipts = errors.New("it holds no receipts")
	// ErrSettled is returned where a receipt was settled before.
	ErrSettled = errors.New("the receipt is settled already")
	// ErrLost is returned by Renew, Complete and Release where the lease was taken
	// over: somebody else has the key, and this caller's work must count for nothing.
	ErrLost = errors.New("the lease was taken over")
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
