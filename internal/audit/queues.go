package audit

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
)

// queueTotals is what is known of a queue as a whole. Times are nanoseconds.
type queueTotals struct {
	name string
	urls []string // under which the send log knows it

	firstStart, lastEnd int64 // of all attempts, by the producer's clock
	deliveryTotals

	// Of the receipts before the last two grace times: the latest SentTimestamp. And how
	// many first receives of still later messages the last grace time holds. They are only
	// counted where messages are missing.
	passed, busy int64
}

// deliveryTotals is what is known of all deliveries of a queue.
type deliveryTotals struct {
	receipts int64
	last     int64 // the latest receive, by the consumer's clock
	lagging  int64 // the latest first receive of a message that had waited longer than the grace time
}

func (t *deliveryTotals) merge(o deliveryTotals) {
	t.receipts += o.receipts
	t.last = max(t.last, o.last)
	t.lagging = max(t.lagging, o.lagging)
}

// queues numbers queues by their names: receipts know only those, since hosts differ
// between a machine and a container. It is safe for concurrent use.
type queues struct {
	mu     sync.Mutex
	all    []*queueTotals
	byName map[string]uint16
	byURL  map[string]uint16
}

func newQueues() *queues {
	return &queues{byName: map[string]uint16{}, byURL: map[string]uint16{}}
}

// queueName is the last part of a queue's URL, as the consumer takes it.
func queueName(queueURL string) string {
	if u, err := url.Parse(queueURL); err == nil && u.Path != "" {
		return path.Base(u.Path)
	}
	return queueURL
}

// sentTo is the number of the queue at a URL of the send log.
func (q *queues) sentTo(queueURL []byte) (uint16, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n, known := q.byURL[string(queueURL)]; known {
		return n, nil
	}
	text := string(queueURL)
	n, err := q.number(queueName(text))
	if err != nil {
		return 0, err
	}
	q.byURL[text] = n
	q.all[n].urls = append(q.all[n].urls, text)
	return n, nil
}

// named is the number of a queue by its name.
func (q *queues) named(name []byte) (uint16, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n, known := q.byName[string(name)]; known {
		return n, nil
	}
	return q.number(string(name))
}

func (q *queues) number(name string) (uint16, error) {
	if n, known := q.byName[name]; known {
		return n, nil
	}
	const most = 1 << 16
	if len(q.all) == most {
		return 0, fmt.Errorf("more than %d queues", most)
	}
	n := uint16(len(q.all))
	q.all = append(q.all, &queueTotals{name: name})
	q.byName[name] = n
	return n, nil
}

// at is what is known of a queue. Only one goroutine at a time may use it.
func (q *queues) at(n uint16) *queueTotals {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all[n]
}

// sent reports whether the send log names the queue.
func (q *queues) sent(n uint16) bool { return len(q.at(n).urls) > 0 }

// cache keeps the last few answers of a worker, which asks for the same queues
// again and again.
type cache struct {
	ask  func([]byte) (uint16, error)
	last []cached
}

type cached struct {
	text []byte
	n    uint16
}

func (c *cache) number(text []byte) (uint16, error) {
	for i := range c.last {
		if bytes.Equal(c.last[i].text, text) {
			return c.last[i].n, nil
		}
	}
	n, err := c.ask(text)
	if err != nil {
		return 0, err
	}
	if len(c.last) == 8 {
		c.last = c.last[1:]
	}
	c.last = append(c.last, cached{bytes.Clone(text), n})
	return n, nil
}

// notes says what may make queues be taken for others.
func (q *queues) notes() (notes []string) {
	var foreign []string
	for _, one := range q.all {
		if len(one.urls) == 0 && one.receipts > 0 {
			foreign = append(foreign, one.name)
		}
		if len(one.urls) > 1 {
			slices.Sort(one.urls)
			notes = append(notes, fmt.Sprintf("%s is taken as one queue, though it has %d URLs: %s",
				one.name, len(one.urls), strings.Join(one.urls[:min(3, len(one.urls))], ", ")))
		}
	}
	if len(foreign) > 0 {
		slices.Sort(foreign)
		notes = append(notes, fmt.Sprintf("receipts of %s are not judged but for their effects, since the send log does not name the queue",
			strings.Join(foreign[:min(5, len(foreign))], ", ")))
	}
	slices.Sort(notes)
	return notes
}
