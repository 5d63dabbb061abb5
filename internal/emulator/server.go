package emulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"fifoproof/internal/clock"
	"fifoproof/internal/fifo"
)

const (
	// Account is the account that all queues belong to.
	Account = "000000000000"
	// Region is the region in queue ARNs. Requests signed for any region are served.
	Region = "us-east-1"

	// deletedFor is how long a deleted queue's name cannot be used again (API
	// reference, DeleteQueue).
	deletedFor = time.Minute
)

// Options say how a server is to behave. The zero value is a right endpoint on the
// machine's clock.
type Options struct {
	Clock    clock.Clock  // nil: clock.Real
	Variants []string     // names of [Variants], combined in this order; "" is none
	Logger   *slog.Logger // nil: silent. A line a request, at debug level, without bodies

	// Seed of message and request ids and, apart from them, of what variants and
	// disturbances leave to chance. 0: other ones in every server.
	Seed uint64
}

// Server is an SQS endpoint with queues of its own. It is safe for concurrent use.
type Server struct {
	clock  clock.Clock
	log    *slog.Logger
	ids    *ids
	chance *chance
	broken error // the options cannot be honoured

	// Of the variants; their zero values are the right endpoint.
	variants     []string
	queueVariant fifo.Variant
	hooks        hooks

	disturbances disturbances

	mu      sync.Mutex // guards all below, and all queues
	queues  map[string]*queue
	deleted map[string]time.Time
	moving  []*moveTask // those that run
	born    uint64      // queues made so far, so that receipt handles tell them apart
	batches uint32      // sent so far
}

// New makes a server without queues. One with a variant that is not among [Variants]
// refuses every request with a sentence about it, lest it pass for another one.
func New(o Options) *Server {
	s := &Server{
		clock: o.Clock, log: o.Logger, ids: newIDs(o.Seed), chance: newChance(o.Seed),
		queues: map[string]*queue{}, deleted: map[string]time.Time{},
	}
	if s.clock == nil {
		s.clock = clock.Real{}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, name := range o.Variants {
		s.vary(name)
	}
	return s
}

// Attribute is a queue attribute as the API names and spells it.
type Attribute struct{ Name, Value string }

// CreateQueue makes a FIFO queue, or does nothing if there is an equal one. The
// rules for names and attributes are those of the action of the same name;
// FifoQueue need not be given.
func (s *Server) CreateQueue(name string, attributes ...Attribute) error {
	if s.broken != nil {
		return s.broken
	}
	given := map[string]string{attrFifoQueue: yes}
	for _, a := range attributes {
		given[a.Name] = a.Value
	}
	if _, err := s.create(name, given, nil); err != nil {
		return fmt.Errorf("creating queue %s: %w", quoted(name), errors.New(asAPIError(err).message))
	}
	return nil
}

// create is CreateQueue without its wire format.
func (s *Server) create(name string, given, tags map[string]string) (*queue, error) {
	if err := checkQueueKind(name, given); err != nil {
		return nil, err
	}
	values, err := normalise(given)
	if err != nil {
		return nil, err
	}
	if err := checkTags(nil, tags); err != nil {
		return nil, err
	}

	s.lock()
	defer s.mu.Unlock()
	if q := s.queues[name]; q != nil {
		return q, q.differs(values)
	}
	if err := s.checkRedrive(name, values); err != nil {
		return nil, err
	}
	now := s.clock.Now()
	maps.DeleteFunc(s.deleted, func(_ string, at time.Time) bool { return now.Sub(at) >= deletedFor })
	if _, recently := s.deleted[name]; recently {
		return nil, queueDeletedRecently()
	}
	s.born++
	q, err := newQueue(name, s.born, now, values, s)
	if err != nil {
		return nil, err
	}
	maps.Copy(q.tags, tags)
	s.queues[name] = q
	return q, nil
}

// call is one request to an action.
type call struct {
	ctx  context.Context
	base string // scheme and host that the caller used, for queue URLs
}

// queueURL is the address of a queue as the caller sees the endpoint.
func (c *call) queueURL(name string) string { return c.base + "/" + Account + "/" + name }

// asAPIError is the answer that err stands for.
func asAPIError(err error) *apiError {
	if answer, ok := errors.AsType[*apiError](err); ok {
		return answer
	}
	return internalFailure(err)
}

// now reads the clock.
func (s *Server) now() time.Time { return s.clock.Now() }

var _ http.Handler = (*Server)(nil)
