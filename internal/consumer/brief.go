package consumer

import (
	"errors"
	"net/url"

	"github.com/aws/smithy-go"
)

// brief is an error of the SDK without its frame ("operation error SQS: …, exceeded
// maximum number of attempts, …, https response error StatusCode: …"), of which a
// person can use only the end. What it wraps stays there for errors.As.
type brief struct{ error }

func (b brief) Unwrap() error { return b.error }

func (b brief) Error() string {
	if answered, ok := errors.AsType[smithy.APIError](b.error); ok {
		if answered.ErrorMessage() == "" {
			return answered.ErrorCode()
		}
		return answered.ErrorCode() + ": " + answered.ErrorMessage()
	}
	if unsent, ok := errors.AsType[*url.Error](b.error); ok {
		return unsent.Err.Error()
	}
	return b.error.Error()
}
