package deadletter

import (
	"context"
	"time"

	"fifoproof/internal/clock"
)

// Reading is one look at how much there is.
type Reading struct {
	At    time.Time
	Depth Depth
	Over  bool // more than the limit
	Err   error
	// Alerted is set where the alert was given, and AlertErr where that failed.
	Alerted  bool
	AlertErr error
}

// Watch looks at the depth of a queue again and again. Limit is crossed by a depth that
// is strictly more; then Alert is called once, and again only after the depth fell to
// the limit or below and rose anew. An alert that fails is given again with the next
// reading for as long as the depth is over.
type Watch struct {
	Read     func(ctx context.Context) (Depth, error)
	Limit    int // less than 0: none
	Interval time.Duration
	Clock    clock.Clock
	Alert    func(ctx context.Context, r Reading) error // nil: nobody is told
	Told     func(Reading)                              // of every reading

	alerted bool
}

// Once makes one reading.
func (w *Watch) Once(ctx context.Context) Reading {
	r := Reading{At: w.Clock.Now()}
	r.Depth, r.Err = w.Read(ctx)
	if r.Err != nil {
		return r // whether it fell in between is not known, so nothing changes
	}
	r.Over = w.Limit >= 0 && r.Depth.Total() > w.Limit
	if !r.Over {
		w.alerted = false
		return r
	}
	if w.alerted || w.Alert == nil {
		return r
	}
	if r.AlertErr = w.Alert(ctx, r); r.AlertErr == nil {
		w.alerted, r.Alerted = true, true
	}
	return r
}

// Run makes readings until ctx ends, or the clock stands still. They are due at whole
// intervals from the start, so that slow answers do not add up; one that was missed is
// left out.
func (w *Watch) Run(ctx context.Context) {
	due := w.Clock.Now()
	for ctx.Err() == nil {
		r := w.Once(ctx)
		if ctx.Err() != nil {
			return
		}
		w.Told(r)
		for now := w.Clock.Now(); !due.After(now); {
			due = due.Add(w.Interval)
		}
		if w.Clock.Wait(ctx, due, nil) != nil {
			return
		}
	}
}
