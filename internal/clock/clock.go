package clock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Clock is a source of time that can be waited on.
type Clock interface {
	// Now reads the clock.
	Now() time.Time

	// Wait returns nil as soon as the clock reads until or later, or wake is
	// closed or delivers. It returns ctx.Err() when ctx ends first, and
	// [ErrStandsStill] when the clock moves only by hand and nobody moved it.
	// A nil wake never wakes.
	Wait(ctx context.Context, until time.Time, wake <-chan struct{}) error
}

// ErrStandsStill is returned by a wait on a [Manual] clock whose patience ran out.
var ErrStandsStill = errors.New("the clock stands still")

// Sleep waits until d has passed on c. No time passes for d <= 0.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	return c.Wait(ctx, c.Now().Add(d), nil)
}

// Real is the machine's clock. Its readings carry Go's monotonic reading.
type Real struct{}

// Now reads the machine's clock.
func (Real) Now() time.Time { return time.Now() }

// Wait waits in real time.
func (Real) Wait(ctx context.Context, until time.Time, wake <-chan struct{}) error {
	d := time.Until(until)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Virtual is a clock that a wait moves: Sleep is Advance. It is safe for
// concurrent use, but time is only meaningful while a single actor waits on it.
type Virtual struct {
	mu  sync.Mutex
	now time.Time
}

// NewVirtual returns a virtual clock that reads start.
func NewVirtual(start time.Time) *Virtual { return &Virtual{now: start} }

// Now reads the clock.
func (c *Virtual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Wait moves the clock to until at once, unless wake is ready already. The clock
// never goes back.
func (c *Virtual) Wait(ctx context.Context, until time.Time, wake <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-wake:
		return nil
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.After(c.now) {
		c.now = until
	}
	return nil
}

// Manual is a clock that stands still until [Manual.Advance] is called.
type Manual struct {
	patience time.Duration

	mu    sync.Mutex
	now   time.Time
	moved chan struct{} // closed and replaced by every Advance
}

// NewManual returns a clock that reads start. A wait on it gives up with
// [ErrStandsStill] after patience, measured in real time.
func NewManual(start time.Time, patience time.Duration) *Manual {
	return &Manual{patience: patience, now: start, moved: make(chan struct{})}
}

// Now reads the clock.
func (c *Manual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d, wakes every wait whose time has come and
// returns the new reading. A negative d is taken as zero.
func (c *Manual) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(max(d, 0))
	close(c.moved)
	c.moved = make(chan struct{})
	return c.now
}

// Wait waits for the clock to be moved to until by somebody else.
func (c *Manual) Wait(ctx context.Context, until time.Time, wake <-chan struct{}) error {
	patience := time.NewTimer(c.patience)
	defer patience.Stop()
	for {
		c.mu.Lock()
		now, moved := c.now, c.moved
		c.mu.Unlock()
		if !now.Before(until) {
			return ctx.Err()
		}
		select {
		case <-moved:
		case <-wake:
			return nil
		case <-patience.C:
			return ErrStandsStill
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
