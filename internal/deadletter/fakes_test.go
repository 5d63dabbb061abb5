package deadletter

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
)

// denied lets nobody send.
type denied struct{ Queue }

func (denied) SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	return nil, &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}
}

// mute takes no message and says nothing of it.
type mute struct{ Queue }

func (mute) SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	return &sqs.SendMessageOutput{}, nil
}
