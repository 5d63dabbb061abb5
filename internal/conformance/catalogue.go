package conformance

import (
	"slices"

	"fifoproof/internal/window"
)

// Who says so. A date names a recorded run against AWS.
const (
	sendMessage    = "SQS API reference, SendMessage, MessageDeduplicationId"
	exactlyOnce    = "SQS developer guide, exactly-once processing"
	providingID    = "SQS developer guide, providing the message deduplication ID"
	createQueue    = "SQS API reference, CreateQueue, DeduplicationScope"
	fifoLogic      = "SQS developer guide, FIFO queue delivery logic"
	recoveryGuide  = "SQS developer guide, designing for outage recovery scenarios"
	recordedWindow = "recorded on AWS 2024-05-29 (LocalStack test_deduplication_interval: delivered 362 s after the first send)"
	recordedDelete = "recorded on AWS 2024-04-30 (LocalStack test_fifo_deduplication_arrives_once_after_delete)"
	recordedScope  = "recorded on AWS 2024-04-30 and 2024-05-24 (LocalStack FIFO scope tests)"
	unpublished    = "not published by AWS"
	canonical      = "fifoproof docs/content-hash.md over " + providingID
)

// noResend is what most resends are expected to come to.
const noResend = "no copy of the resend"

// W is the length of the deduplication window.
const W = window.Length

// Catalogue returns all cases, by area, in the order in which they are shown.
func Catalogue() []Case {
	return withOnQueue(withPremises(slices.Concat(
		windowCases(), edgeCases(), scopeCases(), contentCases(), batchCases(), lifecycleCases(),
		validateCases(), receiveCases(), deadletterCases(), responseCases(), transportCases(),
	)))
}
