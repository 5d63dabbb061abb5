package consumer

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/receipt"
)

// arrival is one message of a reply on its way through the consumer.
type arrival struct {
	delivery    receipt.Delivery
	handle      string
	body        string
	traceparent string
	rejection   string // why no key could be made; "" where there is one
	id          int64  // of its receipt; 0 until that is on record

	received time.Time // by package time, when the reply came: for the limit of 12 h

	// Of a run, guarded by its lock.
	hidden time.Time     // until then the queue gives it to nobody else, as far as is known
	beaten time.Time     // when that was last asked for
	beat   chan struct{} // closed when the heartbeat that is under way has ended; nil: none is
	quiet  bool          // no more heartbeats
	lost   bool          // the queue has said that the handle holds nothing any more
}

// arrive reads what the queue says of a message and makes its key.
func (c *Consumer) arrive(m types.Message, now time.Time) *arrival {
	told := m.Attributes
	a := &arrival{
		handle: aws.ToString(m.ReceiptHandle), body: aws.ToString(m.Body), traceparent: optional(m, attributeTrace),
		delivery: receipt.Delivery{
			Queue:          c.name,
			MessageID:      aws.ToString(m.MessageId),
			OriginID:       optional(m, attributeOrigin),
			Group:          told[string(types.MessageSystemAttributeNameMessageGroupId)],
			DedupID:        told[string(types.MessageSystemAttributeNameMessageDeduplicationId)],
			SequenceNumber: told[string(types.MessageSystemAttributeNameSequenceNumber)],
			ReceiveCount:   number(told[string(types.MessageSystemAttributeNameApproximateReceiveCount)]),
			SentAt:         milliseconds(told[string(types.MessageSystemAttributeNameSentTimestamp)]),
			ReceivedAt:     now,
		},
	}
	if a.delivery.MessageID == "" {
		a.rejection = "the queue tells no MessageId"
		return a
	}
	var err error
	if a.delivery.Key, a.delivery.BodyDigest, err = c.keyer.key(m, a.delivery); err != nil {
		a.rejection = err.Error()
	}
	if a.delivery.Fingerprint = a.delivery.BodyDigest; a.delivery.Fingerprint == "" {
		sum := sha256.Sum256([]byte(a.body))
		a.delivery.Fingerprint = "raw:" + hex.EncodeToString(sum[:])
	}
	return a
}

// dead reports whether the queue moves the message to its dead-letter queue instead
// of giving it out once more. What was given out more often than the policy allows is
// not moved, for whatever reason: its dead-letter queue may have been deleted.
func (c *Consumer) dead(d receipt.Delivery) bool {
	return c.cfg.MaxReceives > 0 && d.ReceiveCount == c.cfg.MaxReceives
}

// dying reports whether the redrive policy will come to the message.
func (c *Consumer) dying(d receipt.Delivery) bool { return d.ReceiveCount <= c.cfg.MaxReceives }

// before reports whether a comes before b in their group. Sequence numbers have up
// to 128 bits, too many for any integer (SendMessage, SequenceNumber).
func before(a, b receipt.Delivery) bool {
	x, y := strings.TrimLeft(a.SequenceNumber, "0"), strings.TrimLeft(b.SequenceNumber, "0")
	if len(x) != len(y) {
		return len(x) < len(y)
	}
	return x < y
}

// optional is the text of an attribute that a message need not have. One that cannot
// be used counts as absent.
func optional(m types.Message, name string) string {
	text, _, err := textAttribute(m, name)
	if err != nil {
		return ""
	}
	return text
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
