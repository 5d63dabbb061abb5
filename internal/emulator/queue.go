package emulator

import (
	"strconv"
	"sync"
	"time"

	"fifoproof/internal/fifo"
	"fifoproof/internal/window"
)

// queue is a FIFO queue with what the API hangs on it.
type queue struct {
	name    string
	number  uint64 // of all queues that the server ever had
	created time.Time

	mu         sync.Mutex
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

	changed chan struct{} // closed and replaced when a long poll should look again
	waiting int           // long polls
}

func newQueue(name string, number uint64, now time.Time, given map[string]string, s *Server) (*queue, error) {
	q := &queue{
		name: name, number: number, created: now,
		tags: map[string]string{}, changed: make(chan struct{}),
	}
	values, err := merge(defaultAttributes(), given)
	if err != nil {
		return nil, err
	}
	scope, err := window.ParseScope(values[attrScope])
	if err != nil {
		return nil, err
	}
	q.fifo = fifo.New(fifo.Config{Settings: settingsOf(values), Scope: scope, NewID: s.ids.uuid, Variant: s.variant})
	q.adopt(now, values)
	return q, nil
}

// adopt makes values the queue's attributes. The deduplication scope reads back
// changed and changes nothing: deduplication stays as the queue was created, which
// is what a recorded run on AWS shows.
func (q *queue) adopt(now time.Time, values map[string]string) {
	q.attributes, q.modified = values, now
	q.fifo.Set(now, settingsOf(values))
	q.contentBased = values[attrContentBased] == yes
	q.maximumSize = number(values, attrMaximumSize)
	q.wait = seconds(values, attrWait)
	q.visibility = seconds(values, attrVisibility)
}

func settingsOf(values map[string]string) fifo.Settings {
	return fifo.Settings{
		Visibility:   seconds(values, attrVisibility),
		Delay:        seconds(values, attrDelay),
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
func (q *queue) arn() string { return "arn:aws:sqs:" + Region + ":" + Account + ":" + q.name }

// differs is the error of creating the queue again with given attributes, or nil.
func (q *queue) differs(given map[string]string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range sortedKeys(given) {
		if q.attributes[name] != given[name] {
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

// find looks up the queue that a request names and locks it; the caller unlocks.
func (s *Server) find(queueURL *string) (*queue, error) {
	if queueURL == nil || *queueURL == "" {
		return nil, missingParameter("QueueUrl")
	}
	name, err := queueNameIn(*queueURL)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	q := s.queues[name]
	s.mu.Unlock()
	if q == nil {
		return nil, noSuchQueue()
	}
	q.mu.Lock()
	if q.gone {
		q.mu.Unlock()
		return nil, noSuchQueue()
	}
	return q, nil
}
