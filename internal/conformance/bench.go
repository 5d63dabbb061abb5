package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/awserr"
	"fifoproof/internal/clock"
	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

const (
	// visibility of every queue under test: longer than any case holds a message.
	visibility = 120 * time.Second

	// longPoll is how long one poll waits. One second is the shortest that asks
	// all of the endpoint's servers.
	longPoll = time.Second

	// fencePolls bounds the wait for a fence. An endpoint that does not give it out
	// in so many long polls leaves the claim without proof.
	fencePolls = 20

	// settleAfterCreate: AWS asks callers to wait a second before they use a new
	// queue (CreateQueue, API reference).
	settleAfterCreate = time.Second
)

// Bench is the work place of one case: an endpoint, its clock, and the record of
// everything that happens. Its methods are called by one goroutine.
type Bench struct {
	client *sqs.Client
	clock  clock.Clock
	wire   *wire
	record func(Record)
	store  func(context.Context) (receipt.Store, error)
	rule   window.Rule
	name   string // unique among all runs: prefix of queue names and fences
	setup  Setup

	queues  []*queue
	made    int // queues ever made, over all tries
	fences  int
	waiting func(until time.Time)
}

// live is the interval of the i-th attempt to send on the running clock.
func (b *Bench) live(i int) window.Interval {
	at := b.wire.send(i).At
	out := window.Interval{Start: b.wire.origin.Add(at.Mono.Start)}
	if at.Bounded() {
		out.End = b.wire.origin.Add(at.Mono.End)
	}
	return out
}

// waitInside waits until gap after the earliest moment at which the send opening
// can have been accepted.
func (b *Bench) waitInside(ctx context.Context, opening int, gap time.Duration) error {
	return b.waitUntil(ctx, b.live(opening).Start.Add(gap))
}

// waitLatest waits until the last moment at which a probe surely falls inside the
// window of the send opening, with time to be answered.
func (b *Bench) waitLatest(ctx context.Context, opening int) error {
	allowance := answerTime
	if b.setup.Exact {
		allowance = 0
	}
	start, ok := b.rule.LatestInside(b.live(opening), allowance)
	if !ok {
		return fmt.Errorf("%w: the first send took too long", errPremise)
	}
	return b.waitUntil(ctx, start)
}

// waitOutside waits until a probe is surely past the end of the window of the send
// opening, by past or more.
func (b *Bench) waitOutside(ctx context.Context, opening int, past time.Duration) error {
	start, ok := b.rule.EarliestOutside(b.live(opening), past)
	if !ok {
		return fmt.Errorf("%w: the first send was not answered", errPremise)
	}
	return b.waitUntil(ctx, start)
}

// pass lets time pass on the endpoint's clock.
func (b *Bench) pass(ctx context.Context, d time.Duration) error {
	return b.waitUntil(ctx, b.clock.Now().Add(d))
}

func (b *Bench) waitUntil(ctx context.Context, until time.Time) error {
	b.waiting(until)
	return b.clock.Wait(ctx, until, nil)
}

// answerTime is how long the answer to a probe just inside the window may take.
const answerTime = 2 * time.Second

// answer notes something seen that is no delivery.
func (b *Bench) answer(what, want, seen string) {
	b.record(Record{Answer: &Answer{What: what, Want: want, Seen: seen}})
}

// accepted is what an answer says where a call was not refused.
const accepted = "accepted"

// refusal makes a call that is to be refused with the code want, and notes how it was
// answered. Only an endpoint that cannot be reached is an error.
func (b *Bench) refusal(what, want string, call func() error) error {
	err := call()
	code := refused(err)
	switch {
	case err == nil:
		code = accepted
	case code == "":
		return fmt.Errorf("%s: %w", what, awserr.Brief(err))
	}
	b.answer(what, want, code)
	return nil
}

// premise is the error of an endpoint that did not do what the case builds on.
func premise(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errPremise}, args...)...)
}
