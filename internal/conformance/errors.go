package conformance

import (
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
)

// errUnable says that the endpoint cannot be asked what the case asks.
var errUnable = errors.New("the endpoint refuses")

// oneAttempt keeps the SDK from trying again by itself: a second attempt would
// widen the time in which a send may have been accepted, unseen.
func oneAttempt(o *sqs.Options) { o.Retryer = aws.NopRetryer{} }

// entryRefused is one failed entry of a batch whose call succeeded.
type entryRefused struct {
	code        string
	senderFault bool
}

func (e *entryRefused) Error() string { return "the entry was refused: " + e.code }

// refused is the error code with which the endpoint refused a request as the
// caller's fault; "" for success, throttling, a fault of the server, or no answer.
func refused(err error) string {
	var entry *entryRefused
	if errors.As(err, &entry) && entry.senderFault {
		return entry.code
	}
	var status *awshttp.ResponseError
	if !errors.As(err, &status) || status.HTTPStatusCode() < http.StatusBadRequest || status.HTTPStatusCode() >= http.StatusInternalServerError {
		return ""
	}
	var answered smithy.APIError
	if !errors.As(err, &answered) || awserr.Throttled(answered.ErrorCode()) {
		return ""
	}
	return answered.ErrorCode()
}
