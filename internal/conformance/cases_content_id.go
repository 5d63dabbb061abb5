package conformance

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

const (
	recordedLongID = "recorded on AWS 2025-07-30 (LocalStack test_message_deduplication_id_success)"
	recordedToggle = "recorded on AWS 2025-08-19 (LocalStack test_fifo_set_content_based_deduplication_strategy)"
)

// longID are 128 characters, the most that an id may have, but for the last one.
var longID = strings.Repeat("0123456789abcdef", 8)[:127]

func idCases() []Case {
	return []Case{
		{
			ID: "content/id/longest", Level: Must, Source: recordedLongID,
			Text:     "An id of 128 characters, the longest allowed, is accepted, suppresses its resend, and is delivered whole.",
			Timeline: "0 s send A with a long id, A again · fence",
			Want:     "one copy of two sends, with the id as sent",
			steps:    idAsSent(longID + "x"),
		},
		{
			ID: "content/id/punctuation", Level: Must, Source: sendMessage,
			Text:     "An id may have every punctuation character of ASCII. One that has them all is accepted, suppresses its resend, and is delivered as it was sent. Ids are often made from paths, addresses and keys of other systems.",
			Timeline: "0 s send A with an id of punctuation, A again · fence",
			Want:     "one copy of two sends, with the id as sent",
			steps:    idAsSent(punctuation),
		},
		{
			ID: "content/id/long-tail", Level: Must, Source: sendMessage,
			Text:     "Three ids of 128 characters: one that differs from the first in its 65th character, and one in its last. An endpoint that cuts ids, or compares only their beginning, loses messages whose ids begin with a long common part, as ids made from paths do.",
			Timeline: "0 s send three long ids · fence · send them again · fence",
			Want:     "three copies, and none of the resends",
			steps:    longTail,
		},
		{
			ID: "content/id/one-character", Level: Must, Source: sendMessage,
			Text:     "Ids of one character, and ids that a number parser would take for equal: 1, 01, 1.0 and +1 are four ids, for an id is text.",
			Timeline: "0 s send 1, 01, 1.0, +1 and 1 again · fence",
			Want:     "four copies of five sends",
			steps: onQueue(plain, "1, 01, 1.0, +1 and 1", 4,
				message{"g", "1", order}, message{"g", "01", order}, message{"g", "1.0", order}, message{"g", "+1", order}, message{"g", "1", order}),
		},
		{
			ID: "content/id/case", Level: Info, Source: unpublished,
			Text:     "Ids AbC and aBc. AWS does not say whether ids know upper and lower case; our reference tells them apart. It matters to ids in Base64.",
			Timeline: "0 s send AbC, aBc · fence",
			Want:     "two copies: ids know upper and lower case",
			steps:    onQueue(plain, "AbC and aBc", 2, message{"g", "AbC", order}, message{"g", "aBc", order}),
		},
	}
}

func idAsSent(id string) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		send := q.sending(ctx, "g", id, order)
		if err := q.claim(ctx, "two sends of one id", 1, send, send); err != nil {
			return err
		}
		for _, d := range q.came(0) {
			b.answer("the id delivered", asSent, whether(d.ID == id, asSent, "another one"))
		}
		return nil
	}
}

func longTail(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	sends := q.oneByOne(ctx,
		message{"g", longID + "x", order},
		message{"g", longID[:64] + "x" + longID[65:] + "x", order},
		message{"g", longID + "y", order})
	if err := q.claim(ctx, "three long ids", 3, sends...); err != nil {
		return err
	}
	return q.claim(ctx, "the same again", 0, sends...)
}

func toggleCases() []Case {
	return []Case{
		{
			ID: "content/toggle/reads-back", Level: Must, Source: recordedToggle,
			Text:     "Content-based deduplication is switched off on a live queue, and the attribute reads back so at once.",
			Timeline: "0 s make a queue with it · read · switch it off · read",
			Want:     "ContentBasedDeduplication reads true, then false",
			steps:    toggleReadsBack,
		},
		{
			ID: "content/toggle/off", Level: Info, Source: unpublished, Wait: propagation,
			Text:     "When switching content-based deduplication off begins to bite: a send without an id at once, and one after 65 seconds, since AWS gives changes of attributes 60. Our reference refuses both.",
			Timeline: "0 s switch it off · send without an id · 65 s send without an id",
			Want:     "both are refused with InvalidParameterValue",
			steps:    toggleOff,
		},
		{
			ID: "content/toggle/keeps-ids", Level: Info, Source: unpublished, Wait: propagation,
			Text:     "Whether ids outlive the switch. A body is sent without an id, content-based deduplication is switched off, and after 65 seconds the body comes with its SHA-256 as an explicit id: who moves from the queue's ids to the producer's in a live system does just that. Our reference keeps the ids.",
			Timeline: "0 s send a body without an id · fence · switch it off · 65 s send the body with its SHA-256 as id · fence",
			Want:     "no copy of the send with the explicit hash",
			steps:    toggleKeepsIDs,
		},
	}
}

func toggleReadsBack(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, contentBased)
	if err != nil {
		return err
	}
	if err := q.readsBack(ctx, contentBased); err != nil {
		return err
	}
	if err := q.set(ctx, contentOff); err != nil {
		return err
	}
	return q.readsBack(ctx, contentOff)
}

func toggleOff(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, contentBased)
	if err != nil {
		return err
	}
	if err := q.set(ctx, contentOff); err != nil {
		return err
	}
	without := func() *sqs.SendMessageInput { return letter(message{"g", "", order}) }
	if err := q.refusedSend(ctx, "a send without an id, at once", without(), invalidParameter); err != nil {
		return err
	}
	if err := b.pass(ctx, propagation); err != nil {
		return err
	}
	return q.refusedSend(ctx, "65 s later", without(), invalidParameter)
}

func toggleKeepsIDs(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, contentBased)
	if err != nil {
		return err
	}
	if err := q.claim(ctx, "the body alone", 1, q.sending(ctx, "g", "", order)); err != nil {
		return err
	}
	if err := q.set(ctx, contentOff); err != nil {
		return err
	}
	if err := b.pass(ctx, propagation); err != nil {
		return err
	}
	return q.claim(ctx, "the body with its hash", 0, q.sending(ctx, "g", orderID, order))
}
