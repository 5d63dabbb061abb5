package conformance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/awserr"
	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

// Setup is what a run is handed: it chooses neither endpoint nor store.
type Setup struct {
	Target Target
	Run    string // a short word, unique among all runs on the target

	// Connect opens a client whose requests go through wrap, and the clock that
	// time is measured on. It is called once for each case.
	Connect func(wrap func(sqs.HTTPClient) sqs.HTTPClient) (*sqs.Client, clock.Clock, error)
	// Store opens an empty receipt store for one case.
	Store func(ctx context.Context) (receipt.Store, error)

	Own    bool // the endpoint is our reference: INFO cases bind it
	Exact  bool // time stands still while a request is answered
	Serial bool // all cases share one virtual clock, so one runs after the other
}

// Step is how far a case has come.
type Step string

// The steps that a run reports.
const (
	Started  Step = "started"
	Waiting  Step = "waiting"
	Finished Step = "finished" // its steps are done; verdicts come when the run ends
)

// Event is one case's progress.
type Event struct {
	Case  string
	Step  Step
	Until time.Time // with Waiting: on the endpoint's clock
}

const (
	// quickAtOnce bounds how many cases without a wait run side by side on a
	// foreign endpoint. Cases that wait all start at once: they share one window.
	quickAtOnce = 8

	// cleanUpTime bounds what is done after the last case or an interrupt.
	cleanUpTime = 20 * time.Second
)

// attempt is a case on its way to a verdict.
type attempt struct {
	spec    Case
	bench   *Bench
	stepErr error
	skipped string    // why the case cannot be run, if it cannot
	started time.Time // on the endpoint's clock
	ended   time.Time
}

// Run runs the cases and judges them. When ctx ends, what is under way is stopped,
// judged as far as it came, and cleaned up. The error is for a run that could not
// start at all.
func Run(ctx context.Context, cases []Case, setup Setup, progress func(Event)) (*Results, error) {
	if len(cases) == 0 {
		return nil, errors.New("no case is selected")
	}
	began := time.Now()
	attempts := make([]*attempt, len(cases))
	for i, c := range cases {
		b, err := newBench(setup, i, c, progress)
		if err != nil {
			return nil, fmt.Errorf("preparing the case %s: %w", c.ID, err)
		}
		attempts[i] = &attempt{spec: c, bench: b}
		if reason, missing := setup.lacks(c); missing {
			attempts[i].skipped = reason
		}
	}
	setup.each(attempts, func(a *attempt) {
		progress(Event{Case: a.spec.ID, Step: Started})
		if a.skipped == "" {
			a.run(ctx)
		}
		progress(Event{Case: a.spec.ID, Step: Finished})
	})
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	setup.each(attempts, func(a *attempt) { a.finish(after) })

	results := &Results{Target: setup.Target, Run: setup.Run, Version: cli.Version, Started: began.UTC().Round(time.Second)}
	for _, a := range attempts {
		results.Cases = append(results.Cases, a.result(setup.Own))
	}
	results.Summary = summarise(results.Cases, time.Since(began))
	return results, nil
}

// lacks says why the target cannot do what a case needs.
func (s Setup) lacks(c Case) (reason string, missing bool) {
	for _, needed := range []Capability{FIFO, c.Needs} {
		if how, lacking := s.Target.Missing[needed]; lacking {
			return fmt.Sprintf("the endpoint lacks the capability %s: %s", needed, how), true
		}
	}
	return "", false
}

// each runs work for all attempts, as much side by side as the target allows.
func (s Setup) each(attempts []*attempt, work func(*attempt)) {
	limit := quickAtOnce
	switch {
	case s.Serial:
		limit = 1
	case s.Exact:
		limit = runtime.GOMAXPROCS(0)
	}
	slots := make(chan struct{}, limit)
	var all sync.WaitGroup
	start := func(a *attempt, done func()) {
		all.Go(func() {
			defer done()
			work(a)
		})
	}
	inRealTime := !s.Serial && !s.Exact
	for _, a := range attempts {
		if inRealTime && a.spec.Wait > 0 {
			start(a, func() {})
		}
	}
	for _, a := range attempts {
		if !inRealTime || a.spec.Wait == 0 {
			slots <- struct{}{}
			start(a, func() { <-slots })
		}
	}
	all.Wait()
}

func newBench(setup Setup, number int, c Case, progress func(Event)) (*Bench, error) {
	w := &wire{fences: map[string]bool{}, visibility: visibility}
	client, clk, err := setup.Connect(func(next sqs.HTTPClient) sqs.HTTPClient {
		w.next = next
		return w
	})
	if err != nil {
		return nil, err
	}
	w.clock = clk
	rule := window.ClientRule()
	if setup.Exact {
		rule = window.Rule{Length: window.Length}
	}
	return &Bench{
		client: sqs.New(client.Options(), func(o *sqs.Options) {
			// The SDK would hide an answer whose MD5 does not fit; the suite wants to see it.
			o.DisableMessageChecksumValidation = true
		}),
		clock: clk, wire: w, store: setup.Store, rule: rule, setup: setup,
		name:    fmt.Sprintf("fifoproof-%s-%02d-%s", setup.Run, number+1, path.Base(c.ID)),
		waiting: func(until time.Time) { progress(Event{Case: c.ID, Step: Waiting, Until: until}) },
	}, nil
}

// run takes the case's steps.
func (a *attempt) run(ctx context.Context) {
	a.started = a.bench.clock.Now()
	a.stepErr = a.spec.steps(ctx, a.bench)
	if a.stepErr == nil {
		a.stepErr = a.bench.compare(ctx)
	}
	a.ended = a.bench.clock.Now()
}

// finish receives once more from each queue of the case, takes down what the wire
// saw, and deletes the queues.
func (a *attempt) finish(ctx context.Context) {
	b := a.bench
	for _, q := range b.queues {
		if err := q.lastReceive(ctx); err != nil && a.stepErr == nil {
			a.stepErr = fmt.Errorf("the last receive: %w", err)
		}
	}
	b.takeDown()
	for _, q := range b.queues {
		_, err := b.client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &q.url})
		if err != nil && a.stepErr == nil {
			a.stepErr = fmt.Errorf("deleting the queue %s of this run: %w", q.url, awserr.Brief(err))
		}
		if q.users != nil {
			if err := q.users.store.Close(); err != nil && a.stepErr == nil {
				a.stepErr = fmt.Errorf("closing the receipt store: %w", err)
			}
		}
	}
}

// takeDown moves the wire's record into the evidence.
func (b *Bench) takeDown() {
	b.wire.mu.Lock()
	defer b.wire.mu.Unlock()
	b.evidence.Deliveries, b.evidence.Deletions = b.wire.deliveries, b.wire.deletions
	if b.wire.failure != nil && b.evidence.Disagreement == "" {
		b.evidence.Disagreement = b.wire.failure.Error()
	}
}

// result judges the attempt.
func (a *attempt) result(own bool) Result {
	f := finding{verdict: Skipped, seen: a.skipped, reason: a.skipped}
	if a.skipped == "" {
		f = judge(a.spec, &a.bench.evidence, a.stepErr, a.bench.rule, own)
	}
	r := Result{
		ID: a.spec.ID, Level: a.spec.Level, Verdict: f.verdict, Expected: a.spec.Want, Seen: f.seen, Reason: f.reason,
		Source: a.spec.Source, QueueTime: a.ended.Sub(a.started).Seconds(),
	}
	if f.verdict == Pass || f.verdict == Noted {
		return r
	}
	for _, s := range a.bench.evidence.Sends {
		if s.Fence {
			continue
		}
		sent := Sent{Group: s.Group, ID: s.ID, Start: s.At.Start.Sub(a.started).Seconds(), MessageID: s.MessageID}
		if !s.At.End.IsZero() {
			sent.End = new(s.At.End.Sub(a.started).Seconds())
		}
		r.Sends = append(r.Sends, sent)
	}
	return r
}

// Slug makes a word that is unique among runs from random bytes.
func Slug(random [4]byte) string {
	const letters = "0123456789abcdefghjkmnpqrstvwxyz"
	var b strings.Builder
	for _, r := range random {
		b.WriteByte(letters[r%32])
	}
	return b.String()
}
