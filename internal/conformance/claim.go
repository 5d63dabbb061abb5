package conformance

import (
	"context"
	"time"

	"fifoproof/internal/window"
)

// Claim says how many copies a few sends are. It is settled by a fence in every
// group, so that "none" is proved and not merely awaited.
type Claim struct {
	What  string // the sends, in words
	Queue string // URL
	After int    // number of the last reply before the first of the sends
	First int    // the sends are Evidence.Sends[First:Last], without the fences
	Last  int
	Want  int // copies that arrive

	// Opening is the index of the send that opened the window which these sends
	// are held against, or noOpening where time plays no part.
	Opening int
	Timing  window.Expectation // what the gap must prove for the claim to be judged
	Past    time.Duration      // a delivered send must be this much past the window

	Fenced bool // every fence was received
}

const (
	noOpening = -1 // time plays no part
	ownFirst  = -2 // the first of the claim's own sends opens the window
)

// Answer is what was seen of something that is neither sent nor delivered, such
// as a field of a reply.
type Answer struct {
	What string
	Want string
	Seen string
}

// timing holds a claim against the window that the send with index opening opened.
type timing struct {
	opening int
	want    window.Expectation
	past    time.Duration
}

// timeless is for sends that no window matters to.
var timeless = timing{opening: noOpening}

// insideItself: all sends fall into the window that the first of them opens.
var insideItself = inside(ownFirst)

// inside: the sends fall into the window that opening opened.
func inside(opening int) timing { return timing{opening: opening, want: window.Suppressed} }

// outside: the sends come at least past after the end of the window that opening
// opened.
func outside(opening int, past time.Duration) timing {
	return timing{opening: opening, want: window.Delivered, past: past}
}

// claim runs sends and settles what they became. Nothing else may use the queue
// meanwhile.
func (q *queue) claim(ctx context.Context, what string, want int, t timing, sends func() error) error {
	b := q.bench
	c := Claim{
		What: what, Queue: q.url, After: b.wire.lastReply(), First: len(b.evidence.Sends), Want: want,
		Opening: t.opening, Timing: t.want, Past: t.past,
	}
	if t.opening == ownFirst {
		c.Opening = c.First
	}
	if err := sends(); err != nil {
		return err
	}
	c.Last = len(b.evidence.Sends)
	var err error
	c.Fenced, err = q.settle(ctx)
	b.evidence.Claims = append(b.evidence.Claims, c)
	return err
}
