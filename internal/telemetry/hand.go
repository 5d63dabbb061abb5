package telemetry

import (
	"sync"
	"time"

	"fifoproof/internal/receipt"
)

// hand knows which deliveries a consumer holds.
type hand struct {
	mu   sync.Mutex
	held map[held]time.Time // SentAt, or ReceivedAt where the queue does not tell
}

// held names a delivery: a message may be in hand twice, when it comes again before
// the first time was settled.
type held struct {
	message  string
	received int64 // nanoseconds of Unix time
}

func newHand() *hand { return &hand{held: map[held]time.Time{}} }

func heldOf(d receipt.Delivery) held { return held{d.MessageID, d.ReceivedAt.UnixNano()} }

func (h *hand) take(deliveries []receipt.Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range deliveries {
		at := d.SentAt
		if at.IsZero() {
			at = d.ReceivedAt
		}
		h.held[heldOf(d)] = at
	}
}

func (h *hand) put(d receipt.Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, heldOf(d))
}

func (h *hand) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.held)
}

// oldest looks at all that is held: some hundreds at most, and only when scraped.
func (h *hand) oldest() (at time.Time, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, sent := range h.held {
		if !found || sent.Before(at) {
			at, found = sent, true
		}
	}
	return at, found
}
