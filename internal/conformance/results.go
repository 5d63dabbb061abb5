package conformance

import (
	"slices"
	"time"
)

// Results is everything that a run has to say. Its JSON form is a contract: see
// docs/results.md. It is a pure function of the run's history.
type Results struct {
	Target  Target    `json:"target"`
	Run     string    `json:"run"`     // names the run; prefix of its queues
	Version string    `json:"version"` // of fifoproof
	Profile Profile   `json:"profile"`
	Policy  Policy    `json:"policy"`
	Started time.Time `json:"started"`
	Summary Summary   `json:"summary"`
	Cases   []Result  `json:"cases"`

	// NotRun are the catalogue's other cases: outside the profile or the selection.
	NotRun []string `json:"not_run,omitempty"`
	// NotRunWhy says of those that a given queue cannot be asked why.
	NotRunWhy map[string]string `json:"not_run_why,omitempty"`
	// Stale says what is wrong with the known-failing list, a sentence each.
	Stale []string `json:"stale,omitempty"`
}

// Policy says what counts for the exit code beside a failed MUST.
type Policy struct {
	Strict       bool     `json:"strict,omitempty"`       // a SHOULD counts as a MUST
	Inconclusive string   `json:"inconclusive,omitempty"` // "fail" (also if empty) or "warn"
	AllowSkip    []string `json:"allow_skip,omitempty"`   // MUST cases that may be skipped
}

// Target is the endpoint that was tested, and what it said of itself.
type Target struct {
	Name    string `json:"name"`              // "embedded", "aws" or the URL
	Region  string `json:"region,omitempty"`  // of AWS
	Queue   string `json:"queue,omitempty"`   // URL of the one queue that was tested, which the run did not make
	Product string `json:"product"`           // "fifoproof" for our own, else "unknown"
	Version string `json:"version,omitempty"` // of the product
	Server  string `json:"server,omitempty"`  // what its Server header says, where nothing better tells
	Clock   string `json:"clock"`             // "virtual" or "real"

	// Missing are the capabilities that the endpoint lacks, and how it showed.
	Missing map[Capability]string `json:"missing,omitempty"`
}

// Result is one case's verdict and its grounds.
type Result struct {
	ID        string  `json:"id"`
	Level     Level   `json:"level"`
	Verdict   Verdict `json:"verdict"`
	Expected  string  `json:"expected"`
	Seen      string  `json:"seen"`
	Reason    string  `json:"reason,omitempty"`  // where the verdict is neither pass nor info, or an info differs
	Known     *Known  `json:"known,omitempty"`   // the entry of the known-failing list that this is
	Premise   bool    `json:"premise,omitempty"` // was not selected; runs because a selected case builds on it
	Slow      bool    `json:"slow,omitempty"`    // skipped since the endpoint is too slow for it, which is no open question
	Shared    bool    `json:"shared,omitempty"`  // inconclusive since others may read the queue, though nothing speaks against it; no open question
	Tries     int     `json:"tries,omitempty"`   // where the case repeated itself
	Source    string  `json:"source"`
	Text      string  `json:"text,omitempty"`
	Profile   Profile `json:"profile,omitempty"` // that the case needs, where the default one does not have it
	QueueTime float64 `json:"queue_seconds"`     // time that passed on the endpoint's clock

	// The timeline, in seconds since the case's start. Omitted counts what is beyond
	// the first mostShown of each kind.
	Sends      []Sent     `json:"sends,omitempty"`
	Deliveries []Received `json:"deliveries,omitempty"`
	Windows    []Window   `json:"windows,omitempty"`
	Omitted    int        `json:"omitted,omitempty"`

	Edge   *Edge   `json:"edge,omitempty"`   // of cases that measure the end of the window
	Fields []Field `json:"fields,omitempty"` // of the case that changes each field of a body
}

// mostShown bounds each list of a timeline.
const mostShown = 60

// Sent is one attempt to send a message.
type Sent struct {
	Queue     int      `json:"queue,omitempty"` // of the case's queues, from 0
	Group     string   `json:"group"`
	ID        string   `json:"deduplication_id,omitempty"`
	Start     float64  `json:"start"`
	End       *float64 `json:"end,omitempty"` // absent where no answer came
	MessageID string   `json:"message_id,omitempty"`
	Refused   string   `json:"refused,omitempty"` // the endpoint's error code
	Fence     bool     `json:"fence,omitempty"`
	Claim     string   `json:"claim,omitempty"` // what the case says of it, such as "the resend"
}

// Received is one message in one reply to a ReceiveMessage.
type Received struct {
	Queue     int     `json:"queue,omitempty"`
	Group     string  `json:"group"`
	ID        string  `json:"deduplication_id,omitempty"`
	Start     float64 `json:"start"` // the call's start and end
	End       float64 `json:"end"`
	MessageID string  `json:"message_id"`
	Fence     bool    `json:"fence,omitempty"`
	Copy      bool    `json:"copy,omitempty"` // counts as a delivery of its own; a redelivery does not
}

// Window is one deduplication window as the rules have it: it opened within Opened
// and ends within Ends, drift allowance included.
type Window struct {
	Queue  int        `json:"queue,omitempty"`
	Group  string     `json:"group,omitempty"` // where ids are known by group
	ID     string     `json:"deduplication_id"`
	Opened [2]float64 `json:"opened"`
	Ends   [2]float64 `json:"ends"`
}

// Edge is the measured end of the window. Gaps are in seconds.
type Edge struct {
	Probes         []Probe  `json:"probes"`                     // in the order of their gaps
	SuppressedUpTo *float64 `json:"suppressed_up_to,omitempty"` // longest gap surely suppressed
	DeliveredFrom  *float64 `json:"delivered_from,omitempty"`   // shortest gap surely delivered
	RoundTrip      float64  `json:"round_trip"`                 // median time of a probe's call
}

// Probe is one resend of an id of its own, its gap known within [Min, Max].
type Probe struct {
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
	Delivered bool    `json:"delivered"`
	Open      bool    `json:"open,omitempty"` // not proved either way
}

// Summary counts verdicts.
type Summary struct {
	Cases        int     `json:"cases"`
	Pass         int     `json:"pass"`
	NonStrict    int     `json:"non_strict"`
	Fail         int     `json:"fail"`
	Inconclusive int     `json:"inconclusive"`
	Skipped      int     `json:"skipped"`
	Known        int     `json:"known"` // of the above, those that a known-failing list names
	Info         int     `json:"info"`
	Error        int     `json:"error"`
	NotRun       int     `json:"not_run"`
	Calls        int     `json:"calls"`         // requests made
	Queues       int     `json:"queues"`        // queues made
	Seconds      float64 `json:"seconds"`       // real time that the run took
	QueueTime    float64 `json:"queue_seconds"` // longest time that passed on an endpoint's clock
	Exit         int     `json:"exit"`
}

// Exit codes of a run, by rank: a failed MUST says more than a broken harness, and
// both say more than an open question.
const (
	exitPass         = 0
	exitFail         = 1
	exitInconclusive = 2
	exitError        = 3
)

// Weight is how a verdict counts for the exit code.
type Weight int

// The weights.
const (
	CountsNot     Weight = iota
	CountsOpen           // an open question
	CountsErrored        // the harness went wrong
	CountsFailed         // a promise was broken
)

// Weigh says how the verdict of r counts.
func (p Policy) Weigh(r Result) Weight {
	if r.Known != nil {
		return CountsNot
	}
	warn := p.Inconclusive == Warn
	switch {
	case r.Verdict == Fail, r.Verdict == NonStrict && p.Strict:
		return CountsFailed
	case r.Verdict == Errored:
		return CountsErrored
	case r.Verdict == Inconclusive && !warn && !r.Shared:
		return CountsOpen
	case r.Verdict == Skipped && !warn && !r.Slow && !slices.Contains(p.AllowSkip, r.ID):
		if r.Level == Must || p.Strict && r.Level == Should {
			return CountsOpen
		}
	}
	return CountsNot
}

// Warn is the Policy.Inconclusive under which an open question is no error.
const Warn = "warn"

// summarise counts the verdicts of cases.
func (p Policy) summarise(cases []Result) Summary {
	s := Summary{Cases: len(cases)}
	counted := map[Weight]int{}
	for _, c := range cases {
		counted[p.Weigh(c)]++
		if c.Known != nil {
			s.Known++
		}
		switch c.Verdict {
		case Pass:
			s.Pass++
		case NonStrict:
			s.NonStrict++
		case Fail:
			s.Fail++
		case Inconclusive:
			s.Inconclusive++
		case Noted:
			s.Info++
		case Skipped:
			s.Skipped++
		case Errored:
			s.Error++
		}
		s.QueueTime = max(s.QueueTime, c.QueueTime)
	}
	switch {
	case counted[CountsFailed] > 0:
		s.Exit = exitFail
	case counted[CountsErrored] > 0:
		s.Exit = exitError
	case counted[CountsOpen] > 0:
		s.Exit = exitInconclusive
	default:
		s.Exit = exitPass
	}
	return s
}
