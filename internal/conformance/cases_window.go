package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// mustPast is how far past the window a resend must be delivered. AWS's texts say
// "5-minute" in one place and "5-minute minimum" in another; a recorded run shows
// delivery 62 s after the end of the window.
const mustPast = 60 * time.Second

func windowCases() []Case {
	return slices.Concat(basicCases(), resendCases(), anchorCases(), lateCases(), memoryCases())
}

func basicCases() []Case {
	return []Case{
		{
			ID: "window/basic/ten-identical", Level: Must, Source: sendMessage,
			Text:     "The producer sends one order ten times, a call each. All ten are answered with success; the consumer gets one.",
			Timeline: "0 s send A ten times · fence",
			Want:     "one copy of ten sends",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queueInUse(ctx, plain)
				if err != nil {
					return err
				}
				return q.claim(ctx, "ten identical sends", 1, slices.Repeat([]func() error{q.ordering(ctx, order)}, 10)...)
			},
		},
		{
			ID: "window/basic/other-id", Level: Must, Source: providingID,
			Text:     "One body under three ids is three messages: the queue goes by the id and never by the content. Two orders that happen to read alike must both arrive, in the order in which they were sent.",
			Timeline: "0 s send A, B and C with one body · fence",
			Want:     "three copies, in order",
			steps:    otherID,
		},
		{
			ID: "window/basic/interleaved", Level: Must, Source: sendMessage,
			Text:     "Two ids in turn: A, B, A, B. A queue that remembers only the last id it saw lets both through twice.",
			Timeline: "0 s send A, B, A, B · fence",
			Want:     "two copies of four sends, in order",
			steps:    sequenceOf("A, B, A, B", "A", "B", "A", "B"),
		},
		{
			ID: "window/basic/place-kept", Level: Must, Source: sendMessage,
			Text:     "A, B and C wait in one group when A is sent again. The resend is accepted and changes nothing: A still comes first. A queue that puts the first copy behind the others breaks the order that its users pay for.",
			Timeline: "0 s send A, B, C, A · fence",
			Want:     "three copies of four sends, in order",
			steps:    sequenceOf("A, B, C, A", "A", "B", "C", "A"),
		},
		{
			ID: "window/basic/many-resends", Level: Must, Source: sendMessage,
			Text:     "One id is sent two hundred times more, by single calls and by batches of ten. A stuck retry loop does that. Every one of them is a duplicate: a queue that gives up after so many, or lets every so-and-so-many through, shows here.",
			Timeline: "0 s send A · A in 10 batches of ten · A in 100 single calls · fence",
			Want:     "one copy of 201 sends",
			steps:    manyResends,
		},
	}
}

func otherID(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	ids := []string{"one", "two", "three"}
	var sends []func() error
	for _, id := range ids {
		sends = append(sends, q.sending(ctx, "g", id, order))
	}
	if err := q.claim(ctx, "one body under three ids", len(ids), sends...); err != nil {
		return err
	}
	var got []string
	for _, d := range q.came(0) {
		got = append(got, d.ID)
	}
	b.answer("their order", strings.Join(ids, ", "), strings.Join(got, ", "))
	return nil
}

// sequenceOf sends ids one after the other into one group, each with a body of its own,
// and expects the first of each, in order.
func sequenceOf(what string, ids ...string) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		var sends []func() error
		var bodies []string
		for _, id := range ids {
			body := fmt.Sprintf(`{"order":%q}`, id)
			sends = append(sends, q.sending(ctx, "g", id, body))
			if !slices.Contains(bodies, body) {
				bodies = append(bodies, body)
			}
		}
		if err := q.claim(ctx, what, len(bodies), sends...); err != nil {
			return err
		}
		q.inOrder("their order", bodies...)
		return nil
	}
}

func manyResends(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	one := message{"g", "id", order}
	if err := q.claim(ctx, "the first send", 1, q.sending(ctx, one.group, one.id, one.body)); err != nil {
		return err
	}
	sends := slices.Repeat([]func() error{q.batching(ctx, slices.Repeat([]message{one}, 10)...)}, 10)
	sends = append(sends, slices.Repeat([]func() error{q.sending(ctx, one.group, one.id, one.body)}, 100)...)
	return q.claim(ctx, "two hundred resends", 0, sends...)
}

func resendCases() []Case {
	return []Case{
		{
			ID: "window/resend/at-once", Level: Must, Source: sendMessage,
			Text:     "The same order again, as soon as the first has been received and deleted: nothing new comes.",
			Timeline: "0 s send A, receive and delete it · send A again · fence",
			Want:     noResend,
			steps:    resend(0, 0, func(context.Context, *Bench) error { return nil }),
		},
		{
			ID: "window/resend/half-time", Level: Must, Source: sendMessage, Wait: W / 2,
			Text:     "The same order again after two and a half minutes: nothing new comes.",
			Timeline: "0 s send A, receive and delete it · 150 s send A again · fence",
			Want:     noResend,
			steps:    resend(0, 0, func(ctx context.Context, b *Bench) error { return b.waitInside(ctx, 0, W/2) }),
		},
		{
			ID: "window/resend/inside-late", Level: Must, Source: sendMessage, Wait: W,
			Text:     "The same order again just before the five minutes are over: nothing new comes. On a virtual clock this is a nanosecond before the end, on a real one two seconds.",
			Timeline: "0 s send A, receive and delete it · just before 300 s send A again · fence",
			Want:     noResend,
			steps:    resend(0, 0, func(ctx context.Context, b *Bench) error { return b.waitLatest(ctx, 0) }),
		},
		{
			ID: "window/resend/outside-soon", Level: Should, Source: recoveryGuide, Wait: W,
			Text:     "The same order again as soon as the five minutes are surely over: it is delivered again. AWS also writes of a minimum of five minutes, so later is allowed.",
			Timeline: "0 s send A, receive and delete it · 300 s send A again · fence",
			Want:     "one more copy, right after the window",
			steps:    resend(1, 0, func(ctx context.Context, b *Bench) error { return b.waitOutside(ctx, 0, 0) }),
		},
		{
			ID: "window/resend/outside-mid-minute", Level: Should, Source: recoveryGuide, Wait: W + midMinute,
			Text:     "The same with a first send that is not on the minute: an endpoint that forgets ids once a minute keeps this one longer than it should, and a suite whose sends fall on the minute never sees it.",
			Timeline: "17 s send A, receive and delete it · 317 s send A again · fence",
			Want:     "one more copy, right after the window",
			steps: func(ctx context.Context, b *Bench) error {
				if err := b.pass(ctx, midMinute); err != nil {
					return err
				}
				return resend(1, 0, func(ctx context.Context, b *Bench) error { return b.waitOutside(ctx, 0, 0) })(ctx, b)
			},
		},
		{
			ID: "window/resend/outside-late", Level: Must, Source: recordedWindow, Wait: W + mustPast,
			Text:     "The same order again a minute after the window: it is delivered again, for a late retry is a new message to SQS. This is what an idempotent consumer is for.",
			Timeline: "0 s send A, receive and delete it · 360 s send A again · fence",
			Want:     "one more copy, a minute after the window",
			steps:    resend(1, mustPast, func(ctx context.Context, b *Bench) error { return b.waitOutside(ctx, 0, mustPast) }),
		},
	}
}

// midMinute is how far off the minute a send is.
const midMinute = 17 * time.Second

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
