package conformance

import "context"

func batchCases() []Case {
	return []Case{
		{
			ID: "batch/entries/same-id", Level: Info, Source: unpublished,
			Text: "Two entries of one batch carry one id. Our reference answers success to both and delivers the first.",
			Want: "one copy of the two entries",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				return q.claim(ctx, "two entries with one id", 1,
					q.batching(ctx, message{"g", "id", order}, message{"g", "id", order}))
			},
		},
		{
			ID: "batch/entries/after-single", Level: Must, Source: sendMessage,
			Text: "A single send, then a batch that holds the same id and a fresh one: the window knows no difference between the two calls.",
			Want: "one copy of the single send, one of the fresh entry",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.claim(ctx, "the single send", 1, q.sending(ctx, "g", "id", order)); err != nil {
					return err
				}
				return q.claim(ctx, "the batch with it and a fresh one", 1,
					q.batching(ctx, message{"g", "id", order}, message{"g", "fresh", order}))
			},
		},
	}
}
