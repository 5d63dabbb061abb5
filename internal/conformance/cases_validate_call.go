package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func validateCallCases() []Case {
	cases := []Case{{
		ID: "validate/refused/nothing-enqueued", Level: Must, Source: sendMessage,
		Text:     "All the wrong messages of this area one after the other, then a right one. What was refused must not come out of the queue: a caller who mends the message and sends it anew would find two.",
		Timeline: fmt.Sprintf("0 s send %d wrong messages · send a right one · fence", len(wrongMessages)-1),
		Want:     "one copy of the right message, none of those that were refused",
		Premises: []string{orderPremise, unlockPremise},
		steps:    nothingEnqueued,
	}}
	for _, c := range []struct {
		name, text string
		ask        asking
	}{
		{"max-number", "A receive that asks for eleven messages: ten is the most.", atMost(11)},
		{"wait", "A receive that would wait for 21 seconds: twenty is the most.", func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = 21 }},
		{"visibility", "A receive that would hide its messages for more than twelve hours.", hiding(12*time.Hour + time.Second)},
	} {
		cases = append(cases, Case{
			ID: "validate/receive/" + c.name, Level: Must, Source: receiveRanges, Text: c.text + " It is refused, not cut to what is allowed.",
			Timeline: "0 s receive · receive within the limits", Want: wantInvalid,
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if _, err := q.receive(ctx); err != nil {
					return err
				}
				return b.refusalOf("the receive", invalidParameter, func() error {
					_, err := q.receive(ctx, c.ask)
					return err
				})
			},
		})
	}
	return append(cases,
		Case{
			ID: "validate/handle/garbage", Level: Should, Source: handleModel,
			Text:     "A delete with a receipt handle that no queue ever gave out. A consumer tells by the code that the handle is wrong, and not merely too old.",
			Timeline: "0 s delete with the handle \"garbage\"",
			Want:     "refused with ReceiptHandleIsInvalid",
			steps: garbage(func(b *Bench, err error) error {
				return b.refusalOf("the delete", invalidHandle, func() error { return err })
			}),
		},
		Case{
			ID: "validate/handle/garbage-status", Level: Info, Source: unpublished,
			Text:     "The HTTP status of the same answer. AWS's model and old logs have 404, many emulators and some of AWS's pages 400. Our reference keeps to the model.",
			Timeline: "0 s delete with the handle \"garbage\"",
			Want:     "status 404",
			steps: garbage(func(b *Bench, err error) error {
				if refused(err) == "" && err != nil {
					return err
				}
				b.answer("the status", strconv.Itoa(http.StatusNotFound), strconv.Itoa(max(statusOf(err), http.StatusOK)))
				return nil
			}),
		},
	)
}

// garbage deletes with a handle that is none and judges the answer.
func garbage(judge func(*Bench, error) error) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		_, err = b.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: aws.String("garbage")})
		if errors.Is(err, context.Canceled) {
			return err
		}
		return judge(b, err)
	}
}

// nothingEnqueued sends all wrong messages to one queue, then a right one and a fence.
func nothingEnqueued(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	digests := map[string]string{}
	for _, w := range wrongMessages {
		input := w.spoilt()
		if len(*input.MessageBody) > mostBytes {
			continue // a case of its own sends it; a megabyte twice is one too many
		}
		err := q.trying(ctx, input)()
		if err := q.sent(err); err != nil {
			return err
		}
		if err != nil {
			digests[digestOf(*input.MessageBody)] = w.id
		}
	}
	right := Claim{What: "a right message behind them", Want: 1, Digest: digestOf(order)}
	if err := q.settled(ctx, right, q.sending(ctx, "g", "right", order)); err != nil {
		return err
	}
	var came []string
	for _, d := range b.wire.seen(q.url) {
		if id, found := digests[d.BodyDigest]; found {
			came = append(came, id)
		}
	}
	seen := none
	if len(came) > 0 {
		seen = strings.Join(came, ", ")
	}
	b.answer("refused messages that were delivered", none, seen)
	return nil
}
