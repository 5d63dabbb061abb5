package conformance

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	recordedTooMany   = "recorded on AWS 2024-04-30 (LocalStack test_too_many_entries_in_batch_request)"
	recordedNoEntries = "recorded on AWS 2024-04-30 (LocalStack test_send_message_batch_with_empty_list)"
	recordedEntryID   = "recorded on AWS 2024-04-30 (LocalStack test_invalid_batch_id)"
	recordedOversized = "recorded on AWS 2025-08-19 (LocalStack test_send_message_batch_with_oversized_contents)"
	recordedEntrySize = "recorded on AWS 2024-04-30 (LocalStack test_send_batch_message_size)"
	recordedBigSum    = "recorded on AWS 2024-04-30 (LocalStack test_send_batch_message_size with an updated MaximumMessageSize)"
)

// heavy is far below every limit that a single message ever had, so that only the sum
// of ten is at fault: 1,050,000 bytes, and 1,048,576 are allowed.
var heavy = strings.Repeat("x", 105_000)

// smallLimit is a queue with the smallest limit for a message, 1,024 bytes.
var smallLimit = attributes{types.QueueAttributeNameMaximumMessageSize: "1024"}

func batchLimitCases() []Case {
	eleven := messagesOf(1, 11)
	var ten []message
	for _, m := range messagesOf(1, 10) {
		ten = append(ten, message{m.group, m.id, heavy})
	}
	return []Case{
		{
			ID: "batch/limit/too-many", Level: Must, Source: recordedTooMany,
			Text:     "A batch of eleven is refused as a whole, and none of it is sent.",
			Timeline: "0 s send a batch of eleven · fence",
			Want:     "refused with AWS.SimpleQueueService.TooManyEntriesInBatchRequest, no copy",
			steps:    refusedWhole("a batch of eleven", entriesOf(eleven), tooManyEntries),
		},
		{
			ID: "batch/limit/empty", Level: Must, Source: recordedNoEntries,
			Text:     "A batch without entries is refused: a producer that flushes an empty buffer hears of it.",
			Timeline: "0 s send an empty batch",
			Want:     "refused with AWS.SimpleQueueService.EmptyBatchRequest",
			steps:    refusedWhole("an empty batch", entriesOf(nil), emptyBatch),
		},
		{
			ID: "batch/limit/total-size", Level: Must, Source: recordedOversized,
			Text:     "Ten entries of 105,000 bytes are 1,050,000 together, and a batch may have 1,048,576: it is refused as a whole, and none of it is sent. Producers have to count bytes as well as entries.",
			Timeline: "0 s send a batch of 1,050,000 bytes · fence",
			Want:     "refused with AWS.SimpleQueueService.BatchRequestTooLong, no copy",
			steps:    refusedWhole("a batch of 1,050,000 bytes", entriesOf(ten), batchTooLong),
		},
		{
			ID: "batch/limit/entry-size", Level: Must, Source: recordedEntrySize,
			Text:     "On a queue with messages of 1,024 bytes at most, one entry of three is too long. The call succeeds, that entry alone is in the list of failures as the sender's fault, and the other two are delivered. Producers that read only the status lose it.",
			Timeline: "0 s send a batch of A, B too long, C · fence",
			Want:     "the second entry fails with InvalidParameterValue as the sender's fault; the others are delivered",
			steps:    oneTooLong,
		},
		{
			ID: "batch/limit/sum-above-queue-limit", Level: Must, Source: recordedBigSum,
			Text:     "The queue's own limit holds for each entry and not for their sum: three entries of 900 bytes pass on a queue with a limit of 1,024.",
			Timeline: "0 s send a batch of three times 900 bytes · fence",
			Want:     "three copies",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, smallLimit)
				if err != nil {
					return err
				}
				var batch []message
				for _, m := range messagesOf(1, 3) {
					batch = append(batch, message{m.group, m.id, strings.Repeat("x", 900)})
				}
				return q.claim(ctx, "three entries of 900 bytes", 3, q.batching(ctx, batch...))
			},
		},
		{
			ID: "batch/limit/refused-entry-then-valid", Level: Info, Source: unpublished,
			Text:     "An entry that was refused is sent again under its id, with a body that passes. AWS words the window as the time since a message was sent successfully, so it should be delivered; nobody has published it. A queue that registers refused ids loses what the producer mends.",
			Timeline: "0 s send a batch of A, B too long · send B with a short body · fence",
			Want:     "one copy of the mended entry",
			steps:    refusedEntryThenValid,
		},
		{
			ID: "batch/entry-id/repeated", Level: Must, Source: sendBatchAPI + ", BatchEntryIdsNotDistinct",
			Text:     "Two entries with one entry Id are refused as a whole, and none of it is sent: the answer could not tell them apart.",
			Timeline: "0 s send a batch of two with one entry Id · fence",
			Want:     "refused with AWS.SimpleQueueService.BatchEntryIdsNotDistinct, no copy",
			steps:    refusedWhole("two entries with one Id", namedEntries("one", "one"), entryIDsNotDistinct),
		},
		{
			ID: "batch/entry-id/empty", Level: Must, Source: recordedEntryID,
			Text:     "An entry with an empty Id is refused, and the whole batch with it.",
			Timeline: "0 s send a batch of two, one with an empty entry Id · fence",
			Want:     entryIDRefused,
			steps:    refusedWhole("an empty entry Id", namedEntries("one", ""), invalidEntryID),
		},
		{
			ID: "batch/entry-id/too-long", Level: Must, Source: sendBatchAPI + ", InvalidBatchEntryId",
			Text:     "An entry Id may have 80 characters. One of 81 is refused, and the whole batch with it.",
			Timeline: "0 s send a batch of two, one with an entry Id of 81 characters · fence",
			Want:     entryIDRefused,
			steps:    refusedWhole("an entry Id of 81 characters", namedEntries("one", strings.Repeat("x", 81)), invalidEntryID),
		},
		{
			ID: "batch/entry-id/invalid", Level: Must, Source: recordedEntryID,
			Text:     "An entry Id may have letters, digits, hyphens and underscores. One with a full stop and a slash is refused, and the whole batch with it: order numbers do not always make entry Ids.",
			Timeline: "0 s send a batch of two, one with the entry Id a.b/c · fence",
			Want:     entryIDRefused,
			steps:    refusedWhole("the entry Id a.b/c", namedEntries("one", "a.b/c"), invalidEntryID),
		},
		{
			ID: "batch/entry-id/longest", Level: Must, Source: sendBatchAPI,
			Text:     "An entry Id of 80 characters of every allowed kind is accepted, and the answer names the entry by it.",
			Timeline: "0 s send a batch of one with an entry Id of 80 characters · read the answer",
			Want:     "the entry is answered under its Id",
			steps:    longestEntryID,
		},
	}
}

// namedEntries are entries with these entry Ids.
func namedEntries(names ...string) []types.SendMessageBatchRequestEntry {
	entries := entriesOf(messagesOf(1, len(names)))
	for i, name := range names {
		entries[i].Id = aws.String(name)
	}
	return entries
}

// refusedWhole sends a batch that is to be refused with one of names, and looks
// whether any of it is sent all the same.
func refusedWhole(what string, entries []types.SendMessageBatchRequestEntry, names codes) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		err = b.refusalOf(what, names, func() error {
			_, err := q.putBatch(ctx, entries)
			return err
		})
		if err != nil || len(entries) == 0 {
			return err
		}
		return q.claim(ctx, "what is sent of it", 0)
	}
}

// tooLong is a body that a queue with the smallest limit refuses.
var tooLong = strings.Repeat("x", 2_000)

func oneTooLong(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, smallLimit)
	if err != nil {
		return err
	}
	batch := messagesOf(1, 3)
	batch[1].body = tooLong
	if err := q.failing(ctx, entriesOf(batch), 1, invalidParameter); err != nil {
		return err
	}
	return q.restDelivered(ctx, batch, 1)
}

// failing sends a batch whose i-th entry, from 0, is to fail alone with the first of
// codes, as the sender's fault.
func (q *queue) failing(ctx context.Context, entries []types.SendMessageBatchRequestEntry, i int, names codes) error {
	answer, err := q.putBatch(ctx, entries)
	if err := q.sent(err); err != nil {
		return err
	}
	b := q.bench
	want := aws.ToString(entries[i].Id) + " with " + names[0] + ", the sender's fault"
	if code := refused(err); code != "" {
		b.answer("what failed", want, "all, with "+code)
		return nil
	}
	var failed []string
	for _, e := range answer.Failed {
		failed = append(failed, aws.ToString(e.Id)+" with "+oneName(aws.ToString(e.Code), names)+
			whether(e.SenderFault, ", the sender's fault", ", not the sender's fault"))
	}
	slices.Sort(failed)
	b.answer("what failed", want, orNothing(strings.Join(failed, "; ")))
	return nil
}

func orNothing(text string) string { return whether(text != "", text, "nothing") }

// restDelivered settles a batch and notes whether all but the i-th entry are delivered,
// in order.
func (q *queue) restDelivered(ctx context.Context, batch []message, i int) error {
	if err := q.settleAll(ctx, "the rest of the batch"); err != nil {
		return err
	}
	q.inOrder("the other entries, delivered", bodiesOf(slices.Delete(slices.Clone(batch), i, i+1))...)
	return nil
}

func refusedEntryThenValid(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, smallLimit)
	if err != nil {
		return err
	}
	batch := messagesOf(1, 2)
	mended := batch[1]
	batch[1].body = tooLong
	if err := q.failing(ctx, entriesOf(batch), 1, invalidParameter); err != nil {
		return err
	}
	if err := q.settleAll(ctx, "the rest of the batch"); err != nil {
		return err
	}
	return q.claim(ctx, "the mended entry", 1, q.oneByOne(ctx, mended)...)
}

func longestEntryID(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	name := strings.Repeat("Az09-_", 14)[:80]
	answer, err := q.putBatch(ctx, namedEntries(name))
	if err := q.sent(err); err != nil {
		return err
	}
	seen := "refused with " + refused(err)
	if err == nil {
		seen = "under another Id"
		if len(answer.Successful) == 1 && aws.ToString(answer.Successful[0].Id) == name {
			seen = "under its Id"
		}
	}
	b.answer("the entry is answered", "under its Id", seen)
	return nil
}
