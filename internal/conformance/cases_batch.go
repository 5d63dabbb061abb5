package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const sendBatchAPI = "SQS API reference, SendMessageBatch"

func batchCases() []Case {
	return slices.Concat(entriesCases(), batchAgainCases(), batchLimitCases(), entryCases())
}

func entriesCases() []Case {
	return []Case{
		{
			ID: "batch/entries/same-id", Level: Info, Source: unpublished,
			Text:     "Two entries of one batch carry one id. Our reference answers success to both and delivers the first.",
			Timeline: "0 s send a batch of A and A · fence",
			Want:     "one copy of the two entries",
			steps:    inBatches("two entries with one id", 1, []message{{"g", "id", order}, {"g", "id", order}}),
		},
		{
			ID: "batch/entries/after-single", Level: Must, Source: sendMessage,
			Text:     "A single send, then a batch that holds the same id and a fresh one: the window knows no difference between the two calls.",
			Timeline: "0 s send A · fence · send a batch of A and B · fence",
			Want:     "one copy of the single send, one of the fresh entry",
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
		{
			ID: "batch/entries/before-single", Level: Must, Source: sendMessage,
			Text:     "The other way round: what a batch has sent is known to single sends. Clients that fall back to single sends after a failed batch count on it.",
			Timeline: "0 s send a batch of A and B · fence · send B · fence",
			Want:     "two copies of the batch, no copy of the single send",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.claim(ctx, "the batch", 2, q.batching(ctx, messagesOf(1, 2)...)); err != nil {
					return err
				}
				return q.claim(ctx, "one of it alone", 0, q.oneByOne(ctx, messagesOf(2, 2)...)...)
			},
		},
		{
			ID: "batch/entries/across-batches", Level: Must, Source: sendMessage,
			Text:     "Two batches that overlap, as they do where a producer packs what was not acknowledged anew. Only what is new in the second is delivered, and all entries are answered with success.",
			Timeline: "0 s send a batch of A, B, C · fence · send a batch of B, C, D · fence",
			Want:     "three copies of the first batch, one of the second",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.claim(ctx, "the first batch", 3, q.batching(ctx, messagesOf(1, 3)...)); err != nil {
					return err
				}
				if err := q.claim(ctx, "the second batch", 1, q.batching(ctx, messagesOf(2, 4)...)); err != nil {
					return err
				}
				q.inOrder("their order", bodiesOf(messagesOf(1, 4))...)
				return nil
			},
		},
		{
			ID: "batch/entries/order", Level: Must, Source: sendBatchAPI,
			Text:     "Ten entries of one group are enqueued in the order in which they stand in the batch, and received so.",
			Timeline: "0 s send a batch of ten · fence",
			Want:     "ten copies, in order",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				entries := messagesOf(1, 10)
				if err := q.claim(ctx, "ten entries of one group", len(entries), q.batching(ctx, entries...)); err != nil {
					return err
				}
				q.inOrder("their order", bodiesOf(entries)...)
				return nil
			},
		},
		{
			ID: "batch/entries/five-twice", Level: Info, Source: unpublished,
			Text:     "One batch with five ids, each twice, in turn. Where a queue checks a batch only against what came before it, all ten are delivered. Our reference delivers the first of each.",
			Timeline: "0 s send a batch of A to E and A to E again · fence",
			Want:     "five copies of ten entries",
			steps:    inBatches("five ids, each twice", 5, append(messagesOf(1, 5), messagesOf(1, 5)...)),
		},
		{
			ID: "batch/entries/same-id-answers", Level: Info, Source: unpublished,
			Text:     "How two entries of one batch with one id and two bodies are answered. Our reference answers success to both, with one MessageId and one SequenceNumber, and each with the MD5 of its own body, so that no client takes its own for damaged.",
			Timeline: "0 s send a batch of A with one body, A with another · read the answer",
			Want:     "success, one MessageId, one SequenceNumber, each its own body's MD5",
			steps:    sameIDAnswers,
		},
	}
}

func batchAgainCases() []Case {
	return againCases("batch/entries", "send a batch of three", "What a batch sent is remembered as long as a single send.", "", again{
		made: plain, copies: 3,
		sends: func(ctx context.Context, q *queue) []func() error {
			return []func() error{q.batching(ctx, messagesOf(1, 3)...)}
		},
	})
}

// messagesOf are messages of one group, from the first to the last, each with an id and a
// body of its own.
func messagesOf(first, last int) []message {
	var out []message
	for i := first; i <= last; i++ {
		out = append(out, message{"g", fmt.Sprintf("id-%d", i), fmt.Sprintf(`{"n":%d}`, i)})
	}
	return out
}

func bodiesOf(messages []message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.body)
	}
	return out
}

// inBatches sends batches to a queue.
func inBatches(what string, copies int, batches ...[]message) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		var sends []func() error
		for _, batch := range batches {
			sends = append(sends, q.batching(ctx, batch...))
		}
		return q.claim(ctx, what, copies, sends...)
	}
}

func sameIDAnswers(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const other = `{"event":"another body"}`
	answer, err := q.sendBatch(ctx, message{"g", "id", order}, message{"g", "id", other})
	if err != nil {
		return err
	}
	entries := map[string]types.SendMessageBatchResultEntry{}
	if answer != nil {
		for _, e := range answer.Successful {
			entries[aws.ToString(e.Id)] = e
		}
	}
	b.answer("entries answered with success", "2", strconv.Itoa(len(entries)))
	same := func(what string, of func(types.SendMessageBatchResultEntry) *string) {
		equal := aws.ToString(of(entries["0"])) == aws.ToString(of(entries["1"]))
		b.answer(what, "one", whether(equal, "one", "two"))
	}
	same("their MessageIds", func(e types.SendMessageBatchResultEntry) *string { return e.MessageId })
	same("their SequenceNumbers", func(e types.SendMessageBatchResultEntry) *string { return e.SequenceNumber })
	own := aws.ToString(entries["0"].MD5OfMessageBody) == md5Of(order) && aws.ToString(entries["1"].MD5OfMessageBody) == md5Of(other)
	b.answer("their MD5s", "of their own bodies", whether(own, "of their own bodies", "not of their own bodies"))
	return nil
}

// entry is the n-th entry of a batch, without an id where that is "".
func entry(n int, m message) types.SendMessageBatchRequestEntry {
	one := letter(m)
	return types.SendMessageBatchRequestEntry{
		Id: aws.String(fmt.Sprintf("entry-%d", n)), MessageBody: one.MessageBody,
		MessageGroupId: one.MessageGroupId, MessageDeduplicationId: one.MessageDeduplicationId,
	}
}

// entriesOf are the entries of a batch.
func entriesOf(messages []message) []types.SendMessageBatchRequestEntry {
	out := []types.SendMessageBatchRequestEntry{} // null would not pass the SDK's own checks
	for i, m := range messages {
		out = append(out, entry(i+1, m))
	}
	return out
}

// putBatch sends a batch as it is given. A refusal of all of it is an error.
func (q *queue) putBatch(ctx context.Context, entries []types.SendMessageBatchRequestEntry) (*sqs.SendMessageBatchOutput, error) {
	for _, e := range entries {
		q.uses(aws.ToString(e.MessageGroupId))
	}
	return q.bench.client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &q.url, Entries: entries})
}
