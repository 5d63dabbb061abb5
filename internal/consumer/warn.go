package consumer

import (
	"log/slog"
	"sync"
	"time"

	"fifoproof/internal/clock"
	"fifoproof/internal/receipt"
)

const (
	// A thousand repeats are one piece of news: after so many lines of a sort within
	// a minute the rest is counted and said in one line.
	rationLines = 5
	rationSpan  = time.Minute
)

// warner tells a person what to look at. Bodies never come here. It is safe for
// concurrent use.
type warner struct {
	log   *slog.Logger
	clock clock.Clock

	mu sync.Mutex // guards the rations

	repeats, rejections, failures, leftovers, outages, hiding ration
}

func newWarner(log *slog.Logger, c clock.Clock) *warner {
	return &warner{
		log: log, clock: c,
		repeats:    ration{more: "more repeated messages, listed by 'consumer receipts --kind repeated'"},
		rejections: ration{more: "more rejected deliveries, listed by 'consumer receipts --kind rejected'"},
		failures:   ration{more: "more failed attempts, listed by 'consumer receipts --kind failed'"},
		leftovers:  ration{more: "more messages that could not be deleted"},
		outages:    ration{more: "more failing calls"},
		hiding:     ration{more: "more calls about the visibility of messages that failed"},
	}
}

// ration limits one sort of warning.
type ration struct {
	more   string
	since  time.Time
	shown  int
	hidden int
}

// warn writes one line of a sort, or counts it.
func (w *warner) warn(r *ration, text string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	if r.since.IsZero() || now.Sub(r.since) >= rationSpan {
		w.rest(r)
		r.since, r.shown = now, 0
	}
	if r.shown == rationLines {
		r.hidden++
		return
	}
	r.shown++
	w.log.Warn(text, args...)
}

func (w *warner) rest(r *ration) {
	if r.hidden > 0 {
		w.log.Warn(r.more, "number", r.hidden)
		r.hidden = 0
	}
}

// flush says what was held back.
func (w *warner) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range []*ration{&w.repeats, &w.rejections, &w.failures, &w.leftovers, &w.outages, &w.hiding} {
		w.rest(r)
	}
}

func (w *warner) repeated(a *arrival, first receipt.Origin) {
	w.warn(&w.repeats, "this key was seen before in another message, so there is no second effect",
		"message", a.delivery.MessageID, "group", a.delivery.Group,
		"first", first.MessageID, "received", first.ReceivedAt)
}

func (w *warner) rejected(a *arrival, why error) {
	w.warn(&w.rejections, "rejected, stays on the queue, and its group waits until it is moved or deleted there",
		"message", a.delivery.MessageID, "group", a.delivery.Group, "reason", why)
}

func (w *warner) failed(a *arrival, err error) {
	w.warn(&w.failures, "not completed, comes again",
		"message", a.delivery.MessageID, "group", a.delivery.Group, "error", err)
}

func (w *warner) undeleted(left []*arrival, reason string) {
	for _, a := range left {
		w.warn(&w.leftovers, "done but not deleted, comes again and is then recorded as redelivered",
			"message", a.delivery.MessageID, "group", a.delivery.Group, "reason", reason)
	}
}

func (w *warner) retrying(err error, wait time.Duration) {
	w.warn(&w.outages, "polling again after a pause", "pause", wait, "error", err)
}

func (w *warner) asking(doing string, err error) {
	w.warn(&w.outages, "the store failed, asking it again", "while", doing, "error", err)
}

func (w *warner) kept(n int, err error) {
	w.warn(&w.hiding, "not given back, so they stay hidden until their visibility timeout", "messages", n, "error", err)
}

func (w *warner) unbeaten(n int, err error) {
	w.warn(&w.hiding, "not hidden for longer, trying again", "messages", n, "error", err)
}
