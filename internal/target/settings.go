package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/cli"
	"fifoproof/internal/window"
)

// Settings are how a queue is set up. What an endpoint does not tell is zero.
type Settings struct {
	URL        string
	Name       string
	ARN        string
	Scope      window.Scope
	ScopeTold  bool          // the endpoint knows the attribute; where it does not, Scope is queue
	Visibility time.Duration // of a receive that asks for none
	Retention  time.Duration
	Delay      time.Duration
	Redrive    Redrive
}

// FIFO reports whether it is a FIFO queue.
func (s Settings) FIFO() bool { return strings.HasSuffix(s.Name, ".fifo") }

// Redrive is a queue's redrive policy. The zero value is none.
type Redrive struct {
	Target      string // ARN of the dead-letter queue
	MaxReceives int    // receives after which a message is moved there
}

// ReadSettings asks a queue how it is set up.
func ReadSettings(ctx context.Context, client *sqs.Client, queueURL string) (Settings, error) {
	s := Settings{URL: queueURL, Name: QueueName(queueURL)}
	answer, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &queueURL, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return s, unreachable(client, s.Name, err)
	}
	told := func(name types.QueueAttributeName) string { return answer.Attributes[string(name)] }
	s.ARN = told(types.QueueAttributeNameQueueArn)
	if text := told(types.QueueAttributeNameDeduplicationScope); text != "" {
		s.ScopeTold = true
		s.Scope, err = window.ParseScope(text)
	}
	redrive, redriveErr := ParseRedrive(told(types.QueueAttributeNameRedrivePolicy))
	s.Redrive = redrive
	err = errors.Join(err, redriveErr)
	for name, into := range map[types.QueueAttributeName]*time.Duration{
		types.QueueAttributeNameVisibilityTimeout:      &s.Visibility,
		types.QueueAttributeNameMessageRetentionPeriod: &s.Retention,
		types.QueueAttributeNameDelaySeconds:           &s.Delay,
	} {
		if text := told(name); text != "" {
			seconds, wrong := strconv.Atoi(text)
			if wrong != nil {
				err = errors.Join(err, fmt.Errorf("the attribute %s is %q, and no number of seconds", name, text))
			}
			*into = time.Duration(seconds) * time.Second
		}
	}
	if err != nil {
		return s, fmt.Errorf("reading the attributes of the queue %s: %w", s.Name, err)
	}
	return s, nil
}

// ParseRedrive reads the attribute RedrivePolicy; "" is none. The count may be a number
// or the text of one: SQS takes and gives both.
func ParseRedrive(value string) (Redrive, error) {
	if value == "" {
		return Redrive{}, nil
	}
	var fields struct {
		Target string          `json:"deadLetterTargetArn"`
		Max    json.RawMessage `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(value), &fields); err != nil {
		return Redrive{}, fmt.Errorf("reading the redrive policy: %w", err)
	}
	if fields.Target == "" {
		return Redrive{}, nil // what some endpoints tell of a policy that was taken away
	}
	n, err := strconv.Atoi(strings.Trim(string(fields.Max), `"`))
	if err != nil || n < 1 {
		return Redrive{}, fmt.Errorf("reading the redrive policy: maxReceiveCount is %s, and no number from 1", fields.Max)
	}
	return Redrive{Target: fields.Target, MaxReceives: n}, nil
}

// Name is the name of the dead-letter queue.
func (r Redrive) Name() string { return r.Target[strings.LastIndexByte(r.Target, ':')+1:] }

// ErrNoDeadLetters says that a queue has no redrive policy.
var ErrNoDeadLetters = errors.New("has no dead-letter queue")

// DeadLetters is the dead-letter queue of source, as its redrive policy names it. A FIFO
// queue with one of the other kind is refused: SQS lets nobody set that up, but not every
// endpoint looks, and then nothing is ever moved. Errors: [ErrNoDeadLetters] and the
// endpoint's.
func DeadLetters(ctx context.Context, client *sqs.Client, source Settings) (Settings, error) {
	if source.Redrive.Target == "" {
		return Settings{}, cli.Hint(fmt.Errorf("the queue %s %w: it has no redrive policy", source.Name, ErrNoDeadLetters),
			"give it one (terraform/modules/fifo-queue does), or name the dead-letter queue itself with --queue")
	}
	name := source.Redrive.Name()
	if source.FIFO() != strings.HasSuffix(name, ".fifo") {
		return Settings{}, cli.Hint(fmt.Errorf("the queue %s and its dead-letter queue %s are of two kinds, so nothing is ever moved", source.Name, name),
			"the dead-letter queue of a FIFO queue has to be a FIFO queue, and its name ends in .fifo")
	}
	in := &sqs.GetQueueUrlInput{QueueName: &name}
	if own, other := account(source.ARN), account(source.Redrive.Target); own != other && other != "" {
		in.QueueOwnerAWSAccountId = &other
	}
	answer, err := client.GetQueueUrl(ctx, in)
	if _, gone := errors.AsType[*types.QueueDoesNotExist](err); gone {
		return Settings{}, cli.Hint(fmt.Errorf("the dead-letter queue %s of the queue %s does not exist, so nothing is ever moved", name, source.Name),
			"make it, or name another in the redrive policy")
	}
	if err != nil {
		return Settings{}, unreachable(client, name, awserr.Brief(err))
	}
	return ReadSettings(ctx, client, aws.ToString(answer.QueueUrl))
}

// account is the account in an ARN (arn:aws:sqs:REGION:ACCOUNT:NAME).
func account(arn string) string {
	if parts := strings.Split(arn, ":"); len(parts) > 4 {
		return parts[4]
	}
	return ""
}
