package emulator

import (
	"crypto/md5"
	"encoding/hex"
	"unicode/utf8"

	"fifoproof/internal/fifo"
)

const (
	// sizeLimit is the largest message and the largest batch, in bytes (since
	// August 2025; 262,144 before).
	sizeLimit = 1_048_576

	idLimit = 128 // characters of group, deduplication and attempt ids
)

// messageInput is what SendMessage and an entry of SendMessageBatch share.
type messageInput struct {
	DelaySeconds            *int64
	MessageAttributes       map[string]attributeValue
	MessageBody             *string
	MessageDeduplicationID  *string `json:"MessageDeduplicationId"`
	MessageGroupID          *string `json:"MessageGroupId"`
	MessageSystemAttributes map[string]attributeValue
}

// enclosed is what travels with a message through the queue.
type enclosed struct {
	attributes map[string]attributeValue
	trace      string // AWSTraceHeader, "" for none
}

// checkIDs checks the two ids. Their faults fail a whole batch (recorded of AWS
// for missing ids; assumed for malformed ones).
func (m *messageInput) checkIDs(contentBased bool) *apiError {
	if m.MessageGroupID == nil {
		return missingParameter("MessageGroupId")
	}
	if err := checkID("MessageGroupId", *m.MessageGroupID); err != nil {
		return err
	}
	if m.MessageDeduplicationID != nil {
		return checkID("MessageDeduplicationId", *m.MessageDeduplicationID)
	}
	if !contentBased {
		return invalidParameter("The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
	}
	return nil
}

// checkID checks a group, deduplication or attempt id: 1 to 128 ASCII letters,
// digits and punctuation (API reference, SendMessage). An empty one is a bad value
// and not a missing one.
func checkID(parameter, id string) *apiError {
	ok := len(id) >= 1 && len(id) <= idLimit
	for i := 0; ok && i < len(id); i++ {
		ok = id[i] > ' ' && id[i] <= '~'
	}
	if !ok {
		return invalidValue(id, parameter, parameter+" can only include alphanumeric and punctuation characters. 1 to 128 in length.")
	}
	return nil
}

// check checks everything but the ids. Its faults fail one entry of a batch.
func (m *messageInput) check(maximumSize int) *apiError {
	if m.MessageBody == nil || *m.MessageBody == "" {
		return missingParameter("MessageBody")
	}
	// The queue's delay holds for all messages. An explicit 0 does not override it.
	if d := m.DelaySeconds; d != nil && *d != 0 {
		return invalidValue(*d, "DelaySeconds", "The request include parameter that is not valid for this queue type.")
	}
	if err := checkMessageAttributes(m.MessageAttributes); err != nil {
		return err
	}
	if err := checkSystemAttributes(m.MessageSystemAttributes); err != nil {
		return err
	}
	if m.size() > maximumSize {
		return invalidParameter("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", maximumSize)
	}
	return checkText(*m.MessageBody)
}

// size is what counts against the limits: the body and each attribute's name, type
// and value, but no system attributes.
func (m *messageInput) size() int {
	n := 0
	if m.MessageBody != nil {
		n = len(*m.MessageBody)
	}
	for name, value := range m.MessageAttributes {
		n += len(name) + value.size()
	}
	return n
}

// checkText checks that text holds only characters of XML 1.0 (API reference,
// SendMessage; XML 1.0, production 2).
func checkText(text string) *apiError {
	for _, r := range text {
		switch {
		case r == '\t', r == '\n', r == '\r',
			r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000 && r <= utf8.MaxRune:
		default:
			return invalidMessageContents(r)
		}
	}
	return nil
}

// letter is the checked message as the queue takes it.
func (m *messageInput) letter() fifo.Letter {
	letter := fifo.Letter{Group: *m.MessageGroupID, Body: *m.MessageBody}
	if m.MessageDeduplicationID != nil {
		letter.DedupID = *m.MessageDeduplicationID
	}
	trace := ""
	if v, ok := m.MessageSystemAttributes[sysTraceHeader]; ok {
		trace = *v.StringValue
	}
	if len(m.MessageAttributes) > 0 || trace != "" {
		letter.Enclosed = &enclosed{attributes: m.MessageAttributes, trace: trace}
	}
	return letter
}

// sentOutput is what SendMessage and an entry of SendMessageBatch answer. The
// digests are those of the request, also for a duplicate whose stored message has
// another body: the SDKs compare them with what they sent.
type sentOutput struct {
	MD5OfMessageAttributes       string `json:",omitempty"`
	MD5OfMessageBody             string
	MD5OfMessageSystemAttributes string `json:",omitempty"`
	MessageID                    string `json:"MessageId"`
	SequenceNumber               string
}

// send hands a checked message to the queue.
func (s *Server) send(q *queue, m *messageInput, aside fifo.Aside) (sentOutput, error) {
	letter := m.letter()
	letter.Aside = aside
	sent, err := q.fifo.Send(s.now(), letter)
	if err != nil {
		return sentOutput{}, err
	}
	out := sentOutput{
		MD5OfMessageAttributes:       md5OfAttributes(m.MessageAttributes),
		MD5OfMessageBody:             md5Of(*m.MessageBody),
		MD5OfMessageSystemAttributes: md5OfAttributes(m.MessageSystemAttributes),
		MessageID:                    sent.MessageID,
		SequenceNumber:               s.sequenceNumber(sent.Sequence),
	}
	if s.hooks.firstDigests {
		q.firstDigests(&out)
	}
	return out, nil
}

func md5Of(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}
