package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func transportCases() []Case {
	return []Case{
		{
			ID: "transport/lost-reply/retried", Level: Must, Source: recoveryGuide,
			Text:     "The endpoint accepts a send, the reply is lost, and the client sends again with the same id. This is the case that deduplication was made for.",
			Timeline: "0 s send A, its reply is lost · send A again · fence",
			Want:     "one copy of both attempts",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				send := q.sending(ctx, "g", "id", order)
				return q.claim(ctx, "a send without a reply and its retry", 1, b.unheard(send), send)
			},
		},
		{
			ID: "transport/lost-reply/producer", Level: Must, Source: recoveryGuide,
			Text:     "The same through the producer, which keeps one id over all attempts: the reply to its batch is lost, it tries again, and the consumer gets one.",
			Timeline: "0 s the producer sends A, the reply is lost, it sends A again · fence",
			Want:     oneCopy,
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queueInUse(ctx, plain)
				if err != nil {
					return err
				}
				b.wire.loseNext()
				return q.claim(ctx, "an order whose first reply was lost", 1, q.ordering(ctx, order))
			},
		},
		{
			ID: "transport/lost-reply/batch", Level: Must, Source: recoveryGuide,
			Text:     "The reply to a batch of three is lost, and the whole batch is sent again. Each of the three is delivered once: a client that does not know which entries were taken may repeat them all.",
			Timeline: "0 s send a batch of A, B, C, its reply is lost · send the batch again · fence",
			Want:     "three copies",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				batch := q.batching(ctx, message{"g", "id-1", order}, message{"g", "id-2", order}, message{"g", "id-3", order})
				return q.claim(ctx, "a batch of three without a reply and its retry", 3, b.unheard(batch), batch)
			},
		},
		{
			ID: "transport/lost-reply/resend-after-delete", Level: Must, Source: recoveryGuide,
			Text:     "The reply to a send is lost, and the message is received and deleted before the client tries again. Nothing new comes: the window does not care that the message is gone.",
			Timeline: "0 s send A, its reply is lost · receive and delete A · send A again · fence",
			Want:     noResend,
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				send := q.sending(ctx, "g", "id", order)
				if err := q.claim(ctx, "a send without a reply", 1, b.unheard(send)); err != nil {
					return err
				}
				return q.claim(ctx, "its retry", 0, send)
			},
		},
		{
			ID: "transport/lost-reply/after-window", Level: Must, Source: recordedWindow + "; " + recoveryGuide, Wait: W + mustPast,
			Text:     "The reply to a send is lost, and the client tries again only a minute after the window. It is delivered twice: SQS cannot know it any more. A client that was down that long needs an idempotent consumer.",
			Timeline: "0 s send A, its reply is lost · receive and delete A · 360 s send A again · fence",
			Want:     "one more copy, a minute after the window",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				send := q.sending(ctx, "g", "id", order)
				if err := q.claim(ctx, "a send without a reply", 1, b.unheard(send)); err != nil {
					return err
				}
				if err := b.waitOutside(ctx, 0, mustPast); err != nil {
					return err
				}
				return q.claimPast(ctx, mustPast, "its retry", 1, send)
			},
		},
		{
			ID: "transport/lost-reply/receive", Level: Should, Source: visibilityGuide,
			Text:     "The reply to a receive is lost, so the message is held by nobody. After the visibility timeout it comes again: nothing is lost.",
			Timeline: "0 s send A · receive A for 2 s, the reply is lost · 4 s receive A",
			Want:     "A is received after the visibility timeout, one copy",
			steps:    lostReceive,
		},
		{
			ID: "transport/lost-reply/delete", Level: Info, Source: unpublished,
			Text:     "The reply to a delete is lost, and the consumer deletes again with the same handle. Our reference accepts that, and the message is gone.",
			Timeline: "0 s send A · receive A · delete A, the reply is lost · delete A again · fence",
			Want:     "the second delete is accepted, one copy",
			steps:    lostDelete,
		},
		{
			ID: "transport/lost-request/retried", Level: Must, Source: recoveryGuide,
			Text:     "A send never reaches the endpoint, and the client sends again with the same id. To the client it looks like a lost reply; the retry is delivered.",
			Timeline: "0 s send A, it is lost on its way · send A again · fence",
			Want:     oneCopy,
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				send := q.sending(ctx, "g", "id", order)
				return q.claim(ctx, "the retry of a send that never arrived", 1, b.unsent(send), send)
			},
		},
		{
			ID: "transport/throttle/shape", Level: Info, Source: unpublished, Costly: true,
			Text:     "Three thousand sends as fast as the line takes them, which is above the 300 a second of a FIFO queue. How AWS says that it is too much is told in two ways: ThrottlingException with status 400 in its guide, RequestThrottled with status 403 in logs. Our reference does not throttle.",
			Timeline: "0 s send 3,000 messages, 64 at a time",
			Want:     "none of the sends is throttled",
			steps:    throttled,
		},
	}
}

// unheard is a send whose reply is lost. That it was a success is a premise.
func (b *Bench) unheard(send func() error) func() error {
	return func() error {
		before := b.wire.sends()
		b.wire.loseNext()
		if err := send(); !errors.Is(err, errReplyLost) {
			return errors.Join(fmt.Errorf("%w: the reply was not lost", errPremise), err)
		}
		last := b.wire.sends() - 1
		if last < before || !b.wire.send(last).At.Bounded() || b.wire.send(last).Refused != "" {
			return premise("the reply that was lost is none of an accepted send")
		}
		return nil
	}
}

// unsent is a send that is lost on its way.
func (b *Bench) unsent(send func() error) func() error {
	return func() error {
		b.wire.dropNext()
		if err := send(); !errors.Is(err, errNeverSent) {
			return errors.Join(fmt.Errorf("%w: the request was not lost", errPremise), err)
		}
		return nil
	}
}

func lostReceive(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	return q.claim(ctx, "a message whose first receive was not heard", 1, func() error {
		if err := q.sendAll(ctx, "g", "A"); err != nil {
			return err
		}
		lost, restore := b.losing(callReceive, `"MessageId"`)
		defer restore()
		for polls := 0; !lost.done(); polls++ {
			if polls == fencePolls {
				return premise("the message did not come")
			}
			if _, err := q.receive(ctx, hiding(2*briefly)); err != nil && !errors.Is(err, errReplyLost) {
				return err
			}
		}
		if err := b.pass(ctx, 2*brieflyPast); err != nil {
			return err
		}
		got, err := q.awaited(ctx, "the message after its visibility timeout")
		if err != nil {
			return err
		}
		return q.remove(ctx, got)
	})
}

func lostDelete(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	return q.claim(ctx, "a message that was deleted twice", 1, func() error {
		if err := q.sendAll(ctx, "g", "A"); err != nil {
			return err
		}
		m, err := q.hold(ctx, "A")
		if err != nil {
			return err
		}
		_, restore := b.losing(callDelete, "")
		defer restore()
		if err := q.remove(ctx, []types.Message{m}); !errors.Is(err, errReplyLost) {
			return errors.Join(fmt.Errorf("%w: the reply was not lost", errPremise), err)
		}
		return b.acceptance("the second delete", q.deleting(ctx, m.ReceiptHandle))
	})
}
