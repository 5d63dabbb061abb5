package deadletter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// AttributeFirst is the message attribute of a redriven copy that names the first
// message: its MessageId stays the message's identity, however often it is put back. A
// copy that a move task made lacks it.
const AttributeFirst = "first-message-id"

// attributeDigest is what the producer attaches: the hash of what the id was made from.
const attributeDigest = "body-digest"

// What a [Digest] was made from.
const (
	DigestAttribute = "attribute body-digest"
	DigestCanonical = "canonical body"
	DigestBytes     = "bytes of the body" // which are no JSON
)

// Digest is a SHA-256 in lower-case hexadecimal digits, and what it is of.
type Digest struct{ Value, Of string }

// Message is one dead letter. What the queue does not tell is zero.
type Message struct {
	ID       string // in the dead-letter queue
	Identity string // MessageId that its attempts are found by: ID, but where it is a redriven copy
	Group    string
	Sequence string    // in the dead-letter queue
	SentAt   time.Time // when it came here: on FIFO queues a dead-letter move sets it anew
	Looked   time.Time // when it was first received here, by whomever
	Receives int       // in all queues, this look included
	Source   Source
	Digest   Digest
	Size     int      // of the body, in bytes
	Names    []string // of its message attributes, sorted
	History  History
	Body     string // only where [Filter.Bodies] asks for it
}

// stay names one time that a message lies in the dead-letter queue. A MessageId is not
// enough: what some endpoints move back and forth keeps it.
type stay struct {
	id     string
	sentAt int64 // milliseconds
}

func (m Message) stay() stay { return stay{m.ID, m.SentAt.UnixMilli()} }

// read reads a message, and what is on record of it.
func (l *Letters) read(ctx context.Context, raw types.Message) (Message, error) {
	told := raw.Attributes
	body := aws.ToString(raw.Body)
	m := Message{
		ID:       aws.ToString(raw.MessageId),
		Group:    told[string(types.MessageSystemAttributeNameMessageGroupId)],
		Sequence: told[string(types.MessageSystemAttributeNameSequenceNumber)],
		SentAt:   milliseconds(told[string(types.MessageSystemAttributeNameSentTimestamp)]),
		Looked:   milliseconds(told[string(types.MessageSystemAttributeNameApproximateFirstReceiveTimestamp)]),
		Digest:   l.digest(raw),
		Size:     len(body),
		Names:    slices.Sorted(maps.Keys(raw.MessageAttributes)),
		Body:     body,
	}
	m.Receives, _ = strconv.Atoi(told[string(types.MessageSystemAttributeNameApproximateReceiveCount)]) // 0 where it is not told
	m.Identity = cmp.Or(text(raw, AttributeFirst), m.ID)
	records, err := l.records(ctx, m.Identity)
	if err != nil {
		return m, err
	}
	m.Source = l.sources.of(ctx, told[string(types.MessageSystemAttributeNameDeadLetterQueueSourceArn)], records)
	m.History = l.history(m, records)
	return m, nil
}

func (l *Letters) digest(raw types.Message) Digest {
	if told := text(raw, attributeDigest); told != "" {
		return Digest{told, DigestAttribute}
	}
	body := []byte(aws.ToString(raw.Body))
	if id, err := l.hash.ID(body, ""); err == nil {
		return Digest{id, DigestCanonical}
	}
	sum := sha256.Sum256(body)
	return Digest{hex.EncodeToString(sum[:]), DigestBytes}
}

// text is the text of a message attribute, "" where there is none.
func text(raw types.Message, name string) string {
	attribute, found := raw.MessageAttributes[name]
	if !found || strings.HasPrefix(aws.ToString(attribute.DataType), "Binary") {
		return ""
	}
	return aws.ToString(attribute.StringValue)
}

func milliseconds(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
