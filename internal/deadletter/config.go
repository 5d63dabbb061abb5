package deadletter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"path"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/clock"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
)

const (
	// DefaultVisibility is for how long what is looked at is hidden from others where
	// this process dies. It is renewed at half of it, so that a call has a minute.
	DefaultVisibility = 2 * time.Minute

	// MaxVisibility leaves a killed redrive half of the source's deduplication window
	// to be run again in.
	MaxVisibility = 150 * time.Second

	// DefaultMaxHeld is how many messages are in flight at most: half of what older FIFO
	// queues allow (20,000 until 2024, 120,000 since), and what can be renewed in time.
	DefaultMaxHeld = 10_000

	// DefaultStalled is for how long an attempt that has not ended counts as running.
	DefaultStalled = 15 * time.Minute

	batch = 10 // SQS's limit of messages in one call
	poll  = 2  // seconds that a receive waits for the first message, where there is one
)

// Queue is what is called of SQS. [*sqs.Client] satisfies it.
type Queue interface {
	ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, opts ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, opts ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
	DeleteMessage(ctx context.Context, in *sqs.DeleteMessageInput, opts ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	SendMessage(ctx context.Context, in *sqs.SendMessageInput, opts ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
	GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput, opts ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	GetQueueUrl(ctx context.Context, in *sqs.GetQueueUrlInput, opts ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	ListDeadLetterSourceQueues(ctx context.Context, in *sqs.ListDeadLetterSourceQueuesInput, opts ...func(*sqs.Options)) (*sqs.ListDeadLetterSourceQueuesOutput, error)
}

// Receipts is what is asked of a store of receipts. [receipt.Store] satisfies it.
type Receipts interface {
	Message(ctx context.Context, identity string) ([]receipt.Receipt, error)
	Receipts(ctx context.Context, filter receipt.Filter) iter.Seq2[receipt.Receipt, error]
}

// Config says which dead-letter queue, and how. The zero value of every field but URL
// and ARN is its default.
type Config struct {
	URL string // of the dead-letter queue
	ARN string
	// MaxReceives is the maxReceiveCount of the dead-letter queue's own redrive policy.
	// It must have none: 0.
	MaxReceives int
	// Receipts are those of the consumers of the source queues. Nil: there are none, and
	// nothing is known of attempts.
	Receipts Receipts
	// Visibility is for how long a message is hidden while it is looked at, and then
	// again with every renewal: whole seconds from 1 s to [MaxVisibility]. 0:
	// [DefaultVisibility].
	Visibility time.Duration
	// MaxHeld is how many messages are held at once, if the endpoint is quick enough to
	// renew them in time. 0: [DefaultMaxHeld].
	MaxHeld int
	// Stalled is how long after its start an attempt that has not ended counts as
	// running; then its worker is taken for dead. 0: [DefaultStalled].
	Stalled time.Duration
	// Clock times what is held. Nil: the machine's.
	Clock clock.Clock
	// Logger is told of what a person should know. Nil: nobody is.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	c.Visibility = cmp.Or(c.Visibility, DefaultVisibility)
	c.MaxHeld = cmp.Or(c.MaxHeld, DefaultMaxHeld)
	c.Stalled = cmp.Or(c.Stalled, DefaultStalled)
	if c.Clock == nil {
		c.Clock = clock.Real{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.URL == "" || c.ARN == "":
		return c, errors.New("the dead-letter queue's URL or ARN is missing")
	case c.MaxReceives > 0:
		return c, fmt.Errorf("%w: the queue %s moves messages on after %d receives", ErrMovesOn, queueName(c.URL), c.MaxReceives)
	case c.Visibility < time.Second || c.Visibility > MaxVisibility || c.Visibility%time.Second != 0:
		return c, fmt.Errorf("a visibility of %v is not one of whole seconds from 1 s to %v", c.Visibility, MaxVisibility)
	case c.MaxHeld < batch:
		return c, fmt.Errorf("%d messages at once are fewer than one receive brings", c.MaxHeld)
	}
	return c, nil
}

// ErrMovesOn is returned for a dead-letter queue with a redrive policy of its own, where
// a look at a message may move it on.
var ErrMovesOn = errors.New("the dead-letter queue has a redrive policy of its own, so a look at a message may move it on")

// Letters is one dead-letter queue. Its methods must not be called concurrently.
type Letters struct {
	cfg     Config
	name    string
	queue   Queue
	hash    *contenthash.Hasher
	sources *sources
}

// New returns the dead letters of a queue. An error says what of cfg cannot be used.
func New(cfg Config, queue Queue) (*Letters, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("setting up the dead letters: %w", err)
	}
	hash, err := contenthash.New(contenthash.Options{})
	if err != nil {
		return nil, fmt.Errorf("setting up the content hash: %w", err)
	}
	return &Letters{
		cfg: cfg, name: queueName(cfg.URL), queue: queue, hash: hash,
		sources: &sources{queue: queue, url: cfg.URL, arn: cfg.ARN, log: cfg.Logger, urls: map[string]found{}},
	}, nil
}

// Depth is how many messages a queue holds, as far as SQS counts: its counters settle
// within about a minute.
type Depth struct {
	Visible  int
	InFlight int
	Delayed  int
}

// Total is all of them.
func (d Depth) Total() int { return d.Visible + d.InFlight + d.Delayed }

// Depth reads the counters.
func (l *Letters) Depth(ctx context.Context) (Depth, error) {
	return ReadDepth(ctx, l.queue, l.cfg.URL)
}

// Counter is what [ReadDepth] calls.
type Counter interface {
	GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput, opts ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// ReadDepth reads the counters of a queue.
func ReadDepth(ctx context.Context, queue Counter, queueURL string) (Depth, error) {
	answer, err := queue.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &queueURL,
		AttributeNames: []types.QueueAttributeName{
			types.QueueAttributeNameApproximateNumberOfMessages,
			types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
			types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
		},
	})
	if err != nil {
		return Depth{}, fmt.Errorf("reading the depth of the queue %s: %w", queueName(queueURL), awserr.Brief(err))
	}
	var d Depth
	for name, into := range map[types.QueueAttributeName]*int{
		types.QueueAttributeNameApproximateNumberOfMessages:           &d.Visible,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: &d.InFlight,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed:    &d.Delayed,
	} {
		text, told := answer.Attributes[string(name)]
		if !told && name == types.QueueAttributeNameApproximateNumberOfMessagesDelayed {
			continue // not every endpoint has it
		}
		if *into, err = strconv.Atoi(text); err != nil {
			return Depth{}, fmt.Errorf("reading the depth of the queue %s: the attribute %s is %q", queueName(queueURL), name, text)
		}
	}
	return d, nil
}

// queueName is the last part of a queue's URL.
func queueName(queueURL string) string {
	if u, err := url.Parse(queueURL); err == nil && u.Path != "" {
		return path.Base(u.Path)
	}
	return queueURL
}
