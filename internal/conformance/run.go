package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
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

	Own     bool        // the endpoint is our reference: INFO cases bind it
	Virtual bool        // each case has a virtual clock of its own, which a wait moves
	Given   *Given      // the one queue to test, which is not the run's own; nil: it makes its own
	Foreign func(error) // told once where a message of somebody else's came there
	Charged bool        // AWS charges for the calls

	Exact  bool // time stands still while a request is answered
	Serial bool // all cases share one virtual clock, so one runs after the other

	Profile  Profile
	Policy   Policy
	Known    []Known   // verdicts that are no surprise
	Premises []string  // of the cases, those that others build on and nobody selected
	History  io.Writer // takes the history, a line at a time; nil: nobody reads it
	Expires  time.Time // when the run is surely dead, as its queues' tags say
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
	Case    string
	Step    Step
	Until   time.Time // with Waiting: on the endpoint's clock
	Verdict Verdict   // with Finished: what it comes to so far, its premises not yet weighed
}

const (
	// quickAtOnce bounds how many cases without a wait run side by side in real time.
	// Cases that wait all start at once: they share one window.
	quickAtOnce = 8

	// finishAtOnce bounds how many cases have their last receive at a time.
	finishAtOnce = 64

	// lateLook is how long after the last case without a wait their queues get a last
	// receive, where others still wait: what comes late should have had its time.
	lateLook = time.Minute

	// cleanUpTime bounds what is done after the last case or an interrupt.
	cleanUpTime = 20 * time.Second

	// collectTime bounds how long a case's own messages are looked for on a queue that
	// the run did not make: a fence has fencePolls long polls to come.
	collectTime = 2 * fencePolls * longPoll

	// mostTries bounds how often a case that does not wait repeats itself where it
	// came to nothing, and a failure of the server's may be why.
	mostTries = 8

	// tryingTime is how long a case may last and still be tried again.
	tryingTime = 100 * time.Second
)

// attempt is a case on its way to a verdict.
type attempt struct {
	spec    Case
	bench   *Bench
	journal *journal
	skipped bool
	try     int

	mu   sync.Mutex
	mine []Record // of the try under way
}

// Run runs the cases, judges their history and returns the results. When ctx ends, what
// is under way is stopped, judged as far as it came, and cleaned up. The error is for a
// run that could not start at all, or whose history could not be kept.
func Run(ctx context.Context, cases []Case, setup Setup, progress func(Event)) (*Results, error) {
	if len(cases) == 0 {
		return nil, errors.New("no case is selected")
	}
	began := time.Now()
	kept := &journal{out: setup.History}
	start := setup.start(cases, began)
	kept.add(Record{Run: start})
	attempts := make([]*attempt, len(cases))
	for i, c := range cases {
		a, err := newAttempt(setup, i, c, kept, progress)
		if err != nil {
			return nil, fmt.Errorf("preparing the case %s: %w", c.ID, err)
		}
		_, a.skipped = start.lacks(c)
		attempts[i] = a
	}
	setup.perform(ctx, attempts, func(a *attempt) {
		progress(Event{Case: a.spec.ID, Step: Started})
		verdict := Skipped
		if !a.skipped {
			verdict = a.run(ctx, start)
		}
		progress(Event{Case: a.spec.ID, Step: Finished, Verdict: verdict})
	}, func(a *attempt) {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
		defer cancel()
		if !a.skipped {
			a.finish(after)
		}
	})
	kept.add(Record{Done: &Done{Seconds: time.Since(began).Seconds()}})
	results, err := Judge(kept.records)
	return results, errors.Join(err, kept.err)
}

// start is the first line of the history.
func (s Setup) start(cases []Case, began time.Time) *RunStart {
	start := &RunStart{
		Format: historyFormat, Target: s.Target, Own: s.Own, Run: s.Run, Version: cli.Version,
		Started: began.UTC().Truncate(time.Second), Profile: s.Profile, Policy: s.Policy, Known: s.Known,
		Rule: saved(s.rule()), Premises: s.Premises,
	}
	for _, c := range cases {
		start.Cases = append(start.Cases, c.ID)
	}
	return start
}

// rule is how the endpoint's window looks on the clock of the run.
func (s Setup) rule() window.Rule {
	if s.Virtual || s.Serial {
		return window.Rule{Length: window.Length}
	}
	return window.ClientRule()
}

// Tags mark the queues of this run, so that those of dead runs can be told.
func (s Setup) Tags() map[string]string {
	return map[string]string{RunTag: s.Run, ExpiresTag: s.Expires.UTC().Format(time.RFC3339)}
}

// perform runs all attempts, as much side by side as the target allows, and finishes
// them when all that could still touch their queues is over.
func (s Setup) perform(ctx context.Context, attempts []*attempt, run, finish func(*attempt)) {
	switch {
	case s.Given != nil:
		// One case at a time, so that none receives another's messages.
		pool(attempts, 1, func(a *attempt) {
			run(a)
			finish(a)
		})
		return
	case s.Serial:
		pool(attempts, 1, run)
		pool(attempts, 1, finish)
		return
	case s.Virtual:
		pool(attempts, runtime.GOMAXPROCS(0), run)
		pool(attempts, runtime.GOMAXPROCS(0), finish)
		return
	}
	var waiting, quick []*attempt
	for _, a := range attempts {
		if a.spec.Wait > 0 {
			waiting = append(waiting, a)
		} else {
			quick = append(quick, a)
		}
	}
	waited := make(chan struct{})
	go func() {
		pool(waiting, len(waiting), run)
		close(waited)
	}()
	pool(quick, quickAtOnce, run)
	look := time.NewTimer(lateLook)
	defer look.Stop()
	select {
	case <-look.C:
	case <-waited:
	case <-ctx.Done():
	}
	pool(quick, finishAtOnce, finish)
	<-waited
	pool(waiting, finishAtOnce, finish)
}

// pool does work for all attempts, limit of them at a time.
func pool(attempts []*attempt, limit int, work func(*attempt)) {
	slots := make(chan struct{}, max(limit, 1))
	var all sync.WaitGroup
	for _, a := range attempts {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			work(a)
		})
	}
	all.Wait()
}

func newAttempt(setup Setup, number int, c Case, kept *journal, progress func(Event)) (*attempt, error) {
	a := &attempt{spec: c, journal: kept}
	w := &wire{record: a.record}
	client, clk, err := setup.Connect(func(next sqs.HTTPClient) sqs.HTTPClient {
		w.next = next
		if setup.Given != nil {
			w.next = keeper{next}
		}
		return w
	})
	if err != nil {
		return nil, err
	}
	w.clock = clk
	a.bench = &Bench{
		client: sqs.New(client.Options(), func(o *sqs.Options) {
			// The SDK would hide an answer whose MD5 does not fit; the suite wants to see it.
			o.DisableMessageChecksumValidation = true
			// Attempts of the SDK's would widen the time in which a send may have been
			// accepted, unseen; the wire is patient where patience is due.
			o.Retryer = aws.NopRetryer{}
		}),
		clock: clk, wire: w, record: a.record, store: setup.Store, rule: setup.rule(), setup: setup,
		name:    fmt.Sprintf("%s%s-%03d-%s", QueuePrefix, setup.Run, number+1, path.Base(c.ID)),
		waiting: func(until time.Time) { progress(Event{Case: c.ID, Step: Waiting, Until: until}) },
	}
	return a, nil
}

// record takes one line down, in the name of the case and its try.
func (a *attempt) record(r Record) {
	r.Case, r.Try = a.spec.ID, a.try
	a.mu.Lock()
	a.mine = append(a.mine, r)
	a.mu.Unlock()
	a.journal.add(r)
}

// run takes the case's steps; again, on fresh queues, where a case that does not wait
// came to nothing and a call of it failed.
func (a *attempt) run(ctx context.Context, start *RunStart) Verdict {
	for {
		a.take(ctx)
		f, doubtful := a.provisional(start)
		again := f.verdict == Inconclusive && doubtful && a.spec.Wait == 0 && a.bench.setup.Given == nil &&
			a.try < mostTries && ctx.Err() == nil && time.Duration(a.bench.wire.now().Mono) < tryingTime
		if !again {
			if a.bench.setup.Given != nil {
				f = f.shared()
			}
			return a.spec.weigh(f, start.Own).verdict
		}
		a.finish(ctx)
	}
}

// take takes the case's steps once.
func (a *attempt) take(ctx context.Context) {
	b := a.bench
	a.try++
	a.mine = nil
	b.wire.reset()
	b.queues, b.fences = nil, 0
	began := b.wire.now()
	a.record(Record{Begin: &began})
	b.onGiven()
	if b.setup.Given != nil && ctx.Err() != nil {
		// The run is over: what may have ended it must not be received again.
		a.record(Record{Stop: stopped(because(ctx, ctx.Err()))})
		a.record(Record{End: &began})
		return
	}
	err := a.spec.steps(ctx, b)
	if err == nil {
		err = b.compare(ctx)
	}
	if err != nil {
		a.record(Record{Stop: stopped(because(ctx, err))})
	}
	if err == nil || !Foreign(err) {
		// What the case sent must not reach the queue's readers, however it ended.
		a.collect(ctx)
	}
	ended := b.wire.now()
	a.record(Record{End: &ended})
}

// collect takes the case's messages out of a queue that the run did not make.
func (a *attempt) collect(ctx context.Context) {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), collectTime)
	defer cancel()
	if err := a.bench.collectAll(after); err != nil {
		if Foreign(err) {
			a.record(Record{Stop: stopped(err)})
			return
		}
		a.after(fmt.Errorf("collecting its own messages: %w", err))
	}
}

// after notes what went wrong behind the last step.
func (a *attempt) after(err error) {
	stop := stopped(err)
	stop.After = true
	a.record(Record{Stop: stop})
}

// provisional judges the try so far.
func (a *attempt) provisional(start *RunStart) (f finding, doubtful bool) {
	e := newEvidence()
	for _, r := range a.mine {
		e.take(r)
	}
	return judge(e, start.Rule.rule()), e.Doubtful
}

// finish receives once more from each queue of the try, and deletes the queues.
func (a *attempt) finish(ctx context.Context) {
	b := a.bench
	for _, q := range b.queues {
		if q.given != nil {
			continue // it was collected from, and is not ours to delete
		}
		if err := q.lastReceive(ctx); err != nil {
			a.after(fmt.Errorf("the last receive: %w", err))
		}
	}
	for _, q := range b.queues {
		if q.given != nil {
			continue
		}
		_, err := b.client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &q.url})
		if err != nil && !slices.Contains(noSuchQueue, refused(err)) { // gone is gone, whoever did it
			a.after(fmt.Errorf("deleting the queue %s of this run: %w", q.url, awserr.Brief(err)))
		}
		if q.users != nil {
			if err := q.users.store.Close(); err != nil {
				a.after(fmt.Errorf("closing the receipt store: %w", err))
			}
		}
	}
	b.queues = nil
	closed := b.wire.now()
	a.record(Record{Closed: &closed})
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
