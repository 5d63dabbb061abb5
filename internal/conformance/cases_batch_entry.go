package conformance

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const recordedNoID = "recorded on AWS 2024-04-30 (LocalStack test_send_batch_missing_deduplication_id_for_fifo_queue)"

func entryCases() []Case {
	return []Case{
		{
			ID: "batch/entry/no-id", Level: Must, Source: recordedNoID,
			Text:     "One entry of three has no id, and the queue makes none. It must be refused, alone or with its batch, and must not be delivered: a message without an id would have no protection at all.",
			Timeline: "0 s send a batch of A, B without an id, C · fence",
			Want:     "the entry is refused with InvalidParameterValue and not delivered",
			steps:    withoutID,
		},
		{
			ID: "batch/entry/no-id-whole", Level: Should, Source: recordedNoID,
			Text:     "One entry of three has no id, and the queue makes none: recorded on AWS, the whole batch is refused and nothing of it is sent. AWS's reference says that each entry is answered by itself, so an endpoint that refuses the one entry breaks no promise.",
			Timeline: "0 s send a batch of A, B without an id, C · fence",
			Want:     wholeRefused,
			steps:    refusedWhole("a batch with an entry without an id", faultyEntry(func(e *types.SendMessageBatchRequestEntry) { e.MessageDeduplicationId = nil }), invalidParameter),
		},
		{
			ID: "batch/entry/no-group", Level: Info, Source: unpublished,
			Text:     "One entry of three has no message group. A run recorded on AWS in 2024 shows the whole batch refused, and with another code than a single send; another suite expects the entry to be refused alone. Our reference follows the recorded run.",
			Timeline: "0 s send a batch of A, B without a group, C · fence",
			Want:     wholeRefused,
			steps:    refusedWhole("a batch with an entry without a group", faultyEntry(func(e *types.SendMessageBatchRequestEntry) { e.MessageGroupId = nil }), invalidParameter),
		},
		{
			ID: "batch/entry/bad-id", Level: Info, Source: unpublished,
			Text:     "The id of one entry of three has a space, which ids must not have. Whether the batch is refused or the entry alone is not published; our reference refuses the batch.",
			Timeline: "0 s send a batch of A, B with a space in its id, C · fence",
			Want:     wholeRefused,
			steps:    refusedWhole("a batch with a space in an id", faultyEntry(func(e *types.SendMessageBatchRequestEntry) { e.MessageDeduplicationId = aws.String("i d") }), invalidParameter),
		},
		{
			ID: "batch/entry/delay", Level: Should, Source: sendBatchAPI + ", DelaySeconds, and a real answer quoted in aws-sdk-js issue 3187",
			Text:     "One entry of three asks for a delay of its own, which FIFO queues do not have. That entry fails alone as the sender's fault, and the others are delivered.",
			Timeline: "0 s send a batch of A, B with a delay of 5 s, C · fence",
			Want:     "the second entry fails with InvalidParameterValue as the sender's fault; the others are delivered",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				delayed := faultyEntry(func(e *types.SendMessageBatchRequestEntry) { e.DelaySeconds = 5 })
				if err := q.failing(ctx, delayed, 1, invalidParameter); err != nil {
					return err
				}
				return q.restDelivered(ctx, messagesOf(1, 3), 1)
			},
		},
		{
			ID: "batch/partial/rest-delivered", Level: Must, Source: recordedEntrySize,
			Text:     "A batch with refused entries is still sent in its good ones, and their ids are registered: when the producer sends the whole batch again, nothing of it is delivered twice.",
			Timeline: "0 s send a batch of A, B too long, C · fence · the same again · fence",
			Want:     "the first and the third entry delivered, once",
			steps:    partialTwice,
		},
	}
}

// faultyEntry are three entries of which the second is spoiled.
func faultyEntry(spoil func(*types.SendMessageBatchRequestEntry)) []types.SendMessageBatchRequestEntry {
	entries := entriesOf(messagesOf(1, 3))
	spoil(&entries[1])
	return entries
}

func withoutID(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	batch := messagesOf(1, 3)
	missing := digestOf(batch[1].body)
	batch[1].id = ""
	answer, err := q.putBatch(ctx, entriesOf(batch))
	if err := q.sent(err); err != nil {
		return err
	}
	code := accepted
	switch {
	case err != nil:
		code = refused(err)
	default:
		for _, e := range answer.Failed {
			if aws.ToString(e.Id) == "entry-2" {
				code = aws.ToString(e.Code)
			}
		}
	}
	b.answer("an entry without an id", invalidParameter[0], oneName(code, invalidParameter))
	return q.settled(ctx, Claim{What: "copies of it", Digest: missing})
}

func partialTwice(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, smallLimit)
	if err != nil {
		return err
	}
	batch := messagesOf(1, 3)
	batch[1].body = tooLong
	put := func(what string) error {
		answer, err := q.putBatch(ctx, entriesOf(batch))
		if err := q.sent(err); err != nil {
			return err
		}
		var done []string
		if answer != nil {
			for _, e := range answer.Successful {
				done = append(done, aws.ToString(e.Id))
			}
		}
		slices.Sort(done)
		b.answer(what+", answered with success", "entry-1, entry-3", orNothing(strings.Join(done, ", ")))
		return nil
	}
	if err := put("the batch"); err != nil {
		return err
	}
	if err := q.restDelivered(ctx, batch, 1); err != nil {
		return err
	}
	if err := put("the batch again"); err != nil {
		return err
	}
	return q.claim(ctx, "what is sent of the batch again", 0)
}
