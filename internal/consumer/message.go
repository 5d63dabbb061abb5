package consumer

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/receipt"
)

// arrival is one message of a reply on its way through the consumer.
type arrival struct {
	delivery  receipt.Delivery
	handle    string
	rejection string // why no key could be made; "" where there is one
	claim     receipt.Claim
}

// arrive reads what the queue says of a message and makes its key.
func (c *Consumer) arrive(m types.Message, now time.Time) arrival {
	told := m.Attributes
	a := arrival{handle: aws.ToString(m.ReceiptHandle), delivery: receipt.Delivery{
		Queue:          c.name,
		MessageID:      aws.ToString(m.MessageId),
		Group:          told[string(types.MessageSystemAttributeNameMessageGroupId)],
		DedupID:        told[string(types.MessageSystemAttributeNameMessageDeduplicationId)],
		SequenceNumber: told[string(types.MessageSystemAttributeNameSequenceNumber)],
		ReceiveCount:   number(told[string(types.MessageSystemAttributeNameApproximateReceiveCount)]),
		SentAt:         milliseconds(told[string(types.MessageSystemAttributeNameSentTimestamp)]),
		ReceivedAt:     now,
	}}
	if a.delivery.MessageID == "" {
		a.rejection = "the queue tells no MessageId"
		return a
	}
	var err error
	if a.delivery.Key, a.delivery.BodyDigest, err = c.keyer.key(m, a.delivery.Group); err != nil {
		a.rejection = err.Error()
	}
	return a
}

// number and milliseconds read the system attributes that are numbers. Whatever
// else an endpoint may send there counts as not told: it must not hold up money.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func milliseconds(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
