package conformance

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func hashCases() []Case {
	return []Case{
		{
			ID: "content/hash/equivalence", Level: Must, Source: sendMessage,
			Text:     "On a queue with content-based deduplication, a canonical body is sent without an id, then once more with the hash that the producer makes for it. AWS's own id is the SHA-256 of the body, so the two ids are one.",
			Timeline: "0 s send the body without an id · fence · send it with its SHA-256 as id · fence",
			Want:     "no copy of the send with the explicit hash",
			steps:    hashTwice(false),
		},
		{
			ID: "content/hash/explicit-first", Level: Info, Source: unpublished,
			Text:     "The same the other way round: first with the hash as an explicit id, then without one. AWS documents the first order only. Our reference knows no difference between an id that was given and one that it made.",
			Timeline: "0 s send the body with its SHA-256 as id · fence · send it without an id · fence",
			Want:     "no copy of the send without an id",
			steps:    hashTwice(true),
		},
		{
			ID: "content/hash/explicit-wins", Level: Must, Source: sendMessage,
			Text:     "On a queue with content-based deduplication, one body is sent under two explicit ids: the ids win over the content, and both are delivered.",
			Timeline: "0 s send one body as one and as two · fence",
			Want:     twoCopies,
			steps: onQueue(contentBased, "one body under two ids", 2,
				message{"g", "one", order}, message{"g", "two", order}),
		},
		{
			ID: "content/hash/same-body", Level: Must, Source: sendMessage,
			Text:     "On a queue with content-based deduplication, one body is sent twice without an id. The queue makes the id from the body, so the second is a duplicate: two customers who order the same thing in one window are one to it.",
			Timeline: "0 s send a body twice without an id · fence",
			Want:     oneOfTwo,
			steps:    onQueue(contentBased, "one body twice", 1, message{"g", "", order}, message{"g", "", order}),
		},
		{
			ID: "content/hash/other-body", Level: Must, Source: sendMessage,
			Text:     "On a queue with content-based deduplication, two bodies that differ in one digit are two messages.",
			Timeline: "0 s send two bodies without an id · fence",
			Want:     twoCopies,
			steps:    onQueue(contentBased, "two bodies", 2, message{"g", "", order}, message{"g", "", strings.Replace(order, "129.9", "129.8", 1)}),
		},
		{
			ID: "content/hash/spacing", Level: Must, Source: sendMessage,
			Text:     "On a queue with content-based deduplication, one order is sent in two spellings that differ in white space. The queue hashes bytes and knows nothing of JSON, so they are two messages. This is why the producer makes ids of its own.",
			Timeline: "0 s send an order without an id · the same order with white space · fence",
			Want:     twoCopies,
			steps:    onQueue(contentBased, "two spellings of one order", 2, message{"g", "", order}, message{"g", "", spaced}),
		},
		{
			ID: "content/hash/form", Level: Info, Source: unpublished,
			Text:     "What the id looks like that the queue makes from a body, as a receive shows it. AWS documents SHA-256 and not how it is written; our reference writes 64 lower-case hex digits. Who looks a body's id up in logs needs the form.",
			Timeline: "0 s send a body without an id · receive it",
			Want:     "the SHA-256 of the body's bytes in lower-case hex",
			steps:    hashForm,
		},
		{
			ID: "content/hash/off-by-default", Level: Must, Source: recordedDefaults,
			Text:     "A FIFO queue that is made without a word about it has no content-based deduplication, and says so: a producer without ids is refused and does not lose messages that only look alike.",
			Timeline: "0 s make a queue · read ContentBasedDeduplication · send without an id",
			Want:     "ContentBasedDeduplication is false, and a send without an id is refused with InvalidParameterValue",
			steps:    offByDefault,
		},
	}
}

func hashAgainCases() []Case {
	return againCases("content/hash", "send a body without an id", "An id that the queue made from the content lives as long as one that was given.", "", again{
		made: contentBased, copies: 1,
		sends: func(ctx context.Context, q *queue) []func() error { return q.oneByOne(ctx, message{"g", "", order}) },
	})
}

// orderID is the id that a content-based queue makes of the order.
var orderID = digestOf(order)

// spaced is the order with white space between its tokens.
var spaced = strings.ReplaceAll(order, `,"`, `, "`)

// hashTwice sends the order twice to a content-based queue, once without an id and once
// with the one that the producer makes.
func hashTwice(explicitFirst bool) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, contentBased)
		if err != nil {
			return err
		}
		id, err := contentID(order)
		if err != nil {
			return err
		}
		sends := []message{{"g", "", order}, {"g", id, order}}
		words := []string{"the body alone", "the body with its hash"}
		if explicitFirst {
			slices.Reverse(sends)
			slices.Reverse(words)
		}
		if err := q.claim(ctx, words[0], 1, q.oneByOne(ctx, sends[0])...); err != nil {
			return err
		}
		return q.claim(ctx, words[1], 0, q.oneByOne(ctx, sends[1])...)
	}
}

func hashForm(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, contentBased)
	if err != nil {
		return err
	}
	if err := q.claim(ctx, "the body alone", 1, q.sending(ctx, "g", "", order)); err != nil {
		return err
	}
	const want = "the SHA-256 of the body in lower-case hex"
	for _, d := range q.came(0) {
		b.answer("the id that the queue made", want, whether(d.ID == orderID, want, d.ID))
	}
	return nil
}

func offByDefault(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := q.readsBack(ctx, contentOff); err != nil {
		return err
	}
	return q.refusedSend(ctx, "a send without an id", letter(message{"g", "", order}), invalidParameter)
}

// contentOff is a queue without content-based deduplication.
var contentOff = attributes{types.QueueAttributeNameContentBasedDeduplication: "false"}
