package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/awserr"
	"fifoproof/internal/budget"
	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

// Embedded is the target that needs nothing: an endpoint in this process.
const Embedded = "embedded"

// LocalStack is the target for a LocalStack on this machine.
const LocalStack = "localstack"

// localStackURL is where LocalStack listens by default.
const localStackURL = "http://127.0.0.1:4566"

const (
	own     = "fifoproof" // the name that our endpoint gives at its health page
	unknown = "unknown"   // the product of whoever does not tell
	virtual = "virtual"   // the clock that is moved by hand
)

// ErrSpec says that a target was named in a way that cannot be used.
var ErrSpec = errors.New("no such target")

// specError is an [ErrSpec] in words of its own.
type specError string

func (e specError) Error() string { return string(e) }

func (e specError) Is(other error) bool { return other == ErrSpec }

// Target is an endpoint under test, and what it said of itself.
type Target struct {
	Name    string `json:"name"`              // "embedded", "aws", or the URL
	Product string `json:"product"`           // who answered: "fifoproof", "LocalStack", …, or "unknown"
	Version string `json:"version,omitempty"` // of the product, where it tells
	Server  string `json:"server,omitempty"`  // what its Server header says, where nothing better tells
	Region  string `json:"region,omitempty"`  // of AWS
	Clock   string `json:"clock"`             // "virtual" or "real"

	who      Identity
	foreign  bool // a served variant of our endpoint
	client   *sqs.Client
	remote   *remoteClock
	variants []string       // of the embedded endpoint
	seed     *atomic.Uint64 // of the next embedded endpoint's ids and whims
}

// Own reports whether the target is our reference, embedded or served. A served variant
// of it is a stranger.
func (t *Target) Own() bool { return t.Product == own && !t.foreign }

// Shared reports whether everything on the target lives on one virtual clock, so
// that only one actor may be at work.
func (t *Target) Shared() bool { return t.remote != nil }

// String names the target for a person.
func (t *Target) String() string {
	switch {
	case t.Name == Embedded:
		return "embedded endpoint, virtual clock"
	case t.Name == AWS:
		return amazonSQS + " in " + t.Region
	case t.Product == own:
		return fmt.Sprintf("fifoproof serve %s at %s, %s clock", t.Version, t.Name, t.Clock)
	case t.Product == unknown:
		return "SQS endpoint at " + t.Name
	default:
		return strings.TrimSpace(t.Product+" "+t.Version) + " at " + t.Name
	}
}

// Open finds out who answers at spec: [Embedded], [LocalStack] or a URL. LocalStack is
// looked for where FIFOPROOF_LOCALSTACK_URL says, else at its own default. [AWS] has its
// own guards: see [OpenAWS].
func Open(ctx context.Context, spec string, env cli.Env) (*Target, []string, error) {
	switch spec {
	case LocalStack:
		spec = cmp.Or(env.Get("FIFOPROOF_LOCALSTACK_URL"), localStackURL)
	case AWS:
		return nil, nil, cli.Hint(specError("this command does not run on AWS"), "verify, plan and clean do")
	case Embedded:
		return &Target{Name: Embedded, Product: own, Version: cli.Version, Clock: virtual}, nil, nil
	}
	u, err := parse(spec)
	if err != nil {
		return nil, nil, cli.Hint(fmt.Errorf("%w: %w", ErrSpec, err), "a target is 'embedded', 'localstack', 'aws' or a URL such as http://127.0.0.1:9324")
	}
	if amazon(u.Hostname()) {
		return nil, nil, cli.Hint(specError("real AWS is not tested by a URL"), "--target aws is AWS, in the region and account of your AWS configuration")
	}
	client, notes, err := Client(ctx, Options{Endpoint: spec})
	if err != nil {
		return nil, notes, err
	}
	t := &Target{Name: strings.TrimSuffix(spec, "/"), Product: unknown, Clock: "real", client: client}
	if err := t.identify(ctx); err != nil {
		return nil, notes, err
	}
	if _, err := client.ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1)}); err != nil {
		return nil, notes, explain(fmt.Errorf("asking %s for its queues: %w", spec, awserr.Brief(err)), "is an SQS endpoint up there that speaks AWS JSON 1.0?")
	}
	return t, notes, nil
}

// Variant is the embedded target with named variants of its endpoint (see
// [emulator.Variants]), for proofs that the suite notices them. The same seed gives the
// same whims, endpoint by endpoint.
func Variant(seed uint64, names ...string) *Target {
	t := &Target{Name: Embedded, Product: own, Version: cli.Version, Clock: virtual, variants: names, seed: new(atomic.Uint64)}
	t.seed.Store(seed)
	return t
}

// HTTPClient is what the SDK sends its requests through.
type HTTPClient = sqs.HTTPClient

// Connect opens a client and the clock that belongs to it. On the embedded target
// each call makes an endpoint of its own, on a clock of its own. wrap sees every
// request and answer.
func (t *Target) Connect(wrap func(HTTPClient) HTTPClient) (*sqs.Client, clock.Clock, error) {
	if t.Name != Embedded {
		client := sqs.New(t.client.Options(), func(o *sqs.Options) { o.HTTPClient = wrap(o.HTTPClient) })
		if t.remote != nil {
			return client, t.remote, nil
		}
		return client, clock.Real{}, nil
	}
	hand := clock.NewVirtual(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	options := emulator.Options{Clock: hand, Variants: t.variants}
	if len(t.variants) > 0 {
		options.Seed = t.seed.Add(1)
	}
	server := emulator.New(options)
	client := sqs.New(sqs.Options{
		Region:       testRegion,
		Credentials:  credentials.NewStaticCredentialsProvider(testKey, testSecret, ""),
		BaseEndpoint: aws.String("http://embedded"),
		HTTPClient:   wrap(&http.Client{Transport: server.RoundTripper()}),
	})
	return client, hand, nil
}

// Limit makes every further call of the target count against a budget, and none beyond
// it. The embedded endpoint has none.
func (t *Target) Limit(b *budget.Budget) {
	if t.client != nil {
		t.client = sqs.New(t.client.Options(), func(o *sqs.Options) { o.HTTPClient = b.Client(o.HTTPClient) })
	}
}

// SQS is the client of a remote target, for calls outside of a run; nil for the
// embedded one.
func (t *Target) SQS() *sqs.Client { return t.client }
