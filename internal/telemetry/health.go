package telemetry

import (
	"fmt"
	"sync"
	"time"

	"fifoproof/internal/clock"
)

// DefaultSilence is three of SQS's longest polls, and some.
const DefaultSilence = 90 * time.Second

// health is what the probes answer from.
type health struct {
	clock   clock.Clock
	silence time.Duration

	mu     sync.Mutex
	moved  time.Time
	open   int
	notYet string // why it is not ready; "": it is
}

func newHealth(c clock.Clock, silence time.Duration) *health {
	if silence <= 0 {
		silence = DefaultSilence
	}
	return &health{clock: c, silence: silence, moved: c.Now(), notYet: "starting"}
}

// move notes a sign of life.
func (h *health) move() {
	now := h.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moved = now
}

func (h *health) lanes(open int) {
	now := h.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moved, h.open = now, open
}

func (h *health) ready(ready bool, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case ready:
		h.notYet = ""
	case why == "":
		h.notYet = "not ready"
	default:
		h.notYet = why
	}
}

// unready says why no work can be done; "": it can.
func (h *health) unready() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.notYet
}

// dead says why only a restart helps; "" while it would not. With work in hand a
// consumer may rightly leave the queue alone for as long as its handlers take and its
// back-offs last; with empty hands it has nothing to do but to poll.
func (h *health) dead() string {
	now := h.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if since := now.Sub(h.moved); h.open == 0 && since > h.silence {
		return fmt.Sprintf("no answer to a poll for %v, with nothing in hand", since.Round(time.Second))
	}
	return ""
}
