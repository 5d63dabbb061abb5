package deadletter

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
)

// closedQueue refuses sends to one queue, or all deletes.
type closedQueue struct {
	Queue

	sends   string // URL
	deletes bool
	asked   int
}

func (q *closedQueue) SendMessage(ctx context.Context, in *sqs.SendMessageInput, opts ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	if *in.QueueUrl != q.sends {
		return q.Queue.SendMessage(ctx, in, opts...)
	}
	q.asked++
	return nil, &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}
}

func (q *closedQueue) DeleteMessage(ctx context.Context, in *sqs.DeleteMessageInput, opts ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	if !q.deletes {
		return q.Queue.DeleteMessage(ctx, in, opts...)
	}
	return nil, &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}
}

// mute takes no message and says nothing of it.
type mute struct{ Queue }

func (mute) SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	return &sqs.SendMessageOutput{}, nil
}
