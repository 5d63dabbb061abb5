package emulator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
)

const (
	simple  = "AWS.SimpleQueueService."
	sqsNS   = "com.amazonaws.sqs#"
	coralNS = "com.amazon.coral.service#"
)

// Every error of the wire, by type, code and status. Sources: the service model's
// error traits for modelled ones, replies recorded of AWS for the others.
func TestErrorsOnTheWire(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	e.create("a.fifo")
	e.create("content.fifo", "ContentBasedDeduplication", "true")
	e.create("closed.fifo", "RedriveAllowPolicy", `{"redrivePermission":"denyAll"}`)
	e.create("picky.fifo", "RedriveAllowPolicy", `{"redrivePermission":"byQueue","sourceQueueArns":["arn:aws:sqs:us-east-1:000000000000:other.fifo"]}`)
	const url, content = `"QueueUrl":"http://sqs.test/000000000000/a.fifo"`, `"QueueUrl":"http://sqs.test/000000000000/content.fifo"`
	const send = url + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"x"`
	long := strings.Repeat("x", 129)

	const (
		invalid   = coralNS + "InvalidParameterValueException InvalidParameterValue 400"
		missing   = coralNS + "MissingRequiredParameterException MissingParameter 400"
		noQueue   = sqsNS + "QueueDoesNotExist " + simple + "NonExistentQueue 400"
		address   = sqsNS + "InvalidAddress InvalidAddress 404"
		badName   = sqsNS + "InvalidAttributeName InvalidAttributeName 400"
		badValue  = sqsNS + "InvalidAttributeValue InvalidAttributeValue 400"
		contents  = sqsNS + "InvalidMessageContents InvalidMessageContents 400"
		handle    = sqsNS + "ReceiptHandleIsInvalid ReceiptHandleIsInvalid 404"
		refused   = sqsNS + "UnsupportedOperation " + simple + "UnsupportedOperation 400"
		serialise = coralNS + "SerializationException SerializationException 400"
		resource  = sqsNS + "ResourceNotFoundException ResourceNotFoundException 404"
		unknown   = coralNS + "UnknownOperationException UnknownOperationException 400"
	)
	create := func(name string, attributes ...string) string {
		parts := []string{}
		for i := 0; i < len(attributes); i += 2 {
			parts = append(parts, fmt.Sprintf("%q:%q", attributes[i], attributes[i+1]))
		}
		return fmt.Sprintf(`{"QueueName":%q,"Attributes":{%s}}`, name, strings.Join(parts, ","))
	}
	redrive := func(name, value string) string {
		return fmt.Sprintf(`{%s,"Attributes":{%q:%q}}`, url, name, value)
	}
	target := func(arn, most string) string {
		return redrive("RedrivePolicy", fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%s}`, arn, most))
	}
	const arn = "arn:aws:sqs:us-east-1:000000000000:"
	attribute := func(value string) string {
		return `{` + send + `,"MessageAttributes":{"k":` + value + `}}`
	}
	named := func(name string) string {
		return `{` + send + `,"MessageAttributes":{"` + name + `":{"DataType":"String","StringValue":"v"}}}`
	}
	elevenAttributes := []string{}
	tags := []string{}
	for i := range 51 {
		if i < 11 {
			elevenAttributes = append(elevenAttributes, fmt.Sprintf(`"k%d":{"DataType":"String","StringValue":"v"}`, i))
		}
		tags = append(tags, fmt.Sprintf(`"t%d":""`, i))
	}

	for _, c := range []struct{ action, body, want string }{
		// Queues.
		{"SendMessage", `{}`, missing},
		{"SendMessage", `{"QueueUrl":"http://sqs.test/000000000000/none.fifo"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"http://sqs.test/000000000000/A.fifo"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"http://sqs.test/123456789012/a.fifo"}`, noQueue},
		{"SendMessage", `{"QueueUrl":"a.fifo"}`, address},
		{"SendMessage", `{"QueueUrl":"http://sqs.test/a.fifo"}`, address},
		{"SendMessage", `{"QueueUrl":"http://[::1"}`, address},
		{"DeleteQueue", `{"QueueUrl":"http://sqs.test/000000000000/none.fifo"}`, noQueue},
		{"GetQueueUrl", `{}`, missing},
		{"GetQueueUrl", `{"QueueName":"none.fifo"}`, noQueue},
		{"GetQueueUrl", `{"QueueName":"a.fifo","QueueOwnerAWSAccountId":"123456789012"}`, noQueue},
		{"ListQueues", `{"MaxResults":0}`, invalid},
		{"ListQueues", `{"MaxResults":1001}`, invalid},
		{"ListQueues", `{"NextToken":"*"}`, invalid},

		// Creation.
		{"CreateQueue", `{}`, missing},
		{"CreateQueue", create("no-suffix", "FifoQueue", "true"), invalid},
		{"CreateQueue", create("no-flag.fifo"), invalid},
		{"CreateQueue", create("not.fifo", "FifoQueue", "false"), invalid},
		{"CreateQueue", create("a b.fifo", "FifoQueue", "true"), invalid},
		{"CreateQueue", create(strings.Repeat("a", 76)+".fifo", "FifoQueue", "true"), invalid},
		{"CreateQueue", create(".fifo", "FifoQueue", "true"), invalid},
		{"CreateQueue", create("new.fifo", "FifoQueue", "perhaps"), badValue},
		{"CreateQueue", create("standard", "FifoQueue", "false"), badName},
		{"CreateQueue", create("standard", "ContentBasedDeduplication", "false"), badName},
		{"CreateQueue", create("standard", "DeduplicationScope", "queue"), badName},
		{"CreateQueue", create("standard", "FifoThroughputLimit", "perQueue"), badName},
		{"CreateQueue", create("standard"), refused},
		{"CreateQueue", create("new.fifo", "FifoQueue", "true", "Colour", "red"), badName},
		{"CreateQueue", create("new.fifo", "FifoQueue", "true", "QueueArn", "x"), badName},
		{"CreateQueue", create("new.fifo", "FifoQueue", "true", "FifoThroughputLimit", "perMessageGroupId"), badValue},
		{"CreateQueue", create("new.fifo", "FifoQueue", "true", "RedrivePolicy", "{}"), invalid},
		{"CreateQueue", create("new.fifo", "FifoQueue", "true", "RedrivePolicy", `{"deadLetterTargetArn":"`+arn+`new.fifo","maxReceiveCount":1}`), invalid},
		{"CreateQueue", create("new.fifo", "FifoQueue", "true", "RedrivePolicy", `{"deadLetterTargetArn":"`+arn+`none.fifo","maxReceiveCount":1}`), invalid},
		{"CreateQueue", `{"QueueName":"new.fifo","Attributes":{"FifoQueue":"true"},"tags":{"aws:x":"1"}}`, invalid},

		// Attributes.
		{"SetQueueAttributes", `{` + url + `}`, missing},
		{"SetQueueAttributes", `{` + url + `,"Attributes":{"FifoQueue":"false"}}`, badValue},
		{"SetQueueAttributes", `{` + url + `,"Attributes":{"FifoThroughputLimit":"perMessageGroupId"}}`, badValue},
		{"SetQueueAttributes", `{` + url + `,"Attributes":{"FifoThroughputLimit":"perMonth"}}`, badValue},
		{"SetQueueAttributes", `{` + url + `,"Attributes":{"DeduplicationScope":"group"}}`, badValue},
		{"SetQueueAttributes", `{` + url + `,"Attributes":{"ContentBasedDeduplication":""}}`, badValue},
		{"SetQueueAttributes", `{` + url + `,"Attributes":{"Policy":"allow"}}`, badValue},
		{"SetQueueAttributes", target(arn+"content.fifo", "0"), invalid},
		{"SetQueueAttributes", target(arn+"content.fifo", "1001"), invalid},
		{"SetQueueAttributes", target(arn+"content.fifo", "-1"), invalid},
		{"SetQueueAttributes", target(arn+"content.fifo", "1.5"), invalid},
		{"SetQueueAttributes", target(arn+"content.fifo", "true"), invalid},
		{"SetQueueAttributes", target(arn+"content.fifo", `"x"`), invalid},
		{"SetQueueAttributes", target(arn+"content.fifo", `3} {`), invalid},
		{"SetQueueAttributes", target(arn+"content.fifo", `3,"other":1`), invalid},
		{"SetQueueAttributes", target(arn+"none.fifo", "3"), invalid},
		{"SetQueueAttributes", target(arn+"standard", "3"), invalid},
		{"SetQueueAttributes", target(arn+"a.fifo", "3"), invalid},
		{"SetQueueAttributes", target(arn+"closed.fifo", "3"), invalid},
		{"SetQueueAttributes", target(arn+"picky.fifo", "3"), invalid},
		{"SetQueueAttributes", target("arn:aws:sqs:eu-west-1:000000000000:content.fifo", "3"), invalid},
		{"SetQueueAttributes", target("arn:aws:sqs:us-east-1:123456789012:content.fifo", "3"), invalid},
		{"SetQueueAttributes", redrive("RedrivePolicy", `{"maxReceiveCount":3}`), invalid},
		{"SetQueueAttributes", redrive("RedrivePolicy", `{"deadLetterTargetArn":"`+arn+`content.fifo"}`), invalid},
		{"SetQueueAttributes", redrive("RedrivePolicy", `[]`), invalid},
		{"SetQueueAttributes", redrive("RedrivePolicy", `{"deadLetterTargetArn":1,"maxReceiveCount":3}`), invalid},
		{"SetQueueAttributes", redrive("RedriveAllowPolicy", `{}`), invalid},
		{"SetQueueAttributes", redrive("RedriveAllowPolicy", `x`), invalid},
		{"SetQueueAttributes", redrive("RedriveAllowPolicy", `{"redrivePermission":"some"}`), invalid},
		{"SetQueueAttributes", redrive("RedriveAllowPolicy", `{"redrivePermission":"denyAll","sourceQueueArns":["`+arn+`a.fifo"]}`), invalid},
		{"SetQueueAttributes", redrive("RedriveAllowPolicy", `{"redrivePermission":"byQueue"}`), invalid},
		{"SetQueueAttributes", redrive("RedriveAllowPolicy", `{"redrivePermission":"byQueue","sourceQueueArns":["a.fifo"]}`), invalid},
		{"SetQueueAttributes", redrive("RedriveAllowPolicy", `{"redrivePermission":"byQueue","sourceQueueArns":[`+strings.TrimSuffix(strings.Repeat(`"`+arn+`a.fifo",`, 11), ",")+`]}`), invalid},
		{"GetQueueAttributes", `{` + url + `,"AttributeNames":["Colour"]}`, badName},

		// Sending.
		{"SendMessage", `{` + url + `,"MessageGroupId":"g","MessageDeduplicationId":"x"}`, missing},
		{"SendMessage", `{` + url + `,"MessageBody":"","MessageGroupId":"g","MessageDeduplicationId":"x"}`, missing},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageDeduplicationId":"x"}`, missing},
		{"SendMessage", `{` + url + `,"MessageBody":"b"}`, missing},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"","MessageDeduplicationId":"x"}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"a b","MessageDeduplicationId":"x"}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"` + long + `","MessageDeduplicationId":"x"}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"g"}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":""}`, invalid},
		{"SendMessage", `{` + content + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":""}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"a b"}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"é"}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"\u007f"}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"` + long + `"}`, invalid},
		{"SendMessage", `{` + send + `,"DelaySeconds":1}`, invalid},
		{"SendMessage", `{` + send + `,"DelaySeconds":-1}`, invalid},
		{"SendMessage", `{` + url + `,"MessageBody":"\u0000","MessageGroupId":"g","MessageDeduplicationId":"x"}`, contents},
		{"SendMessage", `{` + url + `,"MessageBody":"\ufffe","MessageGroupId":"g","MessageDeduplicationId":"x"}`, contents},

		// Message attributes.
		{"SendMessage", `{` + send + `,"MessageAttributes":{` + strings.Join(elevenAttributes, ",") + `}}`, invalid},
		{"SendMessage", named(""), invalid},
		{"SendMessage", named("a b"), invalid},
		{"SendMessage", named(".a"), invalid},
		{"SendMessage", named("a."), invalid},
		{"SendMessage", named("a..b"), invalid},
		{"SendMessage", named("aWs.a"), invalid},
		{"SendMessage", named("AMAZON.a"), invalid},
		{"SendMessage", named(strings.Repeat("a", 257)), invalid},
		{"SendMessage", attribute(`null`), invalid},
		{"SendMessage", attribute(`{"StringValue":"v"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"Text","StringValue":"v"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"Strings","StringValue":"v"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"String.","StringValue":"v"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"String.` + strings.Repeat("a", 256) + `","StringValue":"v"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"String.\u0000","StringValue":"v"}`), contents},
		{"SendMessage", attribute(`{"DataType":"String"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"String","StringValue":""}`), invalid},
		{"SendMessage", attribute(`{"DataType":"String","StringValue":"v","BinaryValue":"AA=="}`), invalid},
		{"SendMessage", attribute(`{"DataType":"String","StringValue":"\u0000"}`), contents},
		{"SendMessage", attribute(`{"DataType":"Number","StringValue":"ten"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"Number","StringValue":"0x10"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"Number","StringValue":"NaN"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"Binary","StringValue":"v"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"Binary","BinaryValue":"AA==","StringValue":"v"}`), invalid},
		{"SendMessage", attribute(`{"DataType":"Binary","BinaryValue":"*"}`), serialise},
		{"SendMessage", attribute(`{"DataType":"String","StringListValues":["v"]}`), invalid},
		{"SendMessage", `{` + send + `,"MessageSystemAttributes":{"Other":{"DataType":"String","StringValue":"v"}}}`, invalid},
		{"SendMessage", `{` + send + `,"MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"Number","StringValue":"1"}}}`, invalid},
		{"SendMessage", `{` + send + `,"MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"String","StringValue":""}}}`, invalid},

		// Receiving.
		{"ReceiveMessage", `{` + url + `,"MaxNumberOfMessages":0}`, invalid},
		{"ReceiveMessage", `{` + url + `,"MaxNumberOfMessages":11}`, invalid},
		{"ReceiveMessage", `{` + url + `,"WaitTimeSeconds":-1}`, invalid},
		{"ReceiveMessage", `{` + url + `,"WaitTimeSeconds":21}`, invalid},
		{"ReceiveMessage", `{` + url + `,"VisibilityTimeout":-1}`, invalid},
		{"ReceiveMessage", `{` + url + `,"VisibilityTimeout":43201}`, invalid},
		{"ReceiveMessage", `{` + url + `,"ReceiveRequestAttemptId":""}`, invalid},
		{"ReceiveMessage", `{` + url + `,"ReceiveRequestAttemptId":"` + long + `"}`, invalid},

		// Handles.
		{"DeleteMessage", `{` + url + `}`, missing},
		{"DeleteMessage", `{` + url + `,"ReceiptHandle":""}`, handle},
		{"DeleteMessage", `{` + url + `,"ReceiptHandle":"garbage"}`, handle},
		{"DeleteMessage", `{` + url + `,"ReceiptHandle":"AQEB` + strings.Repeat("A", 48) + `"}`, handle},
		{"DeleteMessage", `{` + url + `,"ReceiptHandle":"AQEB` + strings.Repeat("*", 48) + `"}`, handle},
		{"ChangeMessageVisibility", `{` + url + `,"VisibilityTimeout":1}`, missing},
		{"ChangeMessageVisibility", `{` + url + `,"ReceiptHandle":"garbage"}`, missing},
		{"ChangeMessageVisibility", `{` + url + `,"ReceiptHandle":"garbage","VisibilityTimeout":1}`, handle},
		{"ChangeMessageVisibility", `{` + url + `,"ReceiptHandle":"garbage","VisibilityTimeout":43201}`, invalid},

		// Tags.
		{"TagQueue", `{` + url + `}`, missing},
		{"TagQueue", `{` + url + `,"Tags":{"":"v"}}`, invalid},
		{"TagQueue", `{` + url + `,"Tags":{"` + long + `":"v"}}`, invalid},
		{"TagQueue", `{` + url + `,"Tags":{"k":"` + strings.Repeat("é", 257) + `"}}`, invalid},
		{"TagQueue", `{` + url + `,"Tags":{` + strings.Join(tags, ",") + `}}`, invalid},
		{"UntagQueue", `{` + url + `}`, missing},

		// Move tasks.
		{"StartMessageMoveTask", `{}`, missing},
		{"StartMessageMoveTask", `{"SourceArn":"` + arn + `none.fifo"}`, resource},
		{"StartMessageMoveTask", `{"SourceArn":"a.fifo"}`, resource},
		{"StartMessageMoveTask", `{"SourceArn":"` + arn + `a.fifo"}`, invalid},
		{"StartMessageMoveTask", `{"SourceArn":"` + arn + `a.fifo","MaxNumberOfMessagesPerSecond":0}`, invalid},
		{"StartMessageMoveTask", `{"SourceArn":"` + arn + `a.fifo","MaxNumberOfMessagesPerSecond":501}`, invalid},
		{"ListMessageMoveTasks", `{}`, missing},
		{"ListMessageMoveTasks", `{"SourceArn":"` + arn + `none.fifo"}`, resource},
		{"ListMessageMoveTasks", `{"SourceArn":"` + arn + `a.fifo","MaxResults":0}`, invalid},
		{"ListMessageMoveTasks", `{"SourceArn":"` + arn + `a.fifo","MaxResults":11}`, invalid},
		{"CancelMessageMoveTask", `{}`, missing},
		{"CancelMessageMoveTask", `{"TaskHandle":"garbage"}`, invalid},
		{"ListDeadLetterSourceQueues", `{}`, missing},
		{"ListDeadLetterSourceQueues", `{"QueueUrl":"http://sqs.test/000000000000/none.fifo"}`, noQueue},
		{"ListDeadLetterSourceQueues", `{` + url + `,"MaxResults":1001}`, invalid},

		// Not served.
		{"AddPermission", `{}`, refused},
		{"RemovePermission", `{}`, refused},

		// The envelope.
		{"SendMassage", `{}`, unknown},
		{"", `{}`, unknown},
		{"SendMessage", `{`, serialise},
		{"SendMessage", `[]`, serialise},
		{"SendMessage", `{} {}`, serialise},
		{"SendMessage", `{"QueueUrl":1}`, serialise},
		{"SendMessage", `{` + send + `,"DelaySeconds":"0"}`, serialise},
		{"ReceiveMessage", `{` + url + `,"MaxNumberOfMessages":1e400}`, serialise},
		{"ReceiveMessage", `{` + url + `,"MaxNumberOfMessages":1.5}`, serialise},
		{"ReceiveMessage", `{` + url + `,"MaxNumberOfMessages":99999999999999999999}`, serialise},
		{"CreateQueue", `{"QueueName":"new.fifo","Attributes":{"FifoQueue":true}}`, serialise},
	} {
		r := call(t, e.server, c.action, c.body)
		code, who, _ := strings.Cut(r.header.Get("X-Amzn-Query-Error"), ";")
		require.Equal(t, c.want, fmt.Sprintf("%s %s %d", r.errorType(), code, r.status), "%s %.200s: %s", c.action, c.body, r.body)
		require.Equal(t, "Sender", who)
		require.NotEmpty(t, r.header.Get("X-Amzn-Requestid"))
		require.Equal(t, "application/x-amz-json-1.0", r.header.Get("Content-Type"))
	}
	require.Empty(t, e.receive(queueURL("a.fifo")), "nothing of all this was sent")
}

// Every action that names a queue says so when there is none.
func TestUnknownQueue(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for _, action := range []string{
		"ChangeMessageVisibility", "ChangeMessageVisibilityBatch", "DeleteMessage", "DeleteMessageBatch", "DeleteQueue",
		"GetQueueAttributes", "ListQueueTags", "PurgeQueue", "ReceiveMessage", "SendMessage", "SendMessageBatch",
		"SetQueueAttributes", "TagQueue", "UntagQueue",
	} {
		r := call(t, e.server, action, `{"QueueUrl":"http://sqs.test/000000000000/none.fifo"}`)
		require.Equal(t, 400, r.status, action)
		require.Equal(t, simple+"NonExistentQueue;Sender", r.header.Get("X-Amzn-Query-Error"), action)
	}
}

func TestAttributeRanges(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	for name, bounds := range map[string][2]int{
		"DelaySeconds":                  {0, 900},
		"KmsDataKeyReusePeriodSeconds":  {60, 86400},
		"MaximumMessageSize":            {1024, 1_048_576},
		"MessageRetentionPeriod":        {60, 1_209_600},
		"ReceiveMessageWaitTimeSeconds": {0, 20},
		"VisibilityTimeout":             {0, 43200},
	} {
		set := func(value string) error {
			_, err := e.sdk.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
				QueueUrl: &queue, Attributes: map[string]string{name: value},
			})
			return err
		}
		require.NoError(t, set(fmt.Sprint(bounds[0])), name)
		require.NoError(t, set(fmt.Sprint(bounds[1])), name)
		for _, bad := range []string{fmt.Sprint(bounds[0] - 1), fmt.Sprint(bounds[1] + 1), "1.5", "x", "99999999999999999999"} {
			requireError(t, set(bad), "InvalidAttributeValue", 400)
		}
	}
}

// Go's SDK has typed errors for the modelled ones.
func TestTypedErrors(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	_, err := e.sdk.SendMessage(t.Context(), letter(queueURL("none.fifo"), "g", "x", "b"))
	var unknown *types.QueueDoesNotExist
	require.ErrorAs(t, err, &unknown)
	_, err = e.sdk.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: aws.String("garbage")})
	var invalid *types.ReceiptHandleIsInvalid
	require.ErrorAs(t, err, &invalid)
	_, err = e.sdk.AddPermission(t.Context(), &sqs.AddPermissionInput{
		QueueUrl: aws.String(queueURL("a.fifo")), Label: aws.String("x"), AWSAccountIds: []string{"000000000000"}, Actions: []string{"*"},
	})
	var refused *types.UnsupportedOperation
	require.ErrorAs(t, err, &refused)
}

// The whole alphabet of ids: ASCII letters, digits and punctuation, 1 to 128.
func TestIDAlphabet(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	alphabet := ""
	for r := '!'; r <= '~'; r++ {
		alphabet += string(r)
	}
	for _, id := range []string{alphabet, strings.Repeat("x", 128), "y", "Y"} {
		e.send(queue, id, id, id)
	}
	got := e.receive(queue)
	require.Len(t, got, 4, "ids are told apart by case")
	for _, m := range got {
		require.Equal(t, *m.Body, m.Attributes["MessageGroupId"])
		require.Equal(t, *m.Body, m.Attributes["MessageDeduplicationId"])
	}
}

// A handle is good on the queue that handed it out only.
func TestHandleOfAnotherQueue(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	a, b := e.create("a.fifo"), e.create("b.fifo")
	e.send(a, "g", "x", "one")
	e.send(b, "g", "x", "one")
	handle := e.receive(a)[0].ReceiptHandle
	e.receive(b)
	_, err := e.sdk.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &b, ReceiptHandle: handle})
	requireError(t, err, "ReceiptHandleIsInvalid", 404)
}
