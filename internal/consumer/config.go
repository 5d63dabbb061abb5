package consumer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/backoff"
	"fifoproof/internal/clock"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

const (
	// MaxWait is the longest long poll that SQS has (ReceiveMessage, WaitTimeSeconds).
	MaxWait = 20 * time.Second
	// MaxVisibility is how long one receive may hide a message, extensions included
	// (developer guide, "Amazon SQS visibility timeout": 12 hours in total).
	MaxVisibility = 12 * time.Hour
	// DefaultVisibility is SQS's own default.
	DefaultVisibility = 30 * time.Second
	// DefaultConcurrency is how many groups are worked on at once.
	DefaultConcurrency = 10
	// DefaultDrain leaves room inside the 30 s that a container is given to stop.
	DefaultDrain = 20 * time.Second
)

// DefaultBackoff waits 2 s at most after the first failed attempt, and 5 min at most
// after any.
func DefaultBackoff() backoff.Policy {
	return backoff.Policy{Base: 2 * time.Second, Cap: 5 * time.Minute}
}

// Queue is what a consumer calls. [*sqs.Client] satisfies it.
type Queue interface {
	ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, opts ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput, opts ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
	ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, opts ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
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
	// Concurrency is how many message groups are worked on at once. 0:
	// [DefaultConcurrency].
	Concurrency int
	// Visibility is for how long a received message is hidden, and then again with
	// every heartbeat: whole seconds from 1 s to 12 h. 0: [DefaultVisibility]. It is
	// asked for with every receive, so the queue's own setting does not matter.
	// Heartbeats come after a third of it.
	Visibility time.Duration
	// Lease is for how long a claim holds without a renewal; it is renewed after a
	// third of it while a handler that reaches outside runs. 0: as Visibility.
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
	Random *mathrand.Rand
	// Observer is told what happens. Nil: nobody is.
	Observer Observer
	// Wait is the longest wait of one poll, in whole seconds up to [MaxWait], which
	// is its default.
	Wait time.Duration
	// UntilEmpty ends Run after so much time without progress. Zero: Run goes on
	// until its context ends.
	UntilEmpty time.Duration
	// Clock stamps receipts, and is what Poll waits on. Nil: the machine's, which is
	// the only one that Run takes.
	Clock clock.Clock
	// Logger is told of what a person should look at. Nil: nobody is.
	Logger *slog.Logger
	// Progress, if set, is called by Run with every delivery that is settled, one
	// call at a time.
	Progress func(Summary)
}

// Validate says in one sentence each what cannot be used.
func (c Config) Validate() error {
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(c.Queue == "", "the queue's URL is missing")
	refuse(c.Wait < 0 || c.Wait > MaxWait, "a poll of %v is outside of SQS's 0 to 20 s", c.Wait)
	refuse(c.UntilEmpty < 0, "a silence of %v cannot be waited for", c.UntilEmpty)
	refuse(c.Hash != nil && c.Hash.Selective() && c.Key.kind == keyMessage,
		"a selection of fields has no effect on the key %s", c.Key)
	refuse(c.Visibility != 0 && (c.Visibility < time.Second || c.Visibility > MaxVisibility || c.Visibility%time.Second != 0),
		"a visibility timeout of %v is not in whole seconds from 1 s to 12 h", c.Visibility)
	refuse(c.Lease != 0 && c.Lease < time.Second, "a lease of %v ends before it could be renewed", c.Lease)
	refuse(c.Concurrency < 0, "%d groups at once cannot be worked on", c.Concurrency)
	refuse(c.MaxReceives < 0, "a maximum receive count of %d cannot be", c.MaxReceives)
	refuse(c.Backoff.Base < 0 || c.Backoff.Cap < 0 || c.Backoff.Cap > MaxVisibility,
		"a back-off of %v up to %v is outside of SQS's 0 to 12 h", c.Backoff.Base, c.Backoff.Cap)
	refuse(c.Drain < 0, "a drain of %v cannot be", c.Drain)
	refuse(!slices.Contains([]receipt.Policy{"", receipt.Skip, receipt.Run, receipt.Refuse}, c.Repeated),
		"there is no policy %q for repeats", c.Repeated)
	if c.Handler != nil {
		_, inside := c.Handler.(handler.Transactional)
		_, outside := c.Handler.(handler.External)
		refuse(inside == outside, "the handler %s is not either transactional or external", c.Handler.Name())
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() (Config, error) {
	c.Name = cmp.Or(c.Name, queueName(c.Queue))
	c.Repeated = cmp.Or(c.Repeated, receipt.Skip)
	c.Worker = cmp.Or(c.Worker, worker())
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.Visibility = cmp.Or(c.Visibility, DefaultVisibility)
	c.Lease = cmp.Or(c.Lease, c.Visibility)
	c.Backoff = cmp.Or(c.Backoff, DefaultBackoff())
	c.Drain = cmp.Or(c.Drain, DefaultDrain)
	if c.Random == nil {
		c.Random = mathrand.New(mathrand.NewPCG(mathrand.Uint64(), mathrand.Uint64())) //nolint:gosec // jitter is no secret
	}
	if c.Observer == nil {
		c.Observer = silent{}
	}
	c.Wait = cmp.Or(c.Wait, MaxWait)
	if c.UntilEmpty > 0 {
		c.Wait = min(c.Wait, c.UntilEmpty)
	}
	// SQS takes whole seconds; a poll of zero would not wait at all.
	c.Wait = backoff.Seconds(c.Wait)
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

// worker names this process. Two processes of one number on one host, in two
// containers say, differ by the random part.
func worker() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), rand.Text()[:6])
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
