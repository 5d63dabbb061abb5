package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

// oneCopy is what most messages are expected to come to.
const oneCopy = "one copy"

// What an answer says of a message.
const (
	received    = "received"
	notReceived = "not received"
)

const (
	// briefly is the visibility timeout of a receive whose messages are to come back.
	briefly = time.Second
	// brieflyPast is when it is surely over: AWS keeps visibility in whole seconds.
	brieflyPast = briefly + time.Second

	// ripe is how long a message may take from its send until it can be received.
	ripe = 2 * time.Second
)

// body names the n-th message of a case.
func body(n string) string { return `{"message":"` + n + `"}` }

// sendAll sends messages to one group, each under its own name, as id and in the body.
func (q *queue) sendAll(ctx context.Context, group string, names ...string) error {
	for _, n := range names {
		if _, err := q.send(ctx, group, n, body(n)); err != nil {
			return err
		}
	}
	return nil
}

// names are the messages' names.
func names(messages []types.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		text := strings.TrimPrefix(aws.ToString(m.Body), `{"message":"`)
		out[i] = strings.TrimSuffix(text, `"}`)
	}
	return out
}

// joined writes names in a row.
func joined(names []string) string {
	if len(names) == 0 {
		return nothing
	}
	return strings.Join(names, ", ")
}

// hold receives the message called name, and only that; that it comes first is a premise.
func (q *queue) hold(ctx context.Context, name string, how ...asking) (types.Message, error) {
	got, err := q.await(ctx, 1, append([]asking{atMost(1)}, how...)...)
	if err != nil {
		return types.Message{}, err
	}
	if aws.ToString(got[0].Body) != body(name) || len(got) > 1 {
		return types.Message{}, premise("%s came instead of %s", joined(names(got)), name)
	}
	return got[0], nil
}

// together receives n messages in one reply. An endpoint may give out fewer: that they
// come together is a premise.
func (q *queue) together(ctx context.Context, n int, how ...asking) ([]types.Message, error) {
	if err := q.bench.pass(ctx, ripe); err != nil {
		return nil, err
	}
	got, err := q.await(ctx, 1, how...)
	if err == nil && len(got) < n {
		err = premise("%d of %d messages came in one reply", len(got), n)
	}
	return got, err
}

// awaited polls until a message has come, and notes whether one did. There is none
// where none came.
func (q *queue) awaited(ctx context.Context, what string, how ...asking) ([]types.Message, error) {
	got, err := q.await(ctx, 1, how...)
	switch {
	case errors.Is(err, errPremise):
		q.bench.answer(what, received, notReceived)
		return nil, nil
	case err != nil:
		return nil, err
	}
	q.bench.answer(what, received, received)
	return got, nil
}

// staysAway notes whether messages that nobody may have now are given out. That the
// queue gives out what it may is shown by a message of another group, which must come.
func (q *queue) staysAway(ctx context.Context, what string, hidden ...string) error {
	const flow = "sign-of-life"
	if err := q.sendAll(ctx, "other", flow); err != nil {
		return err
	}
	seen, flowed := notReceived, 0 // polls since the other group's message came
	for polls := 0; polls < fencePolls && flowed < 2; polls++ {
		got, err := q.receive(ctx)
		if err != nil {
			return err
		}
		if flowed > 0 {
			flowed++
		}
		for i, n := range names(got) {
			switch {
			case n == flow:
				flowed = 1
				err = q.remove(ctx, got[i:i+1])
			case slices.Contains(hidden, n):
				seen = received
			}
			if err != nil {
				return err
			}
		}
	}
	if flowed == 0 && seen == notReceived {
		return premise("a message of another group did not come")
	}
	q.bench.answer(what, notReceived, seen)
	return nil
}

// drain receives and deletes until n messages have come, and returns their names.
func (q *queue) drain(ctx context.Context, n int) ([]string, error) {
	var all []string
	for range fencePolls {
		got, err := q.receive(ctx)
		if err != nil {
			return nil, err
		}
		if err := q.remove(ctx, got); err != nil {
			return nil, err
		}
		if all = append(all, names(got)...); len(all) >= n {
			return all, nil
		}
	}
	return nil, premise("%d of %d messages came", len(all), n)
}

// deleting deletes by a handle.
func (q *queue) deleting(ctx context.Context, handle *string) func() error {
	return func() error {
		_, err := q.bench.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: handle})
		if refused(err) == "" {
			return awserr.Brief(err)
		}
		return err
	}
}

// hidingAnew changes a visibility timeout.
func (q *queue) hidingAnew(ctx context.Context, m types.Message, d time.Duration) func() error {
	return func() error { return q.hide(ctx, m, d) }
}
