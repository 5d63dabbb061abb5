package producer

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// SQS's limits (API reference, SendMessageBatch; raised to 1 MiB in August 2025).
// Body, and name, type and value of every attribute count.
const (
	maxEntries = 10
	maxBytes   = 1 << 20

	typeString     = "String"
	hexDigits      = 64
	attributeBytes = len(AttributeKey) + len(typeString) + hexDigits + len(AttributeDigest) + len(typeString) + hexDigits

	maxBody = maxBytes - attributeBytes
)

func (m *message) size() int {
	n := len(m.body) + attributeBytes
	if m.traceparent != "" {
		n += traceBytes(m.traceparent)
	}
	return n
}

// traceBytes is what a trace context takes.
func traceBytes(traceparent string) int {
	return len(AttributeTrace) + len(typeString) + len(traceparent)
}

// load is how full a batch is.
type load struct{ entries, bytes int }

func (l load) takes(size int) bool {
	return l.entries < maxEntries && l.bytes+size <= maxBytes
}

func (l *load) add(size int) {
	l.entries++
	l.bytes += size
}

// request is the call that carries messages; an entry's Id is its index.
func request(queue string, messages []*message) *sqs.SendMessageBatchInput {
	entries := make([]types.SendMessageBatchRequestEntry, len(messages))
	for i, m := range messages {
		entries[i] = types.SendMessageBatchRequestEntry{
			Id:                     aws.String(strconv.Itoa(i)),
			MessageBody:            &m.body,
			MessageGroupId:         &m.Group,
			MessageDeduplicationId: &m.ID,
			MessageAttributes: map[string]types.MessageAttributeValue{
				AttributeKey:    {DataType: aws.String(typeString), StringValue: &m.ID},
				AttributeDigest: {DataType: aws.String(typeString), StringValue: &m.BodyDigest},
			},
		}
		if m.traceparent != "" {
			entries[i].MessageAttributes[AttributeTrace] = types.MessageAttributeValue{DataType: aws.String(typeString), StringValue: &m.traceparent}
		}
	}
	return &sqs.SendMessageBatchInput{QueueUrl: &queue, Entries: entries}
}
