package budget

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// Client is what requests leave through, as the SDK has it.
type Client interface {
	Do(request *http.Request) (*http.Response, error)
}

// SpentText begins the text of a [*SpentError].
const SpentText = "the cap of"

// SpentError says that a request was not made, since the cap is reached.
type SpentError struct{ Cap int }

func (e *SpentError) Error() string { return fmt.Sprintf(SpentText+" %d calls is reached", e.Cap) }

// RetryableError keeps the SDK from trying again.
func (e *SpentError) RetryableError() bool { return false }

// Budget counts requests against a cap. It keeps back one DeleteQueue for each queue
// that was made through it, so that a run whose cap is reached can still clean up, and
// so that the cap holds all the same.
type Budget struct {
	limit int

	mu    sync.Mutex
	made  int
	owed  int // deletes of queues that were made
	spent func(error)
}

// New is a budget of limit requests. spent is called once, with a [*SpentError], when a
// request is refused for the first time; it may be nil.
func New(limit int, spent func(error)) *Budget { return &Budget{limit: limit, spent: spent} }

// Made is how many requests were made so far.
func (b *Budget) Made() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.made
}

// Client counts the requests that are made through next.
func (b *Budget) Client(next Client) Client { return &counted{budget: b, next: next} }

type counted struct {
	budget *Budget
	next   Client
}

const (
	creates = "CreateQueue"
	deletes = "DeleteQueue"
)

// Do makes the request, if the budget has it.
func (c *counted) Do(request *http.Request) (*http.Response, error) {
	_, action, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	if err := c.budget.take(action); err != nil {
		return nil, err
	}
	answer, err := c.next.Do(request)
	if action == creates && err == nil && answer.StatusCode >= http.StatusBadRequest && answer.StatusCode < http.StatusInternalServerError {
		c.budget.release() // no queue was made
	}
	return answer, err
}

// take takes one request off the budget; a queue that is made takes its delete with it.
func (b *Budget) take(action string) error {
	b.mu.Lock()
	need := 1
	switch {
	case action == creates:
		need = 2
	case action == deletes && b.owed > 0:
		b.owed--
	}
	if b.made+b.owed+need <= b.limit {
		b.made++
		b.owed += need - 1
		b.mu.Unlock()
		return nil
	}
	err := &SpentError{Cap: b.limit}
	tell := b.spent
	b.spent = nil
	b.mu.Unlock()
	if tell != nil {
		tell(err)
	}
	return err
}

func (b *Budget) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owed = max(b.owed-1, 0)
}
