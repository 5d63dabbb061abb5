package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

const recordedRedelivery = "recorded on AWS 2024-04-30 (LocalStack test_fifo_message_attributes)"

func lifecycleCases() []Case {
	return slices.Concat(resendLifeCases(), visibilityCases(), delayCases(), retentionCases(), concurrentCases())
}

func resendLifeCases() []Case {
	return []Case{
		{
			ID: "lifecycle/resend/after-delete", Level: Must, Source: recordedDelete,
			Text:     "A message is received and deleted, then its id is sent again: nothing comes, for the window does not end with the message.",
			Timeline: "0 s send A, receive and delete it · send A · fence",
			Want:     noResend,
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.claim(ctx, "the first send, received and deleted", 1, q.sending(ctx, "g", "id", order)); err != nil {
					return err
				}
				return q.claim(ctx, "the resend", 0, q.sending(ctx, "g", "id", order))
			},
		},
		{
			ID: "lifecycle/resend/while-in-flight", Level: Must, Source: exactlyOnce,
			Text:     "A message is received and still held when its id is sent again. Once the held one is deleted, a fence comes and no copy.",
			Timeline: "0 s send A · receive A · send A · delete the held one · fence",
			Want:     "one copy of both sends",
			steps:    whileInFlight,
		},
		{
			ID: "lifecycle/resend/after-redelivery", Level: Must, Source: exactlyOnce,
			Text:     "A consumer dies with the message in its hands, the message comes again, is deleted, and then its id is sent once more: nothing comes. A visibility timeout that runs out is no end of the window.",
			Timeline: "0 s send A · receive A for 2 s · receive it again, delete it · send A · fence",
			Want:     noResend,
			steps: resendAfter("the first send, received twice", func(ctx context.Context, q *queue) error {
				if _, err := q.await(ctx, 1, hiding(shortly)); err != nil {
					return err
				}
				return q.bench.pass(ctx, shortlyPast)
			}),
		},
		{
			ID: "lifecycle/resend/after-visibility-change", Level: Must, Source: exactlyOnce,
			Text:     "A consumer gives a message back at once by a visibility timeout of zero, it comes again and is deleted, and then its id is sent once more: nothing comes.",
			Timeline: "0 s send A · receive A · visibility 0 · receive it again, delete it · send A · fence",
			Want:     noResend,
			steps: resendAfter("the first send, given back once", func(ctx context.Context, q *queue) error {
				held, err := q.await(ctx, 1)
				if err != nil {
					return err
				}
				return q.hide(ctx, held[0], 0)
			}),
		},
		{
			ID: "lifecycle/resend/after-attribute-change", Level: Info, Source: unpublished, Wait: propagation,
			Text:     "An attribute that has nothing to do with it, the visibility timeout, is changed on the live queue, and 65 seconds later an id from before is sent again. Nothing is published; our reference keeps the ids, as a deployment that touches a queue's attributes has to hope.",
			Timeline: "0 s send A, receive and delete it · change VisibilityTimeout · 65 s send A · fence",
			Want:     noResend,
			steps:    afterAttributeChange,
		},
		{
			ID: "lifecycle/resend/after-purge", Level: Info, Source: unpublished, Wait: propagation,
			Text:     "A message is purged unreceived, and 65 seconds later, when the purge is surely done, its id is sent again. Emulators disagree on whether a purge clears the ids, and AWS is silent. Our reference keeps them. Test suites that purge between tests and reuse ids depend on it.",
			Timeline: "0 s send A · purge · 65 s send A · fence",
			Want:     noResend,
			steps:    afterPurge,
		},
		{
			ID: "lifecycle/resend/recreated-queue", Level: Info, Source: unpublished, Wait: propagation,
			Text:     "A queue is deleted and made again under its name, which AWS allows after 60 seconds, and an id from before is sent inside its window. Our reference makes a new queue that knows nothing of the old one's ids.",
			Timeline: "0 s send A · delete the queue · make it again as soon as it can be · send A · fence",
			Want:     "one copy: the new queue remembers nothing",
			steps:    recreated,
		},
		{
			ID: "lifecycle/refused/then-valid", Level: Info, Source: unpublished,
			Text:     "Sends that are refused, for an empty body, a body that is too long and a delay, all with one id, and then a valid one with it. AWS words the window as the time since a message was sent successfully, so it should be delivered; nobody has published it. A queue that registers refused ids loses the mended message.",
			Timeline: "0 s send A empty, too long, with a delay · send A as it should be · fence",
			Want:     "the first three are refused, one copy of the last",
			steps:    refusedThenValid,
		},
	}
}

func whileInFlight(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	return q.claim(ctx, "two sends, the second while the first was in flight", 1, func() error {
		if _, err := q.send(ctx, "g", "id", order); err != nil {
			return err
		}
		for range fencePolls {
			held, err := q.receive(ctx)
			if err != nil {
				return err
			}
			if len(held) == 0 {
				continue
			}
			if _, err := q.send(ctx, "g", "id", order); err != nil {
				return err
			}
			return q.remove(ctx, held)
		}
		return fmt.Errorf("%w: the first send was not received", errPremise)
	})
}

const (
	// shortly is the visibility timeout of a receive whose message is to come again.
	shortly = 2 * time.Second
	// shortlyPast is when it is surely over.
	shortlyPast = shortly + time.Second
)

// resendAfter sends a message, handles it in some way that leaves it in the queue,
// receives and deletes it, and sends its id again.
func resendAfter(what string, handle func(context.Context, *queue) error) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		send := q.sending(ctx, "g", "id", order)
		err = q.claim(ctx, what, 1, send,
			func() error { return handle(ctx, q) },
			func() error { return q.take(ctx) })
		if err != nil {
			return err
		}
		return q.claim(ctx, "the resend", 0, send)
	}
}

func afterAttributeChange(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	send := q.sending(ctx, "g", "id", order)
	if err := q.claim(ctx, "the first send", 1, send); err != nil {
		return err
	}
	if err := q.set(ctx, attributes{types.QueueAttributeNameVisibilityTimeout: "60"}); err != nil {
		return err
	}
	if err := b.pass(ctx, propagation); err != nil {
		return err
	}
	return q.claim(ctx, "the resend", 0, send)
}

func afterPurge(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if _, err := q.send(ctx, "g", "id", order); err != nil {
		return err
	}
	if _, err := b.client.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &q.url}); err != nil {
		return fmt.Errorf("purging %s: %w", q.url, awserr.Brief(err))
	}
	if err := b.pass(ctx, propagation); err != nil {
		return err
	}
	return q.outcome(ctx, "the resend after the purge", count(0), q.sending(ctx, "g", "id", order))
}

func recreated(ctx context.Context, b *Bench) error {
	old, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if _, err := old.send(ctx, "g", "id", order); err != nil {
		return err
	}
	if err := old.drop(ctx); err != nil {
		return err
	}
	var q *queue
	for range 30 {
		if err := b.pass(ctx, 5*time.Second); err != nil {
			return err
		}
		q, err = b.tryQueue(ctx, old.name, plain)
		if err == nil || !slices.Contains(deletedRecently, refused(err)) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("making the queue %s again: %w", old.name, awserr.Brief(err))
	}
	if err := b.pass(ctx, settleAfterCreate); err != nil {
		return err
	}
	return q.outcome(ctx, "the id on the new queue", count(1), q.sending(ctx, "g", "id", order))
}

func refusedThenValid(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, smallLimit)
	if err != nil {
		return err
	}
	late := letter(message{"g", "id", order})
	late.DelaySeconds = 5
	if err := q.refusedSend(ctx, "an empty body", letter(message{"g", "id", ""}), missingParameter); err != nil {
		return err
	}
	if err := q.refusedSend(ctx, "a body that is too long", letter(message{"g", "id", tooLong}), invalidParameter); err != nil {
		return err
	}
	if err := q.refusedSend(ctx, "a delay", late, invalidParameter); err != nil {
		return err
	}
	return q.claim(ctx, "the valid send", 1, q.sending(ctx, "g", "id", order))
}

// visibilityAPI is who says how long a queue hides what it gave out.
const visibilityAPI = "SQS API reference, CreateQueue, VisibilityTimeout"

func visibilityCases() []Case {
	return []Case{
		{
			ID: "lifecycle/visibility/redelivered-not-duplicate", Level: Must, Source: recordedRedelivery,
			Text:     "A message whose visibility timeout runs out comes again as the same message: one MessageId, one SequenceNumber, and a receive count that is one higher. Deduplication has no part in that, so consumers need a guard of their own.",
			Timeline: "0 s send A · receive A for 2 s · 3 s receive it again",
			Want:     "the same MessageId and SequenceNumber, one receive more",
			steps:    comesAgain(plain, hiding(shortly)),
		},
		{
			ID: "lifecycle/visibility/queue-attribute", Level: Must, Source: visibilityAPI,
			Text:     "The same where the queue's own timeout of two seconds holds and the receive asks for none. An endpoint that keeps the attribute and does not act on it lets every test of a crashed consumer hang or pass for nothing.",
			Timeline: "0 s send A to a queue with a visibility timeout of 2 s · receive A · 3 s receive it again",
			Want:     "the same MessageId and SequenceNumber, one receive more",
			steps: comesAgain(attributes{
				types.QueueAttributeNameVisibilityTimeout: strconv.Itoa(int(shortly / time.Second)),
			}),
		},
	}
}

// comesAgain receives a message, lets it come again, and compares the two. Both receives
// are short: one whose answer is a failure must not hide the message for long.
func comesAgain(made attributes, how ...asking) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, made)
		if err != nil {
			return err
		}
		if _, err := q.send(ctx, "g", "id", order); err != nil {
			return err
		}
		first, err := q.await(ctx, 1, how...)
		if err != nil {
			return err
		}
		if err := b.pass(ctx, shortlyPast); err != nil {
			return err
		}
		second, err := q.await(ctx, 1, how...)
		switch {
		case errors.Is(err, errPremise):
			b.answer("the message, once its visibility timeout is over", "received again", "not received again")
			return nil
		case err != nil:
			return err
		}
		return b.sameMessage(first[0], second[0])
	}
}

// sameMessage notes whether two receives brought one message, the second once more than
// the first.
func (b *Bench) sameMessage(first, second types.Message) error {
	same := func(what string, of func(types.Message) string) {
		b.answer(what, "the same", whether(of(first) == of(second), "the same", "another one"))
	}
	same("MessageId", func(m types.Message) string { return aws.ToString(m.MessageId) })
	same("SequenceNumber", func(m types.Message) string { return m.Attributes["SequenceNumber"] })
	before, err := receives(first)
	if err != nil {
		return err
	}
	after, err := receives(second)
	if err != nil {
		return err
	}
	if after > before+1 {
		// A receive whose answer was a failure may have counted.
		return premise("the message was received %d times, and %d of them were seen", after, before+1)
	}
	b.answer("receive count", "one more", whether(after == before+1, "one more", fmt.Sprintf("%d after %d", after, before)))
	return nil
}

func receives(m types.Message) (int, error) {
	text := m.Attributes["ApproximateReceiveCount"]
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, premise("the receive count is %q", text)
	}
	return n, nil
}
