package consumer

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

// change is how long a message is to stay hidden from now on, in whole seconds. SQS
// sets that time, it adds nothing to what is left of the last one
// (ChangeMessageVisibility, API reference).
type change struct {
	*arrival
	seconds int32
}

func hiding(a *arrival, d time.Duration) change { return change{a, int32(d / time.Second)} }

// refusal is a message whose visibility was not changed. Gone says that it never will
// be: the handle holds nothing any more.
type refusal struct {
	*arrival
	gone bool
	why  string
}

// hide makes one ChangeMessageVisibilityBatch call for at most ten messages. It
// returns those whose entry failed; after an error nothing is known of any.
func (c *Consumer) hide(ctx context.Context, changes []change) (failed []refusal, err error) {
	in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &c.cfg.Queue}
	for i, ch := range changes {
		in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), ReceiptHandle: aws.String(ch.handle), VisibilityTimeout: ch.seconds,
		})
	}
	out, err := c.queue.ChangeMessageVisibilityBatch(ctx, in)
	if err != nil {
		c.cfg.Observer.CallFailed("visibility", err)
		return nil, fmt.Errorf("changing the visibility of messages of the queue %s: %w", c.name, awserr.Brief(err))
	}
	for _, f := range out.Failed {
		if i, ok := index(f.Id, len(changes)); ok {
			failed = append(failed, refusal{changes[i].arrival, f.SenderFault, aws.ToString(f.Message)})
		}
	}
	return failed, nil
}

// index is the place that an entry's id names; false for an answer about what was not
// asked for.
func index(id *string, n int) (int, bool) {
	i, err := strconv.Atoi(aws.ToString(id))
	return i, err == nil && i >= 0 && i < n
}

// expose makes messages visible again, each group's last one first: as long as an
// earlier one of a group is hidden, SQS gives out no later one, so that order holds
// throughout. One call takes the last of up to ten groups. Where calls fail, the rest
// stays hidden until its visibility timeout.
func (c *Consumer) expose(ctx context.Context, back []*arrival) {
	stacks := map[string][]*arrival{}
	var order []string
	for _, a := range back {
		lane := c.lane(a)
		if stacks[lane] == nil {
			order = append(order, lane)
		}
		stacks[lane] = append(stacks[lane], a)
	}
	for left := len(back); left > 0; {
		var changes []change
		for _, lane := range order {
			if n := len(stacks[lane]); n > 0 && len(changes) < batch {
				changes = append(changes, hiding(stacks[lane][n-1], 0))
				stacks[lane] = stacks[lane][:n-1]
			}
		}
		if _, err := c.hide(ctx, changes); err != nil {
			c.warn.kept(left, err)
			return
		}
		left -= len(changes)
	}
}

// lane names what is worked on in order: the message group or, where there is none,
// the message itself. On a standard queue a group orders nothing.
func (c *Consumer) lane(a *arrival) string {
	if isFIFO(c.name) && a.delivery.Group != "" {
		return a.delivery.Group
	}
	return "\x00" + cmp.Or(a.delivery.MessageID, a.handle) // no group's name has a control character in it
}
