package conformance

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Who says so, for what is refused.
const (
	recordedID       = "recorded on AWS 2025-07-30 (LocalStack test_message_deduplication_id_invalid)"
	recordedGroup    = "recorded on AWS 2025-07-30 (LocalStack test_message_group_id_invalid); SQS API reference, SendMessage, MessageGroupId"
	recordedMissing  = "recorded on AWS 2024-04-30 (LocalStack test_posting_to_fifo_requires_deduplicationid_group_id)"
	recordedDelay    = "recorded on AWS 2024-04-30 (LocalStack test_fifo_queue_send_message_with_delay_seconds_fails)"
	recordedEmpty    = "recorded on AWS 2025-09-22 (LocalStack, SendMessage with an empty body)"
	recordedSize     = "recorded on AWS 2025-08-19 (LocalStack test_send_message_with_oversized_contents); SQS developer guide, message quotas"
	messageBody      = "SQS API reference, SendMessage, MessageBody"
	messageMetadata  = "SQS developer guide, message metadata"
	receiveRanges    = "SQS API reference, ReceiveMessage; recorded on AWS 2024-04-30 (LocalStack test_send_receive_max_number_of_messages)"
	handleModel      = "SQS API model, ReceiptHandleIsInvalid"
	queueNames       = "SQS API reference, CreateQueue, QueueName"
	recordedQueue    = "recorded on AWS 2024-04-30 (LocalStack test_create_fifo_queue_with_different_attributes_raises_error)"
	deletedQueue     = "SQS API reference, DeleteQueue and QueueDeletedRecently"
	unknownQueue     = "SQS API model, QueueDoesNotExist"
	queueAttributes  = "SQS API reference, SetQueueAttributes"
	recordedPurge    = "recorded on AWS 2024-04-30 (LocalStack test_successive_purge_calls_fail)"
	redriveReference = "SQS developer guide, configuring a dead-letter queue"
)

// mostBytes is the largest message (SQS developer guide, message quotas; 262,144 until
// August 2025).
const mostBytes = 1_048_576

// wrong is a message that must not be accepted.
type wrong struct {
	id     string // of its case, after "validate/"
	level  Level
	source string
	text   string
	code   codes
	spoil  func(*sqs.SendMessageInput)
}

// spoilt is a right message after spoil.
func (w wrong) spoilt() *sqs.SendMessageInput {
	input := &sqs.SendMessageInput{
		MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String(strings.ReplaceAll(w.id, "/", "-")), MessageBody: aws.String(`{"of":"` + w.id + `"}`),
	}
	w.spoil(input)
	return input
}

func withID(id string) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) { in.MessageDeduplicationId = &id }
}

func withGroup(group string) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) { in.MessageGroupId = &group }
}

func withBody(body string) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) { in.MessageBody = &body }
}

// withAttributes adds attributes of type String, each name with one value.
func withAttributes(value string, names ...string) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) {
		in.MessageAttributes = map[string]types.MessageAttributeValue{}
		for _, name := range names {
			in.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
		}
	}
}

// numbered are n names.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "name-" + strconv.Itoa(i)
	}
	return names
}

// wrongMessages are all the messages that are refused.
var wrongMessages = []wrong{
	{"id/empty", Must, recordedID, "A deduplication ID of no characters is a bad value and not a missing one.", invalidParameter, withID("")},
	{"id/too-long", Must, recordedID, "A deduplication ID of 129 characters is one too long. An endpoint that cuts it instead takes two messages for one.", invalidParameter, withID(strings.Repeat("i", 129))},
	{"id/space", Must, recordedID, "A deduplication ID with a space: letters, digits and punctuation are allowed, and a space is none of them.", invalidParameter, withID("an id")},
	{"id/missing", Must, recordedMissing, "A send without a deduplication ID to a queue without content-based deduplication. An endpoint that makes one up delivers every retry.", invalidParameter, func(in *sqs.SendMessageInput) { in.MessageDeduplicationId = nil }},
	{"id/control-character", Info, unpublished, "A deduplication ID with a line feed in it. What AWS answers is not published for this protocol; our reference refuses it like any other bad id.", invalidParameter, withID("an\nid")},
	{"id/not-ascii", Info, unpublished, "A deduplication ID with a letter outside ASCII. AWS names letters, digits and punctuation, and does not say of which alphabet; our reference refuses it.", invalidParameter, withID("Zürich")},
	{"group/empty", Should, recordedGroup, "A message group ID of no characters is a bad value and not a missing one. The recorded answer is of a standard queue.", invalidParameter, withGroup("")},
	{"group/too-long", Must, recordedGroup, "A message group ID of 129 characters is one too long. An endpoint that cuts it instead puts two groups into one order.", invalidParameter, withGroup(strings.Repeat("g", 129))},
	{"group/space", Must, recordedGroup, "A message group ID with a space in it.", invalidParameter, withGroup("a group")},
	{"group/missing", Must, recordedMissing, "A send to a FIFO queue without a message group ID is refused: without one there is no order to keep.", missingParameter, func(in *sqs.SendMessageInput) { in.MessageGroupId = nil }},
	{"group/both-missing", Info, unpublished, "A send without group and without deduplication ID. Which of the two is named first is not published; our reference names the group.", missingParameter, func(in *sqs.SendMessageInput) { in.MessageGroupId, in.MessageDeduplicationId = nil, nil }},
	{"delay/per-message", Must, recordedDelay, "A delay of one second for a single message. FIFO queues delay all messages alike, since a message that waited alone would break the order.", invalidParameter, func(in *sqs.SendMessageInput) { in.DelaySeconds = 1 }},
	{"body/empty", Must, recordedEmpty, "A message without a body is refused as one whose body is missing.", missingParameter, withBody("")},
	{"body/too-long", Must, recordedSize, "A body of 1,048,577 bytes is one byte over the limit.", invalidParameter, withBody(strings.Repeat("b", mostBytes+1))},
	{"body/forbidden-character", Must, messageBody, "A body with the control character U+0001, which XML 1.0 does not have. AWS rejects it; an endpoint that takes it lets a test pass whose message production refuses.", invalidContents, withBody("a\u0001b")},
	{"body/non-character", Must, messageBody, "A body with U+FFFE, which no XML document may hold, is rejected like a control character.", invalidContents, withBody("a\uFFFEb")},
	{"attributes/too-many", Must, messageMetadata, "A message with eleven attributes is refused: ten is the most.", anyCode, withAttributes("v", numbered(11)...)},
	{"attributes/bad-name", Must, messageMetadata, "An attribute whose name has a space in it is refused: names are of letters, digits, underscore, hyphen and period.", anyCode, withAttributes("v", "a name")},
	{"attributes/reserved-name", Must, messageMetadata, "An attribute whose name begins with AWS. is refused: the prefix is AWS's own.", anyCode, withAttributes("v", "AWS.name")},
	{"attributes/period", Must, messageMetadata, "An attribute whose name ends with a period is refused.", anyCode, withAttributes("v", "name.")},
	{"attributes/empty-value", Must, messageMetadata, "An attribute with an empty value is refused: name, type and value must not be empty.", invalidParameter, withAttributes("", "name")},
	{"attributes/type", Must, messageMetadata, "An attribute of a type that is none of String, Number and Binary is refused.", anyCode, func(in *sqs.SendMessageInput) {
		in.MessageAttributes = map[string]types.MessageAttributeValue{"name": {DataType: aws.String("Text"), StringValue: aws.String("v")}}
	}},
	{"attributes/number", Should, messageMetadata, "An attribute of the type Number whose value is a word. AWS says that SQS checks numbers, and documents no code.", invalidParameter, func(in *sqs.SendMessageInput) {
		in.MessageAttributes = map[string]types.MessageAttributeValue{"name": {DataType: aws.String("Number"), StringValue: aws.String("seven")}}
	}},
	{"attributes/system", Should, "SQS API reference, SendMessage, MessageSystemAttributes", "A system attribute other than AWSTraceHeader, which is the only one that can be sent.", invalidParameter, func(in *sqs.SendMessageInput) {
		in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{"SenderId": {DataType: aws.String("String"), StringValue: aws.String("v")}}
	}},
}

func validateCases() []Case {
	var cases []Case
	for _, w := range wrongMessages {
		want := refusedText
		if len(w.code) > 0 {
			want += " with " + w.code[0]
		}
		cases = append(cases, Case{
			ID: "validate/" + w.id, Level: w.level, Source: w.source, Text: w.text, Want: want,
			Timeline: "0 s send the wrong message · send a right one",
			steps:    w.refuse,
		})
	}
	return slices.Concat(cases, validateSizeCases(), validateCallCases(), validateQueueCases())
}

// refuse sends the wrong message and then a right one: an endpoint that refuses
// everything shows nothing.
func (w wrong) refuse(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := b.refusalOf("the send", w.code, q.trying(ctx, w.spoilt())); err != nil {
		return err
	}
	return q.works(ctx)
}

// trying is a send outside of any claim, whose group gets no fence.
func (q *queue) trying(ctx context.Context, input *sqs.SendMessageInput) func() error {
	return func() error {
		input.QueueUrl = &q.url
		_, err := q.bench.client.SendMessage(ctx, input)
		return err
	}
}

// works sends a right message: it is the premise of a refusal.
func (q *queue) works(ctx context.Context) error {
	i, err := q.send(ctx, "g", "right", order)
	if err != nil {
		return err
	}
	if code := q.bench.wire.send(i).Refused; code != "" {
		return premise("a right message was refused too, with %s", code)
	}
	return nil
}
