package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

func deadletterResendCases() []Case {
	return []Case{
		{
			ID: "deadletter/resend/source", Level: Info, Source: unpublished, Needs: Redrive,
			Text:     "A message has moved to the dead-letter queue, and its id is sent to its source again, inside the window. Our reference suppresses it: what the source has seen does not leave with the message. Who repairs a message and sends it again under its old id loses it.",
			Timeline: "0 s send A · receive A for 1 s · 3 s A moves · send A again · fence",
			Want:     noResend,
			steps:    resendToSource,
		},
		{
			ID: "deadletter/resend/into-dead-letter-queue", Level: Info, Source: unpublished, Needs: Redrive,
			Text:     "A message has moved to the dead-letter queue, and its old id is sent there by hand. In our reference it is a new message, since the one that moved goes by its MessageId there.",
			Timeline: "0 s send A · receive A for 1 s · 3 s A moves · send A's id to the dead-letter queue · fence",
			Want:     oneCopy,
			steps: func(ctx context.Context, b *Bench) error {
				a, err := b.buried(ctx)
				if err != nil {
					return err
				}
				if err := a.dead.remove(ctx, []types.Message{a.behind}); err != nil {
					return err
				}
				return a.dead.claim(ctx, "the old id, sent to the dead-letter queue", 1, a.dead.sending(ctx, "g", "A", order))
			},
		},
		{
			ID: "deadletter/counters/after-move", Level: Info, Source: unpublished, Needs: Redrive, Wait: countersSettle,
			Text:     "What the two queues count once a message has moved and the counts have settled: an alarm on the dead-letter queue goes by that number.",
			Timeline: "0 s send A · receive A for 1 s · 3 s A moves · 70 s read the counts of both queues",
			Want:     "nothing in the source, one visible in the dead-letter queue",
			steps: func(ctx context.Context, b *Bench) error {
				a, err := b.buried(ctx)
				if err != nil {
					return err
				}
				if err := a.dead.hide(ctx, a.behind, 0); err != nil {
					return unless(err, "the dead letter could not be given back")
				}
				if err := b.pass(ctx, countersSettle); err != nil {
					return err
				}
				for _, c := range []struct {
					what, want string
					of         *queue
				}{{"the source", "0 visible, 0 in flight", a.source}, {"the dead-letter queue", "1 visible, 0 in flight", a.dead}} {
					seen, err := c.of.counts(ctx)
					if err != nil {
						return err
					}
					b.answer(c.what, c.want, seen)
				}
				return nil
			},
		},
	}
}

func resendToSource(ctx context.Context, b *Bench) error {
	source, dead, err := b.redriving(ctx, 1)
	if err != nil {
		return err
	}
	err = source.claim(ctx, "the send whose message moves", 1, func() error {
		if err := source.sendAll(ctx, "g", "A"); err != nil {
			return err
		}
		if _, err := source.fail(ctx, "A"); err != nil {
			return err
		}
		if m, _, err := b.moved(ctx, source, dead); err != nil || m == nil {
			return errors.Join(err, premise("the message did not come to the dead-letter queue"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return source.claim(ctx, "the resend to the source", 0, source.sending(ctx, "g", "A", body("A")))
}

func deadletterPolicyCases() []Case {
	return []Case{
		{
			ID: "deadletter/policy/reads-back", Level: Must, Source: "SQS API reference, GetQueueAttributes, RedrivePolicy", Needs: Redrive,
			Text:     "The redrive policy reads back with the target and the count that were set. Configuration tools compare it, and set it anew for ever where it differs.",
			Timeline: "0 s create with a policy · read it", Want: "the target and the count as set",
			steps: func(ctx context.Context, b *Bench) error {
				source, dead, err := b.redriving(ctx, 7)
				if err != nil {
					return err
				}
				arn, err := dead.arn(ctx)
				if err != nil {
					return err
				}
				read, err := source.attributes(ctx, types.QueueAttributeNameRedrivePolicy)
				if err != nil {
					return err
				}
				var policy struct {
					DeadLetterTargetArn string `json:"deadLetterTargetArn"` //nolint:revive // as on the wire
					MaxReceiveCount     any    `json:"maxReceiveCount"`
				}
				_ = json.Unmarshal([]byte(read[string(types.QueueAttributeNameRedrivePolicy)]), &policy) // what does not read is not as set
				b.answer("the target", "as set", whether(policy.DeadLetterTargetArn == arn, "as set", "another"))
				// AWS gives the count back as it was written, as a number or a string.
				b.answer("the count", "7", fmt.Sprint(policy.MaxReceiveCount))
				return nil
			},
		},
		{
			ID: "deadletter/list/sources", Level: Must, Source: "SQS API reference, ListDeadLetterSourceQueues", Needs: Redrive,
			Text:     "A dead-letter queue lists the queues that use it.",
			Timeline: "0 s create both · list the sources of the dead-letter queue", Want: "the one source",
			steps: listSources,
		},
	}
}

func listSources(ctx context.Context, b *Bench) error {
	source, dead, err := b.redriving(ctx, 3)
	if err != nil {
		return err
	}
	var found []string
	for range fencePolls {
		listed, err := b.client.ListDeadLetterSourceQueues(ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dead.url})
		if err != nil {
			return unless(awserr.Brief(err), "the call was refused")
		}
		found = nil
		for _, url := range listed.QueueUrls {
			found = append(found, path.Base(url))
		}
		if len(found) > 0 {
			break
		}
		if err := b.pass(ctx, time.Second); err != nil { // a list may lag behind
			return err
		}
	}
	b.answer("the sources", "the one that was made", whether(len(found) == 1 && found[0] == source.name, "the one that was made", joined(found)))
	return nil
}

func redriveCases() []Case {
	const timeline = "0 s send A · receive A for 1 s · 3 s A moves · start a move task · receive A from the source"
	const redriven = "SQS developer guide, configuring a dead-letter queue redrive"
	const startTask = "SQS API reference, StartMessageMoveTask"
	return []Case{
		{
			ID: "deadletter/redrive/back", Level: Should, Source: redriven, Needs: MoveTask, Timeline: timeline,
			Text: "A move task takes a dead letter back to its source. It is a new message there, with a MessageId of its own: logs that go by MessageIds lose its trace.",
			Want: "received from the source with another MessageId",
			steps: undoubted(redrive(func(b *Bench, a afterlife, m types.Message) {
				b.answer("the MessageId", "another", whether(aws.ToString(m.MessageId) == a.sent.MessageID, "the old one", "another"))
			})),
		},
		{
			ID: "deadletter/redrive/inside-window", Level: Info, Source: unpublished, Needs: MoveTask, Timeline: timeline,
			Text:  "The same, seen from the window: the move back falls into the five minutes after the first send. In our reference the message comes, since it does not go by its old id any more.",
			Want:  "received from the source",
			steps: undoubted(redrive(func(*Bench, afterlife, types.Message) {})),
		},
		{
			ID: "deadletter/redrive/dedup-id", Level: Info, Source: unpublished, Needs: MoveTask, Timeline: timeline,
			Text: "Which deduplication ID the message has after its way back. Our reference keeps the one that it has in the dead-letter queue, which is its old MessageId and can be no other message's.",
			Want: "its first MessageId",
			steps: undoubted(redrive(func(b *Bench, a afterlife, m types.Message) {
				const want = "its first MessageId"
				seen := "a new one"
				switch m.Attributes[string(types.MessageSystemAttributeNameMessageDeduplicationId)] {
				case a.sent.MessageID:
					seen = want
				case a.sent.ID:
					seen = "the one that was sent"
				case aws.ToString(m.MessageId):
					seen = "its new MessageId"
				}
				b.answer("the deduplication ID", want, seen)
			})),
		},
		{
			ID: "deadletter/redrive/not-a-dead-letter-queue", Level: Must, Source: startTask, Needs: MoveTask,
			Text:     "A move task from a queue that is nobody's dead-letter queue is refused: it would empty a queue that somebody works from.",
			Timeline: "0 s start a move task", Want: wantInvalid,
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				arn, err := q.arn(ctx)
				if err != nil {
					return err
				}
				return b.refusalOf("the task", invalidParameter, b.moving(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &arn}))
			},
		},
		{
			ID: "deadletter/redrive/unknown-source", Level: Must, Source: startTask, Needs: MoveTask,
			Text:     "A move task from a queue that does not exist is refused.",
			Timeline: "0 s start a move task", Want: "refused with ResourceNotFoundException",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				arn, err := q.arn(ctx)
				if err != nil {
					return err
				}
				arn = arn[:len(arn)-len(suffix)] + "-none" + suffix
				return b.refusalOf("the task", notFound, b.moving(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &arn}))
			},
		},
		{
			ID: "deadletter/redrive/second-task", Level: Must, Source: startTask, Needs: MoveTask,
			Text:     "While a move task empties a dead-letter queue, a second one from the same queue is refused: one at a time.",
			Timeline: "0 s send ten messages to the dead-letter queue · start a move task of one a second · start another", Want: "refused",
			steps: secondTask,
		},
	}
}

// moving starts a move task.
func (b *Bench) moving(ctx context.Context, input *sqs.StartMessageMoveTaskInput) func() error {
	return func() error {
		_, err := b.client.StartMessageMoveTask(ctx, input)
		return err
	}
}

// redrive takes a message to the dead-letter queue and by a move task back.
func redrive(look func(*Bench, afterlife, types.Message)) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		a, err := b.buried(ctx)
		if err != nil {
			return err
		}
		if err := a.dead.hide(ctx, a.behind, 0); err != nil {
			return unless(err, "the dead letter could not be given back")
		}
		arn, err := a.dead.arn(ctx)
		if err != nil {
			return err
		}
		task := b.moving(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &arn})
		if err := task(); err != nil {
			return unless(err, "the move task was refused")
		}
		got, err := a.source.awaited(ctx, "the message from its source")
		if err == nil && got != nil {
			look(b, a, got[0])
		}
		return err
	}
}

func secondTask(ctx context.Context, b *Bench) error {
	source, dead, err := b.redriving(ctx, 1)
	if err != nil {
		return err
	}
	from, err := dead.arn(ctx)
	if err != nil {
		return err
	}
	to, err := source.arn(ctx)
	if err != nil {
		return err
	}
	var batch []message
	for i := range 10 {
		batch = append(batch, message{fmt.Sprintf("g%d", i), fmt.Sprintf("id-%d", i), order})
	}
	if _, err := dead.sendBatch(ctx, batch...); err != nil {
		return err
	}
	if err := b.pass(ctx, ripe); err != nil {
		return err
	}
	slowly := &sqs.StartMessageMoveTaskInput{SourceArn: &from, DestinationArn: &to, MaxNumberOfMessagesPerSecond: aws.Int32(1)}
	if err := b.moving(ctx, slowly)(); err != nil {
		return unless(err, "the first task was refused")
	}
	first, err := b.running(ctx, from)
	if err != nil {
		return err
	}
	if len(first) != 1 {
		return premise("%d tasks are under way where one was started", len(first))
	}
	second := b.moving(ctx, slowly)()
	if second == nil {
		// Taken with right where the first one was over by then.
		still, err := b.running(ctx, from)
		if err != nil {
			return err
		}
		if !slices.Contains(still, first[0]) {
			return premise("the first task was over before the second was asked for")
		}
	}
	return b.refusalOf("the second task", anyCode, func() error { return second })
}

// running are the handles of the tasks that run on a queue.
func (b *Bench) running(ctx context.Context, source string) ([]string, error) {
	listed, err := b.client.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: &source, MaxResults: aws.Int32(10)})
	if err != nil {
		return nil, unless(awserr.Brief(err), "the tasks could not be listed")
	}
	var handles []string
	for _, task := range listed.Results {
		if aws.ToString(task.Status) == "RUNNING" {
			handles = append(handles, aws.ToString(task.TaskHandle))
		}
	}
	return handles, nil
}
