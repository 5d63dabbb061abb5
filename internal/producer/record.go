package producer

import (
	"fmt"
	"time"

	"fifoproof/internal/contenthash"
	"fifoproof/internal/window"
)

// Outcome is what became of a message.
type Outcome string

// The outcomes. Only a reply can tell a duplicate, so [Accepted] means "not known
// to be a duplicate": SQS reports success for both.
const (
	Accepted  Outcome = "accepted"  // the queue took it, under a MessageId not seen before
	Duplicate Outcome = "duplicate" // the reply names a message that this run or its log knows
	Failed    Outcome = "failed"    // refused for what it is, by the producer or by the queue
	Unknown   Outcome = "unknown"   // it may have been enqueued: some attempt got no proper answer, and no later one succeeded
	Unsent    Outcome = "unsent"    // certainly not enqueued, through no fault of its own: dry run, interrupted or stopped run
)

// Attempt is one call that carried the message. Times keep Go's monotonic reading
// where the clock has one.
type Attempt struct {
	Start time.Time
	End   time.Time // zero: no answer came, so the call may still be carried out
	Error string    // empty where the queue took the message
}

// Record is everything known about one message after its last attempt.
type Record struct {
	Run    string // names the run
	Queue  string // the queue's URL
	Source string // the input's name
	Line   int    // in its input, from 1; blank lines count
	Copy   int    // from 1, with Config.Repeat copies of a line

	Group      string // message group ID
	ID         string // deduplication ID, 64 lower-case hex digits; "" where none could be made
	BodyDigest string // hex SHA-256 of the canonical text that the ID is made from, without the group
	Attempts   []Attempt

	MessageID      string // as answered
	SequenceNumber string // as answered
	Outcome        Outcome
	Reason         string // why it failed, is unknown or was not sent
	Original       string // of a duplicate: the line that the queue keeps, such as "line 3 of run 5f0c9a3e"
	Warning        string // "likely loss …" or a broken order

	Explanation *contenthash.Explanation // with Config.Explain

	began time.Time // start of the run, which monotonic readings count from
}

// Interval is the time within which the queue can have accepted the message: from
// the start of the first attempt to the end of the last. Its end is zero where an
// attempt went unanswered, since such a call may be carried out later.
func (r Record) Interval() window.Interval {
	if len(r.Attempts) == 0 {
		return window.Interval{}
	}
	interval := window.Interval{Start: r.Attempts[0].Start}
	for _, attempt := range r.Attempts {
		if attempt.End.IsZero() {
			return window.Interval{Start: interval.Start}
		}
		interval.End = attempt.End
	}
	return interval
}

// Summary counts a run.
type Summary struct {
	Run       string
	Queue     string
	Lines     int // lines read that were not blank
	Accepted  int
	Duplicate int
	Failed    int
	Unknown   int
	Unsent    int // with the lines that a stopped run never came to
	Warnings  int
	Retries   int // attempts after a message's first one
	Distinct  int // different IDs made; counted in a dry run only
	Elapsed   time.Duration

	Interrupted bool     // the context ended before the input did
	Unread      bool     // the run stopped with more to read than was counted
	Unmatched   []string // excluded pointers that matched nothing in any line
}

// PerSecond is the rate of answered messages, 0 where no time was seen to pass.
func (s Summary) PerSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Accepted+s.Duplicate+s.Failed) / s.Elapsed.Seconds()
}

func (s *Summary) count(r Record) {
	switch r.Outcome {
	case Accepted:
		s.Accepted++
	case Duplicate:
		s.Duplicate++
	case Failed:
		s.Failed++
	case Unknown:
		s.Unknown++
	case Unsent:
		s.Unsent++
	}
	if r.Warning != "" {
		s.Warnings++
	}
	s.Retries += max(len(r.Attempts)-1, 0)
}

// StopError ends a run: the next message would have met with the same.
type StopError struct {
	Queue string
	First string // the first line of the batch that met it, as "line 11"
	Cause Cause
	Text  string // what happened, without the SDK's framing
	Err   error  // the SDK's error
}

// Cause says which of its surroundings stopped a run.
type Cause uint8

// What can stop a run.
const (
	CauseRefused     Cause = iota // an answer that every message would get
	CauseQueueGone                // the queue does not exist
	CauseAccess                   // credentials or permissions
	CauseUnreachable              // no answer, after all attempts
	CauseBusy                     // throttled or server errors, after all attempts
)

// Error names the queue, the line and the reason.
func (e *StopError) Error() string {
	return fmt.Sprintf("sending to %s from %s on: %s", e.Queue, e.First, e.Text)
}

// Unwrap is the SDK's error.
func (e *StopError) Unwrap() error { return e.Err }
