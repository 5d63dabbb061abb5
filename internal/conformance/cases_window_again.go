package conformance

import "context"

// again makes sends on a queue, and makes them again late in the window or a minute past
// its end. Explicit ids, ids from the content, ids of a group and entries of batches may
// be remembered in different places; each has to keep its time.
type again struct {
	made   attributes
	copies int // of the first time
	sends  func(context.Context, *queue) []func() error
}

// insideLate is the second time just before the window ends.
func (a again) insideLate(ctx context.Context, b *Bench) error {
	q, err := a.first(ctx, b)
	if err != nil {
		return err
	}
	if err := b.waitLatest(ctx, 0); err != nil { // the earliest of them ends first
		return err
	}
	return q.claim(ctx, "the second time", 0, a.sends(ctx, q)...)
}

// outsideLate is the second time a minute after the window.
func (a again) outsideLate(ctx context.Context, b *Bench) error {
	q, err := a.first(ctx, b)
	if err != nil {
		return err
	}
	if err := b.waitOutside(ctx, a.copies-1, mustPast); err != nil { // the latest of them ends last
		return err
	}
	return q.claimPast(ctx, mustPast, "the second time", a.copies, a.sends(ctx, q)...)
}

func (a again) first(ctx context.Context, b *Bench) (*queue, error) {
	q, err := b.queue(ctx, a.made)
	if err != nil {
		return nil, err
	}
	return q, q.claim(ctx, "the first time", a.copies, a.sends(ctx, q)...)
}

// againCases are both times of one kind of sends, in an area and a subject of the
// catalogue. what is done, and is then done again; why it matters is a sentence.
func againCases(prefix, what, why string, needs Capability, a again) []Case {
	return []Case{
		{
			ID: prefix + "/inside-late", Level: Must, Source: sendMessage, Wait: W, Needs: needs,
			Text:     "Just before five minutes are over, " + what + " again: nothing new comes. " + why,
			Timeline: "0 s " + what + " · fence · just before 300 s the same · fence",
			Want:     "no copy of the second time",
			steps:    a.insideLate,
		},
		{
			ID: prefix + "/outside-late", Level: Should, Source: sendMessage, Wait: W + mustPast, Needs: needs,
			Text:     "A minute after the window, " + what + " again: all of it is delivered once more. " + why,
			Timeline: "0 s " + what + " · fence · 360 s the same · fence",
			Want:     "as many copies as the first time",
			steps:    a.outsideLate,
		},
	}
}
