package consumer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/clock"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

// MaxWait is the longest long poll that SQS has (ReceiveMessage, WaitTimeSeconds).
const MaxWait = 20 * time.Second

// grace is how long deletes and hand-backs may still take when the context has
// ended.
const grace = 10 * time.Second

// Queue is what a consumer calls. [*sqs.Client] satisfies it.
type Queue interface {
	ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, opts ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput, opts ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
	ChangeMessageVisibility(ctx context.Context, in *sqs.ChangeMessageVisibilityInput, opts ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
}

// Config says what a consumer does. The zero value of every field but Queue is
// its default.
type Config struct {
	// Queue is the queue's URL. Its last part, the name, is the queue's identity in
	// the receipts.
	Queue string
	// Name is who the effects are for, and part of every key: two consumers of one
	// queue with different names each have their own. "": the queue's name.
	Name string
	// Grouped says that the message group is part of every key. It has to be where the
	// queue's deduplication scope is the message group.
	Grouped bool
	// Key says what the key is made from.
	Key KeyRule
	// Hash makes content keys, with the user's selection of fields. It must not put
	// the group into the hash. Nil: the whole body, exact.
	Hash *contenthash.Hasher
	// Handler carries events out. Nil: a row in the table effects each.
	Handler handler.Handler
	// Repeated says what to do with a known key under another MessageId. "": skip.
	Repeated receipt.Policy
	// Worker names this process in leases and attempts. "": host, process and a
	// random part.
	Worker string
	// Concurrency is how many message groups are worked on at once. 0: 10.
	Concurrency int
	// Visibility is for how long a received message is hidden, and then again with
	// every heartbeat: whole seconds from 1 s to 12 h. 0: [DefaultVisibility]. It is
	// asked for with every receive, so the queue's own setting does not matter.
	Visibility time.Duration
	// Lease is for how long a claim holds without a renewal. 0: as Visibility.
	Lease time.Duration
	// MaxReceives is the queue's maxReceiveCount, after which SQS moves a message to
	// the dead-letter queue. 0: it has no redrive policy.
	MaxReceives int
	// Backoff says how long to wait after a failed attempt. Zero: [DefaultBackoff].
	Backoff backoff.Policy
	// Drain is how long messages at work may still take when the context has ended;
	// then their context ends too. 0: [DefaultDrain].
	Drain time.Duration
	// Random makes jitter. Nil: seeded by the system.
	Random *rand.Rand
	// Observer is told what happens. Nil: nobody is.
	Observer Observer
	// Wait is the longest wait of one poll, in whole seconds up to [MaxWait], which
	// is its default.
	Wait time.Duration
	// UntilEmpty ends Run after so much time on Clock without progress. Zero: Run
	// goes on until its context ends.
	UntilEmpty time.Duration
	// Clock times silence, back-off and receipts. Nil: the machine's.
	Clock clock.Clock
	// Logger is told of what a person should look at. Nil: nobody is.
	Logger *slog.Logger
	// Progress, if set, is called by Run after every reply that brought something.
	Progress func(Summary)
}

// Validate says in one sentence each what cannot be used.
func (c Config) Validate() error {
	var errs []error
	if c.Queue == "" {
		errs = append(errs, errors.New("the queue's URL is missing"))
	}
	if c.Wait < 0 || c.Wait > MaxWait {
		errs = append(errs, fmt.Errorf("a poll of %v is outside of SQS's 0 to 20 s", c.Wait))
	}
	if c.UntilEmpty < 0 {
		errs = append(errs, fmt.Errorf("a silence of %v cannot be waited for", c.UntilEmpty))
	}
	if c.Hash != nil && c.Hash.Selective() && c.Key.kind == keyMessage {
		errs = append(errs, fmt.Errorf("a selection of fields has no effect on the key %s", c.Key))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() (Config, error) {
	c.Wait = cmp.Or(c.Wait, MaxWait)
	if c.UntilEmpty > 0 {
		c.Wait = min(c.Wait, c.UntilEmpty)
	}
	// SQS takes whole seconds; a poll of zero would not wait at all.
	c.Wait = (c.Wait + time.Second - 1).Truncate(time.Second)
	if c.Clock == nil {
		c.Clock = clock.Real{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Hash == nil {
		whole, err := contenthash.New(contenthash.Options{})
		if err != nil {
			return c, fmt.Errorf("setting up the content hash: %w", err)
		}
		c.Hash = whole
	}
	return c, nil
}

// queueName is the last part of a queue's URL. Hosts differ between a machine and
// a container, and the account differs between endpoints; the name stays.
func queueName(queueURL string) string {
	if u, err := url.Parse(queueURL); err == nil && u.Path != "" {
		return path.Base(u.Path)
	}
	return queueURL
}

func isFIFO(name string) bool { return strings.HasSuffix(name, ".fifo") }
