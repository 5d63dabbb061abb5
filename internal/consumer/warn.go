package consumer

import (
	"log/slog"
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

// warner tells a person what to look at. Bodies never come here.
type warner struct {
	log   *slog.Logger
	clock clock.Clock

	repeats, rejections, failures, leftovers ration
}

func newWarner(log *slog.Logger, c clock.Clock) *warner {
	return &warner{
		log: log, clock: c,
		repeats:    ration{more: "more repeated messages, listed by 'consumer receipts --kind repeated'"},
		rejections: ration{more: "more rejected deliveries, listed by 'consumer receipts --kind rejected'"},
		failures:   ration{more: "more deliveries that could not be completed"},
		leftovers:  ration{more: "more messages that could not be deleted"},
	}
}

// ration limits one sort of warning.
type ration struct {
	more   string
	since  time.Time
	shown  int
	hidden int
}

// take reports whether one more line may be shown.
func (w *warner) take(r *ration) bool {
	now := w.clock.Now()
	if r.since.IsZero() || now.Sub(r.since) >= rationSpan {
		w.rest(r)
		r.since, r.shown = now, 0
	}
	if r.shown == rationLines {
		r.hidden++
		return false
	}
	r.shown++
	return true
}

func (w *warner) rest(r *ration) {
	if r.hidden > 0 {
		w.log.Warn(r.more, "number", r.hidden)
		r.hidden = 0
	}
}

// flush says what was held back.
func (w *warner) flush() {
	for _, r := range []*ration{&w.repeats, &w.rejections, &w.failures, &w.leftovers} {
		w.rest(r)
	}
}

func (w *warner) repeated(a arrival, first receipt.Origin) {
	if w.take(&w.repeats) {
		w.log.Warn("this key was seen before in another message, so there is no second effect",
			"message", a.delivery.MessageID, "group", a.delivery.Group,
			"first", first.MessageID, "received", first.ReceivedAt)
	}
}

func (w *warner) rejected(a arrival) {
	if w.take(&w.rejections) {
		w.log.Warn("rejected, stays on the queue, and its group waits until it is moved or deleted there",
			"message", a.delivery.MessageID, "group", a.delivery.Group, "reason", a.rejection)
	}
}

func (w *warner) failed(a arrival, err error) {
	if w.take(&w.failures) {
		w.log.Warn("not completed, comes again after its visibility timeout",
			"message", a.delivery.MessageID, "group", a.delivery.Group, "error", err)
	}
}

func (w *warner) undeleted(left []arrival, reason string) {
	for _, a := range left {
		if w.take(&w.leftovers) {
			w.log.Warn("done but not deleted, comes again and is then recorded as redelivered",
				"message", a.delivery.MessageID, "group", a.delivery.Group, "reason", reason)
		}
	}
}

func (w *warner) retrying(err error, wait time.Duration) {
	w.log.Warn("polling again after a pause", "pause", wait, "error", err)
}

func (w *warner) kept(n int, err error) {
	w.log.Warn("not given back, so they stay hidden until their visibility timeout", "messages", n, "error", err)
}
