package conformance

import (
	"context"
	"fmt"
)

func lifecycleCases() []Case {
	return []Case{
		{
			ID: "lifecycle/resend/after-delete", Level: Must, Source: recordedDelete,
			Text: "A message is received and deleted, then its id is sent again: nothing comes, for the window does not end with the message.",
			Want: noResend,
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.claim(ctx, "the first send, received and deleted", 1, q.sending(ctx, "g", "id", order)); err != nil {
					return err
				}
				return q.claim(ctx, "the resend", 0, q.sending(ctx, "g", "id", order))
			},
		},
		{
			ID: "lifecycle/resend/while-in-flight", Level: Must, Source: exactlyOnce,
			Text:  "A message is received and still held when its id is sent again. Once the held one is deleted, a fence comes and no copy.",
			Want:  "one copy of both sends",
			steps: whileInFlight,
		},
	}
}

func whileInFlight(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	return q.claim(ctx, "two sends, the second while the first was in flight", 1, func() error {
		if _, err := q.send(ctx, "g", "id", order); err != nil {
			return err
		}
		for range fencePolls {
			held, err := q.receive(ctx)
			if err != nil {
				return err
			}
			if len(held) == 0 {
				continue
			}
			if _, err := q.send(ctx, "g", "id", order); err != nil {
				return err
			}
			return q.remove(ctx, held)
		}
		return fmt.Errorf("%w: the first send was not received", errPremise)
	})
}
