package conformance

import (
	"context"
	"fmt"
	"path"
	"time"
)

// Level says how much weight a case has.
type Level string

const (
	// Must is documented by AWS or shown by a recorded run on AWS.
	Must Level = "MUST"
	// Should is what AWS's words lead one to expect, without a promise.
	Should Level = "SHOULD"
	// Info is what AWS has not published: measured and printed. It binds only our
	// own endpoint, which must give the reference's answer.
	Info Level = "INFO"
)

// Capability is something that an endpoint may lack. It lacks it where it refuses the
// call or the attribute, or where the attribute does not read back. What is accepted
// and then not done is a failure, never a missing capability.
type Capability string

// The capabilities that are probed before a run.
const (
	FIFO     Capability = "fifo"      // FIFO queues
	Scope    Capability = "scope"     // DeduplicationScope and FifoThroughputLimit
	Redrive  Capability = "redrive"   // RedrivePolicy: dead-letter queues
	MoveTask Capability = "move-task" // StartMessageMoveTask and its kin
	Query    Capability = "query"     // the query protocol beside AWS JSON 1.0
)

// Case is one behaviour of a FIFO queue, and how to see it.
type Case struct {
	ID       string        // area/subject/variation; never changes
	Level    Level         //
	Source   string        // who says so
	Text     string        // one paragraph: what happens, and why it matters
	Timeline string        // what is done when, in one line: "0 s send A · 150 s send A again · fence"
	Want     string        // what is expected, in words; for Info: what our reference does
	Wait     time.Duration // the deliberate wait of the case
	Needs    Capability    // what the endpoint must offer; "" beside FIFO queues nothing
	Costly   bool          // takes thousands of calls for a measurement: only with Experiments
	Premises []string      // cases that must have passed before an absence counts here
	OnQueue  bool          // can be told on a queue that the run did not make (see Given)

	steps func(ctx context.Context, b *Bench) error
}

// Profile selects cases by what they cost.
type Profile string

// The profiles, each with all cases of the one before.
const (
	QuickProfile Profile = "quick"       // the cases without a wait
	Default      Profile = "default"     // and those that wait up to longestDefault
	Experiments  Profile = "experiments" // and all others
)

// longestDefault is the longest wait of a case in the default profile: a minute past
// the window, where the last promise about it falls due.
const longestDefault = 365 * time.Second

// In reports whether the profile has the case.
func (p Profile) In(c Case) bool {
	switch p {
	case QuickProfile:
		return c.Wait == 0 && !c.Costly
	case Experiments:
		return true
	default:
		return c.Wait <= longestDefault && !c.Costly
	}
}

// Area is the first part of the case's id.
func (c Case) Area() string {
	area := c.ID
	for path.Dir(area) != "." {
		area = path.Dir(area)
	}
	return area
}

// Select returns the cases whose id matches one of the globs, in catalogue order;
// all of them where there is no glob. A glob is a [path.Match] pattern over the
// whole id, or a prefix of whole parts: "window", "window/resend", "*/*/after-*".
// A glob that matches no case is an error.
func Select(cases []Case, globs []string) ([]Case, error) {
	if len(globs) == 0 {
		return cases, nil
	}
	picked := make([]bool, len(cases))
	for _, glob := range globs {
		found := false
		for i, c := range cases {
			ok, err := matches(glob, c.ID)
			if err != nil {
				return nil, fmt.Errorf("reading the pattern %q: %w", glob, err)
			}
			picked[i] = picked[i] || ok
			found = found || ok
		}
		if !found {
			return nil, fmt.Errorf("no case matches %q", glob)
		}
	}
	var out []Case
	for i, c := range cases {
		if picked[i] {
			out = append(out, c)
		}
	}
	return out, nil
}

func matches(glob, id string) (bool, error) {
	for part := id; part != "."; part = path.Dir(part) {
		if ok, err := path.Match(glob, part); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
