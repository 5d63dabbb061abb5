package conformance

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func receiveMessageCases() []Case {
	const again = "0 s send A · receive A for 1 s · 3 s receive A"
	return []Case{
		{
			ID: "receive/attributes/all", Level: Must, Source: recordedMessage,
			Text:     "A receive that asks for all system attributes gets the seven that a FIFO message has, with group and deduplication ID as they were sent and times in milliseconds.",
			Timeline: "0 s send A · receive, asking for All", Want: "seven attributes, with the sent values",
			steps: undoubted(allAttributes),
		},
		{
			ID: "receive/attributes/none", Level: Must, Source: recordedMessage,
			Text:     "A receive that asks for nothing gets neither system attributes nor the message's own. A consumer that forgets to ask for the group must find out in its tests.",
			Timeline: "0 s send A with an attribute · receive, asking for nothing", Want: "no attributes",
			steps: noAttributes,
		},
		{
			ID: "receive/filter/attributes-md5", Level: Must, Source: "recorded on AWS (LocalStack, ReceiveMessage with MessageAttributeNames); " + messageMetadata,
			Text:     "A message has three attributes and the receive asks for one. It gets that one, and the MD5 over that one alone: SDKs that compare it would otherwise refuse the message.",
			Timeline: "0 s send A with three attributes · receive, asking for one", Want: "one attribute, and its own MD5",
			steps: filtered,
		},
		{
			ID: "receive/redelivery/identity", Level: Must, Source: recordedMessage,
			Text:     "A message that comes again after its visibility timeout is the same one: same MessageId, SequenceNumber and first receive, another receipt handle. A consumer that keeps MessageIds knows it again.",
			Timeline: again, Want: "the same MessageId, SequenceNumber and first receive, another receipt handle",
			steps: redelivered(func(b *Bench, first, second types.Message) {
				b.answer("the MessageId", "the same", whether(aws.ToString(first.MessageId) == aws.ToString(second.MessageId), "the same", "another"))
				for _, name := range []string{"SequenceNumber", firstReceive} {
					b.answer(name, "the same", whether(first.Attributes[name] == second.Attributes[name], "the same", "another"))
				}
				b.answer("the receipt handle", "another", whether(aws.ToString(first.ReceiptHandle) == aws.ToString(second.ReceiptHandle), "the same", "another"))
			}),
		},
		{
			ID: "receive/redelivery/count", Level: Must, Source: recordedMessage,
			Text:     "The receive count is 1 at first and 2 when the message comes again. Consumers give up on a message by it.",
			Timeline: again, Want: "1, then 2",
			steps: redelivered(func(b *Bench, first, second types.Message) {
				const name = string(types.MessageSystemAttributeNameApproximateReceiveCount)
				b.answer("the receive counts", "1, then 2", first.Attributes[name]+", then "+second.Attributes[name])
			}),
		},
		{
			ID: "receive/sequence/rises", Level: Must, Source: "SQS API reference, SendMessage, SequenceNumber",
			Text:     "Ten messages to two groups in turn. In each group the SequenceNumbers that the sends answer are decimal numbers that rise. They have 20 digits, more than a double holds: compare them as whole numbers.",
			Timeline: "0 s send ten messages to two groups in turn", Want: "they rise in both groups",
			steps: sequenceRises,
		},
		{
			ID: "receive/sequence/as-answered", Level: Must, Source: "SQS API reference, SendMessage, SequenceNumber; " + recordedMessage,
			Text:     "A message is delivered with the MessageId and the SequenceNumber that its send answered, so that producer's and consumer's logs can be laid side by side.",
			Timeline: "0 s send A · receive A", Want: "the answered ones",
			steps: undoubted(asAnswered),
		},
		{
			ID: "receive/empty/no-messages", Level: Must, Source: "recorded on AWS 2025-02-10 (LocalStack test_receive_empty_queue)",
			Text:     "A receive from an empty queue is answered with success and no messages.",
			Timeline: "0 s receive", Want: "accepted, no messages",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				return b.acceptance("the receive", func() error {
					got, err := q.receive(ctx)
					if err == nil {
						b.answer("the messages", nothing, joined(names(got)))
					}
					return err
				})
			},
		},
		{
			ID: "receive/max/at-most-asked", Level: Must, Source: receiveMessage,
			Text:     "Six messages of six groups wait. A receive that asks for two gets two at most, and one that names no number gets one at most. A worker that was handed more than it asked for holds them in vain.",
			Timeline: "0 s send six messages · 2 s receive two · receive without a number", Want: "at most 2, at most 1",
			steps: atMostAsked,
		},
		{
			ID: "receive/counters/locked-messages", Level: Info, Source: unpublished, Wait: countersSettle,
			Text:     "Three messages of one group, one of them held. AWS counts the locked ones as visible although nobody can receive them: an alarm on that count hears of a stuck group. The counts may take a minute to settle.",
			Timeline: "0 s send A, B, C · receive A · 65 s read the counts", Want: "2 visible, 1 in flight",
			steps: counted("2 visible, 1 in flight", holding(func(context.Context, *queue) error { return nil }, "A", "B", "C")),
		},
		{
			ID: "receive/counters/duplicate-adds-none", Level: Info, Source: unpublished, Wait: countersSettle,
			Text:     "A message is sent five times under one id. The suppressed ones add nothing to the count of the queue, in our reference.",
			Timeline: "0 s send A five times · 65 s read the counts", Want: "1 visible, 0 in flight",
			steps: counted("1 visible, 0 in flight", func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				return q.sendAll(ctx, "g", slices.Repeat([]string{"A"}, 5)...)
			}),
		},
	}
}

// firstReceive is when a message was first received.
const firstReceive = string(types.MessageSystemAttributeNameApproximateFirstReceiveTimestamp)

// whether is one of two words.
func whether(yes bool, word, other string) string {
	if yes {
		return word
	}
	return other
}

func allAttributes(ctx context.Context, b *Bench) error {
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
	var missing []string
	for _, name := range []string{
		firstReceive, "ApproximateReceiveCount", "MessageDeduplicationId", "MessageGroupId",
		"SenderId", "SentTimestamp", "SequenceNumber",
	} {
		if m.Attributes[name] == "" {
			missing = append(missing, name)
		}
	}
	b.answer("attributes missing", nothing, joined(missing))
	if len(missing) > 0 {
		return nil
	}
	b.answer("the group", "g", m.Attributes["MessageGroupId"])
	b.answer("the deduplication ID", "A", m.Attributes["MessageDeduplicationId"])
	b.answer("the receive count", "1", m.Attributes["ApproximateReceiveCount"])
	for _, name := range []string{"SentTimestamp", firstReceive} {
		// Thirteen digits until the year 2286.
		ms, err := strconv.ParseInt(m.Attributes[name], 10, 64)
		inMilliseconds := err == nil && len(strconv.FormatInt(ms, 10)) == 13
		b.answer(name, "in milliseconds", whether(inMilliseconds, "in milliseconds", "another form"))
	}
	return nil
}

// bare asks for no attributes of any kind.
func bare(in *sqs.ReceiveMessageInput) {
	in.MessageSystemAttributeNames, in.MessageAttributeNames = nil, nil
}

func noAttributes(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if _, err := q.put(ctx, of("A", withAttributes("v", "name"))); err != nil {
		return err
	}
	got, err := q.await(ctx, 1, bare)
	if err != nil {
		return err
	}
	b.answer("system attributes", nothing, joined(slices.Sorted(maps.Keys(got[0].Attributes))))
	b.answer("message attributes", nothing, joined(slices.Sorted(maps.Keys(got[0].MessageAttributes))))
	return nil
}

func filtered(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if _, err := q.put(ctx, of("A", withAttributes("v", "name-1", "name-2", "other"))); err != nil {
		return err
	}
	got, err := q.await(ctx, 1, func(in *sqs.ReceiveMessageInput) { in.MessageAttributeNames = []string{"name-2"} })
	if err != nil {
		return err
	}
	b.answer("the attributes", "name-2", joined(slices.Sorted(maps.Keys(got[0].MessageAttributes))))
	one := map[string]types.MessageAttributeValue{"name-2": {DataType: aws.String("String"), StringValue: aws.String("v")}}
	b.answer("their MD5", attributesMD5(one), aws.ToString(got[0].MD5OfMessageAttributes))
	return nil
}

// redelivered lets a message come twice and compares the two.
func redelivered(compare func(b *Bench, first, second types.Message)) func(context.Context, *Bench) error {
	return undoubted(func(ctx context.Context, b *Bench) error {
		_, first, second, err := twice(ctx, b)
		if err == nil && second != nil {
			compare(b, first, *second)
		}
		return err
	})
}

// twice receives the message A, lets its visibility timeout pass and receives it again.
// Where it does not come again, that is noted and second is nil.
func twice(ctx context.Context, b *Bench) (q *queue, first types.Message, second *types.Message, err error) {
	if q, err = b.queue(ctx, plain); err != nil {
		return q, first, nil, err
	}
	if err = q.sendAll(ctx, "g", "A"); err != nil {
		return q, first, nil, err
	}
	if first, err = q.hold(ctx, "A", hiding(briefly)); err != nil {
		return q, first, nil, err
	}
	if err = b.pass(ctx, brieflyPast); err != nil {
		return q, first, nil, err
	}
	got, err := q.awaited(ctx, "the message after its visibility timeout")
	if err != nil || got == nil {
		return q, first, nil, err
	}
	return q, first, &got[0], nil
}

func sequenceRises(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	const messages = 10
	last := map[string]*big.Int{}
	seen := "they rise"
	for i := range messages {
		group := []string{"g1", "g2"}[i%2]
		n, err := q.send(ctx, group, fmt.Sprintf("id-%d", i), order)
		if err != nil {
			return err
		}
		text := b.wire.send(n).Sequence
		number, decimal := new(big.Int).SetString(text, 10)
		switch {
		case b.wire.send(n).Refused != "":
			return premise("a message was refused")
		case !decimal || strings.ContainsAny(text, "+-_"):
			seen = "one is no decimal number"
		case last[group] != nil && number.Cmp(last[group]) <= 0:
			seen = "one does not rise"
		}
		if decimal {
			last[group] = number
		}
	}
	b.answer("the SequenceNumbers in each group", "they rise", seen)
	return nil
}

func asAnswered(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	if err := q.sendAll(ctx, "g", "A"); err != nil {
		return err
	}
	sent := b.wire.send(0)
	m, err := q.hold(ctx, "A")
	if err != nil {
		return err
	}
	const answered, another = "the answered one", "another"
	b.answer("the MessageId", answered, whether(sent.MessageID != "" && sent.MessageID == aws.ToString(m.MessageId), answered, another))
	number := m.Attributes[string(types.MessageSystemAttributeNameSequenceNumber)]
	b.answer("the SequenceNumber", answered, whether(sent.Sequence != "" && sent.Sequence == number, answered, another))
	return nil
}

func atMostAsked(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	for i, n := range []string{"A", "B", "C", "D", "E", "F"} {
		if err := q.sendAll(ctx, fmt.Sprintf("g%d", i), n); err != nil {
			return err
		}
	}
	if err := b.pass(ctx, ripe); err != nil {
		return err
	}
	for _, c := range []struct {
		what string
		most int
		ask  asking
	}{{"a receive of two", 2, atMost(2)}, {"a receive without a number", 1, atMost(0)}} {
		got, err := q.await(ctx, 1, c.ask)
		if err != nil {
			return err
		}
		want := fmt.Sprintf("%d at most", c.most)
		within := len(got) <= c.most // await goes on only while replies are empty
		b.answer(c.what, want, whether(within, want, strconv.Itoa(len(got))))
		if !within {
			return nil // it may have taken what the next receive needs
		}
	}
	return nil
}

// countersSettle is how long AWS's counts may take to settle (SQS API reference,
// GetQueueAttributes: within a minute after the producers stop).
const countersSettle = 65 * time.Second

// counted reads a queue's counts once they have settled.
func counted(want string, before func(context.Context, *Bench) error) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		if err := before(ctx, b); err != nil {
			return err
		}
		if err := b.pass(ctx, countersSettle); err != nil {
			return err
		}
		seen, err := b.queues[0].counts(ctx)
		if err != nil {
			return err
		}
		b.answer("the counts", want, seen)
		return nil
	}
}

// counts are what a queue says it holds, in words.
func (q *queue) counts(ctx context.Context) (string, error) {
	const visible, inFlight = types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible
	read, err := q.attributes(ctx, visible, inFlight)
	if err != nil {
		return "", err
	}
	return read[string(visible)] + " visible, " + read[string(inFlight)] + " in flight", nil
}
