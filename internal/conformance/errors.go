package conformance

import (
	"errors"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
)

// errUnable says that the endpoint cannot be asked what the case asks.
var errUnable = errors.New("the endpoint refuses")

// refused is the error code with which the endpoint refused a request as the
// caller's fault; "" for success, throttling, a fault of the server, or no answer, and
// where it is about who asks: a permission that is missing shows nothing of the endpoint.
func refused(err error) string {
	var status *awshttp.ResponseError
	if !errors.As(err, &status) || status.HTTPStatusCode() < http.StatusBadRequest || status.HTTPStatusCode() >= http.StatusInternalServerError {
		return ""
	}
	var answered smithy.APIError
	if !errors.As(err, &answered) || awserr.Throttled(answered.ErrorCode()) || awserr.Unwelcome(answered.ErrorCode()) {
		return ""
	}
	return awserr.Name(answered.ErrorCode())
}
