package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"fifoproof/internal/window"
)

// A history is a run as it was recorded, one JSON object a line: what was asked and
// answered, with both clocks, and what each case claims of it. It has all that a
// verdict rests on, so that [Judge] needs nothing else. Bodies, receipt handles and
// credentials are not in it. docs/history.md describes the lines.

// Record is one line of a history: exactly one of its payloads is set.
type Record struct {
	Case string `json:"case,omitempty"` // "" in Run and Done
	Try  int    `json:"try,omitempty"`  // of the case, from 1; the last one counts

	Run    *RunStart `json:"run,omitempty"`
	Begin  *Stamp    `json:"begin,omitempty"`
	On     *OnQueue  `json:"on,omitempty"` // a queue that the run did not make
	Call   *Call     `json:"call,omitempty"`
	Claim  *Claim    `json:"claim,omitempty"`
	Answer *Answer   `json:"answer,omitempty"`
	Fields []Field   `json:"fields,omitempty"`
	Flaw   string    `json:"flaw,omitempty"` // the harness contradicts itself
	Stop   *Stop     `json:"stop,omitempty"`
	End    *Stamp    `json:"end,omitempty"`    // of the steps
	Closed *Stamp    `json:"closed,omitempty"` // the last receive is made, the queues are gone
	Done   *Done     `json:"done,omitempty"`
}

// historyFormat is the version of the format, raised when old ones cannot be judged.
const historyFormat = 1

// RunStart is the first line: what runs, and by which rules it is to be judged.
type RunStart struct {
	Format   int       `json:"format"`
	Target   Target    `json:"target"`
	Own      bool      `json:"own"` // the target is the reference: INFO cases bind it
	Run      string    `json:"run"`
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Profile  Profile   `json:"profile"`
	Policy   Policy    `json:"policy"`
	Known    []Known   `json:"known,omitempty"`
	Rule     SavedRule `json:"rule"`
	Cases    []string  `json:"cases"`
	Premises []string  `json:"premises,omitempty"` // of Cases, those that were not selected themselves
}

// SavedRule is a window.Rule in a history.
type SavedRule struct {
	Length        int64   `json:"length_ns"`
	Drift         float64 `json:"drift"`
	MaxClockSplit int64   `json:"max_clock_split_ns"`
}

// Stamp is one moment on both clocks.
type Stamp struct {
	Mono int64     `json:"mono_ns"` // since the case began, on the clock that nobody sets
	Wall time.Time `json:"wall"`
}

// Stop says why a case could not take all its steps.
type Stop struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	Detail  string  `json:"detail,omitempty"` // what the endpoint says beside its code
	Slow    bool    `json:"slow,omitempty"`
	After   bool    `json:"after,omitempty"` // all steps were taken; it went wrong behind them
}

// Done is the last line of a run that was not killed.
type Done struct {
	Seconds float64 `json:"seconds"` // real time
}

// Call is one request and its answer.
type Call struct {
	N      int    `json:"n"` // from 1, over the tries of a case, in the order of the answers
	Action string `json:"action"`
	Queue  string `json:"queue,omitempty"` // URL; of CreateQueue as answered
	Start  Stamp  `json:"start"`
	End    *Stamp `json:"end"` // null where no answer came
	Status int    `json:"status,omitempty"`
	Code   string `json:"code,omitempty"` // of an error
	// KeptBack: the endpoint answered, and the client was kept from seeing it.
	KeptBack bool `json:"kept_back,omitempty"`
	// NeverSent: the request was lost on its way, on purpose.
	NeverSent bool `json:"never_sent,omitempty"`

	Attributes map[string]string `json:"attributes,omitempty"` // of CreateQueue and SetQueueAttributes
	Sent       []SentMessage     `json:"sent,omitempty"`
	Received   []GotMessage      `json:"received,omitempty"`
	Handles    []HandleOutcome   `json:"handles,omitempty"`                // of deletes and visibility changes
	Visibility *int64            `json:"visibility_seconds,omitempty"`     // asked for
	AttemptID  string            `json:"receive_attempt_id,omitempty"`     //
	Most       int               `json:"max_number_of_messages,omitempty"` //
}

// SentMessage is one message of a send and what the endpoint said of it.
type SentMessage struct {
	Group     string `json:"group"`
	ID        string `json:"deduplication_id,omitempty"`
	Digest    string `json:"body_sha256"`
	Bytes     int    `json:"body_bytes"`
	Fence     bool   `json:"fence,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	Sequence  string `json:"sequence_number,omitempty"`
	MD5       string `json:"md5,omitempty"`     // as answered
	Refused   string `json:"refused,omitempty"` // the code with which this entry of a batch was refused
	Open      bool   `json:"open,omitempty"`    // the answer does not tell what became of it
}

// GotMessage is one message of an answer to ReceiveMessage.
type GotMessage struct {
	MessageID string `json:"message_id"`
	Handle    string `json:"handle"` // a digest of the receipt handle
	Group     string `json:"group,omitempty"`
	ID        string `json:"deduplication_id,omitempty"`
	Sequence  string `json:"sequence_number,omitempty"`
	Count     string `json:"receive_count,omitempty"`
	SentAt    string `json:"sent_timestamp,omitempty"` // epoch milliseconds, the server's clock
	Digest    string `json:"body_sha256"`
	MD5       string `json:"md5,omitempty"`
}

// HandleOutcome is what became of one receipt handle.
type HandleOutcome struct {
	Handle string `json:"handle"` // a digest
	Done   bool   `json:"done"`
}

// doubtful reports whether the call may have been carried out without its caller being
// told: no answer came, or a failure of the server's.
func (c Call) doubtful() bool {
	return c.End == nil && !c.NeverSent || c.Status >= http.StatusInternalServerError
}

func (s Stamp) interval(end *Stamp) window.Interval {
	i := window.Interval{Start: s.Wall, Mono: window.Mono{Start: time.Duration(s.Mono), Kept: true}}
	if end != nil {
		i.End, i.Mono.End = end.Wall, time.Duration(end.Mono)
	}
	return i
}

func (r SavedRule) rule() window.Rule {
	return window.Rule{Length: time.Duration(r.Length), Drift: r.Drift, MaxClockSplit: time.Duration(r.MaxClockSplit)}
}

func saved(r window.Rule) SavedRule {
	return SavedRule{Length: int64(r.Length), Drift: r.Drift, MaxClockSplit: int64(r.MaxClockSplit)}
}

// journal takes down a run's records, in memory and line by line on a writer, so that
// a killed run leaves what it came to.
type journal struct {
	mu      sync.Mutex
	records []Record
	out     io.Writer // nil: nobody reads it
	err     error     // the first that writing met with
}

func (j *journal) add(r Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records = append(j.records, r)
	if j.out == nil || j.err != nil {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = j.out.Write(append(line, '\n'))
	}
	if err != nil {
		j.err = fmt.Errorf("writing the history: %w", err)
	}
}

// longestLine bounds a line of a history: a batch of ten, each id 128 characters.
const longestLine = 1 << 20

// ReadHistory reads a history. A last line that was cut off when its run was killed
// is left out; any other line that cannot be read is an error that names it.
func ReadHistory(r io.Reader) ([]Record, error) {
	var records []Record
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), longestLine)
	var cut error
	for n := 1; lines.Scan(); n++ {
		if cut != nil {
			return nil, cut
		}
		var record Record
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&record); err != nil {
			cut = fmt.Errorf("line %d: %w", n, err)
			continue
		}
		records = append(records, record)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	switch {
	case len(records) == 0 && cut != nil:
		return nil, cut
	case len(records) == 0:
		return nil, errors.New("the history is empty")
	case records[0].Run == nil:
		return nil, errors.New("line 1: a history begins with the run that it is of")
	case records[0].Run.Format != historyFormat:
		return nil, fmt.Errorf("line 1: the history has format %d, and this program reads format %d", records[0].Run.Format, historyFormat)
	case len(records[0].Run.Cases) == 0:
		return nil, errors.New("line 1: the history is of no case, so nothing was proved")
	}
	return records, nil
}
