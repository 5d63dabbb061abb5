package conformance

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fifoproof/internal/awserr"
	"fifoproof/internal/window"
)

// key is what deduplication goes by: the id on the queue, or in the group.
type key struct{ queue, group, id string }

// Send is one attempt to give one message to the endpoint.
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
	Handle     string // digest of the receipt handle
	Reply      int    // number of the reply that brought it
	Attempt    string // receive attempt ID of the call
	At         window.Interval
	Hidden     time.Duration // earliest end of its visibility timeout, on the monotonic clock
}

// Deletion is one answered delete of a message.
type Deletion struct {
	Handle string
	At     window.Interval
}

// Evidence is everything that was seen of a case, in the order in which it was
// answered. It is read from the history of one try.
type Evidence struct {
	Queues     []string // URLs, in the order of their making
	Sends      []Send
	Deliveries []Delivery
	Deletions  []Deletion
	Claims     []Claim
	Answers    []Answer
	Fields     []Field
	Calls      int
	Doubtful   bool // a call was not answered, or with a failure of the server's
	Actions    map[string]bool

	// Flaw is set where the harness contradicts itself: the consumer's receipts or
	// the producer's log tell another story than the wire.
	Flaw string
	Stop *Stop
	// Began and Ended bound the case on its endpoint's clock.
	Began, Ended Stamp
	Closed       bool // it was brought to its end, last receive and all

	given      OnQueue // of a run on a queue that it did not make
	replies    int
	scopes     map[string]window.Scope  // by queue
	visibility map[string]time.Duration // by queue
	fences     map[string]bool          // body digests
}

func newEvidence() *Evidence {
	return &Evidence{
		Actions: map[string]bool{}, scopes: map[string]window.Scope{},
		visibility: map[string]time.Duration{}, fences: map[string]bool{},
	}
}

// take reads one record.
func (e *Evidence) take(r Record) {
	switch {
	case r.Begin != nil:
		e.Began, e.Ended = *r.Begin, *r.Begin
	case r.On != nil:
		e.use(*r.On)
	case r.Call != nil:
		e.note(*r.Call)
	case r.Claim != nil:
		if c := *r.Claim; c.First < 0 || c.Last < c.First || c.Last > len(e.Sends) {
			e.Flaw = "a claim names sends that the history does not have"
			return
		}
		e.Claims = append(e.Claims, *r.Claim)
	case r.Answer != nil:
		e.Answers = append(e.Answers, *r.Answer)
	case r.Fields != nil:
		e.Fields = r.Fields
	case r.Flaw != "":
		if e.Flaw == "" {
			e.Flaw = r.Flaw
		}
	case r.Stop != nil:
		if e.Stop == nil || e.Stop.After && !r.Stop.After || r.Stop.Verdict == Errored && e.Stop.Verdict != Errored {
			e.Stop = r.Stop
		}
	case r.End != nil:
		e.Ended = *r.End
	case r.Closed != nil:
		e.Closed = true
	}
}

// note reads one call.
func (e *Evidence) note(c Call) {
	e.Calls++
	e.Doubtful = e.Doubtful || c.doubtful()
	e.Actions[c.Action] = true
	answered := c.Status == http.StatusOK
	switch c.Action {
	case callCreate:
		if answered {
			e.noteQueue(c)
		}
	case callSend, callSendBatch:
		e.noteSends(c)
	case callReceive:
		if answered {
			e.noteReceive(c)
		}
	case "SetQueueAttributes":
		if hidden, err := strconv.Atoi(c.Attributes["VisibilityTimeout"]); err == nil {
			e.visibility[c.Queue] = min(e.visibility[c.Queue], time.Duration(hidden)*time.Second)
		}
	case "ChangeMessageVisibility", "ChangeMessageVisibilityBatch":
		e.noteVisibility(c)
	case callDelete, "DeleteMessageBatch":
		for _, h := range c.Handles {
			if h.Done {
				e.Deletions = append(e.Deletions, Deletion{Handle: h.Handle, At: c.Start.interval(c.End)})
			}
		}
	}
}

// use takes in a queue that the run did not make.
func (e *Evidence) use(o OnQueue) {
	e.given = o
	e.Queues = append(e.Queues, o.Queue)
	if o.Scope == window.ScopeGroup.String() {
		e.scopes[o.Queue] = window.ScopeGroup
	}
	e.visibility[o.Queue] = time.Duration(o.Hidden) * time.Second
}

// others reports whether a message is none of the case's: on a queue that others use.
func (e *Evidence) others(queue, group string) bool {
	return e.given.Prefix != "" && queue == e.given.Queue && !strings.HasPrefix(group, e.given.Prefix)
}

func (e *Evidence) noteQueue(c Call) {
	e.Queues = append(e.Queues, c.Queue)
	if c.Attributes["DeduplicationScope"] == window.ScopeGroup.String() {
		e.scopes[c.Queue] = window.ScopeGroup
	}
	// AWS's default is 30 s (API reference, CreateQueue, VisibilityTimeout).
	hidden, err := strconv.Atoi(c.Attributes["VisibilityTimeout"])
	if err != nil {
		hidden = 30
	}
	e.visibility[c.Queue] = time.Duration(hidden) * time.Second
}

func (e *Evidence) noteSends(c Call) {
	if c.NeverSent || awserr.Throttled(c.Code) || awserr.Unwelcome(c.Code) {
		return // certainly not carried out
	}
	refusal := ""
	end := c.End
	switch {
	case c.Status >= http.StatusBadRequest && c.Status < http.StatusInternalServerError:
		refusal = cmp.Or(c.Code, "status "+strconv.Itoa(c.Status))
	case c.Status != http.StatusOK:
		end = nil // a failure of the server's says nothing of what it may still do
	}
	for _, m := range c.Sent {
		if m.Fence {
			e.fences[m.Digest] = true
		}
		s := Send{
			Queue: c.Queue, Group: m.Group, ID: m.ID, Scope: e.scopes[c.Queue], At: c.Start.interval(end),
			MessageID: m.MessageID, Sequence: m.Sequence, Refused: refusal, Fence: m.Fence,
		}
		if s.ID == "" {
			s.ID = m.Digest
		}
		switch {
		case awserr.Throttled(m.Refused), awserr.Unwelcome(m.Refused):
			continue
		case m.Refused != "":
			s.Refused = m.Refused
		case m.Open:
			s.At = c.Start.interval(nil)
		}
		e.Sends = append(e.Sends, s)
	}
}

func (e *Evidence) noteReceive(c Call) {
	e.replies++
	hidden := e.visibility[c.Queue]
	if c.Visibility != nil {
		hidden = time.Duration(*c.Visibility) * time.Second
	}
	for _, m := range c.Received {
		if e.others(c.Queue, m.Group) {
			continue
		}
		e.Deliveries = append(e.Deliveries, Delivery{
			Queue: c.Queue, MessageID: m.MessageID, ID: m.ID, Group: m.Group, Sequence: m.Sequence, BodyDigest: m.Digest,
			Fence: e.fences[m.Digest], Handle: m.Handle, Reply: e.replies, Attempt: c.AttemptID,
			At: c.Start.interval(c.End), Hidden: time.Duration(c.Start.Mono) + hidden,
		})
	}
}

// noteVisibility moves the end of visibility timeouts. One that was not answered may
// have been carried out or not: the earlier end counts.
func (e *Evidence) noteVisibility(c Call) {
	refused := c.Status >= http.StatusBadRequest && c.Status < http.StatusInternalServerError
	if c.Visibility == nil || c.NeverSent || refused {
		return
	}
	until := time.Duration(c.Start.Mono) + time.Duration(*c.Visibility)*time.Second
	for _, h := range c.Handles {
		for i := range e.Deliveries {
			switch d := &e.Deliveries[i]; {
			case d.Handle != h.Handle:
			case h.Done:
				d.Hidden = until
			default:
				d.Hidden = min(d.Hidden, until)
			}
		}
	}
}

// repeatedReceive reports whether two deliveries come from one receive made twice
// under one attempt ID, which gives out the same messages (API reference,
// ReceiveRequestAttemptId).
func repeatedReceive(a, b Delivery) bool {
	return a.Attempt != "" && a.Attempt == b.Attempt && a.Handle == b.Handle
}

// copies are the deliveries that no single stored message explains. The same
// MessageId counts again when it comes after an answered delete, twice in one
// reply, or before the earlier one's visibility timeout can have run out;
// otherwise it is a redelivery, which FIFO queues owe their readers.
func (e *Evidence) copies(queue string) []Delivery {
	deleted := map[string]time.Duration{} // by handle: when the delete was answered
	for _, d := range e.Deletions {
		deleted[d.Handle] = d.At.Mono.End
	}
	last := map[string]Delivery{} // by MessageId
	gone := map[string]time.Duration{}
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
				wasDeleted && d.At.Mono.Start >= answered ||
				d.At.Mono.End < before.Hidden && !repeatedReceive(before, d)
		}
		if !known || again {
			out = append(out, d)
		}
		last[d.MessageID] = d
		if answered, ok := deleted[d.Handle]; ok {
			if earlier, had := gone[d.MessageID]; !had || answered < earlier {
				gone[d.MessageID] = answered
			}
		}
	}
	return out
}
