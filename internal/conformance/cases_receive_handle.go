package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func receiveHandleCases() []Case {
	const heldFirst = "0 s send A · receive A"
	return []Case{
		{
			ID: "receive/handle/expired", Level: Must, Source: recordedExpired,
			Text:     "A message is deleted after its visibility timeout: refused, for on a FIFO queue the handle dies with the timeout, unlike on a standard queue. The message is still there. A slow consumer that ignores the error works on it twice.",
			Timeline: "0 s send A · receive A for 1 s · 3 s delete A · receive A", Want: "the delete is refused with InvalidParameterValue, and A comes again",
			steps: undoubted(expiredHandle),
		},
		{
			ID: "receive/handle/extended", Level: Must, Source: recordedExtended,
			Text:     "A message's visibility timeout is extended, and it is deleted with the handle of its receive after the first timeout would have been over. The delete is done: the next message of the group comes.",
			Timeline: "0 s send A · receive A for 5 s · extend A · 6 s delete A · send B · receive B", Want: "the delete is accepted, and B comes",
			steps: undoubted(extendedHandle),
		},
		{
			ID: "receive/handle/deleted-twice", Level: Info, Source: unpublished,
			Text:     "A message is deleted twice with one handle. For FIFO queues AWS has published nothing; our reference accepts it, so that a delete whose answer was lost can be made again.",
			Timeline: heldFirst + " · delete A · delete A", Want: "the second delete is accepted",
			steps: heldAndDeleted(func(ctx context.Context, q *queue, m types.Message) error {
				return q.bench.acceptance("the second delete", q.deleting(ctx, m.ReceiptHandle))
			}),
		},
		{
			ID: "receive/handle/of-earlier-receive", Level: Info, Source: unpublished,
			Text:     "A message was received twice, and the handle of the first receive is used to delete it. Our reference refuses, since the message is another consumer's by now.",
			Timeline: "0 s send A · receive A for 1 s · 3 s receive A · delete A with the first handle", Want: wantInvalid,
			steps: undoubted(func(ctx context.Context, b *Bench) error {
				q, first, second, err := twice(ctx, b)
				if err != nil || second == nil {
					return err
				}
				return b.refusalOf("the delete with the first handle", invalidParameter, q.deleting(ctx, first.ReceiptHandle))
			}),
		},
		{
			ID: "receive/attempt-id/repeat", Level: Must, Source: attemptID,
			Text:     "A receive is made twice with one ReceiveRequestAttemptId. The second gets the same messages with the same handles, so that a consumer whose answer was lost need not wait for the visibility timeout.",
			Timeline: "0 s send A and B to two groups · receive with an attempt id · receive with it again", Want: "the same messages and handles",
			steps: undoubted(repeatedAttempt),
		},
		{
			ID: "receive/attempt-id/after-delete", Level: Must, Source: attemptID,
			Text:     "The same where a message was deleted in between: the receive cannot be repeated any more, and is refused.",
			Timeline: "0 s send A · receive with an attempt id · delete A · receive with it again", Want: wantInvalid,
			steps: func(ctx context.Context, b *Bench) error {
				q, got, id, err := attempted(ctx, b, "A")
				if err != nil {
					return err
				}
				if err := q.remove(ctx, got); err != nil {
					return err
				}
				return b.refusalOf("the receive with the same attempt id", invalidParameter, func() error {
					// A receive may come back empty for no reason.
					for range mostEmpty {
						if got, err := q.receive(ctx, id); err != nil || len(got) > 0 {
							return err
						}
					}
					return nil
				})
			},
		},
		{
			ID: "receive/change-visibility/after-delete", Level: Should, Source: changeVisibility,
			Text:     "The visibility timeout of a message that was deleted is changed. It is refused: a heartbeat that runs on after its work is done must not take that for success.",
			Timeline: heldFirst + " · delete A · change its visibility", Want: wantInvalid,
			steps: heldAndDeleted(func(ctx context.Context, q *queue, m types.Message) error {
				return q.bench.refusalOf("the change", invalidParameter, q.hidingAnew(ctx, m, 10*time.Second))
			}),
		},
		{
			ID: "receive/change-visibility/over-limit", Level: Must, Source: changeVisibility,
			Text:     "A visibility timeout is changed to a second more than twelve hours, which is the most.",
			Timeline: heldFirst + " · change its visibility to 43,201 s", Want: wantInvalid,
			steps: heldThen(func(ctx context.Context, q *queue, m types.Message) error {
				return q.bench.refusalOf("the change", invalidParameter, q.hidingAnew(ctx, m, twelveHours+time.Second))
			}),
		},
		{
			ID: "receive/change-visibility/over-total", Level: Should, Source: visibilityGuide,
			Text:     "Three seconds after its receive, a message's visibility timeout is changed to twelve hours. The twelve hours count from the receive, so that is three seconds too much.",
			Timeline: heldFirst + " · 3 s change its visibility to 43,200 s", Want: wantInvalid,
			steps: heldThen(func(ctx context.Context, q *queue, m types.Message) error {
				if err := q.bench.pass(ctx, 3*time.Second); err != nil {
					return err
				}
				return q.bench.refusalOf("the change", invalidParameter, q.hidingAnew(ctx, m, twelveHours))
			}),
		},
	}
}

// mostEmpty is how many receives in a row may be empty although one is to be answered.
const mostEmpty = 6

// twelveHours is the longest visibility timeout.
const twelveHours = 12 * time.Hour

// heldThen holds the message A and goes on.
func heldThen(then func(context.Context, *queue, types.Message) error) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		if err := q.sendAll(ctx, "g", "A"); err != nil {
			return err
		}
		m, err := q.hold(ctx, "A")
		if err != nil {
			return err
		}
		return then(ctx, q, m)
	}
}

func heldAndDeleted(then func(context.Context, *queue, types.Message) error) func(context.Context, *Bench) error {
	return heldThen(func(ctx context.Context, q *queue, m types.Message) error {
		if err := q.remove(ctx, []types.Message{m}); err != nil {
			return err
		}
		return then(ctx, q, m)
	})
}

func expiredHandle(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", "A"); err != nil {
		return err
	}
	m, err := q.hold(ctx, "A", hiding(briefly))
	if err != nil {
		return err
	}
	if err := b.pass(ctx, brieflyPast); err != nil {
		return err
	}
	if err := b.refusalOf("the delete", invalidParameter, q.deleting(ctx, m.ReceiptHandle)); err != nil {
		return err
	}
	_, err = q.awaited(ctx, "the message afterwards")
	return err
}

func extendedHandle(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", "A"); err != nil {
		return err
	}
	const first = 5 * time.Second
	m, err := q.hold(ctx, "A", hiding(first))
	if err != nil {
		return err
	}
	if err := q.hide(ctx, m, extendedFor); err != nil {
		return unless(err, "the message could not be extended")
	}
	if err := b.pass(ctx, first+time.Second); err != nil {
		return err
	}
	if err := b.acceptance("the delete", q.deleting(ctx, m.ReceiptHandle)); err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", "B"); err != nil {
		return err
	}
	got, err := q.awaited(ctx, "a message afterwards")
	if err == nil && got != nil {
		b.answer("which", "B", joined(names(got)))
	}
	return err
}

// attempted sends messages, each to a group of its own, and receives some of them with
// an attempt id, which it returns. Each poll that stays empty takes an id of its own.
func attempted(ctx context.Context, b *Bench, sent ...string) (q *queue, got []types.Message, id asking, err error) {
	if q, err = b.queue(ctx, plain); err != nil {
		return nil, nil, nil, err
	}
	for _, n := range sent {
		if err := q.sendAll(ctx, "group-"+n, n); err != nil {
			return nil, nil, nil, err
		}
	}
	for polls := range fencePolls {
		id = attempting(fmt.Sprintf("attempt-%d", polls))
		got, err = q.receive(ctx, id, atMost(1))
		if err != nil || len(got) > 0 {
			return q, got, id, err
		}
	}
	return nil, nil, nil, premise("no message came")
}

// attempting gives a receive an attempt id.
func attempting(id string) asking {
	return func(in *sqs.ReceiveMessageInput) { in.ReceiveRequestAttemptId = &id }
}

func repeatedAttempt(ctx context.Context, b *Bench) error {
	q, first, id, err := attempted(ctx, b, "A", "B")
	if err != nil {
		return err
	}
	second, err := q.await(ctx, 1, id, atMost(1))
	if err != nil && !errors.Is(err, errPremise) {
		return err
	}
	const same = "the same"
	seen := same
	switch {
	case len(second) == 0:
		seen = nothing
	case len(second) != len(first) || aws.ToString(second[0].MessageId) != aws.ToString(first[0].MessageId):
		seen = "other messages"
	case aws.ToString(second[0].ReceiptHandle) != aws.ToString(first[0].ReceiptHandle):
		seen = "the same messages, other handles"
	}
	b.answer("what the second receive got", same, seen)
	return nil
}
