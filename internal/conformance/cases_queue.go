package conformance

import (
	"context"
	"errors"
	"fmt"
)

// errPremise says that the endpoint did not do what the case builds on.
var errPremise = errors.New("a premise of the case does not hold")

func scopeCases() []Case {
	return []Case{
		{
			ID: "scope/queue/other-group", Level: Must, Source: recordedScope,
			Text: "On a queue with the deduplication scope queue, which is AWS's default, an id is known in all message groups: the same id in another group is a duplicate. Two tenants with equal bodies lose one.",
			Want: "no copy in the second group",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.claim(ctx, "group 1", 1, q.sending(ctx, "g1", "id", order)); err != nil {
					return err
				}
				return q.claim(ctx, "group 2", 0, q.sending(ctx, "g2", "id", order))
			},
		},
		{
			ID: "scope/group/other-group", Level: Must, Source: createQueue, Needs: Scope,
			Text:  "On a queue with the deduplication scope messageGroup each group has ids of its own: the same id in another group is another message.",
			Want:  "one copy in each group",
			steps: inGroups("one id in two groups", 2, message{"g1", "id", order}, message{"g2", "id", order}),
		},
		{
			ID: "scope/group/interleaved", Level: Must, Source: createQueue, Needs: Scope,
			Text:  "One id to group 1, to group 2, and to group 1 again. The send to group 2 must not make the queue forget that group 1 had the id.",
			Want:  "two copies, one in each group",
			steps: inGroups("one id to groups 1, 2 and 1", 2, message{"g1", "id", order}, message{"g2", "id", order}, message{"g1", "id", order}),
		},
		{
			ID: "scope/group/delimiter", Level: Must, Source: createQueue, Needs: Scope,
			Text:  "Group a:b with id c, and group a with id b:c. Where an endpoint joins group and id with a colon, the two are one to it, and a message is lost.",
			Want:  "two copies",
			steps: inGroups("a:b with c, a with b:c", 2, message{"a:b", "c", order}, message{"a", "b:c", order}),
		},
	}
}

// inGroups sends messages one by one to a queue with the scope messageGroup.
func inGroups(what string, copies int, messages ...message) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, groupScope)
		if err != nil {
			return err
		}
		var sends []func() error
		for _, m := range messages {
			sends = append(sends, q.sending(ctx, m.group, m.id, m.body))
		}
		return q.claim(ctx, what, copies, sends...)
	}
}

func batchCases() []Case {
	return []Case{
		{
			ID: "batch/entries/same-id", Level: Info, Source: unpublished,
			Text: "Two entries of one batch carry one id. Our reference answers success to both and delivers the first.",
			Want: "one copy of the two entries",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				return q.claim(ctx, "two entries with one id", 1, func() error {
					_, err := q.sendBatch(ctx, message{"g", "id", order}, message{"g", "id", order})
					return err
				})
			},
		},
		{
			ID: "batch/entries/after-single", Level: Must, Source: sendMessage,
			Text: "A single send, then a batch that holds the same id and a fresh one: the window knows no difference between the two calls.",
			Want: "one copy of the single send, one of the fresh entry",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.claim(ctx, "the single send", 1, q.sending(ctx, "g", "id", order)); err != nil {
					return err
				}
				return q.claim(ctx, "the batch with it and a fresh one", 1, func() error {
					_, err := q.sendBatch(ctx, message{"g", "id", order}, message{"g", "fresh", order})
					return err
				})
			},
		},
	}
}

func lifecycleCases() []Case {
	return []Case{
		{
			ID: "lifecycle/resend/after-delete", Level: Must, Source: recordedDelete,
			Text: "A message is received and deleted, then its id is sent again: nothing comes, for the window does not end with the message.",
			Want: noResend,
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
			Text:  "A message is received and still held when its id is sent again. Once the held one is deleted, a fence comes and no copy.",
			Want:  "one copy of both sends",
			steps: whileInFlight,
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

func receiveCases() []Case {
	return []Case{
		{
			ID: "receive/order/in-group", Level: Must, Source: fifoLogic,
			Text:  "Five messages of one group are received in the order in which they were sent. Every proof of absence in this suite rests on it.",
			Want:  "five copies, in order",
			steps: inOrder,
		},
		{
			ID: "receive/control/one-body-two-ids", Level: Must, Source: providingID,
			Text:  "The suite's own control: one body under two ids, without the producer's attributes, must be two deliveries and, for the consumer, one effect. It shows that a consumer which hides duplicates does not make the suite blind.",
			Want:  "two copies, one effect",
			steps: oneBodyTwoIDs,
		},
	}
}

func inOrder(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const messages = 5
	var want []string
	var sends []func() error
	for i := range messages {
		body := fmt.Sprintf(`{"n":%d}`, i)
		want = append(want, digestOf(body))
		sends = append(sends, q.sending(ctx, "g", fmt.Sprintf("id-%d", i), body))
	}
	if err := q.claim(ctx, "five messages of one group", messages, sends...); err != nil {
		return err
	}
	seen, next := "as sent", 0
	for _, d := range b.wire.seen(q.url) {
		if d.Fence {
			continue
		}
		if next == len(want) || d.BodyDigest != want[next] {
			seen = "another one"
			break
		}
		next++
	}
	b.answer("their order", "as sent", seen)
	return nil
}

func oneBodyTwoIDs(ctx context.Context, b *Bench) error {
	q, err := b.queueInUse(ctx, plain)
	if err != nil {
		return err
	}
	err = q.claim(ctx, "one body under two ids", 2, q.sending(ctx, orders, "id-1", order), q.sending(ctx, orders, "id-2", order))
	if err != nil {
		return err
	}
	return q.oneEffect(ctx)
}

func responseCases() []Case {
	return []Case{
		{
			ID: "response/duplicate/message-id", Level: Info, Source: unpublished,
			Text: "What MessageId the answer to a duplicate carries. Our reference repeats the first one's, and the producer tells duplicates by it.",
			Want: "the answer to the duplicate repeats the first one's MessageId",
			steps: duplicateAnswer("the duplicate's MessageId", "the first one's", "another one",
				func(first, second Send) bool { return first.MessageID == second.MessageID }),
		},
		{
			ID: "response/duplicate/sequence-number", Level: Info, Source: unpublished,
			Text: "What SequenceNumber the answer to a duplicate carries. Our reference repeats the first one's.",
			Want: "the answer to the duplicate repeats the first one's SequenceNumber",
			steps: duplicateAnswer("the duplicate's SequenceNumber", "the first one's", "another one",
				func(first, second Send) bool { return first.Sequence == second.Sequence }),
		},
	}
}

// duplicateAnswer sends one message twice and compares the answers.
func duplicateAnswer(what, same, other string, equal func(first, second Send) bool) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		first, err := q.send(ctx, "g", "id", order)
		if err != nil {
			return err
		}
		second, err := q.send(ctx, "g", "id", order)
		if err != nil {
			return err
		}
		seen := other
		if equal(b.evidence.Sends[first], b.evidence.Sends[second]) {
			seen = same
		}
		b.answer(what, same, seen)
		return nil
	}
}

func transportCases() []Case {
	return []Case{
		{
			ID: "transport/lost-reply/retried", Level: Must, Source: recoveryGuide,
			Text: "The endpoint accepts a send, the reply is lost, and the client sends again with the same id. This is the case that deduplication was made for.",
			Want: "one copy of both attempts",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				return q.claim(ctx, "a send without a reply and its retry", 1, func() error {
					b.wire.loseNext()
					if _, err := q.send(ctx, "g", "id", order); !errors.Is(err, errReplyLost) {
						return errors.Join(fmt.Errorf("%w: the reply was not lost", errPremise), err)
					}
					_, err := q.send(ctx, "g", "id", order)
					return err
				})
			},
		},
		{
			ID: "transport/lost-reply/producer", Level: Must, Source: recoveryGuide,
			Text: "The same through the producer, which keeps one id over all attempts: the reply to its batch is lost, it tries again, and the consumer gets one.",
			Want: "one copy",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queueInUse(ctx, plain)
				if err != nil {
					return err
				}
				b.wire.loseNext()
				return q.claim(ctx, "an order whose first reply was lost", 1, q.ordering(ctx, order))
			},
		},
	}
}
