package awserr

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"fifoproof/internal/budget"
)

// longest is how many bytes of an error text are told; an endpoint that is none may
// answer with a whole page.
const longest = 400

type brief struct{ error }

func (b brief) Unwrap() error { return b.error }

// Brief is err told without the SDK's frame ("operation error SQS: …, exceeded
// maximum number of attempts, …"): what a person can act on. It unwraps to err. It
// is nil for nil.
func Brief(err error) error {
	if err == nil {
		return nil
	}
	return brief{err}
}

func (b brief) Error() string {
	text := b.text()
	if len(text) > longest {
		text = fmt.Sprintf("%.*s…", longest, text)
	}
	return text
}

func (b brief) text() string {
	if answer, ok := errors.AsType[smithy.APIError](b.error); ok {
		return Sentence(answer.ErrorCode(), answer.ErrorMessage())
	}
	switch {
	case errors.Is(b.error, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(b.error, context.Canceled):
		return "interrupted before the answer came"
	}
	if spent, ok := errors.AsType[*budget.SpentError](b.error); ok {
		return spent.Error()
	}
	if failed, ok := errors.AsType[*url.Error](b.error); ok {
		return failed.Err.Error()
	}
	if operation, ok := errors.AsType[*smithy.OperationError](b.error); ok {
		return operation.Err.Error()
	}
	return b.error.Error()
}

// Sentence joins an error code and what the endpoint says about it, if anything.
func Sentence(code, message string) string {
	if message == "" {
		return code
	}
	return code + ": " + message
}

// Name is an error code without the namespace of its shape, which the AWS JSON protocol
// has clients strip ("com.amazonaws.sqs#QueueDoesNotExist"). The SDK leaves it on where
// an endpoint puts it into the header of the older code.
func Name(code string) string {
	return code[strings.LastIndexByte(code, '#')+1:]
}

// Throttled reports whether code asks for patience. AWS documents ThrottlingException
// for FIFO queues, real answers were seen as RequestThrottled with status 403, and an
// encrypted queue passes on its key's throttling.
func Throttled(code string) bool {
	code = Name(code)
	if _, is := retry.DefaultThrottleErrorCodes[code]; is {
		return true
	}
	return code == "KMS.ThrottlingException" || code == "KmsThrottled"
}

var (
	expired = []string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
	unknown = []string{
		"InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidSignatureException",
		"InvalidSecurity", "InvalidAccessKeyId", "IncompleteSignature",
	}
)

// Expired reports whether code says that the caller's credentials are too old. The codes
// are those of the SQS API reference, common errors, and of the token services behind it.
func Expired(code string) bool { return slices.Contains(expired, Name(code)) }

// Unknown reports whether code says that the endpoint does not know the credentials.
func Unknown(code string) bool { return slices.Contains(unknown, Name(code)) }

// Denied reports whether code says that the caller may not do what was asked.
func Denied(code string) bool { return strings.HasPrefix(Name(code), "AccessDenied") }

// Unwelcome reports whether a refusal is about who asks, and not about what is asked: it
// says nothing of the endpoint.
func Unwelcome(code string) bool { return Expired(code) || Unknown(code) || Denied(code) }
