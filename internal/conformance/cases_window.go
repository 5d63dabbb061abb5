package conformance

import (
	"context"
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
				return q.claim(ctx, "ten identical sends", 1, insideItself, func() error {
					for range 10 {
						if err := q.users.send(ctx, order); err != nil {
							return err
						}
					}
					return nil
				})
			},
		},
		resend("window/resend/at-once", Must, sendMessage, 0,
			"The same order again, as soon as the first has been received and deleted: nothing new comes.",
			"no copy of the resend",
			func(ctx context.Context, b *Bench, first int) (timing, int, error) {
				return inside(first), 0, nil
			}),
		resend("window/resend/half-time", Must, sendMessage, W/2,
			"The same order again after two and a half minutes: nothing new comes.",
			"no copy of the resend",
			func(ctx context.Context, b *Bench, first int) (timing, int, error) {
				return inside(first), 0, b.waitInside(ctx, first, W/2)
			}),
		resend("window/resend/inside-late", Must, sendMessage, W,
			"The same order again just before the five minutes are over: nothing new comes. On a virtual clock this is a nanosecond before the end, on a real one two seconds.",
			"no copy of the resend",
			func(ctx context.Context, b *Bench, first int) (timing, int, error) {
				return inside(first), 0, b.waitLatest(ctx, first)
			}),
		resend("window/resend/outside-soon", Should, recoveryGuide, W,
			"The same order again as soon as the five minutes are surely over: it is delivered again. AWS also writes of a minimum of five minutes, so later is allowed.",
			"one more copy, right after the window",
			func(ctx context.Context, b *Bench, first int) (timing, int, error) {
				return outside(first, 0), 1, b.waitOutside(ctx, first, 0)
			}),
		resend("window/resend/outside-late", Must, recordedWindow, W+mustPast,
			"The same order again a minute after the window: it is delivered again, for a late retry is a new message to SQS. This is what an idempotent consumer is for.",
			"one more copy, a minute after the window",
			func(ctx context.Context, b *Bench, first int) (timing, int, error) {
				return outside(first, mustPast), 1, b.waitOutside(ctx, first, mustPast)
			}),
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

// resend is a case of two equal sends through producer and consumer. approach
// waits for the moment of the second and says how it is to be judged.
func resend(id string, level Level, source string, wait time.Duration, text, want string,
	approach func(ctx context.Context, b *Bench, first int) (t timing, copies int, err error),
) Case {
	return Case{
		ID: id, Level: level, Source: source, Wait: wait, Text: text, Want: want,
		steps: func(ctx context.Context, b *Bench) error {
			q, err := b.queueInUse(ctx, plain)
			if err != nil {
				return err
			}
			if err := q.claim(ctx, "the first send", 1, timeless, func() error { return q.users.send(ctx, order) }); err != nil {
				return err
			}
			t, copies, err := approach(ctx, b, 0)
			if err != nil {
				return err
			}
			return q.claim(ctx, "the resend", copies, t, func() error { return q.users.send(ctx, order) })
		},
	}
}

func reopens(ctx context.Context, b *Bench) error {
	q, err := b.queueInUse(ctx, plain)
	if err != nil {
		return err
	}
	send := func() error { return q.users.send(ctx, order) }
	if err := q.claim(ctx, "the first send", 1, timeless, send); err != nil {
		return err
	}
	if err := b.waitOutside(ctx, 0, mustPast); err != nil {
		return err
	}
	second := len(b.evidence.Sends)
	if err := q.claim(ctx, "the resend", 1, outside(0, mustPast), send); err != nil {
		return err
	}
	return q.claim(ctx, "the resend behind it", 0, inside(second), send)
}

func notSliding(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const past = 30 * time.Second
	if err := q.claim(ctx, "the first send", 1, timeless, q.sending(ctx, "g", "id", order)); err != nil {
		return err
	}
	if err := b.waitInside(ctx, 0, W/2); err != nil {
		return err
	}
	if err := q.claim(ctx, "the duplicate", 0, inside(0), q.sending(ctx, "g", "id", order)); err != nil {
		return err
	}
	if err := b.waitOutside(ctx, 0, past); err != nil {
		return err
	}
	return q.claim(ctx, "the probe", 1, outside(0, past), q.sending(ctx, "g", "id", order))
}
