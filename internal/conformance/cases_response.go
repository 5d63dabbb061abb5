package conformance

import "context"

func responseCases() []Case {
	return []Case{
		{
			ID: "response/duplicate/message-id", Level: Info, Source: unpublished,
			Text: "What MessageId the answer to a duplicate carries. Our reference repeats the first one's, and the producer tells duplicates by it.",
			Want: "the answer to the duplicate repeats the first one's MessageId",
			steps: duplicateAnswer("the duplicate's MessageId", "the first one's", "another one",
				func(first, second Send) bool { return first.MessageID == second.MessageID }),
		},
		{
			ID: "response/duplicate/sequence-number", Level: Info, Source: unpublished,
			Text: "What SequenceNumber the answer to a duplicate carries. Our reference repeats the first one's.",
			Want: "the answer to the duplicate repeats the first one's SequenceNumber",
			steps: duplicateAnswer("the duplicate's SequenceNumber", "the first one's", "another one",
				func(first, second Send) bool { return first.Sequence == second.Sequence }),
		},
	}
}

// duplicateAnswer sends one message twice and compares the answers.
func duplicateAnswer(what, same, other string, equal func(first, second Send) bool) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		first, err := q.send(ctx, "g", "id", order)
		if err != nil {
			return err
		}
		second, err := q.send(ctx, "g", "id", order)
		if err != nil {
			return err
		}
		seen := other
		if equal(b.wire.send(first), b.wire.send(second)) {
			seen = same
		}
		b.answer(what, same, seen)
		return nil
	}
}
