package conformance

import "time"

// Results is everything that a run has to say. Its JSON form is a contract: see
// docs/results.md.
type Results struct {
	Target  Target    `json:"target"`
	Run     string    `json:"run"`     // names the run; prefix of its queues
	Version string    `json:"version"` // of fifoproof
	Started time.Time `json:"started"`
	Summary Summary   `json:"summary"`
	Cases   []Result  `json:"cases"`
}

// Target is the endpoint that was tested, and what it said of itself.
type Target struct {
	Name    string `json:"name"`              // "embedded" or the URL
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
	Reason    string  `json:"reason,omitempty"` // where the verdict is neither pass nor info
	Known     *Known  `json:"known,omitempty"`  // the entry of the known-failing list that this is
	Source    string  `json:"source"`
	QueueTime float64 `json:"queue_seconds"` // time that passed on the endpoint's clock

	Sends []Sent `json:"sends,omitempty"` // where the verdict is neither pass nor info
}

// Sent is one send of a case that needs looking at, in seconds since its start.
type Sent struct {
	Group     string   `json:"group"`
	ID        string   `json:"deduplication_id,omitempty"`
	Start     float64  `json:"start"`
	End       *float64 `json:"end,omitempty"` // absent where no answer came
	MessageID string   `json:"message_id,omitempty"`
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

// summarise counts the verdicts of cases.
func summarise(cases []Result, took time.Duration) Summary {
	s := Summary{Cases: len(cases), Seconds: took.Seconds()}
	open, failed, errored := false, false, false
	for _, c := range cases {
		if c.Known != nil {
			s.Known++
		} else {
			failed = failed || c.Verdict == Fail
			errored = errored || c.Verdict == Errored
			open = open || c.Verdict == Inconclusive || c.Verdict == Skipped && c.Level == Must
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
	case failed:
		s.Exit = exitFail
	case errored:
		s.Exit = exitError
	case open:
		s.Exit = exitInconclusive
	default:
		s.Exit = exitPass
	}
	return s
}
