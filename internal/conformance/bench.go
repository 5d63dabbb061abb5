package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/clock"
	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

const (
	// visibility of every queue under test: longer than any case holds a message.
	visibility = 120 * time.Second

	// longPoll is how long one poll waits. One second is the shortest that asks
	// all of the endpoint's servers.
	longPoll = time.Second

	// fencePolls bounds the wait for a fence. An endpoint that does not give it out
	// in so many long polls leaves the claim without proof.
	fencePolls = 20

	// settleAfterCreate: AWS asks callers to wait a second before they use a new
	// queue (CreateQueue, API reference).
	settleAfterCreate = time.Second
)

// Bench is the work place of one case: an endpoint, its clock, and the record of
// everything that happens. Its methods are called by one goroutine.
type Bench struct {
	client *sqs.Client
	clock  clock.Clock
	wire   *wire
	store  func(context.Context) (receipt.Store, error)
	rule   window.Rule
	name   string // unique among all runs: prefix of queue names and fences
	setup  Setup

	evidence Evidence
	queues   []*queue
	fences   int
	waiting  func(until time.Time)
}

// queue is one FIFO queue that the case made.
type queue struct {
	bench  *Bench
	url    string
	scope  window.Scope
	groups []string // used so far, each gets a fence
	users  *users   // producer and consumer, where the case goes through them
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

// queue makes a queue for the case.
func (b *Bench) queue(ctx context.Context, extra attributes) (*queue, error) {
	set := map[string]string{
		string(types.QueueAttributeNameFifoQueue):         "true",
		string(types.QueueAttributeNameVisibilityTimeout): strconv.Itoa(int(visibility / time.Second)),
	}
	for name, value := range extra {
		set[string(name)] = value
	}
	name := fmt.Sprintf("%s-%d.fifo", b.name, len(b.queues)+1)
	made, err := b.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: set})
	if err != nil {
		if refused(err) != "" && len(extra) > 0 {
			return nil, fmt.Errorf("%w: a queue with %s: %s", errUnable, describe(extra), refused(err))
		}
		return nil, fmt.Errorf("making the queue %s: %w", name, awserr.Brief(err))
	}
	q := &queue{bench: b, url: aws.ToString(made.QueueUrl)}
	if extra[types.QueueAttributeNameDeduplicationScope] == window.ScopeGroup.String() {
		q.scope = window.ScopeGroup
	}
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

// send sends one message and returns its index. A refusal is evidence, not an error.
func (q *queue) send(ctx context.Context, group, id, body string) (int, error) {
	return q.sendOnce(ctx, group, id, body, false)
}

// sending is a send to be made by a claim.
func (q *queue) sending(ctx context.Context, group, id, body string) func() error {
	return func() error {
		_, err := q.send(ctx, group, id, body)
		return err
	}
}

func (q *queue) sendOnce(ctx context.Context, group, id, body string, fence bool) (int, error) {
	b := q.bench
	input := &sqs.SendMessageInput{QueueUrl: &q.url, MessageGroupId: &group, MessageBody: &body}
	if id != "" {
		input.MessageDeduplicationId = &id
	}
	q.uses(group)
	s := Send{Queue: q.url, Group: group, ID: cmp.Or(id, digestOf(body)), Scope: q.scope, Fence: fence, At: window.Interval{Start: b.clock.Now()}}
	answer, err := b.client.SendMessage(ctx, input, oneAttempt)
	if errors.Is(err, errReplyLost) {
		// The endpoint did answer, only the client was kept from seeing it.
		s.At.End = b.clock.Now()
	}
	if err == nil {
		s.At.End = b.clock.Now()
		s.MessageID, s.Sequence = aws.ToString(answer.MessageId), aws.ToString(answer.SequenceNumber)
	}
	return b.sent(s, err)
}

// sent notes a send and sorts its error: a refusal by the endpoint belongs to the
// evidence, anything else ends the case.
func (b *Bench) sent(s Send, err error) (int, error) {
	if s.Refused = refused(err); s.Refused != "" {
		s.At.End, err = b.clock.Now(), nil
	}
	b.evidence.Sends = append(b.evidence.Sends, s)
	if err != nil {
		return 0, fmt.Errorf("sending to %s: %w", s.Queue, awserr.Brief(err))
	}
	return len(b.evidence.Sends) - 1, nil
}

// message is an entry of a batch.
type message struct{ group, id, body string }

// sendBatch sends one batch and returns the index of its first entry.
func (q *queue) sendBatch(ctx context.Context, messages ...message) (int, error) {
	b := q.bench
	input := &sqs.SendMessageBatchInput{QueueUrl: &q.url}
	for i, m := range messages {
		q.uses(m.group)
		input.Entries = append(input.Entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageGroupId: &m.group, MessageDeduplicationId: &m.id, MessageBody: &m.body,
		})
	}
	at := window.Interval{Start: b.clock.Now()}
	answer, err := b.client.SendMessageBatch(ctx, input, oneAttempt)
	if err == nil {
		at.End = b.clock.Now()
	}
	first := len(b.evidence.Sends)
	for i, m := range messages {
		s, entryErr := Send{Queue: q.url, Group: m.group, ID: m.id, Scope: q.scope, At: at}, err
		if err == nil {
			entryErr = s.readEntry(answer, strconv.Itoa(i))
		}
		if _, err := b.sent(s, entryErr); err != nil {
			return 0, err
		}
	}
	return first, nil
}

// readEntry takes from a batch's answer what it says of the entry id.
func (s *Send) readEntry(answer *sqs.SendMessageBatchOutput, id string) error {
	for _, done := range answer.Successful {
		if aws.ToString(done.Id) == id {
			s.MessageID, s.Sequence = aws.ToString(done.MessageId), aws.ToString(done.SequenceNumber)
			return nil
		}
	}
	for _, failed := range answer.Failed {
		if aws.ToString(failed.Id) == id {
			return &entryRefused{code: aws.ToString(failed.Code), senderFault: failed.SenderFault}
		}
	}
	return fmt.Errorf("the answer to a batch says nothing of its entry %s", id)
}

// uses remembers a group, so that it gets a fence.
func (q *queue) uses(group string) {
	if !slices.Contains(q.groups, group) {
		q.groups = append(q.groups, group)
	}
}

// receive polls once.
func (q *queue) receive(ctx context.Context) ([]types.Message, error) {
	answer, err := q.bench.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:                    &q.url,
		MaxNumberOfMessages:         10,
		WaitTimeSeconds:             int32(longPoll / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{"All"},
	}, oneAttempt)
	if err != nil {
		return nil, fmt.Errorf("receiving from %s: %w", q.url, awserr.Brief(err))
	}
	return answer.Messages, nil
}

// remove deletes what was received.
func (q *queue) remove(ctx context.Context, messages []types.Message) error {
	for _, m := range messages {
		_, err := q.bench.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle})
		if err != nil {
			return fmt.Errorf("deleting from %s: %w", q.url, awserr.Brief(err))
		}
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

// settle sends a fence into each group and polls until all of them have come, then
// once more, since a late message would come behind its fence. A FIFO queue gives
// a group's messages out in order, so what had been accepted before the fence has
// come before it.
func (q *queue) settle(ctx context.Context) (bool, error) {
	b := q.bench
	awaited := map[string]bool{}
	for _, group := range q.groups {
		b.fences++
		body := fmt.Sprintf(`{"fence":"%s-%d"}`, b.name, b.fences)
		b.wire.fence(body)
		awaited[digestOf(body)] = true
		if err := q.sendFence(ctx, group, body); err != nil {
			return false, err
		}
	}
	for polls := 0; len(awaited) > 0; polls++ {
		if polls == fencePolls {
			return false, nil
		}
		if err := q.poll(ctx); err != nil {
			return false, err
		}
		for _, d := range b.wire.seen(q.url) {
			delete(awaited, d.BodyDigest)
		}
	}
	return true, q.poll(ctx)
}

func (q *queue) sendFence(ctx context.Context, group, body string) error {
	if q.users != nil {
		return q.users.send(ctx, body, true)
	}
	_, err := q.sendOnce(ctx, group, "fence-"+digestOf(body), body, true)
	return err
}

// lastReceive looks once more into the queue before it is deleted: what comes now
// counts too.
func (q *queue) lastReceive(ctx context.Context) error {
	messages, err := q.receive(ctx)
	if err != nil {
		return err
	}
	return q.remove(ctx, messages)
}

// waitInside waits until gap after the earliest moment at which the send opening
// can have been accepted.
func (b *Bench) waitInside(ctx context.Context, opening int, gap time.Duration) error {
	return b.waitUntil(ctx, b.evidence.Sends[opening].At.Start.Add(gap))
}

// waitLatest waits until the last moment at which a probe surely falls inside the
// window of the send opening, with time to be answered.
func (b *Bench) waitLatest(ctx context.Context, opening int) error {
	allowance := answerTime
	if b.setup.Exact {
		allowance = 0
	}
	start, ok := b.rule.LatestInside(b.evidence.Sends[opening].At, allowance)
	if !ok {
		return fmt.Errorf("%w: the first send took too long", errPremise)
	}
	return b.waitUntil(ctx, start)
}

// waitOutside waits until a probe is surely past the end of the window of the send
// opening, by past or more.
func (b *Bench) waitOutside(ctx context.Context, opening int, past time.Duration) error {
	start, ok := b.rule.EarliestOutside(b.evidence.Sends[opening].At, past)
	if !ok {
		return fmt.Errorf("%w: the first send was not answered", errPremise)
	}
	return b.waitUntil(ctx, start)
}

func (b *Bench) waitUntil(ctx context.Context, until time.Time) error {
	b.waiting(until)
	return b.clock.Wait(ctx, until, nil)
}

// answerTime is how long the answer to a probe just inside the window may take.
const answerTime = 2 * time.Second

// answer notes something seen that is no delivery.
func (b *Bench) answer(what, want, seen string) {
	b.evidence.Answers = append(b.evidence.Answers, Answer{What: what, Want: want, Seen: seen})
}
