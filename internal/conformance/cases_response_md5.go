package conformance

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// digested are bodies whose digest shows how they were read: as bytes of UTF-8, with
// nothing added, taken away or spelt anew.
var digested = []struct{ name, body string }{
	{"a JSON order", order},
	{"letters outside ASCII", "Zürich, Ωμέγα, \U0001F600"},
	{"white space", "  two lines\r\nand a tab\t"},
	{"characters that JSON and HTML escape", `"quoted" \u0041 <&>`},
}

// attributed are attributes of every type.
var attributed = map[string]types.MessageAttributeValue{
	"z-text":   {DataType: aws.String("String"), StringValue: aws.String("Zürich")},
	"Number":   {DataType: aws.String("Number"), StringValue: aws.String("129.90")},
	"a.binary": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 0xFE, 0xFF}},
	"a_custom": {DataType: aws.String("String.json"), StringValue: aws.String(`{"a":1}`)},
	"b-custom": {DataType: aws.String("Binary.png"), BinaryValue: []byte("png")},
}

// One attribute and its digest, as AWS answered them.
var (
	recordedAttribute    = map[string]types.MessageAttributeValue{"test-key": {DataType: aws.String("String"), StringValue: aws.String("test-value")}}
	recordedAttributeMD5 = "befa18540a897f7d022bf07057754a03"
)

func md5Cases() []Case {
	const eachMD5 = "the MD5 of each body"
	const bodyDigest = "SQS API reference, SendMessage, MD5OfMessageBody"
	const recordedMD5 = messageMetadata + "; recorded on AWS June 2025 (sqslite)"
	return []Case{
		{
			ID: "response/send/body-md5", Level: Must, Source: bodyDigest,
			Text:     "The answer to a send carries the MD5 of the body's bytes. SDKs compare it, and report a message that was accepted as lost where it differs.",
			Timeline: "0 s send four bodies", Want: eachMD5,
			steps: func(ctx context.Context, b *Bench) error {
				return b.eachBody(ctx, func(q *queue, i int) (string, error) {
					sent, err := q.put(ctx, of(fmt.Sprintf("id-%d", i), withBody(digested[i].body)))
					if err != nil {
						return "", err
					}
					if sent == nil {
						return "", premise("a send was refused")
					}
					return aws.ToString(sent.MD5OfMessageBody), nil
				})
			},
		},
		{
			ID: "response/send/attributes-md5", Level: Must, Source: recordedMD5,
			Text:     "The answer to a send carries the MD5 of its attributes, made by the rule that AWS gives: by name, with lengths and a byte for the kind of the value. Java's SDK compares it.",
			Timeline: "0 s send with an attribute · send with five of all types", Want: "the MD5 by AWS's rule, of a recorded message and of five types",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				for i, c := range []struct {
					what, want string
					attributes map[string]types.MessageAttributeValue
				}{{"the recorded attribute", recordedAttributeMD5, recordedAttribute}, {"five types", attributesMD5(attributed), attributed}} {
					sent, err := q.put(ctx, of(fmt.Sprintf("id-%d", i), withAll(c.attributes)))
					if err != nil {
						return err
					}
					if sent == nil {
						return premise("a send with attributes was refused")
					}
					b.answer(c.what, c.want, orNone(aws.ToString(sent.MD5OfMessageAttributes)))
				}
				return nil
			},
		},
		{
			ID: "response/send/system-attributes-md5", Level: Should, Source: "recorded on AWS June 2025 (sqslite); SQS API reference, SendMessage, MD5OfMessageSystemAttributes",
			Text:     "A send with a trace header is answered with the MD5 of that system attribute, by the same rule.",
			Timeline: "0 s send with AWSTraceHeader", Want: "the MD5 by AWS's rule",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				const trace = "Root=1-5e3d83c1-e6a0db584850d61342823d4c;Sampled=1"
				sent, err := q.put(ctx, of("id", func(in *sqs.SendMessageInput) {
					in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
						traceHeader: {DataType: aws.String("String"), StringValue: aws.String(trace)},
					}
				}))
				if err != nil {
					return err
				}
				if sent == nil {
					return premise("a send with a trace header was refused")
				}
				want := attributesMD5(map[string]types.MessageAttributeValue{traceHeader: {DataType: aws.String("String"), StringValue: aws.String(trace)}})
				b.answer("the MD5", want, orNone(aws.ToString(sent.MD5OfMessageSystemAttributes)))
				return nil
			},
		},
		{
			ID: "response/batch/body-md5", Level: Must, Source: "SQS API reference, SendMessageBatchResultEntry, MD5OfMessageBody",
			Text:     "The same four bodies in one batch: the answer has each entry's own MD5 under its own Id.",
			Timeline: "0 s send a batch of four bodies", Want: eachMD5,
			steps: batchMD5,
		},
		{
			ID: "response/receive/body-md5", Level: Must, Source: "SQS API reference, Message, MD5OfBody",
			Text:     "A receive carries the MD5 of each body that it gives out, and the body is the one that was sent.",
			Timeline: "0 s send four bodies · receive them", Want: eachMD5,
			steps: receivedMD5,
		},
		{
			ID: "response/receive/attributes-md5", Level: Must, Source: recordedMD5,
			Text:     "A receive that asks for all attributes gets them as they were sent, and the same MD5 of them as the send was answered with.",
			Timeline: "0 s send with five attributes of all types · receive", Want: "the attributes as sent, and their MD5",
			steps: receivedAttributes,
		},
	}
}

const traceHeader = string(types.MessageSystemAttributeNameForSendsAWSTraceHeader)

// withAll gives a message attributes.
func withAll(attributes map[string]types.MessageAttributeValue) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) { in.MessageAttributes = attributes }
}

// eachBody takes each digested body through a queue and compares the digest that comes
// back; "" says that it was refused.
func (b *Bench) eachBody(ctx context.Context, through func(q *queue, i int) (string, error)) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	for i, d := range digested {
		told, err := through(q, i)
		if err != nil {
			return err
		}
		b.answer(d.name, md5Of(d.body), orNone(told))
	}
	return nil
}

func batchMD5(ctx context.Context, b *Bench) error {
	var told map[string]string
	return b.eachBody(ctx, func(q *queue, i int) (string, error) {
		if told == nil {
			var batch []message
			for i, d := range digested {
				batch = append(batch, message{"g", fmt.Sprintf("id-%d", i), d.body})
			}
			answer, err := q.sendBatch(ctx, batch...)
			if err != nil {
				return "", err
			}
			if answer == nil || len(answer.Successful) != len(batch) {
				return "", premise("the batch or an entry of it was refused")
			}
			told = map[string]string{}
			for _, e := range answer.Successful {
				told[aws.ToString(e.Id)] = aws.ToString(e.MD5OfMessageBody)
			}
		}
		return told[strconv.Itoa(i)], nil
	})
}

func receivedMD5(ctx context.Context, b *Bench) error {
	return b.eachBody(ctx, func(q *queue, i int) (string, error) {
		if _, err := q.put(ctx, of(fmt.Sprintf("id-%d", i), withBody(digested[i].body))); err != nil {
			return "", err
		}
		got, err := q.await(ctx, 1)
		if err != nil {
			return "", err
		}
		if len(got) > 1 {
			return "", premise("more came than was sent")
		}
		b.answer(digested[i].name+", the body", "as sent", whether(aws.ToString(got[0].Body) == digested[i].body, "as sent", "another"))
		return aws.ToString(got[0].MD5OfBody), q.remove(ctx, got)
	})
}

func receivedAttributes(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if _, err := q.put(ctx, of("id", withAll(attributed))); err != nil {
		return err
	}
	got, err := q.await(ctx, 1)
	if err != nil {
		return err
	}
	differ := []string{}
	for _, name := range slices.Sorted(maps.Keys(attributed)) {
		want, is := attributed[name], got[0].MessageAttributes[name]
		if aws.ToString(want.DataType) != aws.ToString(is.DataType) || aws.ToString(want.StringValue) != aws.ToString(is.StringValue) ||
			string(want.BinaryValue) != string(is.BinaryValue) {
			differ = append(differ, name)
		}
	}
	b.answer("attributes that differ", nothing, joined(differ))
	b.answer("their MD5", attributesMD5(attributed), orNone(aws.ToString(got[0].MD5OfMessageAttributes)))
	return nil
}

// attributesMD5 is the digest that SQS answers for attributes: by name, and of each the
// length and bytes of name and type, a byte for what carries the value, and the value's
// length and bytes (SQS developer guide, message metadata).
func attributesMD5(attributes map[string]types.MessageAttributeValue) string {
	var text []byte
	part := func(bytes string) {
		text = binary.BigEndian.AppendUint32(text, uint32(len(bytes)))
		text = append(text, bytes...)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value := attributes[name]
		part(name)
		part(aws.ToString(value.DataType))
		if strings.HasPrefix(aws.ToString(value.DataType), "Binary") {
			text = append(text, 2)
			part(string(value.BinaryValue))
		} else {
			text = append(text, 1)
			part(aws.ToString(value.StringValue))
		}
	}
	sum := md5.Sum(text)
	return hex.EncodeToString(sum[:])
}
