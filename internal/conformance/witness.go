package conformance

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// witness holds the calls that crossed the wire since it was called in.
type witness struct {
	mu    sync.Mutex
	calls []Call
}

// witness calls one in; leave sends it away.
func (b *Bench) witness() (seen *witness, leave func()) {
	w := &witness{}
	w0 := b.wire
	w0.mu.Lock()
	defer w0.mu.Unlock()
	before := w0.record
	w0.record = func(r Record) {
		before(r)
		if r.Call != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.calls = append(w.calls, *r.Call)
		}
	}
	return w, func() {
		w0.mu.Lock()
		defer w0.mu.Unlock()
		w0.record = before
	}
}

// doubtful tells whether a call may have been carried out without its caller being
// told: no answer came, or a failure of the server's. A receive like that may hold
// messages that nobody has.
func (w *witness) doubtful() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.doubtful() {
			return true
		}
	}
	return false
}

// undoubted makes steps of a case that count deliveries, or sends by their answers,
// sound on an endpoint that fails now and then: where a call may have been carried out
// unseen, what was noted is dropped for a premise that does not hold.
func undoubted(steps func(context.Context, *Bench) error) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		seen, leave := b.witness()
		defer leave()
		err := steps(ctx, b)
		if err == nil && seen.doubtful() {
			return premise("a call was not answered, or with a failure of the server's, and may have been carried out")
		}
		return err
	}
}

// losing lets the answer to one call of an action vanish after the endpoint gave it.
type losing struct {
	next   sqs.HTTPClient
	action string
	about  string // what the answer must hold; "" takes any

	mu   sync.Mutex
	lost bool
}

// losing begins to lose; the wire is as ever once restore is called.
func (b *Bench) losing(action, about string) (l *losing, restore func()) {
	l = &losing{next: b.wire.next, action: action, about: about}
	b.wire.next = l
	return l, func() { b.wire.next = l.next }
}

// Do passes a request on.
func (l *losing) Do(request *http.Request) (*http.Response, error) {
	answer, err := l.next.Do(request)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || l.lost || answer.StatusCode != http.StatusOK || !strings.HasSuffix(request.Header.Get("X-Amz-Target"), "."+l.action) {
		return answer, err
	}
	told, err := rereadable(&answer.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer to %s: %w", l.action, err)
	}
	if !bytes.Contains(told, []byte(l.about)) {
		return answer, nil
	}
	l.lost = true
	return nil, errReplyLost
}

// done tells whether the answer was lost.
func (l *losing) done() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}
