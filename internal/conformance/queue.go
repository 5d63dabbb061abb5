package conformance

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/clock"
	"fifoproof/internal/window"
)

// queue is one FIFO queue that the case made, or was given.
type queue struct {
	bench  *Bench
	name   string
	url    string
	groups []string // used so far, each gets a fence
	users  *users   // producer and consumer, where the case goes through them
	given  *Given   // set where the run did not make the queue

	held map[string]types.Message // on a given queue: received and not deleted, by receipt handle
}

// attributes of a queue under test beside FifoQueue and the visibility timeout.
type attributes map[types.QueueAttributeName]string

var (
	plain        = attributes{}
	contentBased = attributes{types.QueueAttributeNameContentBasedDeduplication: "true"}
	groupScope   = attributes{
		types.QueueAttributeNameDeduplicationScope:  window.ScopeGroup.String(),
		types.QueueAttributeNameFifoThroughputLimit: "perMessageGroupId",
	}
)

// queue makes a queue for the case, or takes the one that the run was given.
func (b *Bench) queue(ctx context.Context, extra attributes) (*queue, error) {
	if g := b.setup.Given; g != nil {
		q := &queue{bench: b, name: path.Base(g.URL), url: g.URL, given: g, held: map[string]types.Message{}}
		b.queues = append(b.queues, q)
		return q, nil
	}
	set := map[string]string{
		string(types.QueueAttributeNameFifoQueue):         "true",
		string(types.QueueAttributeNameVisibilityTimeout): strconv.Itoa(int(visibility / time.Second)),
	}
	for name, value := range extra {
		set[string(name)] = value
	}
	b.made++
	name := fmt.Sprintf("%s-%d.fifo", b.name, b.made)
	made, err := b.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: set, Tags: b.setup.Tags()})
	if err != nil {
		if refused(err) != "" && len(extra) > 0 {
			return nil, fmt.Errorf("%w: a queue with %s: %s", errUnable, describe(extra), refused(err))
		}
		return nil, fmt.Errorf("making the queue %s: %w", name, awserr.Brief(err))
	}
	q := &queue{bench: b, name: name, url: aws.ToString(made.QueueUrl)}
	b.queues = append(b.queues, q)
	if !b.setup.Own {
		err = clock.Sleep(ctx, b.clock, settleAfterCreate)
	}
	return q, err
}

func describe(extra attributes) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		parts = append(parts, string(name)+"="+extra[name])
	}
	return strings.Join(parts, ", ")
}

// send sends one message and returns its index among the attempts to send. A refusal
// is evidence, not an error.
func (q *queue) send(ctx context.Context, group, id, body string) (int, error) {
	input := &sqs.SendMessageInput{MessageGroupId: &group, MessageBody: &body}
	if id != "" {
		input.MessageDeduplicationId = &id
	}
	_, err := q.put(ctx, input)
	return q.bench.wire.sends() - 1, err
}

// sending is a send to be made by a claim.
func (q *queue) sending(ctx context.Context, group, id, body string) func() error {
	return func() error {
		_, err := q.send(ctx, group, id, body)
		return err
	}
}

// put sends one message as it is given, but for the queue. A refusal is evidence, not
// an error; there is no answer then.
func (q *queue) put(ctx context.Context, input *sqs.SendMessageInput) (*sqs.SendMessageOutput, error) {
	input.QueueUrl = &q.url
	q.uses(aws.ToString(input.MessageGroupId))
	input.MessageGroupId, input.MessageDeduplicationId = q.mine(input.MessageGroupId), q.mine(input.MessageDeduplicationId)
	answer, err := q.bench.client.SendMessage(ctx, input)
	return answer, q.sent(err)
}

// message is an entry of a batch.
type message struct{ group, id, body string }

// sendBatch sends one batch.
func (q *queue) sendBatch(ctx context.Context, messages ...message) (*sqs.SendMessageBatchOutput, error) {
	input := &sqs.SendMessageBatchInput{QueueUrl: &q.url}
	for i, m := range messages {
		q.uses(m.group)
		entry := types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageGroupId: q.mine(&m.group), MessageBody: &m.body}
		if m.id != "" {
			entry.MessageDeduplicationId = q.mine(&m.id)
		}
		input.Entries = append(input.Entries, entry)
	}
	answer, err := q.bench.client.SendMessageBatch(ctx, input)
	return answer, q.sent(err)
}

// batching is a batch to be sent by a claim.
func (q *queue) batching(ctx context.Context, messages ...message) func() error {
	return func() error {
		_, err := q.sendBatch(ctx, messages...)
		return err
	}
}

// sent sorts the error of a send: a refusal by the endpoint is in the evidence,
// anything else ends the case.
func (q *queue) sent(err error) error {
	if err == nil || refused(err) != "" {
		return nil
	}
	return fmt.Errorf("sending to %s: %w", q.url, awserr.Brief(err))
}

// uses remembers a group, so that it gets a fence.
func (q *queue) uses(group string) {
	if group != "" && !slices.Contains(q.groups, group) {
		q.groups = append(q.groups, group)
	}
}

// asking changes how a receive asks.
type asking func(*sqs.ReceiveMessageInput)

// atMost bounds the messages of a receive.
func atMost(n int32) asking { return func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = n } }

// hiding gives a receive a visibility timeout of its own.
func hiding(d time.Duration) asking {
	return func(in *sqs.ReceiveMessageInput) { in.VisibilityTimeout = int32(d / time.Second) }
}

// receive polls once.
func (q *queue) receive(ctx context.Context, how ...asking) ([]types.Message, error) {
	input := &sqs.ReceiveMessageInput{
		QueueUrl:                    &q.url,
		MaxNumberOfMessages:         10,
		WaitTimeSeconds:             int32(longPoll / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{"All"},
	}
	if q.given != nil {
		input.VisibilityTimeout = int32(visibility / time.Second) // whatever the queue's own is
	}
	for _, set := range how {
		set(input)
	}
	answer, err := q.bench.client.ReceiveMessage(ctx, input)
	if err != nil {
		return nil, fmt.Errorf("receiving from %s: %w", q.url, awserr.Brief(err))
	}
	if len(answer.Messages) == 0 && q.bench.setup.Serial {
		// A long poll takes its time, but does not move a clock that stands still.
		err = clock.Sleep(ctx, q.bench.clock, time.Duration(input.WaitTimeSeconds)*time.Second)
	}
	if err != nil {
		return answer.Messages, err
	}
	return q.own(ctx, answer.Messages)
}

// await polls until at least n messages have come, and tells a premise that does not
// hold where they do not. Together they are more than one reply may bring.
func (q *queue) await(ctx context.Context, n int, how ...asking) ([]types.Message, error) {
	var all []types.Message
	for range fencePolls {
		got, err := q.receive(ctx, how...)
		if err != nil {
			return all, err
		}
		if all = append(all, got...); len(all) >= n {
			return all, nil
		}
	}
	return all, fmt.Errorf("%w: %d of %d messages came", errPremise, len(all), n)
}

// remove deletes what was received.
func (q *queue) remove(ctx context.Context, messages []types.Message) error {
	for _, m := range messages {
		_, err := q.bench.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle})
		if err != nil {
			return fmt.Errorf("deleting from %s: %w", q.url, awserr.Brief(err))
		}
		delete(q.held, aws.ToString(m.ReceiptHandle))
	}
	return nil
}

// hide changes the visibility timeout of a message that was received.
func (q *queue) hide(ctx context.Context, m types.Message, d time.Duration) error {
	_, err := q.bench.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: int32(d / time.Second),
	})
	if err != nil {
		return fmt.Errorf("changing the visibility of a message of %s: %w", q.url, awserr.Brief(err))
	}
	return nil
}

// attributes reads attributes of the queue back.
func (q *queue) attributes(ctx context.Context, names ...types.QueueAttributeName) (map[string]string, error) {
	answer, err := q.bench.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &q.url, AttributeNames: names})
	if err != nil {
		return nil, fmt.Errorf("reading the attributes of %s: %w", q.url, awserr.Brief(err))
	}
	return answer.Attributes, nil
}

// set changes attributes of the queue.
func (q *queue) set(ctx context.Context, values attributes) error {
	input := &sqs.SetQueueAttributesInput{QueueUrl: &q.url, Attributes: map[string]string{}}
	for name, value := range values {
		input.Attributes[string(name)] = value
	}
	if _, err := q.bench.client.SetQueueAttributes(ctx, input); err != nil {
		return fmt.Errorf("setting attributes of %s: %w", q.url, awserr.Brief(err))
	}
	return nil
}

// poll receives once and deletes at once.
func (q *queue) poll(ctx context.Context) error {
	if q.users != nil {
		_, err := q.users.consumer.Poll(ctx)
		return err
	}
	messages, err := q.receive(ctx)
	if err != nil {
		return err
	}
	return q.remove(ctx, messages)
}

// drop deletes the queue before the end of its case.
func (q *queue) drop(ctx context.Context) error {
	b := q.bench
	if _, err := b.client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &q.url}); err != nil {
		return fmt.Errorf("deleting the queue %s of this run: %w", q.url, awserr.Brief(err))
	}
	b.queues = slices.DeleteFunc(b.queues, func(other *queue) bool { return other == q })
	return nil
}
