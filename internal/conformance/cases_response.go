package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

func responseCases() []Case {
	return slices.Concat(duplicateCases(), md5Cases(), errorCases())
}

func duplicateCases() []Case {
	const twoSends = "0 s send A · send A again"
	return []Case{
		{
			ID: "response/duplicate/message-id", Level: Info, Source: unpublished, Timeline: twoSends,
			Text: "What MessageId the answer to a duplicate carries. Our reference repeats the first one's, and the producer tells duplicates by it.",
			Want: "the answer to the duplicate repeats the first one's MessageId",
			steps: duplicateAnswer("the duplicate's MessageId", "the first one's", "another one",
				func(first, second Send) bool { return first.MessageID == second.MessageID }),
		},
		{
			ID: "response/duplicate/sequence-number", Level: Info, Source: unpublished, Timeline: twoSends,
			Text: "What SequenceNumber the answer to a duplicate carries. Our reference repeats the first one's.",
			Want: "the answer to the duplicate repeats the first one's SequenceNumber",
			steps: duplicateAnswer("the duplicate's SequenceNumber", "the first one's", "another one",
				func(first, second Send) bool { return first.Sequence == second.Sequence }),
		},
		{
			ID: "response/duplicate/body-md5", Level: Info, Source: unpublished,
			Text:     "Another body is sent under the same id. Our reference answers the MD5 of the body that was sent now, not of the one that is stored: SDKs compare it with what they sent, and would take the answer for a broken one.",
			Timeline: "0 s send A · send B under A's id", Want: "the MD5 of the second body",
			steps: duplicateMD5("the MD5 of the body", withBody(`{"event":"first"}`), withBody(`{"event":"second"}`),
				func(in *sqs.SendMessageInput) string { return md5Of(*in.MessageBody) },
				func(out *sqs.SendMessageOutput) *string { return out.MD5OfMessageBody }),
		},
		{
			ID: "response/duplicate/attributes-md5", Level: Info, Source: unpublished,
			Text:     "The same body and id are sent with another attribute. Our reference answers the MD5 of the attributes that were sent now.",
			Timeline: "0 s send A with an attribute · send A with another", Want: "the MD5 of the second attributes",
			steps: duplicateMD5("the MD5 of the attributes", withAttributes("first", "name"), withAttributes("second", "name"),
				func(in *sqs.SendMessageInput) string { return attributesMD5(in.MessageAttributes) },
				func(out *sqs.SendMessageOutput) *string { return out.MD5OfMessageAttributes }),
		},
		{
			ID: "response/sequence/after-duplicate", Level: Info, Source: unpublished,
			Text:     "A message, five duplicates of it, and another message. The second message's SequenceNumber is above the first one's. AWS's numbers have gaps, so whether duplicates use numbers up cannot be told from outside.",
			Timeline: "0 s send A six times · send B", Want: "it rises",
			steps: afterDuplicates,
		},
		{
			ID: "response/send/distinct-message-ids", Level: Must, Source: "SQS API reference, SendMessage, MessageId",
			Text:     "Ten messages by single sends and ten by a batch: twenty MessageIds, all of them different. A consumer that keeps MessageIds would otherwise drop messages.",
			Timeline: "0 s send ten messages · send a batch of ten", Want: "20 of 20 differ",
			steps: distinctIDs,
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

// duplicateMD5 sends two messages that differ in what is digested, under one id, and
// tells whose digest the second answer carries.
func duplicateMD5(what string, first, second func(*sqs.SendMessageInput),
	digest func(*sqs.SendMessageInput) string, told func(*sqs.SendMessageOutput) *string,
) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		one, two := of("id", first), of("id", second)
		if _, err := q.put(ctx, one); err != nil {
			return err
		}
		answer, err := q.put(ctx, two)
		if err != nil {
			return err
		}
		if answer == nil {
			return premise("the duplicate was refused")
		}
		seen := "another one"
		switch aws.ToString(told(answer)) {
		case digest(two):
			seen = "that of the second send"
		case digest(one):
			seen = "that of the first send"
		case "":
			seen = none
		}
		b.answer(what, "that of the second send", seen)
		return nil
	}
}

func afterDuplicates(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", slices.Repeat([]string{"A"}, 6)...); err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", "B"); err != nil {
		return err
	}
	first, isNumber := new(big.Int).SetString(b.wire.send(0).Sequence, 10)
	last, isToo := new(big.Int).SetString(b.wire.send(b.wire.sends()-1).Sequence, 10)
	rises := isNumber && isToo && first.Cmp(last) < 0
	b.answer("the SequenceNumber of the next message", "rises", whether(rises, "rises", "does not rise"))
	return nil
}

func distinctIDs(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const each = 10
	ids := map[string]bool{}
	var batch []message
	for i := range each {
		answer, err := q.put(ctx, of(fmt.Sprintf("single-%d", i), withBody(order)))
		if err != nil {
			return err
		}
		if answer == nil {
			return premise("a send was refused")
		}
		ids[aws.ToString(answer.MessageId)] = true
		batch = append(batch, message{"g", fmt.Sprintf("batched-%d", i), order})
	}
	answer, err := q.sendBatch(ctx, batch...)
	if err != nil {
		return err
	}
	if answer == nil || len(answer.Successful) != each {
		return premise("the batch was refused")
	}
	for _, e := range answer.Successful {
		ids[aws.ToString(e.MessageId)] = true
	}
	delete(ids, "")
	b.answer("MessageIds that differ", "20 of 20", fmt.Sprintf("%d of %d", len(ids), 2*each))
	return nil
}

func errorCases() []Case {
	const protocol = "SQS developer guide, making JSON API requests"
	const unknownOne = "0 s ask for the URL of a queue that does not exist"
	return []Case{
		{
			ID: "response/error/query-code-header", Level: Must, Source: protocol, Timeline: unknownOne,
			Text: "An error that has an older code of the Query protocol carries it in the header x-amzn-query-error. SDKs read the code from there: without it, code that compares error codes takes another branch than on AWS.",
			Want: "AWS.SimpleQueueService.NonExistentQueue;Sender",
			steps: failing(func(b *Bench, err error) {
				b.answer("the header x-amzn-query-error", noSuchQueue[0]+";Sender", orNone(headerOf(err).Get("X-Amzn-Query-Error")))
			}),
		},
		{
			ID: "response/error/type", Level: Must, Source: "SQS API model, QueueDoesNotExist", Timeline: unknownOne,
			Text: "The same error is of the type that the API model has for it, so that an SDK with types makes a QueueDoesNotExist of it.",
			Want: "QueueDoesNotExist",
			steps: failing(func(b *Bench, err error) {
				var typed *types.QueueDoesNotExist
				b.answer("the type", "QueueDoesNotExist", whether(errors.As(err, &typed), "QueueDoesNotExist", "another"))
			}),
		},
		{
			ID: "response/error/request-id", Level: Should, Source: protocol, Timeline: unknownOne + " · send a message",
			Text:  "Answers carry a request ID, errors too. It is what AWS's support asks for.",
			Want:  "one in both, and not the same",
			steps: requestIDs,
		},
	}
}

func orNone(text string) string { return whether(text != "", text, none) }

// failing makes a call that must fail, and judges the error.
func failing(judge func(*Bench, error)) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		err := b.fail(ctx)
		if refused(err) == "" {
			if err == nil {
				return premise("a queue that was never made has a URL")
			}
			return awserr.Brief(err)
		}
		judge(b, err)
		return nil
	}
}

// fail asks for the URL of a queue that does not exist.
func (b *Bench) fail(ctx context.Context) error {
	_, err := b.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(b.name + "-none" + suffix)})
	return err
}

func requestIDs(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	failed := b.fail(ctx)
	if failed != nil && refused(failed) == "" {
		return awserr.Brief(failed)
	}
	sent, err := q.put(ctx, of("id", withBody(order)))
	if err != nil {
		return err
	}
	if sent == nil || failed == nil {
		return premise("a right send was refused, or a wrong call accepted")
	}
	const name = "X-Amzn-Requestid"
	one := headerOf(failed).Get(name)
	two, _ := awsmiddleware.GetRequestIDMetadata(sent.ResultMetadata)
	b.answer("of the error", "a request ID", whether(one != "", "a request ID", none))
	b.answer("of the send", "a request ID", whether(two != "", "a request ID", none))
	b.answer("the two", "differ", whether(one != two, "differ", "are the same"))
	return nil
}
