package receipt

import (
	"fmt"
	"time"
)

// State is what the inbox holds of a key.
type State string

const (
	// Open is a key that nobody works on: its last attempt ended without effect.
	Open State = "open"
	// Leased is a key that somebody works on until its lease ends.
	Leased State = "leased"
	// Completed is a key whose effect happened.
	Completed State = "done"
)

// Entry is one key in the inbox.
type Entry struct {
	State       State
	Fingerprint string
	MessageID   string // identity of the delivery that has, or had, the lease
	ReceivedAt  time.Time
	LeaseUntil  time.Time // of Leased; zero: over
	Worker      string
	Result      string
}

// Decide says what a delivery is, given what the inbox holds of its key: entry, or
// nil where the key is new. seen says that the message itself was Fresh or Repeated
// before under this key, so that it comes again. now is by the clock that judges
// leases, and the one that Decision.Until is told by.
//
// A Fresh decision has no claim yet; the driver makes it. Under the policy [Run]
// a driver asks for the key with the MessageId in it first, and comes here for the
// key without it only where that one is not on record; again says that the key with
// the MessageId has to be claimed instead.
func Decide(entry *Entry, d Delivery, policy Policy, seen bool, now time.Time) (decision Decision, again bool) {
	if entry == nil {
		return Decision{Kind: Fresh}, false
	}
	first := Origin{MessageID: entry.MessageID, ReceivedAt: entry.ReceivedAt}
	if entry.Fingerprint != "" && d.Fingerprint != "" && entry.Fingerprint != d.Fingerprint {
		return Decision{Kind: Rejected, First: first, Repeats: entry.MessageID != d.Identity(), Reason: fmt.Sprintf(
			"the key is known with another body: message %s had the fingerprint %.16s…, this one has %.16s…",
			entry.MessageID, entry.Fingerprint, d.Fingerprint)}, false
	}
	same := seen || entry.MessageID == d.Identity()
	switch {
	case entry.State == Completed && same:
		return Decision{Kind: Redelivered, First: first, Result: entry.Result}, false
	case entry.State == Completed && policy == Run:
		return Decision{First: first, Repeats: true}, true
	case entry.State == Completed && policy == Refuse:
		return Decision{Kind: Rejected, First: first, Repeats: true, Reason: "the key was done before by message " + entry.MessageID}, false
	case entry.State == Completed:
		return Decision{Kind: Repeated, First: first, Result: entry.Result, Repeats: true}, false
	case entry.State == Leased && now.Before(entry.LeaseUntil) && !same && policy == Run:
		return Decision{First: first, Repeats: true}, true
	case entry.State == Leased && now.Before(entry.LeaseUntil):
		return Decision{Kind: Pending, Until: entry.LeaseUntil, Reason: "in flight with " + entry.Worker}, false
	default:
		return Decision{Kind: Fresh, TookOver: entry.State == Leased}, false
	}
}
