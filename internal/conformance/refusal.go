package conformance

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

// codes are the names of one error: first the code of the Query protocol, which the
// SDK reads where the endpoint sends the header for it, then the name of the shape.
type codes []string

var (
	invalidParameter = codes{"InvalidParameterValue", "InvalidParameterValueException"}
	missingParameter = codes{"MissingParameter", "MissingRequiredParameterException"}
	noSuchQueue      = codes{"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"}
	queueExists      = codes{"QueueAlreadyExists", "QueueNameExists"}
	deletedRecently  = codes{"AWS.SimpleQueueService.QueueDeletedRecently", "QueueDeletedRecently"}
	purgeInProgress  = codes{"AWS.SimpleQueueService.PurgeQueueInProgress", "PurgeQueueInProgress"}
	invalidValue     = codes{"InvalidAttributeValue"}
	invalidName      = codes{"InvalidAttributeName"}
	invalidContents  = codes{"InvalidMessageContents"}
	invalidHandle    = codes{"ReceiptHandleIsInvalid"}
	notFound         = codes{"ResourceNotFoundException"}

	// anyCode is of a refusal whose code nobody has published.
	anyCode = codes{}
)

// What an answer says where there is none of something.
const (
	nothing = "nothing"
	none    = "none"
)

// wantInvalid is what most wrong calls are expected to come to.
const wantInvalid = "refused with InvalidParameterValue"

// refusedText is what an answer says of a refusal whose code does not matter.
const refusedText = "refused"

// refusalOf makes a call that is to be refused and notes how it was answered: any of
// the error's names is as good as its first. Without a name any refusal is right.
func (b *Bench) refusalOf(what string, names codes, call func() error) error {
	err := call()
	code := refused(err)
	want := refusedText
	if len(names) > 0 {
		want = names[0]
	}
	switch {
	case err == nil:
		code = accepted
	case code == "":
		return fmt.Errorf("%s: %w", what, awserr.Brief(err))
	case len(names) == 0:
		code = want
	}
	for _, name := range names {
		if code == name {
			code = want
		}
	}
	b.answer(what, want, code)
	return nil
}

// acceptance makes a call that is to be accepted and notes how it was answered.
func (b *Bench) acceptance(what string, call func() error) error {
	return b.refusal(what, accepted, call)
}

// unless is the premise that a call which was refused did not hold, or the call's error
// where nobody refused it.
func unless(err error, what string) error {
	if code := refused(err); code != "" {
		return premise("%s: %s", what, code)
	}
	return err
}

// statusOf is the HTTP status of an error that the endpoint answered, 0 for another.
func statusOf(err error) int {
	var answered *awshttp.ResponseError
	if !errors.As(err, &answered) {
		return 0
	}
	return answered.HTTPStatusCode()
}

// headerOf is the header of an error that the endpoint answered.
func headerOf(err error) http.Header {
	var answered *awshttp.ResponseError
	if !errors.As(err, &answered) || answered.Response == nil {
		return nil
	}
	return answered.Response.Header
}

// enabled is how an attribute that is a yes or a no says yes.
const enabled = "true"

// tryQueue asks for a queue with exactly these attributes beside FifoQueue. One that is
// made after all is cleaned up with the others. The error is the SDK's own.
func (b *Bench) tryQueue(ctx context.Context, name string, extra attributes) (*queue, error) {
	set := map[string]string{string(types.QueueAttributeNameFifoQueue): enabled}
	for attribute, value := range extra {
		set[string(attribute)] = value
	}
	made, err := b.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: set, Tags: b.setup.Tags()})
	if err != nil {
		return nil, err
	}
	q := &queue{bench: b, name: name, url: aws.ToString(made.QueueUrl)}
	b.queues = append(b.queues, q)
	return q, nil
}

// nextName is a name for the next queue of the case.
func (b *Bench) nextName() string {
	b.made++
	return fmt.Sprintf("%s-%d.fifo", b.name, b.made)
}

func sortedNames(values attributes) []types.QueueAttributeName {
	return slices.Sorted(maps.Keys(values))
}

// refusedSend makes a send that is to be refused under one of names.
func (q *queue) refusedSend(ctx context.Context, what string, input *sqs.SendMessageInput, names codes) error {
	input.QueueUrl = &q.url
	return q.bench.refusalOf(what, names, func() error {
		_, err := q.bench.client.SendMessage(ctx, input)
		return err
	})
}

// letter is one message as the API takes it, without an id where that is "".
func letter(m message) *sqs.SendMessageInput {
	input := &sqs.SendMessageInput{MessageGroupId: &m.group, MessageBody: &m.body}
	if m.id != "" {
		input.MessageDeduplicationId = &m.id
	}
	return input
}

// oneName is the first of names where code is any of them, else code.
func oneName(code string, names codes) string {
	if slices.Contains(names, code) {
		return names[0]
	}
	return code
}

// Refusals of batches (API reference, SendMessageBatch, errors).
var (
	tooManyEntries      = batchCodes("TooManyEntriesInBatchRequest")
	emptyBatch          = batchCodes("EmptyBatchRequest")
	entryIDsNotDistinct = batchCodes("BatchEntryIdsNotDistinct")
	invalidEntryID      = batchCodes("InvalidBatchEntryId")
	batchTooLong        = batchCodes("BatchRequestTooLong")
)

func batchCodes(shape string) codes { return codes{"AWS.SimpleQueueService." + shape, shape} }

// md5Of is the digest by which SQS answers a body.
func md5Of(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}
