package consumer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"fifoproof/internal/clock"
)

const (
	// Failing calls are tried again after 0.5, 1, 2 ... 20 s, and given up after
	// ten in a row, a minute and a half: what lasts longer is for whoever runs the
	// program. (The SDK has made attempts of its own before.)
	firstPause = 500 * time.Millisecond
	lastPause  = 20 * time.Second
	maxFailing = 10

	// hasty is the pause after an empty poll that ended before its time: an endpoint
	// without long polls.
	hasty = 100 * time.Millisecond
)

// run is what one call of Run has in hand. Its lock is held for moments only, never
// during a call to queue, store or handler.
type run struct {
	*Consumer
	carrier carrier

	// Contexts, in the order in which they end. Work may begin as long as work lasts;
	// handlers have until the drain is over; calls about what is in hand a grace longer.
	work  context.Context
	hands context.Context
	calls context.Context
	stop  context.CancelCauseFunc // ends work

	polling sync.WaitGroup // polls
	working sync.WaitGroup // messages at work
	giving  sync.WaitGroup // messages being given back
	sending sync.WaitGroup // deletes

	patience  patience
	readiness readiness

	mu      sync.Mutex
	hand    map[*arrival]struct{} // everything in hand, for heartbeats
	lanes   map[string]*lane
	ready   []*lane // those that may begin, in turn
	atWork  int
	polls   int        // in flight
	done    []*arrival // to be deleted
	deletes int        // in flight
	gate    gate
	quiet   time.Time // when progress was last made
	fatal   error     // why the run ends, where that is nobody's wish
	changed chan struct{}
}

// Run polls, works and deletes until ctx ends or, with UntilEmpty, until so much time
// has passed without progress and nothing is in hand. Both are a good end: the summary
// comes without an error. When Run returns, everything it began has ended.
//
// Errors: the queue does not exist or may not be read; ten failing polls in a row; a
// store that fails for two minutes; and, at the end of UntilEmpty, messages that could
// not be carried out.
func (c *Consumer) Run(ctx context.Context) (Summary, error) {
	if _, ok := c.cfg.Clock.(clock.Real); !ok {
		return c.Summary(), errors.New("running needs the machine's clock: heartbeats and back-offs wait side by side")
	}
	defer c.warn.flush()
	r, end := c.begin(ctx)
	defer end()

	resting, rest := context.WithCancel(r.calls)
	var beside sync.WaitGroup
	beside.Go(func() { r.beats(resting) })
	watching, leave := context.WithCancel(r.work)
	var watch sync.WaitGroup
	watch.Go(func() { r.watch(watching) })

	var err error
	r.polling.Go(func() {
		err = r.poll()
		r.stop(nil)
	})
	<-r.work.Done()
	leave()
	watch.Wait()
	r.drain()
	rest()
	beside.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = r.fatal
	}
	return c.Summary(), err
}

// begin sets a run up. The end of work starts the time that the drain has.
func (c *Consumer) begin(ctx context.Context) (r *run, end func()) {
	r = &run{
		Consumer: c,
		hand:     map[*arrival]struct{}{}, lanes: map[string]*lane{},
		quiet: time.Now(), changed: make(chan struct{}, 1),
	}
	steady := context.WithoutCancel(ctx)
	calls, endCalls := context.WithCancel(steady)
	hands, endHands := context.WithCancelCause(calls)
	r.calls, r.hands = calls, hands
	r.work, r.stop = context.WithCancelCause(ctx)
	r.carrier = carrier{Consumer: c, ask: r.ask, keep: r.keep}
	r.readiness.tell = c.cfg.Observer.Ready

	handsOver := time.AfterFunc(time.Hour, func() { endHands(errStopped) })
	handsOver.Stop()
	callsOver := time.AfterFunc(time.Hour, endCalls)
	callsOver.Stop()
	context.AfterFunc(r.work, func() {
		handsOver.Reset(c.cfg.Drain)
		callsOver.Reset(c.cfg.Drain + grace)
	})
	return r, func() {
		r.stop(nil)
		handsOver.Stop()
		callsOver.Stop()
		endHands(nil)
		endCalls()
	}
}

// fail ends the run for a reason that no waiting cures.
func (r *run) fail(err error) {
	r.mu.Lock()
	if r.fatal == nil {
		r.fatal = err
	}
	r.mu.Unlock()
	r.stop(err)
}

// poll receives until the run is to end.
func (r *run) poll() error {
	failing := 0 // calls in a row
	for r.room() {
		rest, err := r.round(&failing)
		if err != nil {
			return err
		}
		_ = sleep(r.work, rest) // room sees the end, too
		if r.work.Err() == nil && r.silent() {
			return r.unfinished()
		}
	}
	return nil
}

// round is one poll. It returns how long to wait before the next; an error ends the run.
func (r *run) round(failing *int) (rest time.Duration, err error) {
	asked := time.Now()
	n, err := r.take(r.cfg.Wait)
	switch {
	case r.work.Err() != nil:
		return 0, nil //nolint:nilerr // it was cut off by the end
	case err != nil && permanent(err):
		return 0, err
	case err != nil:
		*failing++
		r.cfg.Observer.CallFailed("receive", err)
		if *failing == maxFailing {
			return 0, fmt.Errorf("giving up after %d failing polls in a row: %w", *failing, err)
		}
		rest = min(firstPause<<(*failing-1), lastPause)
		r.warn.retrying(err, rest)
		if *failing > 1 {
			r.readiness.set("queue", err.Error())
		}
		r.progressed(time.Now().Add(rest)) // an outage is no silence
		return rest, nil
	case n == 0 && time.Since(asked) < r.cfg.Wait/2:
		rest = hasty
	case n == batch:
		r.surge()
	}
	if n == 0 {
		r.cfg.Observer.Received(nil) // so that a quiet queue is not taken for a poll that hangs
	}
	*failing = 0
	r.readiness.set("queue", "")
	return rest, nil
}

// unfinished is an error that says what was left undone, or nil. What somebody else has
// brought to its end since is no concern.
func (r *run) unfinished() error {
	left := r.memory.unfinished()
	maps.DeleteFunc(left, func(id string, _ error) bool { return r.endedSince(id) })
	for id := range left {
		return fmt.Errorf("messages of the queue %s that could not be completed: %d, one of them: %w", r.name, len(left), left[id])
	}
	return nil
}

func (r *run) endedSince(id string) bool {
	receipts, err := r.store.Message(r.calls, id)
	return err == nil && r.ended(id, receipts)
}

// progressed moves the moment from which silence counts.
func (r *run) progressed(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.later(at)
}

// later is progressed, under the lock.
func (r *run) later(at time.Time) {
	if at.After(r.quiet) {
		r.quiet = at
	}
}

// silent reports whether the run has come to its end by itself. What the last poll
// brought has a moment to come to nothing, as a message does that fails again and again.
func (r *run) silent() bool {
	if r.cfg.UntilEmpty == 0 {
		return false
	}
	for moment := time.Now().Add(hasty); ; {
		switch due, busy := r.silence(); {
		case !due:
			return false
		case !busy:
			return true
		}
		ctx, cancel := context.WithDeadline(r.work, moment)
		select {
		case <-r.changed:
			cancel()
		case <-ctx.Done():
			cancel()
			return false
		}
	}
}

// silence reports whether there was no progress for so long, and whether something is
// in hand all the same. What is held counts where a redrive policy sees to it that it
// ends.
func (r *run) silence() (due, busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.quiet) < r.cfg.UntilEmpty {
		return false, false
	}
	if r.atWork > 0 || len(r.ready) > 0 && !r.gate.closed || len(r.done) > 0 || r.deletes > 0 {
		return true, true
	}
	for _, l := range r.lanes {
		if l.resting || l.hold != nil && r.cfg.MaxReceives > 0 {
			return true, true
		}
	}
	return true, false
}

// sleep waits in the machine's time.
func sleep(ctx context.Context, d time.Duration) error { return clock.Sleep(ctx, clock.Real{}, d) }
