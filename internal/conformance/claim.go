package conformance

import (
	"context"
	"time"
)

// Claim says how many copies a few sends are. It is settled by a fence in every
// group, so that "none" is proved and not merely awaited.
type Claim struct {
	What  string `json:"what"`  // the sends, in words
	Queue string `json:"queue"` // URL
	After int    `json:"after"` // number of the last reply before the first of the sends
	First int    `json:"first"` // the sends are Evidence.Sends[First:Last], fences and all
	Last  int    `json:"last"`
	Want  int    `json:"want"` // copies that arrive

	// Past is how far beyond the end of an earlier window a send must surely be to
	// count as one that has to be delivered.
	Past time.Duration `json:"past_ns,omitempty"`

	// Measured claims want nothing: the gap since the earlier send of the same id, and
	// what became of it, are noted.
	Measured bool `json:"measured,omitempty"`
	// Digest, if set, is that of the only body whose copies count.
	Digest string `json:"body_sha256,omitempty"`

	Fenced bool `json:"fenced"` // every fence was received
}

// Answer is what was seen of something that is neither sent nor delivered, such
// as a field of a reply.
type Answer struct {
	What string `json:"what"`
	Want string `json:"want"`
	Seen string `json:"seen"`
}

// claim makes sends and settles what they became. Nothing else may use the queue
// meanwhile. Whether the sends fell into a window is not the case's word: the judge
// holds their times against the rules.
func (q *queue) claim(ctx context.Context, what string, want int, sends ...func() error) error {
	return q.claimPast(ctx, 0, what, want, sends...)
}

// claimPast is claim for sends that must be past the end of a window by past.
func (q *queue) claimPast(ctx context.Context, past time.Duration, what string, want int, sends ...func() error) error {
	return q.settled(ctx, Claim{What: what, Want: want, Past: past}, sends...)
}

// settled makes the sends of a claim, settles them and takes the claim down.
func (q *queue) settled(ctx context.Context, c Claim, sends ...func() error) error {
	b := q.bench
	c.Queue, c.After, c.First = q.url, b.wire.lastReply(), b.wire.sends()
	for _, send := range sends {
		if err := send(); err != nil {
			return err
		}
	}
	c.Last = b.wire.sends()
	var err error
	c.Fenced, err = q.settle(ctx)
	b.record(Record{Claim: &c})
	return err
}
