package conformance

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"fifoproof/internal/awserr"
)

// SQS actions that the suite reads.
const (
	callCreate    = "CreateQueue"
	callSend      = "SendMessage"
	callSendBatch = "SendMessageBatch"
	callReceive   = "ReceiveMessage"
	callDelete    = "DeleteMessage"
	callSettings  = "GetQueueAttributes"
)

// What the wire reads of requests and answers in AWS JSON 1.0. Field names are the
// API's own.
type (
	askedMessage struct {
		Id                     string //nolint:revive // as on the wire
		MessageBody            string
		MessageGroupId         string  //nolint:revive // as on the wire
		MessageDeduplicationId *string //nolint:revive // as on the wire
	}
	askedHandle struct {
		Id, ReceiptHandle string //nolint:revive // as on the wire
		VisibilityTimeout *int64
	}
	request struct {
		askedMessage
		QueueUrl                string //nolint:revive // as on the wire
		ReceiptHandle           string
		Entries                 []json.RawMessage
		Attributes              map[string]string
		VisibilityTimeout       *int64
		MaxNumberOfMessages     int
		ReceiveRequestAttemptId string //nolint:revive // as on the wire
	}
	toldEntry struct {
		Id, MessageId, SequenceNumber, MD5OfMessageBody string //nolint:revive // as on the wire
		Code                                            string
		SenderFault                                     bool
	}
	reply struct {
		toldEntry
		QueueUrl           string //nolint:revive // as on the wire
		Successful, Failed []toldEntry
		Messages           []struct {
			MessageId, ReceiptHandle, Body, MD5OfBody string //nolint:revive // as on the wire
			Attributes                                map[string]string
		}
	}
)

// read fills the call in from the bytes of request and answer. told is nil where no
// answer came.
func (c *Call) read(asked, told []byte, fences map[string]bool) error {
	var asks request
	var answer reply
	if len(asked) > 0 {
		if err := json.Unmarshal(asked, &asks); err != nil {
			return err
		}
	}
	c.Queue, c.Attributes = asks.QueueUrl, asks.Attributes
	c.AttemptID, c.Most, c.Visibility = asks.ReceiveRequestAttemptId, asks.MaxNumberOfMessages, asks.VisibilityTimeout
	answered := c.Status == http.StatusOK
	if answered && len(told) > 0 {
		if err := json.Unmarshal(told, &answer); err != nil {
			return err
		}
	}
	switch {
	case c.Action == callCreate:
		c.Queue = answer.QueueUrl
	case c.Action == callReceive:
		c.readMessages(answer)
	case c.Action == callSend:
		m := asks.sent(fences)
		m.MessageID, m.Sequence, m.MD5 = answer.MessageId, answer.SequenceNumber, answer.MD5OfMessageBody
		c.Sent = []SentMessage{m}
	case c.Action == callSendBatch:
		return c.readBatch(asks.Entries, answer, answered, fences)
	case asks.ReceiptHandle != "":
		c.Handles = []HandleOutcome{{Handle: digestOf(asks.ReceiptHandle)[:shortDigest], Done: answered}}
	case strings.HasSuffix(c.Action, "Batch"):
		return c.readHandles(asks.Entries, answer)
	}
	return nil
}

// shortDigest is how many hex digits tell receipt handles apart.
const shortDigest = 16

func (m askedMessage) sent(fences map[string]bool) SentMessage {
	digest := digestOf(m.MessageBody)
	out := SentMessage{Group: m.MessageGroupId, Digest: digest, Bytes: len(m.MessageBody), Fence: fences[digest]}
	if m.MessageDeduplicationId != nil {
		out.ID = *m.MessageDeduplicationId
	}
	return out
}

func (c *Call) readBatch(entries []json.RawMessage, answer reply, answered bool, fences map[string]bool) error {
	told := map[string]toldEntry{}
	for _, e := range answer.Successful {
		told[e.Id] = e
	}
	for _, e := range answer.Failed {
		told[e.Id] = e
	}
	for _, raw := range entries {
		var asked askedMessage
		if err := json.Unmarshal(raw, &asked); err != nil {
			return err
		}
		m := asked.sent(fences)
		e, known := told[asked.Id]
		switch {
		case !answered: // the whole call's status says it
		case !known, e.Code != "" && !e.SenderFault:
			m.Open = true
		case e.Code != "":
			m.Refused = e.Code
		default:
			m.MessageID, m.Sequence, m.MD5 = e.MessageId, e.SequenceNumber, e.MD5OfMessageBody
		}
		c.Sent = append(c.Sent, m)
	}
	return nil
}

func (c *Call) readHandles(entries []json.RawMessage, answer reply) error {
	done := map[string]bool{}
	for _, e := range answer.Successful {
		done[e.Id] = true
	}
	for _, raw := range entries {
		var asked askedHandle
		if err := json.Unmarshal(raw, &asked); err != nil {
			return err
		}
		c.Handles = append(c.Handles, HandleOutcome{Handle: digestOf(asked.ReceiptHandle)[:shortDigest], Done: done[asked.Id]})
		if asked.VisibilityTimeout != nil {
			c.Visibility = asked.VisibilityTimeout
		}
	}
	return nil
}

func (c *Call) readMessages(answer reply) {
	for _, m := range answer.Messages {
		c.Received = append(c.Received, GotMessage{
			MessageID: m.MessageId,
			Handle:    digestOf(m.ReceiptHandle)[:shortDigest],
			Group:     m.Attributes["MessageGroupId"],
			ID:        m.Attributes["MessageDeduplicationId"],
			Sequence:  m.Attributes["SequenceNumber"],
			Count:     m.Attributes["ApproximateReceiveCount"],
			SentAt:    m.Attributes["SentTimestamp"],
			Digest:    digestOf(m.Body),
			MD5:       m.MD5OfBody,
		})
	}
}

// errorCode is the code of an error as the SDK reads it: of the older Query protocol
// where the header tells it, else the name of the shape.
func errorCode(header http.Header, told []byte) string {
	if code, _, both := strings.Cut(header.Get("X-Amzn-Query-Error"), ";"); both {
		return awserr.Name(code)
	}
	var body struct {
		Type string `json:"__type"`
		Code string `json:"code"`
	}
	_ = json.Unmarshal(told, &body) // a page that is no JSON has no code
	return awserr.Name(cmp.Or(body.Type, body.Code))
}
