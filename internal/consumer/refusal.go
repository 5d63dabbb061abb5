package consumer

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
)

// refusals are error codes that no waiting cures (Amazon SQS API reference, common
// errors; AWS STS and KMS codes as SQS passes them on).
var refusals = map[string]bool{
	"AWS.SimpleQueueService.NonExistentQueue": true,
	"QueueDoesNotExist":                       true,
	"AccessDenied":                            true,
	"AccessDeniedException":                   true,
	"InvalidAddress":                          true,
	"InvalidClientTokenId":                    true,
	"InvalidSecurity":                         true,
	"KmsAccessDenied":                         true,
	"KmsDisabled":                             true,
	"KmsNotFound":                             true,
	"MissingAuthenticationToken":              true,
	"NotAuthorized":                           true,
	"OptInRequired":                           true,
	"SignatureDoesNotMatch":                   true,
	"UnrecognizedClientException":             true,
	"UnsupportedOperation":                    true,
}

// permanent reports whether polling again cannot help. Throttling, expired
// credentials, broken connections and the service's own failures pass.
func permanent(err error) bool {
	var store *storeError
	var missing *types.QueueDoesNotExist
	if errors.As(err, &store) || errors.As(err, &missing) {
		return true
	}
	var answer smithy.APIError
	return errors.As(err, &answer) && refusals[awserr.Name(answer.ErrorCode())]
}

// storeError marks an error after which polling on would only raise the receive
// counts of good messages.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }
