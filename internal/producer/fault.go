package producer

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"fifoproof/internal/awserr"
)

// remedy is what to do after a call that failed as a whole.
type remedy uint8

const (
	again  remedy = iota // try the same entries again
	divide               // some entry is to blame: try them one by one
	stop                 // every other call would meet the same
)

// fault is what a failed call tells.
type fault struct {
	remedy    remedy
	cause     Cause
	answered  bool // the call is over: it will not be carried out later
	uncertain bool // it may have been carried out all the same
	text      string
	err       error
}

// causes are the codes that every message to this queue would get, as the query
// protocol and as JSON 1.0 spell them (SQS API reference, errors and common errors).
var causes = map[string]Cause{
	"AWS.SimpleQueueService.NonExistentQueue":     CauseQueueGone,
	"QueueDoesNotExist":                           CauseQueueGone,
	"AWS.SimpleQueueService.QueueDeletedRecently": CauseQueueGone,
	"AccessDenied":                                CauseAccess,
	"AccessDeniedException":                       CauseAccess,
	"ExpiredToken":                                CauseAccess,
	"ExpiredTokenException":                       CauseAccess,
	"IncompleteSignature":                         CauseAccess,
	"InvalidClientTokenId":                        CauseAccess,
	"InvalidSecurity":                             CauseAccess,
	"InvalidSignatureException":                   CauseAccess,
	"MissingAuthenticationToken":                  CauseAccess,
	"MissingAuthenticationTokenException":         CauseAccess,
	"NotAuthorized":                               CauseAccess,
	"OptInRequired":                               CauseAccess,
	"SignatureDoesNotMatch":                       CauseAccess,
	"UnrecognizedClientException":                 CauseAccess,
	"KMS.AccessDeniedException":                   CauseAccess,
	"KmsAccessDenied":                             CauseAccess,
	"KMS.DisabledException":                       CauseRefused,
	"KmsDisabled":                                 CauseRefused,
	"KMS.NotFoundException":                       CauseRefused,
	"KmsNotFound":                                 CauseRefused,
	"InvalidAction":                               CauseRefused,
	"InvalidAddress":                              CauseRefused,
	"UnknownOperationException":                   CauseRefused,
	"UnsupportedOperation":                        CauseRefused,
	"AWS.SimpleQueueService.UnsupportedOperation": CauseRefused,
}

func classify(err error) fault {
	f := fault{text: awserr.Brief(err).Error(), err: err}
	status := 0
	if response := (*smithyhttp.ResponseError)(nil); errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	code := ""
	var answer smithy.APIError
	if errors.As(err, &answer) {
		code = awserr.Name(answer.ErrorCode())
	}
	f.answered = answer != nil || status >= http.StatusMultipleChoices
	if !f.answered {
		return f.silent(err)
	}
	cause, everywhere := causes[code]
	if gone := (*types.QueueDoesNotExist)(nil); errors.As(err, &gone) {
		cause, everywhere = CauseQueueGone, true
	}
	switch {
	case awserr.Throttled(code), status == http.StatusTooManyRequests:
		f.remedy, f.cause = again, CauseBusy
	case everywhere:
		f.remedy, f.cause = stop, cause
	case status >= http.StatusInternalServerError, answer != nil && status == 0 && answer.ErrorFault() == smithy.FaultServer:
		// The server may have failed after it had stored the messages.
		f.remedy, f.cause, f.uncertain = again, CauseBusy, true
	case status == http.StatusRequestTimeout:
		f.remedy, f.cause = again, CauseBusy
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		f.remedy, f.cause = stop, CauseAccess
	case status == http.StatusNotFound, answer == nil:
		// Whoever answered does not speak SQS.
		f.remedy, f.cause = stop, CauseRefused
	default:
		f.remedy, f.cause = divide, CauseRefused
	}
	return f
}

// silent is about a call without an answer.
func (f fault) silent(err error) fault {
	f.cause = CauseUnreachable
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		f.remedy, f.answered = again, true // no connection, so nothing was sent
		return f
	}
	var (
		operation *smithy.OperationError
		sending   *smithyhttp.RequestSendError
		response  *smithyhttp.ResponseError
		cancelled *smithy.CanceledError
	)
	interrupted := errors.As(err, &cancelled) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if errors.As(err, &operation) && !errors.As(err, &sending) && !errors.As(err, &response) && !interrupted {
		// The SDK gave up before it had a request to send: no credentials, no endpoint.
		f.remedy, f.cause, f.answered = stop, CauseAccess, true
		return f
	}
	f.remedy, f.uncertain = again, true
	return f
}
