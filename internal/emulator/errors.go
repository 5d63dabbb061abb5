package emulator

import (
	"fmt"
	"net/http"
)

// Namespaces of error types: what the SQS model knows, and what the framework
// below it answers (recorded replies of SQS carry both).
const (
	modelled   = "com.amazonaws.sqs#"
	unmodelled = "com.amazon.coral.service#"
)

// apiError is an answer that is an error.
type apiError struct {
	status   int
	shape    string // __type, with its namespace
	code     string // of the older Query protocol; the SDK's ErrorCode()
	message  string
	receiver bool // the fault is ours and not the caller's
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func badRequest(shape, code, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, shape: shape, code: code, message: fmt.Sprintf(format, args...)}
}

// quoted shortens a value from a request for an error text.
func quoted(value string) string {
	const most = 64
	if len(value) > most {
		return value[:most] + "..."
	}
	return value
}

func invalidParameter(format string, args ...any) *apiError {
	return badRequest(unmodelled+"InvalidParameterValueException", "InvalidParameterValue", format, args...)
}

// invalidValue is the usual sentence about one parameter.
func invalidValue(value any, parameter, reason string) *apiError {
	return invalidParameter("Value %v for parameter %s is invalid. Reason: %s", quoted(fmt.Sprint(value)), parameter, reason)
}

func missingParameter(name string) *apiError {
	return badRequest(unmodelled+"MissingRequiredParameterException", "MissingParameter",
		"The request must contain the parameter %s.", name)
}

func invalidAttributeName(name string) *apiError {
	return badRequest(modelled+"InvalidAttributeName", "InvalidAttributeName", "Unknown Attribute %s.", quoted(name))
}

// onlyFIFO is for an attribute of FIFO queues at the creation of a standard queue
// (recorded of AWS: the code of an unknown attribute, with a text that tells).
func onlyFIFO(name string) *apiError {
	return badRequest(modelled+"InvalidAttributeName", "InvalidAttributeName",
		"You can specify the %s only when FifoQueue is set to true.", name)
}

func invalidAttributeValue(name, reason string) *apiError {
	return badRequest(modelled+"InvalidAttributeValue", "InvalidAttributeValue",
		"Invalid value for the parameter %s. Reason: %s", name, reason)
}

func invalidMessageContents(r rune) *apiError {
	return badRequest(modelled+"InvalidMessageContents", "InvalidMessageContents",
		"Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | "+
			"#xE000 to #xFFFD | #x10000 to #x10FFFF. The first invalid one is #x%X.", r)
}

func noSuchQueue() *apiError {
	return badRequest(modelled+"QueueDoesNotExist", simple+"NonExistentQueue", "The specified queue does not exist.")
}

// The prefix of modelled Query codes (the model's awsQueryError traits).
const simple = "AWS.SimpleQueueService."

func invalidAddress(address string) *apiError {
	return &apiError{
		status: http.StatusNotFound, shape: modelled + "InvalidAddress", code: "InvalidAddress",
		message: fmt.Sprintf("The address %s is not valid for this endpoint.", quoted(address)),
	}
}

func queueNameExists(attribute string) *apiError {
	return badRequest(modelled+"QueueNameExists", "QueueAlreadyExists",
		"A queue already exists with the same name and a different value for attribute %s", attribute)
}

func queueDeletedRecently() *apiError {
	return badRequest(modelled+"QueueDeletedRecently", simple+"QueueDeletedRecently",
		"You must wait 60 seconds after deleting a queue before you can create another with the same name.")
}

func purgeInProgress(name string) *apiError {
	return &apiError{
		status: http.StatusForbidden, shape: modelled + "PurgeQueueInProgress", code: simple + "PurgeQueueInProgress",
		message: fmt.Sprintf("Only one PurgeQueue operation on %s is allowed every 60 seconds.", name),
	}
}

// receiptHandleIsInvalid is for what was never a handle of the queue. The model
// has it as a 404, and so it is logged of AWS.
func receiptHandleIsInvalid() *apiError {
	return &apiError{
		status: http.StatusNotFound, shape: modelled + "ReceiptHandleIsInvalid", code: "ReceiptHandleIsInvalid",
		message: "The input receipt handle is invalid.",
	}
}

// resourceNotFound is for the ARN of a queue and the handle of a task that are not
// there.
func resourceNotFound(format string, args ...any) *apiError {
	return &apiError{
		status: http.StatusNotFound, shape: modelled + "ResourceNotFoundException", code: "ResourceNotFoundException",
		message: fmt.Sprintf(format, args...),
	}
}

// requestThrottled has the status of the model and of replies logged of AWS; one
// page of the developer guide names ThrottlingException instead.
func requestThrottled() *apiError {
	return &apiError{
		status: http.StatusForbidden, shape: modelled + "RequestThrottled", code: "RequestThrottled",
		message: "Request is throttled.",
	}
}

func receiptHandleExpired(handle string) *apiError {
	return invalidValue(handle, "ReceiptHandle", "The receipt handle has expired.")
}

func unsupported(format string, args ...any) *apiError {
	return badRequest(modelled+"UnsupportedOperation", simple+"UnsupportedOperation", format, args...)
}

func tooManyEntries(n int) *apiError {
	return badRequest(modelled+"TooManyEntriesInBatchRequest", simple+"TooManyEntriesInBatchRequest",
		"Maximum number of entries per request are %d. You have sent %d.", batchLimit, n)
}

func emptyBatch() *apiError {
	return badRequest(modelled+"EmptyBatchRequest", simple+"EmptyBatchRequest",
		"There should be at least one entry in the request.")
}

func invalidBatchEntryID() *apiError {
	return badRequest(modelled+"InvalidBatchEntryId", simple+"InvalidBatchEntryId",
		"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
}

func entryIDsNotDistinct(id string) *apiError {
	return badRequest(modelled+"BatchEntryIdsNotDistinct", simple+"BatchEntryIdsNotDistinct", "Id %s repeated.", id)
}

func batchTooLong(size int) *apiError {
	return badRequest(modelled+"BatchRequestTooLong", simple+"BatchRequestTooLong",
		"Batch requests cannot be longer than %d bytes. You have sent %d bytes.", sizeLimit, size)
}

// serialization is for a body that is not the JSON that the action takes.
func serialization(reason string) *apiError {
	return badRequest(unmodelled+"SerializationException", "SerializationException", "%s", reason)
}

func unknownOperation(status int, reason string) *apiError {
	return &apiError{
		status: status, shape: unmodelled + "UnknownOperationException", code: "UnknownOperationException",
		message: reason,
	}
}

func requestTooLarge() *apiError {
	return &apiError{
		status: http.StatusRequestEntityTooLarge, shape: unmodelled + "RequestEntityTooLargeException", code: "RequestEntityTooLarge",
		message: fmt.Sprintf("Request bodies are limited to %d bytes.", requestLimit),
	}
}

func internalFailure(err error) *apiError {
	return &apiError{
		status: http.StatusInternalServerError, shape: unmodelled + "InternalFailureException", code: "InternalFailure",
		message: err.Error(), receiver: true,
	}
}
