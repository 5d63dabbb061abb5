package producer

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/clock"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/window"
)

// Message attributes that every message carries.
const (
	// AttributeKey repeats the deduplication ID, since a move to a dead-letter queue
	// replaces that one by the MessageId (developer guide, dead-letter queue redrive).
	AttributeKey = "idempotency-key"
	// AttributeDigest is the hex SHA-256 of the canonical text that the ID was made
	// from; the group is not part of it.
	AttributeDigest = "body-digest"
)

// AttributeTrace is the message attribute that carries Config.Traceparent, by the name
// of W3C Trace Context. It is no part of what an ID is made from.
const AttributeTrace = "traceparent"

// DefaultGroup is the message group where none is configured.
const DefaultGroup = "default"

// Sender is what the producer asks of an SQS client; *sqs.Client has it.
type Sender interface {
	SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// Config is how a producer works. The zero value of a field means its default.
type Config struct {
	Queue string       // the queue's URL; needed unless DryRun
	Scope window.Scope // the queue's deduplication scope, for the warning "likely loss"

	Hash         *contenthash.Hasher // default: the exact form of the whole body
	Group        string              // one group for all; default [DefaultGroup]
	GroupPointer string              // or a JSON pointer into every body

	// Traceparent is the trace context that messages are sent in, as [ParseTraceparent]
	// gives it; "": none. A message whose body leaves no room for it goes without.
	Traceparent string

	Repeat  int  // send every line so many times in a row; default 1
	DryRun  bool // make IDs, send nothing
	Explain bool // put the canonical form into every record

	Clock clock.Clock // default: the machine's clock
	Log   *Log        // nil: none is kept

	Attempts       int           // per batch, the first one included; default 8
	Backoff        time.Duration // upper end of the first pause, doubled for each further one; default 100 ms
	BackoffMax     time.Duration // upper end of any pause; default 10 s
	AttemptTimeout time.Duration // real time that an answer may take; default 30 s
	Grace          time.Duration // real time left to a call in flight once the context has ended; default 3 s
	Linger         time.Duration // real time that a live input may be silent before what is in hand is sent; default 200 ms

	// Jitter picks a pause in [0, limit); default: evenly at random ("full jitter",
	// AWS Architecture Blog, "Exponential Backoff And Jitter").
	Jitter func(limit time.Duration) time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if c.Hash == nil {
		hash, err := contenthash.New(contenthash.Options{})
		if err != nil {
			return c, fmt.Errorf("making the default content hash: %w", err)
		}
		c.Hash = hash
	}
	if c.GroupPointer == "" {
		c.Group = cmp.Or(c.Group, DefaultGroup)
	}
	if c.Clock == nil {
		c.Clock = clock.Real{}
	}
	if c.Jitter == nil {
		c.Jitter = fullJitter
	}
	c.Repeat = cmp.Or(c.Repeat, 1)
	c.Attempts = cmp.Or(c.Attempts, 8)
	c.Backoff = cmp.Or(c.Backoff, 100*time.Millisecond)
	c.BackoffMax = cmp.Or(c.BackoffMax, 10*time.Second)
	c.AttemptTimeout = cmp.Or(c.AttemptTimeout, 30*time.Second)
	c.Grace = cmp.Or(c.Grace, 3*time.Second)
	c.Linger = cmp.Or(c.Linger, 200*time.Millisecond)
	return c, nil
}

// Validate says in sentences what about the configuration cannot work. Defaults
// need not be filled in.
func (c Config) Validate() error {
	var found []error
	say := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }

	if c.Queue != "" || !c.DryRun {
		if problem := queueProblem(c.Queue); problem != "" {
			say("%s", problem)
		}
	}
	switch {
	case c.Group != "" && c.GroupPointer != "":
		say("a fixed group and a group pointer exclude each other: choose one")
	case c.GroupPointer != "":
		if _, _, err := contenthash.Lookup([]byte("{}"), c.GroupPointer); err != nil {
			say("the group pointer cannot be used: %w", err)
		}
	case c.Group != "":
		if problem := groupProblem(c.Group); problem != "" {
			say("the group %q %s", c.Group, problem)
		}
	}
	if c.Traceparent != "" {
		if _, err := ParseTraceparent(c.Traceparent); err != nil {
			say("the trace context cannot be sent: %w", err)
		}
	}
	if c.Repeat < 0 {
		say("every line is sent once or more, not %d times", c.Repeat)
	}
	if c.Attempts < 0 {
		say("a message needs at least one attempt, not %d", c.Attempts)
	}
	for _, setting := range []struct {
		name  string
		value time.Duration
	}{
		{"backoff", c.Backoff},
		{"longest backoff", c.BackoffMax},
		{"attempt timeout", c.AttemptTimeout},
		{"grace", c.Grace},
		{"linger", c.Linger},
	} {
		if setting.value < 0 {
			say("the %s cannot be negative: %v", setting.name, setting.value)
		}
	}
	return errors.Join(found...)
}

// queueProblem is empty for a URL that can be a FIFO queue's.
func queueProblem(queue string) string {
	u, err := url.Parse(queue)
	switch {
	case queue == "":
		return "no queue is named"
	case err != nil || u.Host == "":
		return "the queue must be given by its URL"
	case u.User != nil:
		return "a queue URL must not hold credentials"
	case !strings.HasSuffix(u.Path, ".fifo"):
		return fmt.Sprintf("the queue %s is no FIFO queue: the name of one ends in .fifo", queue)
	default:
		return ""
	}
}

// Producer sends lines to one queue. It remembers the messages of all its runs.
// It is not safe for concurrent use.
type Producer struct {
	cfg    Config
	sender Sender
	known  *known

	numbers *contenthash.Hasher // spells the numbers that are groups
	newRun  func() string
}

// New returns a producer. In a dry run sender is never called and may be nil.
func New(cfg Config, sender Sender) (*Producer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	numbers, err := contenthash.New(contenthash.Options{})
	if err != nil {
		return nil, fmt.Errorf("making the form of groups: %w", err)
	}
	p := &Producer{cfg: cfg, sender: sender, numbers: numbers, newRun: randomRun}
	if cfg.Log != nil {
		p.known = cfg.Log.known
	} else {
		p.known = newKnown()
	}
	return p, nil
}

func fullJitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return time.Duration(mathrand.Int64N(int64(limit))) //nolint:gosec // a pause is no secret
}

// randomRun is short enough to be read aloud and long enough for the runs of one log.
func randomRun() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return hex.EncodeToString(b[:])
}
