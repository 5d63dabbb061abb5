package conformance

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func bodyCases() []Case {
	return []Case{
		{
			ID: "content/body/first-stays", Level: Must, Source: providingID,
			Text:     "Another body under the same id is a duplicate all the same. What is delivered is the first body; the second is gone without an error.",
			Timeline: "0 s send A with one body, A with another · fence",
			Want:     "one copy, with the first body",
			steps:    firstBodyStays,
		},
		{
			ID: "content/attributes/ignored-explicit", Level: Must, Source: providingID,
			Text:     "One body under one id, with other message attributes the second time, is a duplicate: attributes such as a trace or a retry count take no part in deduplication.",
			Timeline: "0 s send A with an attribute, A with another value of it · fence",
			Want:     oneOfTwo,
			steps:    attributesIgnored(plain, "id"),
		},
		{
			ID: "content/attributes/ignored-hashed", Level: Must, Source: providingID,
			Text:     "The same where the queue makes the id: it is made from the body and never from the attributes, so a body that differs only in them is a duplicate.",
			Timeline: "0 s send a body with an attribute, the body with another value of it · fence",
			Want:     oneOfTwo,
			steps:    attributesIgnored(contentBased, ""),
		},
		{
			ID: "content/attributes/first-stay", Level: Info, Source: unpublished,
			Text:     "Whose attributes are delivered when the second send is a duplicate. AWS speaks of the message, and nobody has published the attributes; our reference delivers the first one's, as it does with the body.",
			Timeline: "0 s send A with the attribute first, A with the attribute second · receive",
			Want:     "the first send's attributes",
			steps:    firstAttributesStay,
		},
	}
}

func firstBodyStays(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const other = `{"event":"another body"}`
	err = q.claim(ctx, "two bodies under one id", 1, q.sending(ctx, "g", "id", order), q.sending(ctx, "g", "id", other))
	if err != nil {
		return err
	}
	seen := "neither"
	for _, d := range b.wire.seen(q.url) {
		switch d.BodyDigest {
		case digestOf(order):
			seen = "the first"
		case digestOf(other):
			seen = "the second"
		}
	}
	b.answer("the body delivered", "the first", seen)
	return nil
}

// marked is the attribute by which sends are told apart.
const marked = "Attempt"

// marking is a send of the order with an attribute.
func (q *queue) marking(ctx context.Context, id, value string) func() error {
	return func() error {
		input := letter(message{"g", id, order})
		input.MessageAttributes = map[string]types.MessageAttributeValue{
			marked: {DataType: aws.String("String"), StringValue: &value},
		}
		_, err := q.put(ctx, input)
		return err
	}
}

func attributesIgnored(made attributes, id string) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, made)
		if err != nil {
			return err
		}
		return q.claim(ctx, "two sends that differ in an attribute", 1, q.marking(ctx, id, "first"), q.marking(ctx, id, "second"))
	}
}

func firstAttributesStay(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	for _, value := range []string{"first", "second"} {
		if err := q.marking(ctx, "id", value)(); err != nil {
			return err
		}
	}
	got, err := q.await(ctx, 1)
	if err != nil {
		return err
	}
	seen := "none"
	if value, ok := got[0].MessageAttributes[marked]; ok {
		seen = "the " + aws.ToString(value.StringValue) + " send's"
	}
	b.answer("the attributes delivered", "the first send's", seen)
	return nil
}
