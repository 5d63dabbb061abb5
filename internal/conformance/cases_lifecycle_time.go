package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	delayGuide     = "SQS developer guide, delay queues"
	createDelay    = "SQS API reference, CreateQueue, DelaySeconds"
	retentionAPI   = "SQS API reference, CreateQueue, MessageRetentionPeriod"
	recordedDelay0 = "recorded on AWS 2025-07-31 (LocalStack, a zero delay falls back to the queue's)"
)

// delay of the queues that hold messages back.
const delay = 5 * time.Second

// delaying is a queue with a delay.
func delaying(d time.Duration) attributes {
	return attributes{types.QueueAttributeNameDelaySeconds: strconv.Itoa(int(d / time.Second))}
}

func delayCases() []Case {
	return []Case{
		{
			ID: "lifecycle/delay/queue", Level: Must, Source: createDelay,
			Text:     "On a queue with a delay of five seconds a message is not given out before they are over. An endpoint that takes the attribute and does not act on it makes every test of a delay pass for nothing.",
			Timeline: "0 s send A · poll until A comes",
			Want:     "received five seconds after the send or later",
			steps:    heldBack(),
		},
		{
			ID: "lifecycle/delay/zero", Level: Must, Source: recordedDelay0,
			Text:     "The same with an explicit delay of zero in the message: it is accepted, and the queue's delay applies all the same, for messages of a FIFO queue have no delay of their own.",
			Timeline: "0 s send A with a delay of zero · poll until A comes",
			Want:     "received five seconds after the send or later",
			steps:    heldBack(withField("DelaySeconds", 0)),
		},
		{
			ID: "lifecycle/delay/suppressed", Level: Info, Source: unpublished,
			Text:     "A resend while the first message still waits for its delay to end. Nothing is published; our reference knows the id from its acceptance on, and delivers one.",
			Timeline: "0 s send A, A again · 6 s receive and delete it, end the delay · fence",
			Want:     "one copy of both sends",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, delaying(delay))
				if err != nil {
					return err
				}
				send := q.sending(ctx, "g", "id", order)
				return q.claim(ctx, "two sends, the first still delayed", 1, send, send,
					func() error { return b.pass(ctx, delay+time.Second) },
					func() error { return q.take(ctx) },
					// Or it would hold back the fence.
					func() error { return q.set(ctx, delaying(0)) })
			},
		},
		{
			ID: "lifecycle/delay/retroactive", Level: Should, Source: delayGuide, Wait: propagation,
			Text:     "The delay of a FIFO queue is taken back while a message waits for it. On FIFO queues a change holds for messages that are in the queue already, unlike on standard queues, so the message comes long before its quarter of an hour is over.",
			Timeline: "0 s send A to a queue with a delay of 900 s · set the delay to 0 · poll for 65 s",
			Want:     "received within 65 seconds",
			steps:    retroactive,
		},
		{
			ID: "lifecycle/delay/beyond-window", Level: Info, Source: unpublished, Wait: W + mustPast + longDelay + 10*time.Second + propagation,
			Text:     "A delay of 900 seconds is three windows long. A resend after 60 seconds is a duplicate of a message that nobody can see yet; one after 360 is a message of its own. Nothing is published; our reference delivers the two.",
			Timeline: "0 s send A, delayed by 900 s · 60 s send A · 360 s send A · 1,270 s end the delay · 1,335 s fence",
			Want:     "two copies of three sends",
			steps:    delayBeyondWindow,
		},
	}
}

// heldBack sends a message to a queue with a delay, polls at once and when the delay is
// over, and notes whether the message came too soon.
func heldBack(how ...func(*sqs.Options)) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, delaying(delay))
		if err != nil {
			return err
		}
		input := letter(message{"g", "id", order})
		input.QueueUrl = &q.url
		_, err = b.client.SendMessage(ctx, input, how...)
		if err := q.sent(err); err != nil {
			return err
		}
		code := whether(err == nil, accepted, refused(err))
		b.answer("the send", accepted, code)
		if code != accepted {
			return nil
		}
		for range 2 {
			if _, err := q.receive(ctx); err != nil {
				return err
			}
			if err := b.pass(ctx, delay/2); err != nil {
				return err
			}
		}
		if len(q.came(0)) == 0 {
			if _, err := q.await(ctx, 1); err != nil {
				return err
			}
		}
		// As much as a second off: the endpoint may count in whole ones.
		sent, came := b.wire.send(0).At, q.came(0)[0].At
		early := came.Mono.End-sent.Mono.Start < delay-time.Second
		b.answer("received", "after the delay", whether(early, "before its end", "after the delay"))
		return nil
	}
}

// longDelay is the longest that a queue can have.
const longDelay = 900 * time.Second

func retroactive(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, delaying(longDelay))
	if err != nil {
		return err
	}
	if _, err := q.send(ctx, "g", "id", order); err != nil {
		return err
	}
	if err := q.set(ctx, delaying(0)); err != nil {
		return err
	}
	seen := "not received"
	// A poll and a pause of a second each.
	for range int(propagation / (2 * longPoll)) {
		// Shortly: a receive whose answer is a failure must not hide the message.
		got, err := q.receive(ctx, hiding(shortly))
		if err != nil {
			return err
		}
		if len(got) > 0 {
			seen = "received"
			break
		}
		if err := b.pass(ctx, longPoll); err != nil {
			return err
		}
	}
	b.answer("the message, after the delay was taken back", "received", seen)
	return nil
}

// delayBeyondWindow ends the delay when all messages are visible, or it would hold back
// the fence.
func delayBeyondWindow(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, delaying(longDelay))
	if err != nil {
		return err
	}
	send := q.sending(ctx, "g", "id", order)
	return q.claimPast(ctx, mustPast, "three sends before the first can be received", 2, send,
		func() error { return b.waitInside(ctx, 0, 60*time.Second) }, send,
		func() error { return b.waitOutside(ctx, 0, mustPast) }, send,
		func() error { return b.pass(ctx, longDelay+10*time.Second) },
		func() error { return q.set(ctx, delaying(0)) },
		func() error { return b.pass(ctx, propagation) })
}

// outlived is a wait for messages with the shortest retention, 60 s, to be surely gone.
const outlived = 130 * time.Second

// shortLived is a queue with the shortest retention.
var shortLived = attributes{types.QueueAttributeNameMessageRetentionPeriod: "60"}

func retentionCases() []Case {
	return []Case{
		{
			ID: "lifecycle/retention/expires", Level: Must, Source: retentionAPI, Wait: outlived,
			Text:     "A message that nobody receives is gone when the queue's retention is over. Seventy seconds more are allowed here. What consumers do not come to in time is lost, and alarms have to be set by that.",
			Timeline: "0 s send A to a queue with a retention of 60 s · 130 s fence",
			Want:     "no copy after its retention",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, shortLived)
				if err != nil {
					return err
				}
				if _, err := q.send(ctx, "g", "id", order); err != nil {
					return err
				}
				if err := b.pass(ctx, outlived); err != nil {
					return err
				}
				return q.claim(ctx, "the message after its retention", 0)
			},
		},
		{
			ID: "lifecycle/retention/outlived", Level: Info, Source: unpublished, Wait: outlived,
			Text:     "The message is gone by its retention, and its id is sent again inside the window. Nothing is published; our reference remembers ids for five minutes whatever becomes of their messages, so the resend is suppressed, and the order is never delivered at all.",
			Timeline: "0 s send A to a queue with a retention of 60 s · 130 s send A · fence",
			Want:     noResend,
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, shortLived)
				if err != nil {
					return err
				}
				send := q.sending(ctx, "g", "id", order)
				if err := send(); err != nil {
					return err
				}
				if err := b.pass(ctx, outlived); err != nil {
					return err
				}
				return q.outcome(ctx, "the resend", count(0), send)
			},
		},
	}
}

// senders is how many send at once.
const senders = 20

func concurrentCases() []Case {
	text := "Twenty clients send one id at the same time, half of them to each of two groups%s. One message is delivered%s, whoever was first; a queue that looks an id up and registers it in two steps delivers more. What MessageIds the others are answered is not published; our reference answers the first one's to all."
	timeline := "0 s send A twenty times at once, to groups 1 and 2 · fence in both"
	return []Case{
		{
			ID: "lifecycle/concurrent/one-id", Level: Info, Source: unpublished,
			Text:     fmt.Sprintf(text, "", ""),
			Timeline: timeline,
			Want:     "one copy of twenty sends, one MessageId in all answers",
			steps:    atOnce(plain, 1),
		},
		{
			ID: "lifecycle/concurrent/one-id-two-groups", Level: Info, Source: unpublished, Needs: Scope,
			Text:     fmt.Sprintf(text, " of a queue with the scope messageGroup", " in each group"),
			Timeline: timeline,
			Want:     "two copies of twenty sends, two MessageIds in all answers",
			steps:    atOnce(groupScope, 2),
		},
	}
}

// atOnce sends one id from many goroutines, which is to become so many copies.
func atOnce(made attributes, copies int) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, made)
		if err != nil {
			return err
		}
		groups := []string{"g1", "g2"}
		for _, group := range groups {
			q.uses(group)
		}
		answers := make([]string, senders)
		failures := make([]error, senders)
		err = q.claim(ctx, fmt.Sprintf("%d sends at once", senders), copies, func() error {
			var all sync.WaitGroup
			for i := range senders {
				all.Go(func() {
					input := letter(message{groups[i%len(groups)], "id", order})
					input.QueueUrl = &q.url
					answer, err := b.client.SendMessage(ctx, input)
					if err == nil {
						answers[i] = aws.ToString(answer.MessageId)
					}
					failures[i] = q.sent(err)
				})
			}
			all.Wait()
			return errors.Join(failures...)
		})
		if err != nil {
			return err
		}
		slices.Sort(answers)
		b.answer("MessageIds in the answers", strconv.Itoa(copies), strconv.Itoa(len(slices.Compact(answers))))
		return nil
	}
}
