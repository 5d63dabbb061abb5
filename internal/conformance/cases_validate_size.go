package conformance

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// smallest is the smallest limit that a queue can have (SQS API reference,
// SetQueueAttributes, MaximumMessageSize).
const smallest = 1024

var smallMessages = attributes{types.QueueAttributeNameMaximumMessageSize: "1024"}

// letters are all that a body may hold beside the ordinary: the ends of the ranges of
// XML 1.0, and what encoders like to spoil.
const letters = "tab\t line feed\n return\r quote\" <&> space delete\u007F c1\u0085 separators\u2028\u2029 ends\uD7FF\uE000\uFFFD emoji\U0001F600 last\U0010FFFF"

func validateSizeCases() []Case {
	const counts = "SQS developer guide, message quotas and message metadata"
	return []Case{
		{
			ID: "validate/body/at-limit", Level: Must, Source: recordedSize,
			Text:     "A body of 1,048,576 bytes, the most that is allowed, is accepted and delivered whole. Emulators that still have the limit of 256 KiB refuse it.",
			Timeline: "0 s send 1,048,576 bytes · fence",
			Want:     oneCopy,
			Premises: []string{orderPremise, unlockPremise},
			steps:    fitting(plain, "the largest body", withBody(strings.Repeat("b", mostBytes))),
		},
		{
			ID: "validate/body/allowed-characters", Level: Must, Source: messageBody,
			Text:     "Tab, line feed, carriage return, a character outside the basic plane and the ends of all ranges that XML 1.0 allows. They are delivered as they were sent: a consumer that hashes the body must come to the producer's hash.",
			Timeline: "0 s send · fence",
			Want:     "one copy, byte for byte",
			Premises: []string{orderPremise, unlockPremise},
			steps:    fitting(plain, "a body of all kinds of characters", withBody(letters)),
		},
		{
			ID: "validate/body/queue-limit", Level: Must, Source: "SQS API reference, SetQueueAttributes, MaximumMessageSize",
			Text:     "On a queue whose largest message is 1,024 bytes: 1,024 are delivered, 1,025 refused.",
			Timeline: "0 s send 1,025 bytes · send 1,024 bytes · fence",
			Want:     "1,025 bytes refused with InvalidParameterValue, one copy of 1,024 bytes",
			Premises: []string{orderPremise, unlockPremise},
			steps:    measuring(withBody(strings.Repeat("b", smallest+1)), withBody(strings.Repeat("b", smallest))),
		},
		{
			ID: "validate/size/bytes", Level: Must, Source: counts,
			Text:     "The same with letters of three bytes: 341 of them and one more byte fill the 1,024 bytes, 342 are 1,026. The limit counts the bytes of UTF-8, not characters.",
			Timeline: "0 s send 1,026 bytes · send 1,024 bytes · fence",
			Want:     "342 letters refused with InvalidParameterValue, one copy of 341 letters and a byte",
			Premises: []string{orderPremise, unlockPremise},
			steps:    measuring(withBody(strings.Repeat("€", 342)), withBody(strings.Repeat("€", 341)+"b")),
		},
		{
			ID: "validate/size/attributes-count", Level: Must, Source: counts,
			Text:     "The same with a body of 1,000 bytes and an attribute: its name, type and value count too. With 24 bytes the message fits, with 25 it does not. Who counts the body alone finds out in production.",
			Timeline: "0 s send 1,025 bytes · send 1,024 bytes · fence",
			Want:     "25 bytes of attribute refused with InvalidParameterValue, one copy with 24",
			Premises: []string{orderPremise, unlockPremise},
			steps:    measuring(besideAttribute(25), besideAttribute(24)),
		},
	}
}

// besideAttribute makes a body of 1,000 bytes and an attribute of n, type and all.
func besideAttribute(n int) func(*sqs.SendMessageInput) {
	const name = "name"
	value := strings.Repeat("v", n-len(name)-len("String"))
	return func(in *sqs.SendMessageInput) {
		withBody(strings.Repeat("b", 1000))(in)
		withAttributes(value, name)(in)
	}
}

// of is a right message but for what change does to it.
func of(id string, change func(*sqs.SendMessageInput)) *sqs.SendMessageInput {
	input := &sqs.SendMessageInput{MessageGroupId: aws.String("g"), MessageDeduplicationId: &id, MessageBody: aws.String(order)}
	change(input)
	return input
}

// fitting sends one message that must be delivered as it is.
func fitting(extra attributes, what string, change func(*sqs.SendMessageInput)) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, extra)
		if err != nil {
			return err
		}
		input := of("id", change)
		// Another body would be a copy of something else.
		return q.settled(ctx, Claim{What: what, Want: 1, Digest: digestOf(*input.MessageBody)}, q.putting(ctx, input))
	}
}

// putting is a send to be made by a claim.
func (q *queue) putting(ctx context.Context, input *sqs.SendMessageInput) func() error {
	return func() error {
		_, err := q.put(ctx, input)
		return err
	}
}

// measuring sends a message that is too large for a queue of 1,024 bytes, then one that
// is not.
func measuring(over, within func(*sqs.SendMessageInput)) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, smallMessages)
		if err != nil {
			return err
		}
		if err := b.refusalOf("the larger one", invalidParameter, q.trying(ctx, of("over", over))); err != nil {
			return err
		}
		return q.claim(ctx, "the one that fits", 1, q.putting(ctx, of("within", within)))
	}
}
