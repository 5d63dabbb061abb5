package consumer

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

// deleteTries is how often a delete is attempted on top of the SDK's own retries,
// which do not cover entries that fail inside a batch.
const deleteTries = 3

// delete takes completed messages off the queue. Where that fails for good the
// message comes again and is recorded as redelivered, so it is a warning; only a
// refusal, which would make every later delete fail too, is an error.
func (c *Consumer) delete(ctx context.Context, done []arrival) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	left := distinct(done)
	for try := 1; len(left) > 0; try++ {
		failed, err := c.deleteOnce(ctx, left)
		switch {
		case err != nil && permanent(err):
			return err
		case err != nil && try == deleteTries:
			c.warn.undeleted(left, err.Error())
			return nil
		case err == nil && try == deleteTries:
			c.warn.undeleted(failed, "the queue failed to delete it")
			return nil
		case err == nil:
			left = failed
		}
		if len(left) > 0 && c.pause(ctx, firstPause<<(try-1)) != nil {
			c.warn.undeleted(left, "there was no time left to try again")
			return nil
		}
	}
	return nil
}

// deleteOnce returns the messages whose delete may be tried again.
func (c *Consumer) deleteOnce(ctx context.Context, done []arrival) (again []arrival, err error) {
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &c.cfg.Queue}
	for i, a := range done {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{
			Id:            aws.String(strconv.Itoa(i)),
			ReceiptHandle: aws.String(a.handle),
		})
	}
	out, err := c.queue.DeleteMessageBatch(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("deleting from the queue %s: %w", c.name, awserr.Brief(err))
	}
	for _, f := range out.Failed {
		i, err := strconv.Atoi(aws.ToString(f.Id))
		if err != nil || i < 0 || i >= len(done) {
			continue // an answer about a message that was not asked for
		}
		if f.SenderFault {
			// Most often the receipt handle has expired, which FIFO queues refuse
			// (InvalidParameterValue), since another consumer may hold the message.
			c.warn.undeleted(done[i:i+1], aws.ToString(f.Message))
			continue
		}
		again = append(again, done[i])
	}
	return again, nil
}

// distinct leaves out handles that come twice: a batch that names one is refused
// as a whole on some endpoints.
func distinct(done []arrival) []arrival {
	seen := map[string]bool{}
	var out []arrival
	for _, a := range done {
		if !seen[a.handle] {
			seen[a.handle] = true
			out = append(out, a)
		}
	}
	return out
}

// giveBack makes messages visible again that were not begun, so that they need not
// wait for their visibility timeout. The last goes first: as long as an earlier one
// of a group is hidden, SQS gives out no later one, so order holds throughout.
func (c *Consumer) giveBack(ctx context.Context, unbegun []arrival) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for _, a := range slices.Backward(unbegun) {
		_, err := c.queue.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl:          &c.cfg.Queue,
			ReceiptHandle:     aws.String(a.handle),
			VisibilityTimeout: 0,
		})
		if err != nil {
			c.warn.kept(len(unbegun), awserr.Brief(err))
			return
		}
	}
}
