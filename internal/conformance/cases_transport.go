package conformance

import (
	"context"
	"errors"
	"fmt"
)

func transportCases() []Case {
	return []Case{
		{
			ID: "transport/lost-reply/retried", Level: Must, Source: recoveryGuide,
			Text: "The endpoint accepts a send, the reply is lost, and the client sends again with the same id. This is the case that deduplication was made for.",
			Want: "one copy of both attempts",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				return q.claim(ctx, "a send without a reply and its retry", 1, func() error {
					b.wire.loseNext()
					if _, err := q.send(ctx, "g", "id", order); !errors.Is(err, errReplyLost) {
						return errors.Join(fmt.Errorf("%w: the reply was not lost", errPremise), err)
					}
					_, err := q.send(ctx, "g", "id", order)
					return err
				})
			},
		},
		{
			ID: "transport/lost-reply/producer", Level: Must, Source: recoveryGuide,
			Text: "The same through the producer, which keeps one id over all attempts: the reply to its batch is lost, it tries again, and the consumer gets one.",
			Want: "one copy",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queueInUse(ctx, plain)
				if err != nil {
					return err
				}
				b.wire.loseNext()
				return q.claim(ctx, "an order whose first reply was lost", 1, q.ordering(ctx, order))
			},
		},
	}
}
