package conformance

// Plan is what a run would do, as a rehearsal on the embedded endpoint showed it.
type Plan struct {
	Target  Target    `json:"target"`
	Profile Profile   `json:"profile"`
	Cases   []Planned `json:"cases"` // in the order in which they begin to end
	NotRun  []string  `json:"not_run,omitempty"`
	Calls   int       `json:"calls"`
	// Requests are the calls as AWS charges them, by chunks of 64 KB; at most so many.
	Requests int     `json:"charged_requests"`
	Dollars  float64 `json:"dollars"` // what AWS charges for them; 0 elsewhere
	Queues   int     `json:"queues"`
	Seconds  float64 `json:"seconds"`      // of real time for the whole run
	Longest  float64 `json:"longest_wait"` // of a case, in seconds
	Cost     string  `json:"cost"`         // what it costs, in words
}

// Planned is one case of a plan.
type Planned struct {
	ID      string  `json:"id"`
	Level   Level   `json:"level"`
	Wait    float64 `json:"wait_seconds"`
	Premise bool    `json:"premise,omitempty"` // not selected; a selected case builds on it
	Begins  float64 `json:"begins"`            // seconds after the start of the run
	Ends    float64 `json:"ends"`
	Demand
}

// Demand is what a case takes.
type Demand struct {
	Seconds  float64  `json:"seconds"` // waits, long polls and pauses, on an endpoint that answers at once
	Calls    int      `json:"calls"`
	Requests int      `json:"charged_requests"` // the calls as AWS charges them
	Queues   int      `json:"queues"`
	Actions  []string `json:"actions"` // the SQS actions, each a permission: sqs:<Action>
}
