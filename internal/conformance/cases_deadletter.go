package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Who says so, for dead-letter queues.
const (
	recordedDead = "recorded on AWS 2024-05-21 (LocalStack test_dead_letter_queue_with_fifo_and_content_based_deduplication)"
	recordedNext = "recorded on AWS 2024-05-21 (LocalStack test_message_groups_with_dead_letter_queue_and_fifo)"
	deadGuide    = "SQS developer guide, using dead-letter queues"
)

func deadletterCases() []Case {
	return slices.Concat(deadletterMoveCases(), deadletterResendCases(), deadletterPolicyCases(), redriveCases())
}

// afterlife is a message that was moved: as it was sent, received from its source, and
// received from the dead-letter queue.
type afterlife struct {
	source, dead   *queue
	sent           Send
	before, behind types.Message
}

func deadletterMoveCases() []Case {
	const timeline = "0 s send A · receive A for 1 s · 3 s receive from the source, then from the dead-letter queue"
	shows := func(name string, level Level, source, text, want string, look func(context.Context, *Bench, afterlife) error) Case {
		return Case{
			ID: "deadletter/move/" + name, Level: level, Source: source, Text: text, Timeline: timeline, Want: want, Needs: Redrive,
			steps: undoubted(func(ctx context.Context, b *Bench) error {
				after, err := b.buried(ctx)
				if err != nil {
					return err
				}
				return look(ctx, b, after)
			}),
		}
	}
	return []Case{
		{
			ID: "deadletter/move/after-max", Level: Must, Source: recordedDead, Needs: Redrive,
			Text:     "A message that may be received twice is received twice, and each time its consumer fails. The third receive does not give it out: it is in the dead-letter queue. Moved too early a message loses a try, moved too late it blocks its group.",
			Timeline: "0 s send A · receive A for 1 s · 3 s receive A for 1 s · 5 s receive from the source, then from the dead-letter queue",
			Want:     "received twice, then moved",
			steps:    undoubted(afterMax),
		},
		{
			ID: "deadletter/move/group-goes-on", Level: Must, Source: recordedNext, Needs: Redrive,
			Text:     "Two messages of one group, the first of which fails. When it has moved, the second is given out: a message that cannot be worked on must not hold up its group for ever.",
			Timeline: "0 s send A, B · receive A for 1 s · 3 s receive from the source",
			Want:     "B is received from the source",
			steps: undoubted(func(ctx context.Context, b *Bench) error {
				source, _, err := b.redriving(ctx, 1)
				if err != nil {
					return err
				}
				if err := source.sendAll(ctx, "g", "A", "B"); err != nil {
					return err
				}
				if _, err := source.fail(ctx, "A"); err != nil {
					return err
				}
				got, err := source.awaited(ctx, "a message from the source")
				if err == nil && got != nil {
					b.answer("which", "B", joined(names(got)))
				}
				return err
			}),
		},
		shows("id-replaced", Must, redriveReference,
			"In the dead-letter queue the message's deduplication ID is its MessageId. Tools that redrive by hand with the old id in mind do not find it.",
			"the deduplication ID is the MessageId",
			func(_ context.Context, b *Bench, a afterlife) error {
				id := a.behind.Attributes[string(types.MessageSystemAttributeNameMessageDeduplicationId)]
				seen := "another"
				switch id {
				case a.sent.MessageID:
					seen = "the MessageId"
				case a.sent.ID:
					seen = "the one that was sent"
				}
				b.answer("the deduplication ID", "the MessageId", seen)
				return nil
			}),
		shows("message-id-kept", Must, recordedDead,
			"The message keeps its MessageId when it moves, so that it can be found in the logs of its sender.",
			"the MessageId that the send answered",
			func(_ context.Context, b *Bench, a afterlife) error {
				kept := aws.ToString(a.behind.MessageId) == a.sent.MessageID
				b.answer("the MessageId", "the answered one", whether(kept, "the answered one", "another"))
				return nil
			}),
		shows("body-and-attributes-kept", Should, deadGuide,
			"Body, message group and the sender's attributes are in the dead-letter queue as they were sent.",
			"all as they were sent",
			func(_ context.Context, b *Bench, a afterlife) error {
				b.answer("the body", "as sent", whether(aws.ToString(a.behind.Body) == body("A"), "as sent", "another"))
				b.answer("the group", "g", a.behind.Attributes["MessageGroupId"])
				b.answer("the attribute", "v", orNone(aws.ToString(a.behind.MessageAttributes["name"].StringValue)))
				return nil
			}),
		shows("source-arn", Should, "SQS API reference, ReceiveMessage, DeadLetterQueueSourceArn",
			"The message tells which queue it comes from: a dead-letter queue may serve several.",
			"the ARN of the source",
			func(ctx context.Context, b *Bench, a afterlife) error {
				arn, err := a.source.arn(ctx)
				if err != nil {
					return err
				}
				told := a.behind.Attributes[string(types.MessageSystemAttributeNameDeadLetterQueueSourceArn)]
				seen := whether(told == "", none, "another ARN")
				b.answer("DeadLetterQueueSourceArn", "the source's", whether(told == arn, "the source's", seen))
				return nil
			}),
		shows("count-goes-on", Should, deadGuide,
			"The receive count goes on in the dead-letter queue and does not begin anew: it tells how often the message was tried.",
			"above 1",
			func(_ context.Context, b *Bench, a afterlife) error {
				count, err := strconv.Atoi(a.behind.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
				b.answer("the receive count", "above 1", whether(err == nil && count > 1, "above 1", "not above 1"))
				return nil
			}),
		shows("enqueue-time", Should, "SQS developer guide, dead-letter queues and message retention",
			"The time at which the message was sent is set anew when it moves, on FIFO queues unlike on standard ones, so that it has the whole retention of the dead-letter queue before it.",
			"later than in the source",
			func(_ context.Context, b *Bench, a afterlife) error {
				const name = string(types.MessageSystemAttributeNameSentTimestamp)
				first, err := strconv.ParseInt(a.before.Attributes[name], 10, 64)
				second, bad := strconv.ParseInt(a.behind.Attributes[name], 10, 64)
				later := err == nil && bad == nil && second > first
				b.answer("the time of the send", "later", whether(later, "later", "not later"))
				return nil
			}),
		{
			ID: "deadletter/move/two-of-one-id", Level: Must, Source: redriveReference, Needs: Redrive, Wait: W + mustPast,
			Text:     "Two messages with one deduplication ID, the second a minute after the window of the first, fail soon after one another. Both arrive in the dead-letter queue: that is why it puts the MessageId in place of the id. Kept, the id would make the second a duplicate, and it would be lost.",
			Timeline: "0 s send A · 360 s send A's id again to another group · receive both for 1 s · receive from the source and from the dead-letter queue",
			Want:     "both arrive",
			steps:    undoubted(twoOfOneID),
		},
	}
}

// redrivePolicy moves messages to the queue target after most receives.
func redrivePolicy(target string, most int) attributes {
	return attributes{types.QueueAttributeNameRedrivePolicy: fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, target, most)}
}

// arn is the queue's Amazon resource name.
func (q *queue) arn(ctx context.Context) (string, error) {
	read, err := q.attributes(ctx, types.QueueAttributeNameQueueArn)
	if err != nil {
		return "", err
	}
	arn := read[string(types.QueueAttributeNameQueueArn)]
	if arn == "" {
		return "", premise("the queue tells no ARN")
	}
	return arn, nil
}

// redriving makes a dead-letter queue, and a queue whose messages move to it after most
// receives.
func (b *Bench) redriving(ctx context.Context, most int) (source, dead *queue, err error) {
	if dead, err = b.queue(ctx, plain); err != nil {
		return nil, nil, err
	}
	arn, err := dead.arn(ctx)
	if err != nil {
		return nil, nil, err
	}
	source, err = b.queue(ctx, redrivePolicy(arn, most))
	return source, dead, err
}

// fail receives the message called name and lets its visibility timeout pass, as a
// consumer does that dies at work.
func (q *queue) fail(ctx context.Context, name string) (types.Message, error) {
	m, err := q.hold(ctx, name, hiding(briefly))
	if err != nil {
		return m, err
	}
	return m, q.bench.pass(ctx, brieflyPast)
}

// buried takes the message A through its source, which gives it out once, to the
// dead-letter queue. That it comes there is a premise.
func (b *Bench) buried(ctx context.Context) (a afterlife, err error) {
	if a.source, a.dead, err = b.redriving(ctx, 1); err != nil {
		return a, err
	}
	if _, err := a.source.put(ctx, of("A", func(in *sqs.SendMessageInput) {
		withBody(body("A"))(in)
		withAttributes("v", "name")(in)
	})); err != nil {
		return a, err
	}
	a.sent = b.wire.send(0)
	if a.before, err = a.source.fail(ctx, "A"); err != nil {
		return a, err
	}
	moved, again, err := b.moved(ctx, a.source, a.dead)
	switch {
	case err != nil:
		return a, err
	case again:
		return a, premise("the message was received from its source once more than it may")
	case moved == nil:
		return a, premise("the message did not come to the dead-letter queue")
	}
	a.behind = *moved
	return a, nil
}

// moved receives from the source, so that what is due moves, and from the dead-letter
// queue until a message comes from there. again tells that one came from the source.
func (b *Bench) moved(ctx context.Context, source, dead *queue) (m *types.Message, again bool, err error) {
	for range fencePolls {
		got, err := source.receive(ctx)
		if err != nil || len(got) > 0 {
			return nil, len(got) > 0, err
		}
		if got, err = dead.receive(ctx, atMost(1)); err != nil {
			return nil, false, err
		}
		if len(got) > 0 {
			return &got[0], false, nil
		}
	}
	return nil, false, nil
}

func afterMax(ctx context.Context, b *Bench) error {
	source, dead, err := b.redriving(ctx, 2)
	if err != nil {
		return err
	}
	if err := source.sendAll(ctx, "g", "A"); err != nil {
		return err
	}
	if _, err := source.fail(ctx, "A"); err != nil {
		return err
	}
	got, err := source.awaited(ctx, "the second receive", hiding(briefly))
	if err != nil || got == nil {
		return err
	}
	if err := b.pass(ctx, brieflyPast); err != nil {
		return err
	}
	m, again, err := b.moved(ctx, source, dead)
	if err != nil {
		return err
	}
	const there = "in the dead-letter queue"
	seen := "nowhere"
	switch {
	case again:
		seen = "received from the source"
	case m != nil:
		seen = there
	}
	b.answer("the message then", there, seen)
	return nil
}

// moveRounds are how often both queues are asked for messages that move between them: a
// message needs two receives to move, and each may come back empty a few times.
const moveRounds = 12

func twoOfOneID(ctx context.Context, b *Bench) error {
	source, dead, err := b.redriving(ctx, 1)
	if err != nil {
		return err
	}
	first, err := source.send(ctx, "g1", "id", body("A"))
	if err != nil {
		return err
	}
	if err := b.waitOutside(ctx, first, mustPast); err != nil {
		return err
	}
	second, err := source.send(ctx, "g2", "id", body("B"))
	if err != nil {
		return err
	}
	if b.wire.send(first).MessageID == b.wire.send(second).MessageID {
		return premise("the second send was no new message")
	}
	began := b.clock.Now()
	arrived := map[string]bool{}
	for range moveRounds {
		if _, err := source.receive(ctx, hiding(briefly)); err != nil {
			return err
		}
		got, err := dead.receive(ctx)
		if err != nil {
			return err
		}
		for _, n := range names(got) {
			arrived[n] = true
		}
		if err := dead.remove(ctx, got); err != nil {
			return err
		}
		if len(arrived) == 2 {
			break
		}
		if err := b.pass(ctx, time.Second); err != nil {
			return err
		}
	}
	if b.clock.Now().Sub(began) > W-time.Minute {
		return premise("the endpoint took longer than the window")
	}
	b.answer("the messages in the dead-letter queue", "2", strconv.Itoa(len(arrived)))
	return nil
}
