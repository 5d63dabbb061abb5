package consumer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/clock"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

// batch is the most that SQS gives, or takes, in one call.
const batch = 10

// Consumer receives from one queue. Its methods must not be called concurrently;
// several consumers may share a queue and a store.
type Consumer struct {
	cfg   Config
	name  string // of the queue
	queue Queue
	store receipt.Store
	keyer keyer
	warn  *warner

	summary  Summary
	rejected map[string]bool  // MessageIds rejected by this consumer
	failed   map[string]error // MessageIds whose completion failed last time, and why
}

// New returns a consumer. An error says what of cfg cannot be used.
func New(cfg Config, queue Queue, store receipt.Store) (*Consumer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("setting up the consumer: %w", err)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	whole, err := contenthash.New(contenthash.Options{})
	if err != nil {
		return nil, fmt.Errorf("setting up the content hash: %w", err)
	}
	return &Consumer{
		cfg:      cfg,
		name:     queueName(cfg.Queue),
		queue:    queue,
		store:    store,
		keyer:    keyer{rule: cfg.Key, hash: cfg.Hash, whole: whole, grouped: cfg.Scope == window.ScopeGroup},
		warn:     newWarner(cfg.Logger, cfg.Clock),
		rejected: map[string]bool{},
		failed:   map[string]error{},
	}, nil
}

// Summary counts what this consumer has received so far.
func (c *Consumer) Summary() Summary { return c.summary }

// Poll makes one ReceiveMessage call and carries everything that it brought
// through to the end: receipts, effects, deletes. It returns how many messages
// came.
//
// When ctx ends during the call, Poll returns its error. When it ends later, the
// message at work is finished, what was committed is deleted, and what was not
// begun is made visible again. Other errors: the queue's, the store's, and those
// of messages that could not be completed; the rest of the reply is dealt with
// nevertheless. What failed stays on the queue and comes again.
func (c *Consumer) Poll(ctx context.Context) (received int, err error) {
	reply, err := c.receive(ctx)
	if err != nil || len(reply) == 0 {
		return 0, err
	}
	_, err = c.work(ctx, reply)
	return len(reply), err
}

func (c *Consumer) receive(ctx context.Context) ([]types.Message, error) {
	in := &sqs.ReceiveMessageInput{
		QueueUrl:                    &c.cfg.Queue,
		MaxNumberOfMessages:         batch,
		WaitTimeSeconds:             int32(c.cfg.Wait / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{"All"},
	}
	if isFIFO(c.name) {
		// Where the reply is lost, the SDK's retry carries the same attempt id and is
		// given the same messages; without one they stay hidden for a visibility
		// timeout. The next call needs a new one: an id is refused once a message of
		// its reply was deleted (ReceiveMessage, ReceiveRequestAttemptId).
		in.ReceiveRequestAttemptId = aws.String(rand.Text())
	}
	out, err := c.queue.ReceiveMessage(ctx, in)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("receiving from the queue %s: %w", c.name, awserr.Brief(err))
	}
	return out.Messages, nil
}

// work takes one reply through. progress says whether it brought anything that
// earlier replies had not: a message that is rejected again and again is none.
func (c *Consumer) work(ctx context.Context, reply []types.Message) (progress bool, err error) {
	// What has begun is finished whatever happens to ctx: an effect is cut off by a
	// crash only. Stores wait for each other with a bound of their own.
	steady := context.WithoutCancel(ctx)
	now := c.cfg.Clock.Now()
	arrivals := make([]arrival, len(reply))
	deliveries := make([]receipt.Delivery, len(reply))
	for i, m := range reply {
		arrivals[i] = c.arrive(m, now)
		deliveries[i] = arrivals[i].delivery
	}
	claims, err := c.store.Begin(steady, deliveries)
	if err != nil {
		c.giveBack(steady, arrivals)
		return false, &storeError{fmt.Errorf("recording what the queue %s delivered: %w", c.name, err)}
	}

	var done, unbegun []arrival
	var errs []error
	held := map[string]bool{} // groups whose head is not done, so that nobody overtakes it
	for i, a := range arrivals {
		a.claim = claims[i]
		group := a.delivery.Group
		switch {
		case ctx.Err() != nil:
			unbegun = append(unbegun, a)
			c.summary.add(receipt.Pending)
			continue
		case group != "" && held[group]:
			c.summary.add(receipt.Pending)
			continue
		}
		kind, err := c.settle(steady, a)
		c.summary.add(kind)
		switch kind {
		case receipt.Pending:
			held[group] = true
			errs = append(errs, err)
		case receipt.Rejected:
			held[group] = true
			progress = progress || !c.rejected[a.delivery.MessageID]
			c.rejected[a.delivery.MessageID] = true
		case receipt.Fresh, receipt.Redelivered, receipt.Repeated:
			progress = true
			done = append(done, a)
		}
	}
	if err := c.delete(steady, done); err != nil {
		errs = append(errs, err)
	}
	c.giveBack(steady, unbegun)
	return progress, errors.Join(errs...)
}

// settle completes or rejects one delivery. An error leaves it Pending.
func (c *Consumer) settle(ctx context.Context, a arrival) (receipt.Kind, error) {
	id := a.delivery.MessageID
	fail := func(err error) (receipt.Kind, error) {
		err = fmt.Errorf("message %s of the queue %s: %w", id, c.name, err)
		c.failed[id] = err
		c.warn.failed(a, err)
		return receipt.Pending, err
	}
	if a.rejection != "" {
		if err := c.store.Reject(ctx, a.claim, a.rejection); err != nil {
			return fail(err)
		}
		c.warn.rejected(a)
		return receipt.Rejected, nil
	}
	outcome, err := c.store.Complete(ctx, a.claim, c.cfg.Effect)
	if err != nil {
		return fail(err)
	}
	delete(c.failed, id)
	if outcome.Kind == receipt.Repeated {
		c.warn.repeated(a, outcome.First)
	}
	return outcome.Kind, nil
}

// storeError marks an error after which polling on would only raise the receive
// counts of good messages.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// pause waits on the consumer's clock. A clock that stands still is not waited for.
func (c *Consumer) pause(ctx context.Context, d time.Duration) error {
	if err := clock.Sleep(ctx, c.cfg.Clock, d); err != nil && !errors.Is(err, clock.ErrStandsStill) {
		return err
	}
	return nil
}
