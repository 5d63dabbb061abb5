package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
)

func entry(id, group, dedup, body string) types.SendMessageBatchRequestEntry {
	e := types.SendMessageBatchRequestEntry{Id: &id, MessageBody: &body}
	if group != "" {
		e.MessageGroupId = &group
	}
	if dedup != "" {
		e.MessageDeduplicationId = &dedup
	}
	return e
}

func (e *endpoint) sendBatch(queue string, entries ...types.SendMessageBatchRequestEntry) (*sqs.SendMessageBatchOutput, error) {
	return e.sdk.SendMessageBatch(e.t.Context(), &sqs.SendMessageBatchInput{QueueUrl: &queue, Entries: entries})
}

func TestSendMessageBatch(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	single := e.send(queue, "g", "before", "zero")
	out, err := e.sendBatch(queue,
		entry("1", "g", "x", "one"),
		entry("2", "g", "y", "two"),
		entry("3", "g", "x", "again"),
		entry("4", "g", "before", "zero again"))
	require.NoError(t, err)
	require.Empty(t, out.Failed)
	require.Len(t, out.Successful, 4)
	for i, s := range out.Successful {
		require.Equal(t, fmt.Sprint(i+1), *s.Id)
	}
	one, again := out.Successful[0], out.Successful[2]
	require.Equal(t, *one.MessageId, *again.MessageId)
	require.Equal(t, *one.SequenceNumber, *again.SequenceNumber)
	require.Equal(t, md5Hex("again"), *again.MD5OfMessageBody)
	require.Equal(t, *single.MessageId, *out.Successful[3].MessageId)
	require.Less(t, *one.SequenceNumber, *out.Successful[1].SequenceNumber)
	require.Equal(t, []string{"zero", "one", "two"}, bodies(e.receive(queue)))
}

// Faults of one entry are told in Failed, and the request is answered with 200.
func TestSendMessageBatchFailsEntries(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo", "MaximumMessageSize", "1024")
	delayed := entry("delayed", "g", "1", "one")
	delayed.DelaySeconds = 1
	attributed := entry("attributed", "g", "2", "two")
	attributed.MessageAttributes = map[string]types.MessageAttributeValue{"n": {DataType: aws.String("Number"), StringValue: aws.String("x")}}
	out, err := e.sendBatch(queue, delayed, attributed,
		entry("large", "g", "3", strings.Repeat("x", 1025)),
		entry("illegal", "g", "4", "\x00"),
		entry("empty", "g", "5", ""),
		entry("good", "g", "6", "six"))
	require.NoError(t, err)
	require.Len(t, out.Successful, 1)
	require.Equal(t, "good", *out.Successful[0].Id)
	want := map[string]string{
		"delayed": "InvalidParameterValue", "attributed": "InvalidParameterValue", "large": "InvalidParameterValue",
		"illegal": "InvalidMessageContents", "empty": "MissingParameter",
	}
	got := map[string]string{}
	for _, f := range out.Failed {
		got[*f.Id] = *f.Code
		require.True(t, f.SenderFault)
		require.NotEmpty(t, *f.Message)
	}
	require.Equal(t, want, got)
	require.Equal(t, []string{"six"}, bodies(e.receive(queue)))

	// A rejected entry does not use up its id.
	e.send(queue, "h", "3", "three")
	require.Equal(t, []string{"three"}, bodies(e.receive(queue)))
}

// Faults that fail a batch as a whole: nothing is sent.
func TestBatchFailsAsAWhole(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	good := entry("good", "g", "good", "body")
	eleven := make([]types.SendMessageBatchRequestEntry, 11)
	for i := range eleven {
		eleven[i] = entry(fmt.Sprint(i), "g", fmt.Sprint(i), "body")
	}
	half := strings.Repeat("x", 600_000)
	const simple = "AWS.SimpleQueueService."
	for name, c := range map[string]struct {
		entries []types.SendMessageBatchRequestEntry
		code    string
	}{
		"eleven":          {eleven, simple + "TooManyEntriesInBatchRequest"},
		"none":            {[]types.SendMessageBatchRequestEntry{}, simple + "EmptyBatchRequest"},
		"repeated id":     {[]types.SendMessageBatchRequestEntry{good, good}, simple + "BatchEntryIdsNotDistinct"},
		"empty id":        {[]types.SendMessageBatchRequestEntry{good, entry("", "g", "x", "b")}, simple + "InvalidBatchEntryId"},
		"bad id":          {[]types.SendMessageBatchRequestEntry{good, entry("a.b", "g", "x", "b")}, simple + "InvalidBatchEntryId"},
		"long id":         {[]types.SendMessageBatchRequestEntry{good, entry(strings.Repeat("a", 81), "g", "x", "b")}, simple + "InvalidBatchEntryId"},
		"too large":       {[]types.SendMessageBatchRequestEntry{entry("1", "g", "1", half), entry("2", "g", "2", half)}, simple + "BatchRequestTooLong"},
		"no group":        {[]types.SendMessageBatchRequestEntry{good, entry("1", "", "x", "b")}, "InvalidParameterValue"},
		"no dedup id":     {[]types.SendMessageBatchRequestEntry{good, entry("1", "g", "", "b")}, "InvalidParameterValue"},
		"bad dedup id":    {[]types.SendMessageBatchRequestEntry{good, entry("1", "g", "a b", "b")}, "InvalidParameterValue"},
		"too long dedup":  {[]types.SendMessageBatchRequestEntry{good, entry("1", "g", strings.Repeat("x", 129), "b")}, "InvalidParameterValue"},
		"space for group": {[]types.SendMessageBatchRequestEntry{good, entry("1", " ", "x", "b")}, "InvalidParameterValue"},
	} {
		_, err := e.sendBatch(queue, c.entries...)
		require.Error(t, err, name)
		requireError(t, err, c.code, 400)
	}
	_, err := e.sendBatch(queue, entry("1", "g", "1", half), entry("2", "g", "2", half))
	require.ErrorContains(t, err, "1048576 bytes. You have sent 1200000 bytes")
	_, err = e.sendBatch(queue, entry("a", "g", "1", "b"), entry("b", "g", "1", "b"), entry("b", "g", "1", "b"), entry("a", "g", "1", "b"))
	require.ErrorContains(t, err, "Id b repeated.", "the first one seen again")
	require.Empty(t, e.receive(queue))
}

func TestDeleteAndVisibilityBatches(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	for i := range 4 {
		e.send(queue, fmt.Sprint(i), fmt.Sprint(i), fmt.Sprint(i))
	}
	got := e.receive(queue)
	changed, err := e.sdk.ChangeMessageVisibilityBatch(t.Context(), &sqs.ChangeMessageVisibilityBatchInput{
		QueueUrl: &queue, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
			{Id: aws.String("now"), ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 0},
			{Id: aws.String("long"), ReceiptHandle: got[1].ReceiptHandle, VisibilityTimeout: 3600},
			{Id: aws.String("over"), ReceiptHandle: got[2].ReceiptHandle, VisibilityTimeout: 43201},
			{Id: aws.String("garbage"), ReceiptHandle: aws.String("garbage"), VisibilityTimeout: 1},
		},
	})
	require.NoError(t, err)
	require.Len(t, changed.Successful, 2)
	codes := map[string]string{}
	for _, f := range changed.Failed {
		codes[*f.Id] = *f.Code
		require.True(t, f.SenderFault)
	}
	require.Equal(t, map[string]string{"over": "InvalidParameterValue", "garbage": "ReceiptHandleIsInvalid"}, codes)
	require.Equal(t, []string{"0"}, bodies(e.receive(queue)))

	e.pass(30 * time.Second)
	deleted, err := e.sdk.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{
		QueueUrl: &queue, Entries: []types.DeleteMessageBatchRequestEntry{
			{Id: aws.String("held"), ReceiptHandle: got[1].ReceiptHandle},
			{Id: aws.String("expired"), ReceiptHandle: got[2].ReceiptHandle},
			{Id: aws.String("garbage"), ReceiptHandle: aws.String("garbage")},
		},
	})
	require.NoError(t, err)
	require.Equal(t, "held", *deleted.Successful[0].Id)
	require.Len(t, deleted.Failed, 2)
	for _, f := range deleted.Failed {
		require.Equal(t, "ReceiptHandleIsInvalid", *f.Code) // logged of AWS for expired ones as well
	}
	require.Equal(t, []string{"0", "2", "3"}, bodies(e.receive(queue)))

	_, err = e.sdk.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &queue, Entries: []types.DeleteMessageBatchRequestEntry{}})
	requireError(t, err, "AWS.SimpleQueueService.EmptyBatchRequest", 400)
	_, err = e.sdk.ChangeMessageVisibilityBatch(t.Context(), &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &queue, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{}})
	requireError(t, err, "AWS.SimpleQueueService.EmptyBatchRequest", 400)
}
