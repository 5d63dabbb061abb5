package consumer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// longestReason is how many bytes of an error's text are kept with a receipt.
const longestReason = 1000

var (
	errStopped = errors.New("stopped: the time that handlers had to end was over")
	errPanic   = errors.New("the handler panicked")
)

// verdict is what became of a delivery, and what its message has to wait for.
type verdict struct {
	kind    receipt.Kind
	repeats bool           // its key is known under another MessageId
	first   receipt.Origin // of that one
	err     error          // why there is no effect; nil where that is as it should be
	attempt int            // which one failed, from 1: the back-off grows with it
	after   time.Duration  // it must not be tried again earlier
	flying  bool           // somebody else is at work on its key, until after at the latest
	halted  bool           // nothing can be carried out until somebody mends something
	broken  bool           // the store failed, so that no more is on record than before
	called  bool           // the handler has said something
}

// carrier takes deliveries from their record to their end. Poll and Run differ in how
// it calls the store and whether it renews leases.
type carrier struct {
	*Consumer
	// ask makes a call to the store.
	ask func(ctx context.Context, doing string, call func(context.Context) error) error
	// keep renews a claim's lease until stop is called, which returns when that has
	// ended; lost is called if somebody else has the lease. Nil: leases are not renewed.
	keep func(ctx context.Context, claim receipt.Claim, lost func()) (stop func())
}

// definite marks an error of a store's call that no repetition of it would cure.
type definite struct{ error }

func (d definite) Unwrap() error { return d.error }

// handlerError marks what a handler said, apart from what went wrong around it.
type handlerError struct{ error }

func (e *handlerError) Unwrap() error { return e.error }

// carry takes one delivery to its verdict. Calls of handlers run under hands, all
// others under ctx. An error of the store is in the verdict, too.
func (c *carrier) carry(ctx, hands context.Context, a *arrival) verdict {
	if a.rejection != "" {
		return c.reject(ctx, a, errors.New(a.rejection))
	}
	if why := c.memory.refused(a.delivery.MessageID); why != nil {
		return c.reject(ctx, a, why)
	}
	if a.id == 0 { // it stayed in hand after an attempt, whose receipt is settled
		err := c.ask(ctx, "recording", func(ctx context.Context) error {
			ids, err := c.store.Record(ctx, []receipt.Delivery{a.delivery})
			if err == nil {
				a.id = ids[0]
			}
			return err
		})
		if err != nil {
			return c.broken(a, verdict{attempt: max(a.delivery.ReceiveCount, 1)}, err)
		}
	}
	var decision receipt.Decision
	err := c.ask(ctx, "beginning", func(ctx context.Context) (err error) {
		decision, err = c.store.Begin(ctx, a.id, a.delivery, receipt.Terms{
			Worker: c.cfg.Worker, Lease: c.cfg.Lease, Repeated: c.cfg.Repeated, Now: c.cfg.Clock.Now(),
		})
		return err
	})
	v := verdict{
		kind: decision.Kind, repeats: decision.Repeats, first: decision.First,
		attempt: cmp.Or(decision.Claim.Attempt, max(a.delivery.ReceiveCount, 1)),
	}
	switch {
	case err != nil:
		return c.broken(a, v, err)
	case decision.Kind == receipt.Fresh:
		if decision.TookOver {
			c.cfg.Observer.TookOver(a.delivery)
		}
		return c.carryOut(ctx, hands, a, decision.Claim, v)
	case decision.Kind == receipt.Pending:
		v.flying, v.err, v.after = true, errors.New(decision.Reason), decision.Until.Sub(c.cfg.Clock.Now())
	case decision.Kind == receipt.Rejected:
		v.err = errors.New(decision.Reason)
	}
	return v
}

// reject settles a delivery that nobody claimed.
func (c *carrier) reject(ctx context.Context, a *arrival, why error) verdict {
	v := verdict{kind: receipt.Rejected, err: why, attempt: max(a.delivery.ReceiveCount, 1)}
	err := c.ask(ctx, "rejecting", func(ctx context.Context) error {
		return c.store.Settle(ctx, a.id, receipt.Ending{Kind: v.kind, Reason: reason(why), At: c.cfg.Clock.Now()})
	})
	if err != nil && !errors.Is(err, receipt.ErrSettled) {
		return c.broken(a, v, err)
	}
	return v
}

// broken is the verdict where the store failed.
func (c *carrier) broken(a *arrival, v verdict, err error) verdict {
	v.kind, v.broken = receipt.Pending, true
	v.err = fmt.Errorf("message %s of the queue %s: %w", a.delivery.MessageID, c.name, err)
	return v
}

// carryOut makes one attempt at the effect of a claimed delivery.
func (c *carrier) carryOut(ctx, hands context.Context, a *arrival, claim receipt.Claim, v verdict) verdict {
	e := handler.Event{
		Delivery: a.delivery, Body: a.body, Traceparent: a.traceparent,
		Attempt: claim.Attempt, IdempotencyKey: idempotencyKey(a.delivery, claim),
	}
	inner, end := c.cfg.Observer.Attempt(hands, e)
	err := c.perform(ctx, inner, claim, e)

	var said *handlerError
	v.called = err == nil || errors.As(err, &said)
	switch {
	case err == nil:
	case errors.Is(err, receipt.ErrLost) && said == nil:
		v = c.lost(ctx, a, v)
	case said != nil:
		v = c.release(ctx, a, claim, v, said.error)
	default:
		v = c.broken(a, v, err)
		end := receipt.Ending{Kind: receipt.Pending, Reason: reason(err), At: c.cfg.Clock.Now()}
		if c.store.Release(ctx, claim, end) != nil {
			v.after = c.cfg.Lease // nobody can begin before it has ended
		}
	}
	end(v.kind, v.err)
	return v
}

// perform calls the handler and completes the claim.
func (c *carrier) perform(ctx, hands context.Context, claim receipt.Claim, e handler.Event) error {
	switch h := c.cfg.Handler.(type) {
	case handler.Transactional:
		err := c.complete(hands, claim, "", func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			return c.guard(e, func() error { return h.Apply(ctx, tx, e) })
		})
		if err != nil && hands.Err() != nil {
			return &handlerError{stopped(hands, err)}
		}
		return err
	case handler.External:
		result, err := c.call(hands, h, claim, e)
		if err != nil {
			return err
		}
		return c.complete(ctx, claim, result, func(context.Context, receipt.Tx, receipt.Claim) error { return nil })
	default:
		return c.complete(ctx, claim, "", nil)
	}
}

// call calls a handler that reaches outside, while the lease is renewed. Where that
// is lost, the handler's context ends and what it says counts for nothing.
func (c *carrier) call(ctx context.Context, h handler.External, claim receipt.Claim, e handler.Event) (result string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := func() {}
	if c.keep != nil {
		stop = c.keep(ctx, claim, func() { cancel(receipt.ErrLost) })
	}
	err = c.guard(e, func() (err error) {
		result, err = h.Call(ctx, e)
		return err
	})
	stop()
	if errors.Is(context.Cause(ctx), receipt.ErrLost) {
		return "", receipt.ErrLost
	}
	if err != nil && ctx.Err() != nil {
		err = &handlerError{stopped(ctx, err)}
	}
	return cut(result, handler.MaxResult), err
}

// stopped says of a handler whose context has ended that this is why it failed.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// guard calls a handler; a panic is its failure.
func (c *carrier) guard(e handler.Event, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.cfg.Logger.Error("the handler panicked", "message", e.MessageID, "panic", p, "stack", string(debug.Stack()))
			err = &handlerError{fmt.Errorf("%w: %v", errPanic, p)}
		}
	}()
	if err := call(); err != nil {
		return &handlerError{err}
	}
	return nil
}

// complete makes the claim's key done. An error of the effect is the handler's and
// not made again here.
func (c *carrier) complete(ctx context.Context, claim receipt.Claim, result string, effect receipt.Effect) error {
	return c.ask(ctx, "completing", func(ctx context.Context) error {
		err := c.store.Complete(ctx, claim, c.cfg.Clock.Now(), result, effect)
		if said := (*handlerError)(nil); errors.As(err, &said) {
			return definite{said}
		}
		return err
	})
}

// release ends a claim without effect, by what the handler said.
func (c *carrier) release(ctx context.Context, a *arrival, claim receipt.Claim, v verdict, said error) verdict {
	v.kind, v.err = receipt.Failed, said
	var retry *handler.RetryError
	var halt *handler.HaltError
	switch {
	case handler.Rejected(said):
		v.kind = receipt.Rejected
	case errors.As(said, &halt):
		v.halted = true
	case errors.As(said, &retry):
		v.after = retry.After
	}
	err := c.ask(ctx, "releasing", func(ctx context.Context) error {
		return c.store.Release(ctx, claim, receipt.Ending{Kind: v.kind, Reason: reason(said), At: c.cfg.Clock.Now()})
	})
	switch {
	case errors.Is(err, receipt.ErrLost):
		return c.lost(ctx, a, v)
	case err != nil && !errors.Is(err, receipt.ErrSettled):
		return c.broken(a, v, err)
	}
	return v
}

// lost is the verdict where somebody else has the lease: the message waits for what
// comes of that. A commit whose answer was lost looks the same, so the receipts are
// asked first.
func (c *carrier) lost(ctx context.Context, a *arrival, v verdict) verdict {
	v.kind, v.err, v.after, v.halted, v.called = receipt.Pending, receipt.ErrLost, c.cfg.Lease, false, false
	err := c.ask(ctx, "reading the receipts", func(ctx context.Context) error {
		receipts, err := c.store.Message(ctx, a.delivery.Identity())
		for _, r := range receipts {
			if r.ID == a.id && (r.Kind.Done() || r.Kind == receipt.Failed || r.Kind == receipt.Rejected) {
				v.kind, v.err, v.after = r.Kind, nil, 0
				if !r.Kind.Done() {
					v.err = errors.New(r.Reason)
				}
			}
		}
		return err
	})
	if err != nil {
		return c.broken(a, v, err)
	}
	return v
}

// idempotencyKey is the event's key as one text. The claim knows whether the
// MessageId is a part of it.
func idempotencyKey(d receipt.Delivery, claim receipt.Claim) string {
	sum := sha256.Sum256([]byte(cmp.Or(claim.Key, d.Key.Encode())))
	return hex.EncodeToString(sum[:])
}

// reason is an error's text as it is kept.
func reason(err error) string { return cut(err.Error(), longestReason) }

// cut is the beginning of a text, in valid UTF-8.
func cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}
