package conformance

import (
	"context"
	"time"
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

	// Past is how far beyond the end of an earlier window a send must surely be to
	// count as one that has to be delivered.
	Past time.Duration

	Fenced bool // every fence was received
}

// Answer is what was seen of something that is neither sent nor delivered, such
// as a field of a reply.
type Answer struct {
	What string
	Want string
	Seen string
}

// claim makes sends and settles what they became. Nothing else may use the queue
// meanwhile. Whether the sends fell into a window is not the case's word: the judge
// holds their times against the rules.
func (q *queue) claim(ctx context.Context, what string, want int, sends ...func() error) error {
	return q.claimPast(ctx, 0, what, want, sends...)
}

// claimPast is claim for sends that must be past the end of a window by past.
func (q *queue) claimPast(ctx context.Context, past time.Duration, what string, want int, sends ...func() error) error {
	b := q.bench
	c := Claim{What: what, Queue: q.url, After: b.wire.lastReply(), First: len(b.evidence.Sends), Want: want, Past: past}
	for _, send := range sends {
		if err := send(); err != nil {
			return err
		}
	}
	c.Last = len(b.evidence.Sends)
	var err error
	c.Fenced, err = q.settle(ctx)
	b.evidence.Claims = append(b.evidence.Claims, c)
	return err
}
