package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"fifoproof/internal/awserr"
)

// Capabilities is what an endpoint lacks, by capability, and how that showed. An
// endpoint lacks what it refuses, or what does not read back. What it accepts and then
// does not do is for the cases to find out.
type Capabilities map[string]string

// probeTime bounds the whole probe.
const probeTime = 30 * time.Second

// Probe asks the endpoint for each capability, on queues of its own whose names begin
// with prefix and that carry tags, and deletes those.
func (t *Target) Probe(ctx context.Context, prefix string, tags map[string]string) (Capabilities, error) {
	lacks := Capabilities{}
	if t.Name == Embedded {
		return lacks, nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if t.Name == AWS {
		return lacks, t.welcome(ctx, prefix)
	}
	for _, p := range []struct {
		capability string
		probe      func(context.Context, string, map[string]string) (string, error)
	}{
		{"fifo", t.probeFIFO},
		{"scope", t.probeScope},
		{"redrive", t.probeRedrive},
		{"move-task", t.probeMoveTask},
		{"query", t.probeQuery},
	} {
		how, err := p.probe(ctx, prefix, tags)
		if err != nil {
			return nil, explain(fmt.Errorf("probing %s for the capability %s: %w", t.Name, p.capability, awserr.Brief(err)), "is the endpoint well?")
		}
		if how != "" {
			lacks[p.capability] = how
		}
	}
	return lacks, nil
}

func (t *Target) probeFIFO(ctx context.Context, prefix string, tags map[string]string) (string, error) {
	return t.readsBack(ctx, prefix+"-fifo.fifo", tags, map[string]string{
		string(types.QueueAttributeNameFifoQueue): isFIFO,
	})
}

func (t *Target) probeScope(ctx context.Context, prefix string, tags map[string]string) (string, error) {
	return t.readsBack(ctx, prefix+"-scope.fifo", tags, map[string]string{
		string(types.QueueAttributeNameFifoQueue):           isFIFO,
		string(types.QueueAttributeNameDeduplicationScope):  "messageGroup",
		string(types.QueueAttributeNameFifoThroughputLimit): "perMessageGroupId",
	})
}

// probeRedrive makes a dead-letter queue and one that names it.
func (t *Target) probeRedrive(ctx context.Context, prefix string, tags map[string]string) (how string, err error) {
	name := prefix + "-dead.fifo"
	dead, err := t.client.CreateQueue(ctx, &sqs.CreateQueueInput{
		QueueName: &name, Attributes: map[string]string{string(types.QueueAttributeNameFifoQueue): isFIFO}, Tags: tags,
	})
	if err != nil {
		return refusal("CreateQueue", err)
	}
	defer func() {
		_, gone := t.client.DeleteQueue(context.WithoutCancel(ctx), &sqs.DeleteQueueInput{QueueUrl: dead.QueueUrl})
		err = errors.Join(err, gone)
	}()
	read, err := t.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: dead.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		return refusal("GetQueueAttributes", err)
	}
	policy := fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":3}`, read.Attributes[string(types.QueueAttributeNameQueueArn)])
	return t.has(ctx, prefix+"-source.fifo", tags, map[string]string{
		string(types.QueueAttributeNameFifoQueue):     isFIFO,
		string(types.QueueAttributeNameRedrivePolicy): policy,
	}, func(_, got string) bool { return got != "" }) // JSON may be spelled another way
}

// readsBack makes a queue with attributes, reads them back and deletes it.
func (t *Target) readsBack(ctx context.Context, name string, tags, attributes map[string]string) (how string, err error) {
	return t.has(ctx, name, tags, attributes, strings.EqualFold)
}

// has is readsBack with a way to compare what was set with what is read.
func (t *Target) has(ctx context.Context, name string, tags, attributes map[string]string, same func(set, got string) bool) (how string, err error) {
	made, err := t.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes, Tags: tags})
	if err != nil {
		return refusal("CreateQueue", err)
	}
	defer func() {
		_, gone := t.client.DeleteQueue(context.WithoutCancel(ctx), &sqs.DeleteQueueInput{QueueUrl: made.QueueUrl})
		err = errors.Join(err, gone)
	}()
	read, err := t.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: made.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return "", err
	}
	for _, attribute := range slices.Sorted(maps.Keys(attributes)) {
		set := attributes[attribute]
		if got := read.Attributes[attribute]; !same(set, got) {
			return fmt.Sprintf("the attribute %s reads back as %q, not %q", attribute, got, set), nil
		}
	}
	return "", nil
}

// probeMoveTask lists the move tasks of a queue: who knows the call answers it, with
// an empty list or with a word about the queue.
func (t *Target) probeMoveTask(ctx context.Context, prefix string, _ map[string]string) (string, error) {
	arn := "arn:aws:sqs:" + t.client.Options().Region + ":000000000000:" + prefix + "-none.fifo"
	_, err := t.client.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: &arn})
	if answered, ok := errors.AsType[smithy.APIError](err); ok {
		switch awserr.Name(answered.ErrorCode()) {
		case "ResourceNotFoundException", "InvalidParameterValue", "InvalidParameterValueException",
			"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist":
			return "", nil
		}
	}
	if err != nil {
		return refusal("ListMessageMoveTasks", err)
	}
	return "", nil
}

// refusal says how an endpoint refused a call: with a code, or with a status and a page
// that is no answer of SQS. An endpoint that did not answer refused nothing.
func refusal(call string, err error) (string, error) {
	if answered, ok := errors.AsType[smithy.APIError](err); ok {
		if awserr.Unwelcome(answered.ErrorCode()) {
			return "", err // says something of the caller, and nothing of the endpoint
		}
		return call + " was refused with " + awserr.Name(answered.ErrorCode()), nil
	}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && response.HTTPStatusCode() >= http.StatusBadRequest {
		return fmt.Sprintf("%s was answered with status %d", call, response.HTTPStatusCode()), nil
	}
	return "", err
}

// probeQuery makes one unsigned call of the query protocol.
func (t *Target) probeQuery(ctx context.Context, prefix string, _ map[string]string) (string, error) {
	form := url.Values{"Action": {"ListQueues"}, "Version": {"2012-11-05"}, "QueueNamePrefix": {prefix}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Name+"/", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+testKey+"/20260101/"+t.client.Options().Region+"/sqs/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return "", err
	}
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "ListQueuesResponse") {
		return "a call of the query protocol was answered with " + answer.Status, nil
	}
	return "", nil
}
