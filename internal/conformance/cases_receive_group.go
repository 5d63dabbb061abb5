package conformance

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Who says so, for receives.
const (
	fifoVisibility   = "recorded on AWS 2025-11-19 (LocalStack test_fifo_group_visibility_extends_with_change_message_visibility)"
	recordedRelease  = "recorded on AWS 2025-11-17 (LocalStack test_fifo_message_group_visibility_after_change_message_visibility)"
	recordedMessage  = "recorded on AWS 2024-04-30 (LocalStack test_fifo_message_attributes)"
	recordedExpired  = "recorded on AWS 2025-03-28 (LocalStack test_fifo_delete_after_visibility_timeout)"
	recordedExtended = "recorded on AWS 2025-10-05 (LocalStack test_fifo_delete_after_visibility_timeout_extended)"
	receiveMessage   = "SQS API reference, ReceiveMessage"
	attemptID        = "SQS API reference, ReceiveMessage, ReceiveRequestAttemptId"
	changeVisibility = "SQS API reference, ChangeMessageVisibility"
	visibilityGuide  = "SQS developer guide, visibility timeout"
)

func receiveGroupCases() []Case {
	return []Case{
		{
			ID: "receive/group/locked", Level: Must, Source: fifoLogic,
			Text:     "Two messages of one group. While the first is held, the second is not given out, not even to another consumer. Without this lock two workers change one order at the same time.",
			Timeline: "0 s send A, send B · receive A · poll, with a message of another group as a sign of life",
			Want:     "B is not received while A is held",
			steps: undoubted(holding(func(ctx context.Context, q *queue) error {
				return q.staysAway(ctx, "B while A is held", "B")
			}, "A", "B")),
		},
		{
			ID: "receive/group/others-flow", Level: Must, Source: fifoLogic,
			Text:     "The first message of one group is held. A message of another group comes all the same: one stuck order must not stop everybody's.",
			Timeline: "0 s send A · receive A · send C to another group · receive",
			Want:     "C is received while A is held",
			steps: undoubted(holding(func(ctx context.Context, q *queue) error {
				if err := q.sendAll(ctx, "other", "C"); err != nil {
					return err
				}
				_, err := q.awaited(ctx, "C while A is held")
				return err
			}, "A", "B")),
		},
		{
			ID: "receive/group/new-sends", Level: Should, Source: fifoLogic,
			Text:     "The only message of a group is held, and then another is sent to the group. The new send does not unlock it.",
			Timeline: "0 s send A · receive A · send B · poll, with a message of another group as a sign of life",
			Want:     "B is not received while A is held",
			steps: undoubted(holding(func(ctx context.Context, q *queue) error {
				if err := q.sendAll(ctx, "g", "B"); err != nil {
					return err
				}
				return q.staysAway(ctx, "B while A is held", "B")
			}, "A")),
		},
		{
			ID: "receive/group/partial-delete", Level: Should, Source: fifoLogic,
			Text:     "Two messages of one group come in one reply, and the first is deleted. The group stays locked until the second is deleted too.",
			Timeline: "0 s send A, B, C · receive A and B · delete A · poll, with a message of another group as a sign of life",
			Want:     "C is not received while B is held",
			steps:    undoubted(partialDelete),
		},
		{
			ID: "receive/order/after-timeout", Level: Must, Source: fifoLogic,
			Text:     "Three messages of one group. The first is received, and its consumer dies. After the visibility timeout all three come in the order in which they were sent: the second must not overtake the first.",
			Timeline: "0 s send A, B, C · receive A for 1 s · 3 s receive and delete all",
			Want:     "A, B, C",
			steps: undoubted(inOrderAfter(hiding(briefly), func(ctx context.Context, q *queue, _ types.Message) error {
				return q.bench.pass(ctx, brieflyPast)
			})),
		},
		{
			ID: "receive/order/after-release", Level: Must, Source: recordedRelease,
			Text:     "The same where the consumer gives the first message back at once, with a visibility timeout of zero.",
			Timeline: "0 s send A, B, C · receive A · change its visibility to 0 · receive and delete all",
			Want:     "A, B, C",
			steps: undoubted(inOrderAfter(atMost(1), func(ctx context.Context, q *queue, m types.Message) error {
				return q.hide(ctx, m, 0)
			})),
		},
		{
			ID: "receive/order/two-groups-interleaved", Level: Must, Source: fifoLogic,
			Text:     "Six messages, to two groups in turn. Each group's come in the order of their sends; between the groups nothing is promised.",
			Timeline: "0 s send A1, B1, A2, B2, A3, B3 · fence in both groups",
			Want:     "six copies, each group in order",
			steps:    interleaved,
		},
		{
			ID: "receive/order/after-duplicate", Level: Must, Source: fifoLogic,
			Text:     "Three messages of one group, then the first one's id again. The duplicate changes nothing about the order: a client's retry must not push its message to the back of the queue.",
			Timeline: "0 s send A, B, C, A again · receive and delete all · fence",
			Want:     "three copies: A, B, C",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				var sends []func() error
				for _, n := range []string{"A", "B", "C", "A"} {
					sends = append(sends, q.sending(ctx, "g", n, body(n)))
				}
				if err := q.claim(ctx, "three messages and a duplicate of the first", 3, sends...); err != nil {
					return err
				}
				b.answer("their order", "A, B, C", joined(q.givenOut("A", "B", "C")))
				return nil
			},
		},
		{
			ID: "receive/visibility/held", Level: Must, Source: visibilityGuide,
			Text:     "A message is held and not deleted. Until its visibility timeout is over nobody else gets it.",
			Timeline: "0 s send A · receive A · poll, with a message of another group as a sign of life",
			Want:     "A is not received again while it is held",
			steps: undoubted(holding(func(ctx context.Context, q *queue) error {
				return q.staysAway(ctx, "A while it is held", "A")
			}, "A")),
		},
		{
			ID: "receive/visibility/released", Level: Must, Source: recordedRelease,
			Text:     "Two messages of one group come in one reply. The first is given back with a visibility timeout of zero: it comes again, alone, for the second is still held.",
			Timeline: "0 s send A, B · receive both · change A's visibility to 0 · receive",
			Want:     "A alone, and not B",
			steps:    undoubted(released),
		},
		{
			ID: "receive/visibility/extended", Level: Must, Source: fifoVisibility,
			Text:     "Three messages of one group come in one reply, and the second's visibility timeout is extended. When the first timeout is over, only the message before the extended one comes back; the extended one and all behind it stay hidden. A worker that extends what it works on relies on it.",
			Timeline: "0 s send A, B, C · 2 s receive all for 5 s · extend B · 8 s receive · delete A · poll, with a message of another group as a sign of life",
			Want:     "A alone, and neither B nor C",
			steps:    undoubted(extended),
		},
	}
}

// holding sends messages to one group, holds the first and goes on.
func holding(then func(context.Context, *queue) error, names ...string) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		if err := q.sendAll(ctx, "g", names...); err != nil {
			return err
		}
		if _, err := q.hold(ctx, names[0]); err != nil {
			return err
		}
		return then(ctx, q)
	}
}

func partialDelete(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", "A", "B", "C"); err != nil {
		return err
	}
	got, err := q.together(ctx, 2, atMost(2))
	if err != nil {
		return err
	}
	if err := q.remove(ctx, got[:1]); err != nil {
		return err
	}
	return q.staysAway(ctx, "C while B is held", "C")
}

// inOrderAfter holds the first of three messages, lets it come back, and reads all.
func inOrderAfter(how asking, back func(context.Context, *queue, types.Message) error) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		if err := q.sendAll(ctx, "g", "A", "B", "C"); err != nil {
			return err
		}
		held, err := q.hold(ctx, "A", how)
		if err != nil {
			return err
		}
		if err := back(ctx, q, held); err != nil {
			return err
		}
		seen, err := q.drain(ctx, 3)
		if err != nil {
			return err
		}
		b.answer("what came then", "A, B, C", joined(seen))
		return nil
	}
}

func interleaved(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	all := []string{"A1", "B1", "A2", "B2", "A3", "B3"}
	var sends []func() error
	for _, n := range all {
		sends = append(sends, q.sending(ctx, n[:1], n, body(n)))
	}
	if err := q.claim(ctx, "six messages of two groups", len(all), sends...); err != nil {
		return err
	}
	for _, group := range []string{"A", "B"} {
		sent := []string{group + "1", group + "2", group + "3"}
		b.answer("the order in group "+group, joined(sent), joined(q.givenOut(sent...)))
	}
	return nil
}

// givenOut are those of the named messages that the queue gave out, in the order in which
// they came.
func (q *queue) givenOut(names ...string) []string {
	var out []string
	for _, d := range q.bench.wire.seen(q.url) {
		for _, n := range names {
			if d.BodyDigest == digestOf(body(n)) {
				out = append(out, n)
			}
		}
	}
	return out
}

func released(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", "A", "B"); err != nil {
		return err
	}
	got, err := q.together(ctx, 2)
	if err != nil {
		return err
	}
	if err := q.hide(ctx, got[0], 0); err != nil {
		return unless(err, "the first message could not be given back")
	}
	return q.alone(ctx, "B")
}

// extendedFor is longer than a case looks at a queue.
const extendedFor = 5 * time.Minute

func extended(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", "A", "B", "C"); err != nil {
		return err
	}
	// A reply may be two seconds late, and so may the request to extend.
	const first = 5 * time.Second
	got, err := q.together(ctx, 3, hiding(first))
	if err != nil {
		return err
	}
	if err := q.hide(ctx, got[1], extendedFor); err != nil {
		return unless(err, "the second message could not be extended")
	}
	if err := b.pass(ctx, first+time.Second); err != nil {
		return err
	}
	return q.alone(ctx, "B", "C")
}

// alone sees the message A come back without the hidden ones, deletes it, and sees that
// they stay away.
func (q *queue) alone(ctx context.Context, hidden ...string) error {
	got, err := q.awaited(ctx, "a message")
	if err != nil || got == nil {
		return err
	}
	q.bench.answer("what came back", "A", joined(names(got)))
	if err := q.remove(ctx, got); err != nil {
		return err
	}
	return q.staysAway(ctx, strings.Join(hidden, " and ")+" behind it", hidden...)
}
