package conformance

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// soonPast is how far past the window a probe of something unpublished comes: late
// enough for an endpoint whose window is a little longer than five minutes to be told
// from one whose window began later.
const soonPast = 30 * time.Second

func anchorCases() []Case {
	return []Case{
		{
			ID: "window/anchor/reopens", Level: Must, Source: sendMessage, Wait: W + mustPast,
			Text:     "A resend that is delivered a minute after the window is a first send of its own: it opens the next window, and another resend right behind it is suppressed.",
			Timeline: "0 s send A · 360 s send A · fence · send A again · fence",
			Want:     "one more copy a minute after the window, no copy of the resend behind it",
			steps:    reopens,
		},
		{
			ID: "window/anchor/unreceived", Level: Must, Source: recordedWindow, Wait: W + mustPast,
			Text:     "Nobody receives the first message before its window ends, and then its id is sent again with another body. The queue now holds two live messages with one id, and both come, in order. Consumers that take the id for unique lose the second.",
			Timeline: "0 s send A, leave it in the queue · 360 s send A with another body · receive both",
			Want:     "two copies, in order",
			steps:    unreceived,
		},
		{
			ID: "window/anchor/not-sliding", Level: Info, Source: unpublished, Wait: W + soonPast,
			Text:     "A duplicate at half time, then a probe thirty seconds after the end of the first send's window. If duplicates extended the window, the probe would still be suppressed. AWS has published nothing on it; our reference keeps the window fixed.",
			Timeline: "0 s send A · 150 s send A · 330 s send A · fence",
			Want:     "the duplicate does not extend the window: the probe is delivered",
			steps:    notSliding,
		},
		{
			ID: "window/anchor/late-receive", Level: Info, Source: unpublished, Wait: W + soonPast,
			Text:     "The first message waits 200 seconds for its consumer, and the id is sent again thirty seconds after five minutes from the send. Where the window began with the receive or the delete, the probe would still be suppressed. AWS words it as the time since the send; nobody has published a measurement. A slow consumer must not change what its producer may count on.",
			Timeline: "0 s send A · 200 s receive and delete A · 330 s send A · fence",
			Want:     "the window begins with the send: the probe is delivered",
			steps:    lateReceive,
		},
		{
			ID: "window/anchor/delayed", Level: Info, Source: unpublished, Wait: W + soonPast,
			Text:     "On a queue with a delay of a minute, the id is sent again thirty seconds after five minutes from the first send. Where the window began when the message became visible, the probe would still be suppressed.",
			Timeline: "0 s send A, delayed by 60 s · 65 s receive and delete A, end the delay · 330 s send A · fence",
			Want:     "the window begins with the send: both are delivered",
			steps:    anchorDelayed,
		},
		{
			ID: "window/anchor/sliding-control", Level: Info, Source: unpublished, Wait: 240*time.Second + W + soonPast,
			Text:     "The control of the sliding window: on one queue an id is sent once and again after 330 seconds, on another also after 120 and 240 seconds, with the probe thirty seconds after five minutes from the last duplicate. A queue that fails the first has a longer window and not a sliding one; one that passes this case and fails window/anchor/not-sliding has a window that slides.",
			Timeline: "queue 1: 0 s send A · 330 s send A · fence; queue 2: 0 s send A · 120 s send A · 240 s send A · 570 s send A · fence",
			Want:     "both probes are delivered",
			steps:    slidingControl,
		},
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

func unreceived(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const later = `{"event":"order.paid","attempt":2}`
	err = q.claimPast(ctx, mustPast, "the first send, still in the queue, and the resend", 2,
		q.sending(ctx, "g", "id", order),
		func() error { return b.waitOutside(ctx, 0, mustPast) },
		q.sending(ctx, "g", "id", later))
	if err != nil {
		return err
	}
	q.inOrder("their order", order, later)
	return nil
}

func notSliding(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	send := q.sending(ctx, "g", "id", order)
	if err := q.claim(ctx, "the first send", 1, send); err != nil {
		return err
	}
	if err := b.waitInside(ctx, 0, W/2); err != nil {
		return err
	}
	if err := q.claim(ctx, "the duplicate", 0, send); err != nil {
		return err
	}
	return q.probe(ctx, 0, send)
}

// probe sends an id again, soonPast after the window of the send opening.
func (q *queue) probe(ctx context.Context, opening int, send func() error) error {
	if err := q.bench.waitOutside(ctx, opening, soonPast); err != nil {
		return err
	}
	return q.claimPast(ctx, soonPast, "the probe", 1, send)
}

func lateReceive(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	send := q.sending(ctx, "g", "id", order)
	err = q.claim(ctx, "the first send, received after 200 s", 1, send,
		func() error { return b.waitInside(ctx, 0, 200*time.Second) })
	if err != nil {
		return err
	}
	return q.probe(ctx, 0, send)
}

// anchorDelayed ends the queue's delay once the first message has come, or it would
// hold back the fence.
func anchorDelayed(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, attributes{types.QueueAttributeNameDelaySeconds: "60"})
	if err != nil {
		return err
	}
	send := q.sending(ctx, "g", "id", order)
	return q.claimPast(ctx, soonPast, "the delayed first send and the probe", 2, send,
		func() error { return b.waitInside(ctx, 0, 65*time.Second) },
		func() error { return q.take(ctx) },
		func() error { return q.set(ctx, attributes{types.QueueAttributeNameDelaySeconds: "0"}) },
		func() error { return b.waitOutside(ctx, 0, soonPast) },
		send)
}

// take receives what there is, one message at least, and deletes it.
func (q *queue) take(ctx context.Context) error {
	got, err := q.await(ctx, 1)
	if err != nil {
		return err
	}
	return q.remove(ctx, got)
}

func slidingControl(ctx context.Context, b *Bench) error {
	once, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	often, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	repeat := often.sending(ctx, "g", "id", order)
	opening := b.wire.sends()
	if err := once.claim(ctx, "the only send", 1, once.sending(ctx, "g", "id", order)); err != nil {
		return err
	}
	first := b.wire.sends()
	if err := often.claim(ctx, "the first send", 1, repeat); err != nil {
		return err
	}
	last := first
	for _, gap := range []time.Duration{120 * time.Second, 240 * time.Second} {
		if err := b.waitInside(ctx, first, gap); err != nil {
			return err
		}
		last = b.wire.sends()
		if err := often.claim(ctx, "a duplicate after "+secondsText(gap), 0, repeat); err != nil {
			return err
		}
	}
	if err := once.probe(ctx, opening, once.sending(ctx, "g", "id", order)); err != nil {
		return err
	}
	return often.probe(ctx, last, repeat)
}
