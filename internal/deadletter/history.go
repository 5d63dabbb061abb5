package deadletter

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"fifoproof/internal/receipt"
)

// State says what the receipts mean for putting a message back.
type State string

const (
	// Open is a message without an effect, or of which nothing is known: it may be sent.
	Open State = "open"
	// Done is a message whose effect happened.
	Done State = "done"
	// Running is a message that a consumer is at work on.
	Running State = "running"
	// Copied is a message whose copy has arrived in the source: an earlier redrive was
	// cut off before it could delete.
	Copied State = "copied"
)

// Attempt is one delivery of the message to a consumer, with what came of it.
type Attempt struct {
	Number    int    // from 1; 0: the delivery was rejected or put off without an attempt
	MessageID string // of the message, or of a redriven copy
	Queue     string
	Receives  int // the queue's count, this delivery included; 0: not told
	Received  time.Time
	Started   time.Time // zero: no attempt
	Ended     time.Time // zero: at work, or its worker died
	Worker    string
	Kind      receipt.Kind
	Reason    string
}

// History is what the receipts of the source's consumers say of a message. Its zero
// value is that of a message on which nothing is on record: nothing is known.
type History struct {
	Known    bool
	First    time.Time // receive
	Last     time.Time // receive
	Attempts []Attempt // in their order
	Reason   string    // of the last attempt; "": not known
	State    State     // "" as [Open], where nothing is known
	CopyID   string    // of Copied: the copy's MessageId
	sequence string    // of the message in its source
}

// unended is the reason of an attempt whose end is not on record.
const unended = "the attempt did not end: its worker died, or is still at work"

// records are the receipts of a message and its redriven copies, but for those of
// consumers of the dead-letter queue itself.
func (l *Letters) records(ctx context.Context, identity string) ([]receipt.Receipt, error) {
	if l.cfg.Receipts == nil {
		return nil, nil
	}
	all, err := l.cfg.Receipts.Message(ctx, identity)
	if err != nil {
		return nil, fmt.Errorf("reading the receipts of message %s: %w", identity, err)
	}
	kept := all[:0:0]
	for _, r := range all {
		if r.Queue != l.name {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// history reads the receipts of m, whose source is known by now.
func (l *Letters) history(m Message, records []receipt.Receipt) History {
	h := History{State: Open}
	for _, r := range records {
		if m.Source.Name != "" && r.Queue != m.Source.Name {
			continue
		}
		if !h.Known {
			h.Known, h.First, h.sequence = true, r.ReceivedAt, r.SequenceNumber
		}
		h.Last = r.ReceivedAt
		h.Attempts = append(h.Attempts, Attempt{
			Number: r.Attempt.Number, MessageID: r.MessageID, Queue: r.Queue, Receives: r.ReceiveCount, Received: r.ReceivedAt,
			Started: r.Attempt.Started, Ended: r.Attempt.Ended, Worker: r.Attempt.Worker, Kind: r.Kind, Reason: r.Reason,
		})
		h.Reason = reason(r, h.Reason)
		h.State = l.state(h.State, m, r)
		if h.State == Copied && h.CopyID == "" {
			h.CopyID = r.MessageID
		}
	}
	return h
}

// reason is that of the last attempt, given the last one so far. What was put off
// explains nothing where something failed before.
func reason(r receipt.Receipt, before string) string {
	switch {
	case r.Kind == receipt.Pending && r.Attempt.Number > 0 && r.Attempt.Ended.IsZero():
		return cmp.Or(r.Reason, unended)
	case r.Kind == receipt.Pending:
		return cmp.Or(before, r.Reason)
	default:
		return cmp.Or(r.Reason, before)
	}
}

// state is what is known after one more receipt. That a copy of this stay has arrived
// shows by a redriven copy that was sent after the message had come here; both times
// are SQS's. It outranks that the effect happened, which then is the copy's.
func (l *Letters) state(before State, m Message, r receipt.Receipt) State {
	sent := r.SentAt
	if sent.IsZero() {
		sent = r.ReceivedAt
	}
	switch {
	case before == Copied:
		return Copied
	case r.OriginID == m.Identity && r.MessageID != m.ID && sent.After(m.SentAt):
		return Copied
	case before == Done || r.Kind.Done():
		return Done
	case r.Kind == receipt.Pending && r.Attempt.Number > 0 && r.Attempt.Ended.IsZero() &&
		l.cfg.Clock.Now().Sub(r.Attempt.Started) < l.cfg.Stalled:
		return Running
	default:
		return Open
	}
}

// Overtaken finds a later message of m's group that consumers have received already: m
// comes after it when it is put back. found is false where there is none, or nothing
// is on record of the group.
func (l *Letters) Overtaken(ctx context.Context, m Message) (by receipt.Receipt, found bool, err error) {
	if l.cfg.Receipts == nil || m.Source.Name == "" || m.Group == "" {
		return receipt.Receipt{}, false, nil
	}
	since := m.SentAt
	if m.History.Known {
		since = m.History.First
	}
	for r, err := range l.cfg.Receipts.Receipts(ctx, receipt.Filter{Queue: m.Source.Name, Group: m.Group, Since: since}) {
		switch {
		case err != nil:
			return receipt.Receipt{}, false, fmt.Errorf("reading the receipts of the group of message %s: %w", m.ID, err)
		case r.Identity() == m.Identity, m.History.Known && !after(r.SequenceNumber, m.History.sequence):
		default:
			return r, true, nil
		}
	}
	return receipt.Receipt{}, false, nil
}

// after compares sequence numbers, which have up to 128 bits, as numbers.
func after(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}
