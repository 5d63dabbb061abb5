package consumer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/backoff"
	"fifoproof/internal/clock"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
)

const (
	// batch is the most that SQS gives, or takes, in one call.
	batch = 10
	// grace is how long calls to queue and store may still take when handlers have
	// ended after the context.
	grace = 10 * time.Second
)

// Consumer receives from one queue. Poll and Run must not be called concurrently;
// several consumers may share a queue and a store.
type Consumer struct {
	cfg    Config
	name   string // of the queue
	queue  Queue
	store  receipt.Store
	keyer  keyer
	warn   *warner
	tally  tally
	memory memory

	random sync.Mutex // guards cfg.Random
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
		cfg:    cfg,
		name:   queueName(cfg.Queue),
		queue:  queue,
		store:  store,
		keyer:  keyer{rule: cfg.Key, hash: cfg.Hash, whole: whole, consumer: cfg.Name, grouped: cfg.Grouped},
		warn:   newWarner(cfg.Logger, cfg.Clock),
		memory: newMemory(),
	}, nil
}

// Summary counts what this consumer has settled so far. It may be called at any time.
func (c *Consumer) Summary() Summary { return c.tally.read() }

// receive makes one ReceiveMessage call. When ctx ends meanwhile, the error is its.
func (c *Consumer) receive(ctx context.Context, wait time.Duration) ([]*arrival, error) {
	in := &sqs.ReceiveMessageInput{
		QueueUrl:                    &c.cfg.Queue,
		MaxNumberOfMessages:         batch,
		WaitTimeSeconds:             int32(wait / time.Second),
		VisibilityTimeout:           int32(c.cfg.Visibility / time.Second),
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
	now, stamp := time.Now(), c.cfg.Clock.Now()
	reply := make([]*arrival, len(out.Messages))
	for i, m := range out.Messages {
		a := c.arrive(m, stamp)
		a.received, a.beaten, a.hidden = now, now, now.Add(c.cfg.Visibility)
		reply[i] = a
	}
	return reply, nil
}

// record puts the deliveries of a reply on record, in one commit.
func (c *Consumer) record(ctx context.Context, reply []*arrival) error {
	deliveries := make([]receipt.Delivery, len(reply))
	for i, a := range reply {
		deliveries[i] = a.delivery
	}
	ids, err := c.store.Record(ctx, deliveries)
	if err != nil {
		return fmt.Errorf("recording what the queue %s delivered: %w", c.name, err)
	}
	for i, a := range reply {
		a.id = ids[i]
	}
	c.cfg.Observer.Received(deliveries)
	return nil
}

// settled tells whoever wants to know what a delivery came to.
func (c *Consumer) settled(a *arrival, v verdict) {
	c.cfg.Observer.Settled(a.delivery, v.kind, v.repeats)
	switch {
	case v.kind == receipt.Rejected:
		c.warn.rejected(a, v.err)
	case v.kind.Done() && v.repeats:
		c.warn.repeated(a, v.first)
	case v.kind == receipt.Failed, v.broken:
		c.warn.failed(a, v.err)
	}
	c.tally.add(v.kind, c.dead(a.delivery), c.cfg.Progress)
}

// wait is how long a message stays hidden whose attempt had no effect.
func (c *Consumer) wait(a *arrival, v verdict) time.Duration {
	wait := v.after
	switch {
	case errors.Is(v.err, errStopped):
		return 0 // somebody else may go on
	case c.dead(a.delivery) && v.kind != receipt.Pending:
		return 0 // the next receive moves it
	case v.kind == receipt.Rejected && c.dying(a.delivery):
		return 0 // so that it is soon moved
	case v.flying:
		wait = max(wait, time.Second)
	case v.kind != receipt.Pending || v.broken:
		c.random.Lock()
		wait = max(wait, c.cfg.Backoff.Wait(v.attempt, c.cfg.Random))
		c.random.Unlock()
	}
	return c.capped(a, backoff.Seconds(wait))
}

// capped keeps a visibility timeout inside what SQS allows of one receive: 12 hours
// in total, counted from the receive.
func (c *Consumer) capped(a *arrival, wait time.Duration) time.Duration {
	left := (MaxVisibility - time.Since(a.received)).Truncate(time.Second)
	return max(min(wait, left), 0)
}

// pause waits on the consumer's clock. A clock that stands still is not waited for.
func (c *Consumer) pause(ctx context.Context, d time.Duration) error {
	if err := clock.Sleep(ctx, c.cfg.Clock, d); err != nil && !errors.Is(err, clock.ErrStandsStill) {
		return err
	}
	return nil
}
