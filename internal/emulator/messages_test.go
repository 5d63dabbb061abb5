package emulator_test

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
)

func md5Hex(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func stringValue(s string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &s}
}

// A recorded run on AWS lists these seven.
func TestSystemAttributes(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	sent := e.send(queue, "g", "x", "one")
	e.pass(1500 * time.Millisecond)
	want := map[string]string{
		"ApproximateFirstReceiveTimestamp": fmt.Sprint(start.UnixMilli() + 1500),
		"ApproximateReceiveCount":          "1",
		"MessageDeduplicationId":           "x",
		"MessageGroupId":                   "g",
		"SenderId":                         "000000000000",
		"SentTimestamp":                    fmt.Sprint(start.UnixMilli()),
		"SequenceNumber":                   *sent.SequenceNumber,
	}
	first := e.receive(queue)[0]
	require.Equal(t, want, first.Attributes)
	require.Equal(t, *sent.MessageId, *first.MessageId)
	require.Equal(t, md5Hex("one"), *first.MD5OfBody)
	require.True(t, strings.HasPrefix(*first.ReceiptHandle, "AQEB"))

	e.pass(30 * time.Second)
	second := e.receive(queue)[0]
	want["ApproximateReceiveCount"] = "2"
	require.Equal(t, want, second.Attributes)
	require.NotEqual(t, *first.ReceiptHandle, *second.ReceiptHandle)

	for _, c := range []struct {
		old, names []string
		want       []string
	}{
		{nil, nil, nil},
		{[]string{"All"}, nil, []string{
			"ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount", "MessageDeduplicationId",
			"MessageGroupId", "SenderId", "SentTimestamp", "SequenceNumber",
		}},
		{[]string{"SenderId"}, []string{"MessageGroupId", "Unknown"}, []string{"MessageGroupId", "SenderId"}},
	} {
		e.pass(30 * time.Second)
		got := e.receive(queue, func(in *sqs.ReceiveMessageInput) {
			in.AttributeNames, in.MessageSystemAttributeNames = nil, nil //nolint:staticcheck // the deprecated name works as well
			for _, n := range c.old {
				in.AttributeNames = append(in.AttributeNames, types.QueueAttributeName(n)) //nolint:staticcheck // as above
			}
			for _, n := range c.names {
				in.MessageSystemAttributeNames = append(in.MessageSystemAttributeNames, types.MessageSystemAttributeName(n))
			}
		})[0].Attributes
		require.Len(t, got, len(c.want))
		for _, name := range c.want {
			require.Contains(t, got, name)
		}
	}
}

func TestDuplicateOverTheProtocol(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	in := letter(queue, "g", "x", "one")
	in.MessageAttributes = map[string]types.MessageAttributeValue{"k": stringValue("1")}
	first, err := e.sdk.SendMessage(t.Context(), in)
	require.NoError(t, err)
	second := e.send(queue, "g", "x", "two")
	require.Equal(t, *first.MessageId, *second.MessageId)
	require.Equal(t, *first.SequenceNumber, *second.SequenceNumber)
	require.Equal(t, md5Hex("two"), *second.MD5OfMessageBody, "of the request, or the SDK would refuse the answer")
	require.Nil(t, second.MD5OfMessageAttributes)
	got := e.receive(queue)
	require.Equal(t, []string{"one"}, bodies(got))
	require.Contains(t, got[0].MessageAttributes, "k")
}

func TestContentBasedDeduplication(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo", "ContentBasedDeduplication", "true")
	one := e.send(queue, "g", "", "Test")
	const sum = "532eaabd9574880dbf76b9b8cc00832c20a6ec113d682299550d7a6e0f345e25" // printf Test | sha256sum
	require.Equal(t, *one.MessageId, *e.send(queue, "g", sum, "other").MessageId)
	require.Equal(t, *one.MessageId, *e.send(queue, "other", "", "Test").MessageId, "the scope is the queue")
	require.NotEqual(t, *one.MessageId, *e.send(queue, "g", "explicit", "Test").MessageId)
	got := e.receive(queue)
	require.Equal(t, []string{"Test", "Test"}, bodies(got))
	require.Equal(t, sum, got[0].Attributes["MessageDeduplicationId"])
}

func TestMessageAttributes(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo", "VisibilityTimeout", "1")
	all := map[string]types.MessageAttributeValue{
		"bar":       stringValue("plain"),
		"bar.one":   stringValue("é 🙂"),
		"barometer": {DataType: aws.String("Number.hPa"), StringValue: aws.String("-1013.25e0")},
		"bytes":     {DataType: aws.String("Binary.png"), BinaryValue: []byte{0, 1, 0xff}},
	}
	in := letter(queue, "g", "x", "one")
	in.MessageAttributes = all
	sent, err := e.sdk.SendMessage(t.Context(), in)
	require.NoError(t, err)

	for _, c := range []struct {
		asked, want []string
	}{
		{[]string{"All"}, []string{"bar", "bar.one", "barometer", "bytes"}},
		{[]string{".*"}, []string{"bar", "bar.one", "barometer", "bytes"}},
		{[]string{"bar.*"}, []string{"bar", "bar.one", "barometer"}},
		{[]string{"bar", "bytes", "absent"}, []string{"bar", "bytes"}},
		{[]string{"absent"}, nil},
		{nil, nil},
	} {
		got := e.receive(queue, func(in *sqs.ReceiveMessageInput) { in.MessageAttributeNames = c.asked })[0]
		require.Len(t, got.MessageAttributes, len(c.want), c.asked)
		for _, name := range c.want {
			require.Equal(t, all[name], got.MessageAttributes[name])
		}
		switch len(c.want) {
		case 0:
			require.Nil(t, got.MD5OfMessageAttributes)
		case len(all):
			require.Equal(t, *sent.MD5OfMessageAttributes, *got.MD5OfMessageAttributes)
		default:
			require.NotEqual(t, *sent.MD5OfMessageAttributes, *got.MD5OfMessageAttributes, "over the returned ones only")
		}
		e.pass(time.Second)
	}
}

func TestMD5OfMessageAttributes(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	in := letter(queue, "g", "x", "one")
	in.MessageAttributes = map[string]types.MessageAttributeValue{"test-key": stringValue("test-value")}
	in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
		"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793")},
	}
	sent, err := e.sdk.SendMessage(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, "befa18540a897f7d022bf07057754a03", *sent.MD5OfMessageAttributes, "recorded of AWS")
	// By the rule: each part behind its length in 4 bytes, and 1 for a string.
	require.Equal(t, md5Hex("\x00\x00\x00\x0eAWSTraceHeader\x00\x00\x00\x06String\x01"+
		"\x00\x00\x00\x28Root=1-5759e988-bd862e3fe1be46a994272793"), *sent.MD5OfMessageSystemAttributes)

	got := e.receive(queue)[0]
	require.Equal(t, "Root=1-5759e988-bd862e3fe1be46a994272793", got.Attributes["AWSTraceHeader"])
	require.Equal(t, "befa18540a897f7d022bf07057754a03", *got.MD5OfMessageAttributes)
	require.NotContains(t, got.MessageAttributes, "AWSTraceHeader")
}

// A recorded run on AWS: DelaySeconds = 0 on a message is accepted and does not
// override the queue's delay.
func TestZeroDelayIsTheQueues(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo", "DelaySeconds", "2")
	r := call(t, e.server, "SendMessage", fmt.Sprintf(
		`{"QueueUrl":%q,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"x","DelaySeconds":0}`, queue))
	require.Equal(t, 200, r.status, r.body)
	require.Empty(t, e.receive(queue))
	require.Equal(t, "1", e.attributes(queue, "All")["ApproximateNumberOfMessagesDelayed"])
	e.pass(2 * time.Second)
	require.Len(t, e.receive(queue), 1)
}

// A recorded run on AWS: a body at the limit passes. What counts is the body and
// each attribute's name, type and value.
func TestMessageSize(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	small := e.create("b.fifo", "MaximumMessageSize", "1024")
	sendSize := func(queue, id string, size int, attributes map[string]types.MessageAttributeValue) error {
		in := letter(queue, "g", id, strings.Repeat("<", size))
		in.MessageAttributes = attributes
		_, err := e.sdk.SendMessage(t.Context(), in)
		return err
	}
	require.NoError(t, sendSize(queue, "1", 1_048_576, nil))
	requireError(t, sendSize(queue, "2", 1_048_577, nil), "InvalidParameterValue", 400)
	require.NoError(t, sendSize(small, "1", 1024, nil))
	requireError(t, sendSize(small, "2", 1025, nil), "InvalidParameterValue", 400)
	ten := map[string]types.MessageAttributeValue{"k": stringValue("123")} // 1 + 6 + 3
	require.NoError(t, sendSize(small, "3", 1014, ten))
	requireError(t, sendSize(small, "4", 1015, ten), "InvalidParameterValue", 400)
}

// Bodies come back byte for byte.
func TestBodiesAreKept(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	for i, body := range []string{
		" \t\r\n", "\u0020\ud7ff\ue000\ufffd\U00010000\U0010ffff", `{"a": "<&>\u2028"}`, "\u2028\u007f\u0085", "é e\u0301",
	} {
		e.send(queue, "g", fmt.Sprint(i), body)
		got := e.receive(queue)
		require.Equal(t, []string{body}, bodies(got))
		e.delete(queue, got[0])
	}
}

func TestVisibilityOverTheProtocol(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	change := func(m types.Message, seconds int32) error {
		_, err := e.sdk.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
			QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds,
		})
		return err
	}
	drop := func(m types.Message) error {
		_, err := e.sdk.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle})
		return err
	}
	e.send(queue, "g", "x", "one")
	m := e.receive(queue, func(in *sqs.ReceiveMessageInput) { in.VisibilityTimeout = 5 })[0]
	require.NoError(t, change(m, 60))
	e.pass(59 * time.Second)
	require.Empty(t, e.receive(queue))
	require.NoError(t, change(m, 0), "an explicit 0 is sent and honoured")

	again := e.receive(queue)[0]
	requireError(t, drop(m), "InvalidParameterValue", 400)
	requireError(t, change(m, 1), "InvalidParameterValue", 400)
	e.pass(30 * time.Second)
	requireError(t, drop(again), "InvalidParameterValue", 400)

	last := e.receive(queue)[0]
	require.Equal(t, "3", last.Attributes["ApproximateReceiveCount"])
	require.NoError(t, drop(last))
	require.NoError(t, drop(last), "a delete whose reply was lost can be made again")
	requireError(t, change(last, 1), "InvalidParameterValue", 400)
}

func TestReceiveAttemptOverTheProtocol(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	e.send(queue, "g", "x", "one")
	attempt := func(in *sqs.ReceiveMessageInput) { in.ReceiveRequestAttemptId = aws.String("try") }
	first := e.receive(queue, attempt)
	require.Equal(t, first, e.receive(queue, attempt))
	e.delete(queue, first[0])
	_, err := e.sdk.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue, ReceiveRequestAttemptId: aws.String("try")})
	requireError(t, err, "InvalidParameterValue", 400)
}
