package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

func receiveCases() []Case {
	return slices.Concat(receiveOrderCases(), receiveGroupCases(), receiveMessageCases(), receiveHandleCases())
}

func receiveOrderCases() []Case {
	return []Case{
		{
			ID: "receive/order/in-group", Level: Must, Source: fifoLogic,
			Timeline: "0 s send five messages · fence",
			Text:     "Five messages of one group are received in the order in which they were sent. Every proof of absence in this suite rests on it.",
			Want:     "five copies, in order",
			steps:    inOrder,
		},
		{
			ID: "receive/group/unlocked-by-delete", Level: Must, Source: fifoLogic,
			Text:     "Two messages of one group. The first is received and deleted, and then the second comes. Every proof of absence in this suite rests on it: a group that stays locked hides everything.",
			Timeline: "0 s send A, send B · receive A · delete A · receive B",
			Want:     "the second message, once the first is deleted",
			steps:    undoubted(unlockedByDelete),
		},
		{
			ID: "receive/control/one-body-two-ids", Level: Must, Source: providingID,
			Timeline: "0 s send A under id 1 · send A under id 2 · fence",
			Text:     "The suite's own control: one body under two ids, without the producer's attributes, must be two deliveries and, for the consumer, one effect. It shows that a consumer which hides duplicates does not make the suite blind.",
			Want:     "two copies, one effect",
			steps:    oneBodyTwoIDs,
		},
	}
}

func unlockedByDelete(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	for _, id := range []string{"id-1", "id-2"} {
		if _, err := q.send(ctx, "g", id, order); err != nil {
			return err
		}
	}
	for i := range 2 {
		got, err := q.await(ctx, 1, atMost(1))
		switch {
		case errors.Is(err, errPremise) && i == 1:
			b.answer("the second message, once the first is deleted", "received", "not received")
			return nil
		case err != nil:
			return err
		}
		if err := q.remove(ctx, got); err != nil {
			return err
		}
	}
	b.answer("the second message, once the first is deleted", "received", "received")
	return nil
}

func inOrder(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const messages = 5
	var want []string
	var sends []func() error
	for i := range messages {
		body := fmt.Sprintf(`{"n":%d}`, i)
		want = append(want, digestOf(body))
		sends = append(sends, q.sending(ctx, "g", fmt.Sprintf("id-%d", i), body))
	}
	if err := q.claim(ctx, "five messages of one group", messages, sends...); err != nil {
		return err
	}
	seen, next := "as sent", 0
	for _, d := range b.wire.seen(q.url) {
		if d.Fence {
			continue
		}
		if next == len(want) || d.BodyDigest != want[next] {
			seen = "another one"
			break
		}
		next++
	}
	b.answer("their order", "as sent", seen)
	return nil
}

func oneBodyTwoIDs(ctx context.Context, b *Bench) error {
	q, err := b.queueInUse(ctx, plain)
	if err != nil {
		return err
	}
	seen, leave := b.witness()
	defer leave()
	err = q.claim(ctx, "one body under two ids", 2, q.sending(ctx, orders, "id-1", order), q.sending(ctx, orders, "id-2", order))
	if err != nil {
		return err
	}
	if seen.doubtful() {
		return premise("a call may have been carried out unheard, so that the effects cannot be counted")
	}
	return q.oneEffect(ctx)
}
