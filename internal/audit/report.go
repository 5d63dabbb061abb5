package audit

import (
	"time"

	"fifoproof/internal/cli"
)

// Verdict is how much a finding weighs.
type Verdict string

// The verdicts, the heaviest first.
const (
	Fail         Verdict = "fail"         // a promise was broken
	Inconclusive Verdict = "inconclusive" // the files cannot tell whether one was
	Note         Verdict = "note"         // worth knowing, and allowed
)

// Kind is what was found.
type Kind string

// The kinds, in the order in which they are shown. docs/audit.md describes them.
const (
	NeverDelivered Kind = "never-delivered" // accepted, and no delivery of it or of what it duplicates
	DoubledInside  Kind = "doubled-inside"  // two messages of one id, sent less than the window apart
	EffectTwice    Kind = "effect-twice"    // two receipts say that they had the effect of one key
	OutOfOrder     Kind = "out-of-order"    // first received behind a later message of its group
	ChangedBody    Kind = "changed-body"    // one id, two body digests
	ChangedID      Kind = "changed-id"      // one MessageId, delivered under two ids
	Stray          Kind = "stray"           // delivered, and no send of it on record
	DoubledOutside Kind = "doubled-outside" // two messages of one id, a window or more apart
	Redelivered    Kind = "redelivered"     // the same message again
	Late           Kind = "late"            // delivered long after it was sent
	Unfinished     Kind = "unfinished"      // delivered, and not completed by the consumer
)

// Kinds are all kinds, in the order in which they are shown.
func Kinds() []Kind {
	return []Kind{
		NeverDelivered, DoubledInside, EffectTwice, OutOfOrder, ChangedBody, ChangedID, Stray,
		DoubledOutside, Redelivered, Late, Unfinished,
	}
}

// Report is all that an audit found. docs/audit.md describes its JSON form.
type Report struct {
	SendLog      File    `json:"send_log"`
	Receipts     File    `json:"receipts"`
	Scope        string  `json:"scope"`
	LateSeconds  float64 `json:"late_seconds"`
	GraceSeconds float64 `json:"grace_seconds"`
	// Horizon is the moment before which receipts may have been forgotten. Zero: none was.
	Horizon    time.Time  `json:"horizon,omitzero"`
	Sends      Sends      `json:"sends"`
	Deliveries Deliveries `json:"deliveries"`
	Findings   []Finding  `json:"findings"`
	Notes      []string   `json:"notes"`
	Exit       int        `json:"exit"`
}

// File is one of the two inputs.
type File struct {
	Path   string `json:"path"`
	Format string `json:"format"` // "send log", "receipts", "SQLite" or "PostgreSQL"
	Lines  int64  `json:"lines"`  // lines, or rows
}

// Sends counts the entries of the send log by outcome.
type Sends struct {
	Accepted  int64 `json:"accepted"`
	Duplicate int64 `json:"duplicate"`
	Unknown   int64 `json:"unknown"`
	Failed    int64 `json:"failed"`
	Unsent    int64 `json:"unsent"`
}

// Deliveries counts the receipts by kind.
type Deliveries struct {
	Messages    int64 `json:"messages"` // different messages, on queues that the send log names
	Fresh       int64 `json:"fresh"`
	Redelivered int64 `json:"redelivered"`
	Repeated    int64 `json:"repeated"`
	Rejected    int64 `json:"rejected"`
	Failed      int64 `json:"failed"`
	Pending     int64 `json:"pending"`
	NotJudged   int64 `json:"not_judged"` // on queues that the send log does not name
}

// Finding is all that was found of one kind with one verdict.
type Finding struct {
	Kind    Kind     `json:"kind"`
	Verdict Verdict  `json:"verdict"`
	Count   int64    `json:"count"`
	First   Offender `json:"first"` // the first one in its file
}

// Offender is one case of a finding, with the line beside which it is one, if any.
type Offender struct {
	Place
	Reason     string   `json:"reason"`
	GapSeconds *float64 `json:"gap_seconds,omitempty"`
	Other      *Place   `json:"other,omitempty"`
}

// Place is a line of one of the files and what stands in it. Times are zero where
// the line does not tell them.
type Place struct {
	File           string    `json:"file"`
	Line           int64     `json:"line,omitempty"`    // from 1; 0 in a database
	Receipt        int64     `json:"receipt,omitempty"` // number of the receipt; 0 in a send log
	Run            string    `json:"run,omitempty"`
	Source         string    `json:"source,omitempty"` // the producer's input, with its line
	SourceLine     int       `json:"source_line,omitempty"`
	Queue          string    `json:"queue"`
	Group          string    `json:"group"`
	ID             string    `json:"id"`
	MessageID      string    `json:"message_id"`
	RedrivenID     string    `json:"redriven_id,omitempty"` // of a redriven copy: the first message's MessageId
	SequenceNumber string    `json:"sequence_number"`
	BodyDigest     string    `json:"body_digest"`
	Outcome        string    `json:"outcome,omitempty"`  // of a send
	Start          time.Time `json:"start,omitzero"`     // of a send's first attempt, by the producer's clock
	End            time.Time `json:"end,omitzero"`       // of its last one; absent without an answer
	Kind           string    `json:"kind,omitempty"`     // of a receipt
	Key            string    `json:"key,omitempty"`      // of a receipt
	Consumer       string    `json:"consumer,omitempty"` // who the effect is for
	ReceiveCount   int       `json:"receive_count,omitempty"`
	SentAt         time.Time `json:"sent_at,omitzero"`     // by the queue's clock
	ReceivedAt     time.Time `json:"received_at,omitzero"` // by the consumer's clock
}

// IsSend reports whether the place is in the send log.
func (p Place) IsSend() bool { return p.Outcome != "" }

// Count is the number of findings with a verdict, over all kinds.
func (r *Report) Count(v Verdict) (n int64) {
	for _, f := range r.Findings {
		if f.Verdict == v {
			n += f.Count
		}
	}
	return n
}

// Nothing reports whether there was nothing to judge: no send that a queue may have
// taken, and no delivery on a queue that the send log names.
func (r *Report) Nothing() bool {
	return r.Sends.Accepted+r.Sends.Duplicate+r.Sends.Unknown+r.Deliveries.Messages == 0
}

// exit is the exit code that the findings come to. Where there was nothing to judge,
// nothing was proved.
func (r *Report) exit(tolerant bool) int {
	switch {
	case r.Count(Fail) > 0:
		return cli.Failed
	case (r.Count(Inconclusive) > 0 || r.Nothing()) && !tolerant:
		return cli.Inconclusive
	default:
		return cli.OK
	}
}
