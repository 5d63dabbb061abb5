package conformance

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func lateCases() []Case {
	return []Case{{
		ID: "window/late/no-copy-later", Level: Must, Source: sendMessage, Wait: 200 * time.Second,
		Text:     "A resend is suppressed, and then the queue is looked into again after 100 and after 200 seconds. A duplicate that is only held back and surfaces later is a duplicate all the same, and a suite that looks once never sees it.",
		Timeline: "0 s send A · send A again · fence · 100 s fence · 200 s fence",
		Want:     "no copy of the resend, then or later",
		steps:    noCopyLater,
	}}
}

func noCopyLater(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	send := q.sending(ctx, "g", "id", order)
	if err := q.claim(ctx, "the first send", 1, send); err != nil {
		return err
	}
	if err := q.claim(ctx, "the resend", 0, send); err != nil {
		return err
	}
	for _, gap := range []time.Duration{100 * time.Second, 200 * time.Second} {
		if err := b.waitInside(ctx, 0, gap); err != nil {
			return err
		}
		if err := q.claim(ctx, "looked at again after "+secondsText(gap), 0); err != nil {
			return err
		}
	}
	return nil
}

const (
	// fillTime is how long the other ids of a memory case may take.
	fillTime = 20 * time.Second
	// fillTrial is how many of them are sent before their rate is reckoned.
	fillTrial = 100
	// fillBatch is the largest batch.
	fillBatch = 10
)

func memoryCases() []Case {
	var cases []Case
	for _, size := range []struct {
		name, words string
		ids         int
	}{
		{"thousand", "a thousand", 1_010},
		{"ten-thousand", "ten thousand", 10_010},
	} {
		cases = append(cases, Case{
			ID: "window/memory/" + size.name, Level: Must, Source: sendMessage,
			Text:     "Between a send and its resend the queue takes " + size.words + " other ids. The window is a promise about time, whatever the load: a queue that remembers only so many ids forgets under the very load that makes clients retry. An endpoint that would take more than 20 seconds for them skips the case.",
			Timeline: fmt.Sprintf("0 s send A · send %d other ids · send Z, Z again, A again · fence", size.ids),
			Want:     "one copy of the newest id and no copy of either resend",
			steps:    memory(size.ids),
		})
	}
	return cases
}

func memory(others int) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		const newest = `{"event":"the newest"}`
		step := func(what, id, body string, want int) error {
			// The other ids' messages are not part of any claim.
			return q.settled(ctx, Claim{What: what, Want: want, Digest: digestOf(body)}, q.sending(ctx, "g", id, body))
		}
		if err := step("the oldest id", "oldest", order, 1); err != nil {
			return err
		}
		if err := q.fill(ctx, others); err != nil {
			return err
		}
		if err := step(fmt.Sprintf("the newest of %d ids", others+2), "newest", newest, 1); err != nil {
			return err
		}
		if err := step("the newest again", "newest", newest, 0); err != nil {
			return err
		}
		return step("the oldest again", "oldest", order, 0)
	}
}

// fill sends messages with other ids, all in a group of their own of which one is held:
// the group is locked, so that nobody who polls for another group wades through it.
func (q *queue) fill(ctx context.Context, messages int) error {
	b := q.bench
	send := func(from int) error {
		input := &sqs.SendMessageBatchInput{QueueUrl: &q.url}
		for i := from; i < from+fillBatch; i++ {
			id := fmt.Sprintf("other-%05d", i)
			input.Entries = append(input.Entries, types.SendMessageBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i - from)), MessageGroupId: aws.String("others"), MessageDeduplicationId: &id, MessageBody: aws.String("{}"),
			})
		}
		_, err := b.client.SendMessageBatch(ctx, input)
		return q.sent(err)
	}
	if err := send(0); err != nil {
		return err
	}
	if _, err := q.await(ctx, 1, atMost(1), hiding(time.Hour)); err != nil {
		return err
	}
	start := b.clock.Now()
	for sent := fillBatch; sent < messages; sent += fillBatch {
		if sent == fillBatch+fillTrial {
			took := b.clock.Now().Sub(start)
			if rest := took * time.Duration(messages-sent) / fillTrial; rest > fillTime {
				return &tooSlow{reason: fmt.Sprintf("the endpoint took %.0f messages a second, so %d would take %s",
					fillTrial/took.Seconds(), messages, rest.Round(time.Second))}
			}
		}
		if took := b.clock.Now().Sub(start); took > fillTime {
			return &tooSlow{reason: fmt.Sprintf("the endpoint took %d of %d messages in %s", sent, messages, took.Round(time.Second))}
		}
		if err := send(sent); err != nil {
			return err
		}
	}
	return nil
}
