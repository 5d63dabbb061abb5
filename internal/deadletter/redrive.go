package deadletter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
)

// maxAttributes is SQS's limit of message attributes (developer guide, "message
// metadata").
const maxAttributes = 10

// sysTrace is the one system attribute that a sender may set.
const sysTrace = "AWSTraceHeader"

// Redrive puts back what listing shows, each message to its own source: a copy is
// sent, then the message is deleted. told is called for every one as soon as it is known
// what became of it.
//
// Groups keep their order: where one message stays that was to be sent, those behind it
// that came from the same queue stay too. A source that does not let the caller in is
// asked once. An error ends the run early: the dead-letter queue's, which may have kept
// what was just sent, or the store's. It may be run again at any time, also after a
// kill; see the package.
func (l *Letters) Redrive(ctx context.Context, listing Listing, told func(Outcome)) (Tally, error) {
	r := redrive{Letters: l, stuck: map[line]string{}, closed: map[Source]string{}}
	return l.walk(ctx, listing, listing.Behind, r.act, told)
}

// line is what keeps its order: a group of one source.
type line struct{ source, group string }

type redrive struct {
	*Letters

	stuck  map[line]string   // MessageId of the first that stays
	closed map[Source]string // why nothing can be sent there
}

func (r *redrive) act(ctx context.Context, h *hand, raw types.Message, m Message) (Outcome, error) {
	in := line{m.Source.ARN, m.Group}
	if before, stuck := r.stuck[in]; stuck {
		return Outcome{Message: m, Result: Held, Reason: "message " + before + " of its group stays"}, nil
	}
	outcome, err := r.move(ctx, h, raw, m)
	// That an effect happened already leaves no gap in the order.
	if !outcome.Result.Gone() && outcome.Result != Skipped {
		r.stuck[in] = m.ID
	}
	return outcome, err
}

// move takes one message to its source.
func (r *redrive) move(ctx context.Context, h *hand, raw types.Message, m Message) (Outcome, error) {
	stays := func(result Result, format string, args ...any) Outcome {
		return Outcome{Message: m, Result: result, Reason: fmt.Sprintf(format, args...)}
	}
	switch m.History.State {
	case Open:
	case Done:
		return stays(Skipped, "its effect happened already"), nil
	case Running:
		return stays(Left, "a consumer is at work on it"), nil
	case Copied:
		outcome, err := r.remove(ctx, h, m, Finished)
		outcome.CopyID = m.History.CopyID
		return outcome, err
	}
	if why, closed := r.closed[m.Source]; closed {
		return stays(Failed, "%s", why), nil
	}
	url, err := r.sources.find(ctx, m.Source)
	if err != nil {
		return stays(Failed, "%v", err), nil
	}
	in, err := duplicate(raw, m, url)
	if err != nil {
		return stays(Failed, "%v", err), nil
	}
	// What has begun is finished whatever happens to ctx.
	steady, cancel := r.bounded(context.WithoutCancel(ctx))
	defer cancel()
	sent, err := r.queue.SendMessage(steady, in)
	if err != nil {
		outcome := stays(Failed, "sending its copy to the queue %s: %v%s", m.Source.Name, awserr.Brief(err), doubt(err))
		if unwelcome(err) {
			r.closed[m.Source] = outcome.Reason
		}
		return outcome, nil
	}
	if aws.ToString(sent.MessageId) == "" {
		return stays(Failed, "the queue %s did not say that it took the copy: its answer has no MessageId", m.Source.Name), nil
	}
	outcome, err := r.remove(ctx, h, m, Sent)
	outcome.CopyID = aws.ToString(sent.MessageId)
	if outcome.Result == Failed {
		outcome.Reason = "its copy was sent, but " + outcome.Reason
	}
	return outcome, err
}

// remove deletes a message of which all else is done.
func (l *Letters) remove(ctx context.Context, h *hand, m Message, done Result) (Outcome, error) {
	steady, cancel := l.bounded(context.WithoutCancel(ctx))
	defer cancel()
	_, err := l.queue.DeleteMessage(steady, &sqs.DeleteMessageInput{QueueUrl: &l.cfg.URL, ReceiptHandle: &h.held[m.ID].handle})
	if err != nil {
		outcome := Outcome{Message: m, Result: Failed, Reason: fmt.Sprintf("it could not be deleted here: %v", awserr.Brief(err))}
		if unwelcome(err) {
			return outcome, fmt.Errorf("deleting from the queue %s: %w", l.name, awserr.Brief(err))
		}
		return outcome, nil
	}
	h.forget(m.ID)
	return Outcome{Message: m, Result: done}, nil
}

// doubt says what is known of a send without an answer.
func doubt(err error) string {
	if _, answered := errors.AsType[smithy.APIError](err); answered {
		return ""
	}
	return ", so whether it was taken is not known; another run within five minutes cannot send it twice"
}

// unwelcome reports whether a refusal is about who asks: asking again is no use.
func unwelcome(err error) bool {
	answered, ok := errors.AsType[smithy.APIError](err)
	return ok && awserr.Unwelcome(answered.ErrorCode())
}

// duplicate is the send of m's copy: body, group and attributes as they are, and the
// first message's id beside them.
func duplicate(raw types.Message, m Message, queueURL string) (*sqs.SendMessageInput, error) {
	attributes := maps.Clone(raw.MessageAttributes)
	if attributes == nil {
		attributes = map[string]types.MessageAttributeValue{}
	}
	attributes[AttributeFirst] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &m.Identity}
	if len(attributes) > maxAttributes {
		return nil, fmt.Errorf("it has %d message attributes, and SQS has no room for one more, which has to name the first message", len(raw.MessageAttributes))
	}
	in := &sqs.SendMessageInput{
		QueueUrl:               &queueURL,
		MessageBody:            raw.Body,
		MessageAttributes:      attributes,
		MessageDeduplicationId: aws.String(dedupID(m)),
	}
	if m.Group != "" {
		in.MessageGroupId = &m.Group
	}
	if trace := raw.Attributes[sysTrace]; trace != "" {
		in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			sysTrace: {DataType: aws.String("String"), StringValue: &trace},
		}
	}
	return in, nil
}

// dedupID names the copy of one stay: the SHA-256 of the source's ARN, the MessageId in
// the dead-letter queue and the SentTimestamp there in milliseconds, each behind its
// length in bytes as eight hexadecimal digits. It is equal after a kill and new for each
// stay.
func dedupID(m Message) string {
	var b strings.Builder
	for _, part := range []string{m.Source.ARN, m.ID, strconv.FormatInt(m.SentAt.UnixMilli(), 10)} {
		fmt.Fprintf(&b, "%08x%s", len(part), part)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// Drop deletes what listing shows, whatever became of it elsewhere. What lies behind
// others was not seen and stays.
func (l *Letters) Drop(ctx context.Context, listing Listing, told func(Outcome)) (Tally, error) {
	return l.walk(ctx, listing, 0, func(ctx context.Context, h *hand, _ types.Message, m Message) (Outcome, error) {
		return l.remove(ctx, h, m, Dropped)
	}, told)
}
