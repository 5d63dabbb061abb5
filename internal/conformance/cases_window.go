package conformance

import (
	"context"
	"slices"
	"time"
)

// mustPast is how far past the window a resend must be delivered. AWS's texts say
// "5-minute" in one place and "5-minute minimum" in another; a recorded run shows
// delivery 62 s after the end of the window.
const mustPast = 60 * time.Second

func windowCases() []Case {
	return []Case{
		{
			ID: "window/basic/ten-identical", Level: Must, Source: sendMessage,
			Text: "The producer sends one order ten times, a call each. All ten are answered with success; the consumer gets one.",
			Want: "one copy of ten sends",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queueInUse(ctx, plain)
				if err != nil {
					return err
				}
				return q.claim(ctx, "ten identical sends", 1, slices.Repeat([]func() error{q.ordering(ctx, order)}, 10)...)
			},
		},
		{
			ID: "window/resend/at-once", Level: Must, Source: sendMessage,
			Text:  "The same order again, as soon as the first has been received and deleted: nothing new comes.",
			Want:  noResend,
			steps: resend(0, 0, func(context.Context, *Bench) error { return nil }),
		},
		{
			ID: "window/resend/half-time", Level: Must, Source: sendMessage, Wait: W / 2,
			Text:  "The same order again after two and a half minutes: nothing new comes.",
			Want:  noResend,
			steps: resend(0, 0, func(ctx context.Context, b *Bench) error { return b.waitInside(ctx, 0, W/2) }),
		},
		{
			ID: "window/resend/inside-late", Level: Must, Source: sendMessage, Wait: W,
			Text:  "The same order again just before the five minutes are over: nothing new comes. On a virtual clock this is a nanosecond before the end, on a real one two seconds.",
			Want:  noResend,
			steps: resend(0, 0, func(ctx context.Context, b *Bench) error { return b.waitLatest(ctx, 0) }),
		},
		{
			ID: "window/resend/outside-soon", Level: Should, Source: recoveryGuide, Wait: W,
			Text:  "The same order again as soon as the five minutes are surely over: it is delivered again. AWS also writes of a minimum of five minutes, so later is allowed.",
			Want:  "one more copy, right after the window",
			steps: resend(1, 0, func(ctx context.Context, b *Bench) error { return b.waitOutside(ctx, 0, 0) }),
		},
		{
			ID: "window/resend/outside-late", Level: Must, Source: recordedWindow, Wait: W + mustPast,
			Text:  "The same order again a minute after the window: it is delivered again, for a late retry is a new message to SQS. This is what an idempotent consumer is for.",
			Want:  "one more copy, a minute after the window",
			steps: resend(1, mustPast, func(ctx context.Context, b *Bench) error { return b.waitOutside(ctx, 0, mustPast) }),
		},
		{
			ID: "window/anchor/reopens", Level: Must, Source: sendMessage, Wait: W + mustPast,
			Text:  "A resend that is delivered a minute after the window is a first send of its own: it opens the next window, and another resend right behind it is suppressed.",
			Want:  "one more copy a minute after the window, no copy of the resend behind it",
			steps: reopens,
		},
		{
			ID: "window/anchor/not-sliding", Level: Info, Source: unpublished, Wait: W + 30*time.Second,
			Text:  "A duplicate at half time, then a probe thirty seconds after the end of the first send's window. If duplicates extended the window, the probe would still be suppressed. AWS has published nothing on it; our reference keeps the window fixed.",
			Want:  "the duplicate does not extend the window: the probe is delivered",
			steps: notSliding,
		},
	}
}

// resend sends an order twice through producer and consumer. wait passes the time
// until the second, which is to become so many copies, past the window by past.
func resend(copies int, past time.Duration, wait func(context.Context, *Bench) error) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queueInUse(ctx, plain)
		if err != nil {
			return err
		}
		if err := q.claim(ctx, "the first send", 1, q.ordering(ctx, order)); err != nil {
			return err
		}
		if err := wait(ctx, b); err != nil {
			return err
		}
		return q.claimPast(ctx, past, "the resend", copies, q.ordering(ctx, order))
	}
}

func reopens(ctx context.Context, b *Bench) error {
	q, err := b.queueInUse(ctx, plain)
	if err != nil {
		return err
	}
	send := q.ordering(ctx, order)
	if err := q.claim(ctx, "the first send", 1, send); err != nil {
		return err
	}
	if err := b.waitOutside(ctx, 0, mustPast); err != nil {
		return err
	}
	if err := q.claimPast(ctx, mustPast, "the resend", 1, send); err != nil {
		return err
	}
	return q.claim(ctx, "the resend behind it", 0, send)
}

func notSliding(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const past = 30 * time.Second
	if err := q.claim(ctx, "the first send", 1, q.sending(ctx, "g", "id", order)); err != nil {
		return err
	}
	if err := b.waitInside(ctx, 0, W/2); err != nil {
		return err
	}
	if err := q.claim(ctx, "the duplicate", 0, q.sending(ctx, "g", "id", order)); err != nil {
		return err
	}
	if err := b.waitOutside(ctx, 0, past); err != nil {
		return err
	}
	return q.claimPast(ctx, past, "the probe", 1, q.sending(ctx, "g", "id", order))
}
