package consumer

import (
	"context"
	"errors"

	"fifoproof/internal/receipt"
)

// Poll makes one ReceiveMessage call and carries everything that it brought through
// to the end, one message after the other: receipts, effects, deletes. Nothing stays
// in hand. It returns how many messages came. It waits on the consumer's clock alone
// and leaves no goroutine behind, so there are no heartbeats: what one reply takes has
// to fit into the visibility timeout.
//
// When ctx ends during the call, Poll returns its error. When it ends later, the
// message at work is finished, what was committed is deleted, and what was not begun
// is made visible again. Other errors: the queue's, the store's, and those of messages
// that could not be carried out; the rest of the reply is dealt with nevertheless. What
// failed backs off, what was behind it in its group is given back, and comes again
// with it.
func (c *Consumer) Poll(ctx context.Context) (received int, err error) {
	reply, err := c.receive(ctx, c.cfg.Wait)
	if err != nil || len(reply) == 0 {
		return 0, err
	}
	return len(reply), c.finish(ctx, reply)
}

// finish takes one reply through.
func (c *Consumer) finish(ctx context.Context, reply []*arrival) error {
	// What has begun is finished whatever happens to ctx: an effect is cut off by a
	// crash only. Stores wait for each other with a bound of their own.
	steady := context.WithoutCancel(ctx)
	if err := c.record(steady, reply); err != nil {
		c.giveBack(steady, reply)
		return &storeError{err}
	}
	carrier := carrier{Consumer: c, ask: once}
	var done, back []*arrival
	var off []change
	var errs []error
	held := map[string]bool{} // lanes whose head is not done, so that nobody overtakes it
	for _, a := range reply {
		lane := c.lane(a)
		if ctx.Err() != nil || held[lane] {
			back = append(back, a)
			c.settled(a, verdict{kind: receipt.Pending})
			continue
		}
		v := carrier.carry(steady, steady, a)
		c.learn(a, v)
		c.settled(a, v)
		switch {
		case v.kind.Done():
			done = append(done, a)
			continue
		case v.kind == receipt.Failed || v.broken:
			errs = append(errs, v.err)
		}
		held[lane] = true
		off = append(off, hiding(a, c.wait(a, v)))
	}
	if err := c.deleteSoon(steady, done); err != nil {
		errs = append(errs, err)
	}
	c.giveBack(steady, back)
	if len(off) > 0 {
		if _, err := c.hide(steady, off); err != nil {
			c.warn.kept(len(off), err)
		}
	}
	return errors.Join(errs...)
}

// once calls the store once.
func once(ctx context.Context, _ string, call func(context.Context) error) error {
	err := call(ctx)
	if final := (definite{}); errors.As(err, &final) {
		return final.error
	}
	return err
}

func (c *Consumer) deleteSoon(ctx context.Context, done []*arrival) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	return c.delete(ctx, done, func() {})
}

func (c *Consumer) giveBack(ctx context.Context, back []*arrival) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	c.expose(ctx, back)
}

// learn remembers what the next delivery of a message has to know.
func (c *Consumer) learn(a *arrival, v verdict) (news bool) {
	id := a.delivery.MessageID
	switch {
	case v.kind.Done(), c.dead(a.delivery) && (v.kind == receipt.Failed || v.kind == receipt.Rejected):
		c.memory.forget(id)
		return true
	case v.kind == receipt.Rejected:
		return c.memory.reject(id, v.err)
	case v.kind == receipt.Failed || v.broken:
		return c.memory.fail(id, v.err)
	}
	return false
}
