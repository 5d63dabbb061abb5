package producer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// entryVersion is the version of the send log's format; docs/send-log.md describes it.
const entryVersion = 1

// Entry is a record as the send log keeps it: one JSON object a line. Its fields are
// described in docs/send-log.md, with units and examples.
type Entry struct {
	Version        int            `json:"v"`
	Run            string         `json:"run"`
	Queue          string         `json:"queue"`
	Source         string         `json:"source"`
	Line           int            `json:"line"`
	Copy           int            `json:"copy"`
	Group          string         `json:"group"`
	ID             string         `json:"id"`
	BodyDigest     string         `json:"body_digest"`
	Attempts       []EntryAttempt `json:"attempts"`
	MessageID      string         `json:"message_id"`
	SequenceNumber string         `json:"sequence_number"`
	Outcome        Outcome        `json:"outcome"`
	Reason         string         `json:"reason,omitempty"`
	Original       string         `json:"original,omitempty"`
	Warning        string         `json:"warning,omitempty"`
}

// EntryAttempt is one attempt: on the monotonic clock in nanoseconds since the start of
// the run, and on the wall clock in UTC. The ends are null where no answer came.
type EntryAttempt struct {
	StartNS int64      `json:"start_ns"`
	EndNS   *int64     `json:"end_ns"`
	Start   time.Time  `json:"start"`
	End     *time.Time `json:"end"`
	Error   string     `json:"error,omitempty"`
}

// Entry is the record in the form of the send log.
func (r Record) Entry() Entry {
	e := Entry{
		Version: entryVersion, Run: r.Run, Queue: r.Queue, Source: r.Source, Line: r.Line, Copy: r.Copy,
		Group: r.Group, ID: r.ID, BodyDigest: r.BodyDigest, Attempts: make([]EntryAttempt, len(r.Attempts)),
		MessageID: r.MessageID, SequenceNumber: r.SequenceNumber,
		Outcome: r.Outcome, Reason: r.Reason, Original: r.Original, Warning: r.Warning,
	}
	for i, a := range r.Attempts {
		e.Attempts[i] = EntryAttempt{StartNS: a.Start.Sub(r.began).Nanoseconds(), Start: a.Start.UTC(), Error: a.Error}
		if !a.End.IsZero() {
			ns, wall := a.End.Sub(r.began).Nanoseconds(), a.End.UTC()
			e.Attempts[i].EndNS, e.Attempts[i].End = &ns, &wall
		}
	}
	return e
}

// last is the latest wall time that the entry tells, zero where it has no attempt.
func (e *Entry) last() time.Time {
	if len(e.Attempts) == 0 {
		return time.Time{}
	}
	a := e.Attempts[len(e.Attempts)-1]
	if a.End != nil {
		return *a.End
	}
	return a.Start
}

// errCut is about a line that may be the beginning of an entry, which is never JSON.
var errCut = errors.New("no send log entry")

// parseEntry reads a line of a log, without its line feed.
func parseEntry(text []byte) (Entry, error) {
	var e Entry
	if !json.Valid(text) {
		return e, errCut
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("another JSON value than a send log entry: %w", err)
	}
	switch {
	case e.Version != entryVersion:
		return e, fmt.Errorf("version %d of the send log, and this program reads version %d", e.Version, entryVersion)
	case e.Run == "" || e.ID == "" || e.Line < 1:
		return e, errors.New("an entry without run, id or line")
	}
	switch e.Outcome {
	case Accepted, Duplicate, Failed, Unknown, Unsent:
		return e, nil
	default:
		return e, fmt.Errorf("unknown outcome %.20q", e.Outcome)
	}
}

// marshal is the entry as a line, with its line feed. <, > and & stay readable.
func (e Entry) marshal() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
