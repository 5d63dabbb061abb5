package conformance

import (
	"context"
	"slices"
)

// What many cases want.
const (
	oneOfTwo       = "one copy of two sends"
	twoCopies      = "two copies"
	oneInEachGroup = "two copies, one in each group"
	wholeRefused   = "refused with InvalidParameterValue, no copy"
	entryIDRefused = "refused with AWS.SimpleQueueService.InvalidBatchEntryId, no copy"
)

// outcome makes sends of which the rules of the window say nothing, settles them, and
// notes what became of them: how many copies came since, or the code of a refusal.
// Nothing else may use the queue meanwhile.
func (q *queue) outcome(ctx context.Context, what, want string, sends ...func() error) error {
	b := q.bench
	before, first := len(b.wire.seen(q.url)), b.wire.sends()
	for _, send := range sends {
		if err := send(); err != nil {
			return err
		}
	}
	last := b.wire.sends()
	if err := q.settleAll(ctx, what); err != nil {
		return err
	}
	seen := count(len(q.came(before)))
	for i := first; i < last; i++ {
		if code := b.wire.send(i).Refused; code != "" {
			seen = "refused with " + code
		}
	}
	b.answer(what, want, seen)
	return nil
}

// settleAll settles what was sent, and tells a premise that does not hold where a fence
// does not come.
func (q *queue) settleAll(ctx context.Context, what string) error {
	fenced, err := q.settle(ctx)
	if err == nil && !fenced {
		err = premise("%s: %s", what, noFence)
	}
	return err
}

// came are the deliveries of the queue from the n-th on, without the fences.
func (q *queue) came(n int) []Delivery {
	return slices.DeleteFunc(q.bench.wire.seen(q.url)[n:], func(d Delivery) bool { return d.Fence })
}

// asSent is the order that a FIFO queue owes.
const asSent = "as sent"

// inOrder notes whether the bodies, and nothing else, have come in this order.
func (q *queue) inOrder(what string, bodies ...string) {
	var want, got []string
	for _, body := range bodies {
		want = append(want, digestOf(body))
	}
	for _, d := range q.came(0) {
		got = append(got, d.BodyDigest)
	}
	q.bench.answer(what, asSent, whether(slices.Equal(want, got), asSent, "another one"))
}

// readsBack notes how attributes of the queue read back.
func (q *queue) readsBack(ctx context.Context, want attributes) error {
	for _, name := range sortedNames(want) {
		got, err := q.attributes(ctx, name)
		if err != nil {
			return err
		}
		q.bench.answer(string(name), want[name], got[string(name)])
	}
	return nil
}
