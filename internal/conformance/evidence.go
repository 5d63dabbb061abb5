package conformance

import (
	"time"

	"fifoproof/internal/window"
)

// key is what deduplication goes by: the id on the queue, or in the group.
type key struct{ queue, group, id string }

// Send is one message given to the endpoint, over all attempts.
type Send struct {
	Queue     string
	Group     string
	ID        string // deduplication ID, given or made by the queue from the content
	Scope     window.Scope
	At        window.Interval
	MessageID string // as answered; "" where no answer came
	Sequence  string
	Refused   string // the endpoint's error code, where it refused the send
	Fence     bool
}

func (s Send) key() key {
	if s.Scope == window.ScopeGroup {
		return key{s.Queue, s.Group, s.ID}
	}
	return key{s.Queue, "", s.ID}
}

// Delivery is one message in one ReceiveMessage reply.
type Delivery struct {
	Queue      string
	MessageID  string
	ID         string // deduplication ID, as the endpoint reports it
	Group      string
	Sequence   string
	BodyDigest string // hex SHA-256 of the body's bytes
	Fence      bool
	Handle     string // receipt handle
	Reply      int    // number of the reply that brought it
	At         window.Interval
	Visibility time.Duration // how long it stays hidden
}

// Deletion is one answered delete of a message.
type Deletion struct {
	Handle string
	At     window.Interval
}

// Evidence is everything that was seen of a case, in the order in which it began.
type Evidence struct {
	Sends      []Send
	Deliveries []Delivery
	Deletions  []Deletion
	Claims     []Claim
	Answers    []Answer

	// Disagreement is set where the consumer's receipts or the producer's log tell
	// another story than the wire.
	Disagreement string
}

// copies are the deliveries that no single stored message explains. The same
// MessageId counts again when it comes after an answered delete, twice in one
// reply, or before the earlier one's visibility timeout can have run out;
// otherwise it is a redelivery, which FIFO queues owe their readers.
func (e *Evidence) copies(queue string) []Delivery {
	deleted := map[string]time.Time{} // by handle: when the delete was answered
	for _, d := range e.Deletions {
		deleted[d.Handle] = d.At.End
	}
	last := map[string]Delivery{} // by MessageId
	gone := map[string]time.Time{}
	var out []Delivery
	for _, d := range e.Deliveries {
		if d.Queue != queue || d.Fence {
			continue
		}
		before, known := last[d.MessageID]
		again := false
		if known {
			answered, wasDeleted := gone[d.MessageID]
			again = before.Reply == d.Reply ||
				wasDeleted && !d.At.Start.Before(answered) ||
				d.At.End.Before(before.At.Start.Add(before.Visibility))
		}
		if !known || again {
			out = append(out, d)
		}
		last[d.MessageID] = d
		if answered, ok := deleted[d.Handle]; ok {
			if earlier, had := gone[d.MessageID]; !had || answered.Before(earlier) {
				gone[d.MessageID] = answered
			}
		}
	}
	return out
}
