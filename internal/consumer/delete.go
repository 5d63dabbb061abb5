package consumer

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

// deleteTries is how often a delete is attempted on top of the SDK's own retries,
// which do not cover entries that fail inside a batch.
const deleteTries = 3

// delete takes up to ten completed messages off the queue. Where that fails for good
// the message comes again and is recorded as redelivered, so it is a warning; only a
// refusal, which would make every later delete fail too, is an error. tried is called
// after the first try.
func (c *Consumer) delete(ctx context.Context, done []*arrival, tried func()) error {
	left := distinct(done)
	for try := 1; len(left) > 0; try++ {
		failed, err := c.deleteOnce(ctx, left)
		if try == 1 {
			tried()
		}
		why := "the queue failed to delete it"
		if err == nil {
			left = failed
		} else {
			c.cfg.Observer.CallFailed("delete", err)
			if permanent(err) {
				return err
			}
			why = err.Error()
		}
		if try == deleteTries {
			c.warn.undeleted(left, why)
			break
		}
		if len(left) > 0 && c.pause(ctx, firstPause<<(try-1)) != nil {
			c.warn.undeleted(left, "there was no time left to try again")
			break
		}
	}
	return nil
}

// deleteOnce returns the messages whose delete may be tried again.
func (c *Consumer) deleteOnce(ctx context.Context, done []*arrival) (again []*arrival, err error) {
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
		i, ok := index(f.Id, len(done))
		switch {
		case !ok:
		case f.SenderFault:
			// Most often the receipt handle has expired, which FIFO queues refuse
			// (InvalidParameterValue), since another consumer may hold the message.
			c.warn.undeleted(done[i:i+1], aws.ToString(f.Message))
		default:
			again = append(again, done[i])
		}
	}
	return again, nil
}

// distinct leaves out handles that come twice: a batch that names one is refused
// as a whole on some endpoints.
func distinct(done []*arrival) []*arrival {
	seen := map[string]bool{}
	var out []*arrival
	for _, a := range done {
		if !seen[a.handle] {
			seen[a.handle] = true
			out = append(out, a)
		}
	}
	return out
}
