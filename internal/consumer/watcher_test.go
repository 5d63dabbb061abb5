package consumer_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// watcher is an observer that notes what it is told.
type watcher struct {
	mu      sync.Mutex
	ready   []string
	calls   []string
	events  []string
	waits   []time.Duration
	widest  int // most lanes at work at once
	settled map[receipt.Kind]int
}

func (w *watcher) eventf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprintf(format, args...))
}

func (w *watcher) Received(deliveries []receipt.Delivery) { w.eventf("received %d", len(deliveries)) }

func (w *watcher) Attempt(ctx context.Context, e handler.Event) (context.Context, func(receipt.Kind, error)) {
	w.eventf("attempt %d of %s", e.Attempt, e.MessageID)
	return ctx, func(kind receipt.Kind, err error) { w.eventf("%s: %s (%v)", e.MessageID, kind, err) }
}

func (w *watcher) Settled(d receipt.Delivery, kind receipt.Kind, repeats bool) {
	w.eventf("settled %s: %s %v", d.MessageID, kind, repeats)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.settled == nil {
		w.settled = map[receipt.Kind]int{}
	}
	w.settled[kind]++
}

func (w *watcher) TookOver(d receipt.Delivery) { w.eventf("took over %s", d.MessageID) }

func (w *watcher) BackedOff(_ receipt.Delivery, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = append(w.waits, wait)
}

func (w *watcher) Lanes(_, working int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.widest = max(w.widest, working)
}

func (w *watcher) CallFailed(call string, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
}

func (w *watcher) Ready(ready bool, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ready {
		w.ready = append(w.ready, "ready")
	} else {
		w.ready = append(w.ready, "not ready: "+why)
	}
}

func (w *watcher) readiness() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.ready)
}

func (w *watcher) failed(call string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c == call {
			n++
		}
	}
	return n
}
