package emulator

import (
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"fifoproof/internal/clock"
	"fifoproof/internal/fifo"
)

type receiveMessageInput struct {
	AttributeNames              []string
	MaxNumberOfMessages         *int64
	MessageAttributeNames       []string
	MessageSystemAttributeNames []string
	QueueURL                    *string `json:"QueueUrl"`
	ReceiveRequestAttemptID     *string `json:"ReceiveRequestAttemptId"`
	VisibilityTimeout           *int64
	WaitTimeSeconds             *int64
}

type receiveMessageOutput struct {
	Messages []receivedMessage `json:",omitempty"`
}

type receivedMessage struct {
	Attributes             map[string]string `json:",omitempty"`
	Body                   string
	MD5OfBody              string
	MD5OfMessageAttributes string                    `json:",omitempty"`
	MessageAttributes      map[string]attributeValue `json:",omitempty"`
	MessageID              string                    `json:"MessageId"`
	ReceiptHandle          string
}

func (s *Server) ask(in *receiveMessageInput) (fifo.Ask, *apiError) {
	ask := fifo.Ask{Max: 1, Visibility: -1}
	if n := in.MaxNumberOfMessages; n != nil {
		if err := checkRange("MaxNumberOfMessages", *n, 1, maxReceive); err != nil {
			return ask, err
		}
		ask.Max = int(*n)
	}
	if n := in.VisibilityTimeout; n != nil {
		if err := checkRange("VisibilityTimeout", *n, 0, maxVisibility); err != nil {
			return ask, err
		}
		ask.Visibility = inSeconds(*n)
	}
	if id := in.ReceiveRequestAttemptID; id != nil {
		if err := checkID("ReceiveRequestAttemptId", *id); err != nil {
			return ask, err
		}
		ask.AttemptID = *id
	}
	if s.hooks.oneMessage {
		ask.Max = 1
	}
	if n := in.WaitTimeSeconds; n != nil {
		return ask, checkRange("WaitTimeSeconds", *n, 0, maxWait)
	}
	return ask, nil
}

// receiveMessage answers as soon as there is a message, and empty when the wait is
// over, the caller gives up or the server shuts down.
func (s *Server) receiveMessage(c *call, in *receiveMessageInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock() // waiting unlocks and locks again
	ask, invalid := s.ask(in)
	if invalid != nil {
		return nil, invalid
	}
	wait := q.wait
	if in.WaitTimeSeconds != nil {
		wait = inSeconds(*in.WaitTimeSeconds)
	}

	deadline := s.now().Add(wait)
	for {
		now := s.now()
		if s.comesBackEmpty(q, now) {
			return receiveMessageOutput{}, nil
		}
		got, err := s.receive(q, now, ask)
		switch {
		case errors.Is(err, fifo.ErrNotRetryable):
			return nil, invalidValue(ask.AttemptID, "ReceiveRequestAttemptId",
				"The call is not retryable: a message of it was deleted or had its visibility changed.")
		case err != nil:
			return nil, err
		case len(got) > 0:
			return s.received(in, q, got), nil
		case !now.Before(deadline):
			return receiveMessageOutput{}, nil
		}
		until := deadline
		if next, ok := q.fifo.NextEvent(now); ok && next.Before(until) {
			until = next
		}
		if next, ok := s.nextMove(now); ok && next.Before(until) {
			until = next
		}
		switch err := s.waitFor(c, q, until); {
		case q.gone:
			return nil, noSuchQueue()
		case errors.Is(err, clock.ErrStandsStill), c.ctx.Err() != nil:
			return receiveMessageOutput{}, nil
		case err != nil:
			return nil, err
		}
	}
}

// waitFor waits, without the lock, for until or for something to happen to q.
func (s *Server) waitFor(c *call, q *queue, until time.Time) error {
	changed := q.changed
	q.waiting++
	s.mu.Unlock()
	s.log.LogAttrs(c.ctx, slog.LevelDebug, "waiting", slog.String("queue", q.name), slog.Time("until", until))
	err := s.clock.Wait(c.ctx, until, changed)
	s.lock()
	q.waiting--
	return err
}

func (s *Server) received(in *receiveMessageInput, q *queue, got []fifo.Delivery) receiveMessageOutput {
	names := slices.Concat(in.MessageSystemAttributeNames, in.AttributeNames)
	var out receiveMessageOutput
	for _, d := range got {
		m := receivedMessage{
			Attributes:    s.systemAttributes(d, names),
			Body:          d.Body,
			MD5OfBody:     md5Of(d.Body),
			MessageID:     d.MessageID,
			ReceiptHandle: q.handle(d.Receipt),
		}
		if with, ok := d.Enclosed.(*enclosed); ok {
			m.MessageAttributes = chosen(with.attributes, in.MessageAttributeNames)
			m.MD5OfMessageAttributes = md5OfAttributes(m.MessageAttributes)
		}
		out.Messages = append(out.Messages, m)
	}
	return out
}

// systemAttributes are those that names ask for. A name that SQS does not know is
// ignored, as recorded of AWS.
func (s *Server) systemAttributes(d fifo.Delivery, names []string) map[string]string {
	if len(names) == 0 {
		return nil
	}
	all := map[string]string{
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(d.FirstReceivedAt.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(d.Count),
		"MessageDeduplicationId":           d.DedupID,
		"MessageGroupId":                   d.Group,
		"SenderId":                         Account,
		"SentTimestamp":                    strconv.FormatInt(d.SentAt.UnixMilli(), 10),
		"SequenceNumber":                   s.sequenceNumber(d.Sequence),
	}
	if d.From != "" {
		all["DeadLetterQueueSourceArn"] = d.From
	}
	if with, ok := d.Enclosed.(*enclosed); ok && with.trace != "" {
		all[sysTraceHeader] = with.trace
	}
	if slices.Contains(names, "All") {
		return all
	}
	some := map[string]string{}
	for _, name := range names {
		if value, ok := all[name]; ok {
			some[name] = value
		}
	}
	return some
}
