package emulator

import (
	"strconv"
	"strings"
	"time"

	"fifoproof/internal/fifo"
	"fifoproof/internal/window"
)

// queue is a FIFO queue with what the API hangs on it. The server's lock guards it:
// one lock for all queues, since a dead letter leaves one queue and enters another
// in one step, whoever looks.
type queue struct {
	name    string
	number  uint64 // of all queues that the server ever had
	created time.Time

	fifo       *fifo.Queue
	attributes map[string]string // that can be set, in their canonical spelling
	tags       map[string]string
	modified   time.Time
	gone       bool

	// Of the attributes, parsed.
	contentBased bool
	maximumSize  int
	wait         time.Duration
	visibility   time.Duration
	redrive      redrivePolicy

	tasks []*moveTask // with this queue as their source, newest first

	changed chan struct{} // closed and replaced when a long poll should look again
	waiting int           // long polls

	variation // of variants
}

func newQueue(name string, number uint64, now time.Time, given map[string]string, s *Server) (*queue, error) {
	q := &queue{
		name: name, number: number, created: now,
		tags: map[string]string{}, changed: make(chan struct{}),
		variation: variation{lateBy: s.hooks.lateBy},
	}
	values, err := merge(defaultAttributes(), given)
	if err != nil {
		return nil, err
	}
	scope, err := window.ParseScope(values[attrScope])
	if err != nil {
		return nil, err
	}
	q.fifo = fifo.New(fifo.Config{Settings: q.settingsOf(values), Scope: scope, NewID: s.ids.uuid, Variant: s.queueVariant})
	q.adopt(now, values)
	return q, nil
}

// adopt makes values the queue's attributes. The deduplication scope reads back
// changed and changes nothing: deduplication stays as the queue was created, which
// is what a recorded run on AWS shows.
func (q *queue) adopt(now time.Time, values map[string]string) {
	q.attributes, q.modified = values, now
	q.fifo.Set(now, q.settingsOf(values))
	q.contentBased = values[attrContentBased] == yes
	q.maximumSize = number(values, attrMaximumSize)
	q.wait = seconds(values, attrWait)
	q.visibility = seconds(values, attrVisibility)
	q.redrive, _ = parseRedrivePolicy(values[attrRedrive]) // zero without one
}

func (q *queue) settingsOf(values map[string]string) fifo.Settings {
	return fifo.Settings{
		Visibility:   seconds(values, attrVisibility),
		Delay:        seconds(values, attrDelay) + q.lateBy,
		Retention:    seconds(values, attrRetention),
		ContentBased: values[attrContentBased] == yes,
	}
}

// number reads an attribute that normalise let through.
func number(values map[string]string, name string) int {
	n, _ := strconv.Atoi(values[name])
	return n
}

func seconds(values map[string]string, name string) time.Duration {
	return time.Duration(number(values, name)) * time.Second
}

// arn is the queue's Amazon resource name.
func (q *queue) arn() string { return arnPrefix + q.name }

const arnPrefix = "arn:aws:sqs:" + Region + ":" + Account + ":"

// named is the queue with this ARN, or nil. The caller holds the lock.
func (s *Server) named(arn string) *queue {
	name, ours := strings.CutPrefix(arn, arnPrefix)
	if !ours {
		return nil
	}
	return s.queues[name]
}

// differs is the error of creating the queue again with given attributes, or nil.
func (q *queue) differs(given map[string]string) error {
	for _, name := range sortedKeys(given) {
		if !sameValue(name, q.attributes[name], given[name]) {
			return queueNameExists(name)
		}
	}
	return nil
}

// wake lets all long polls look again. The caller holds the lock.
func (q *queue) wake() {
	if q.waiting > 0 {
		close(q.changed)
		q.changed = make(chan struct{})
	}
}

// wake lets the long polls on q look again, and while messages are being moved, which
// may have to do with q, those on all queues.
func (s *Server) wake(q *queue) {
	q.wake()
	if len(s.moving) > 0 {
		for _, other := range s.queues {
			other.wake()
		}
	}
}

// lock takes the lock of all queues, with the moves of tasks up to date.
func (s *Server) lock() {
	s.mu.Lock()
	if len(s.moving) > 0 {
		s.settle(s.now())
	}
}

// find looks up the queue that a request names and takes the lock; the caller
// unlocks.
func (s *Server) find(queueURL *string) (*queue, error) {
	if queueURL == nil || *queueURL == "" {
		return nil, missingParameter("QueueUrl")
	}
	name, err := queueNameIn(*queueURL)
	if err != nil {
		return nil, err
	}
	s.lock()
	q := s.queues[name]
	if q == nil {
		s.mu.Unlock()
		return nil, noSuchQueue()
	}
	if s.hooks.staleCounters {
		q.snapshot(s.now())
	}
	return q, nil
}
