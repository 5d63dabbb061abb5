package target

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
	"fifoproof/internal/cli"
	"fifoproof/internal/window"
)

// isFIFO is the value of the attribute FifoQueue.
const isFIFO = "true"

// QueueURL is the URL of the FIFO queue that nameOrURL stands for. With create, a
// queue that does not exist is made with AWS's default attributes; one that exists
// is never changed.
func QueueURL(ctx context.Context, client *sqs.Client, nameOrURL string, create bool) (string, error) {
	name := QueueName(nameOrURL)
	if !strings.HasSuffix(name, ".fifo") {
		return "", cli.Hint(fmt.Errorf("the queue %q is no FIFO queue", name), "the name of a FIFO queue ends in .fifo")
	}
	found, err := lookUp(ctx, client, nameOrURL, name)
	var missing *types.QueueDoesNotExist
	switch {
	case err == nil:
		return found, nil
	case !errors.As(err, &missing):
		return "", unreachable(client, name, err)
	case !create:
		return "", cli.Hint(fmt.Errorf("the queue %s does not exist%s", name, at(client)), "make it with 'producer --create', or name another with --queue")
	}
	made, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{
		QueueName:  &name,
		Attributes: map[string]string{string(types.QueueAttributeNameFifoQueue): isFIFO},
	})
	if err != nil {
		return "", fmt.Errorf("making the queue %s: %w", name, err)
	}
	return aws.ToString(made.QueueUrl), nil
}

// lookUp finds the queue. A URL is kept as it was given, since it may name another
// account's queue.
func lookUp(ctx context.Context, client *sqs.Client, nameOrURL, name string) (string, error) {
	if nameOrURL != name {
		_, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl:       &nameOrURL,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
		})
		return nameOrURL, err
	}
	answer, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return "", err
	}
	return aws.ToString(answer.QueueUrl), nil
}

// Scope is the deduplication scope of a queue. An endpoint that does not know the
// attribute has the scope queue, which was AWS's only one until 2021.
func Scope(ctx context.Context, client *sqs.Client, queueURL string) (window.Scope, error) {
	answer, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       &queueURL,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return window.ScopeQueue, unreachable(client, QueueName(queueURL), err)
	}
	text, known := answer.Attributes[string(types.QueueAttributeNameDeduplicationScope)]
	if !known {
		return window.ScopeQueue, nil
	}
	scope, err := window.ParseScope(text)
	if err != nil {
		return window.ScopeQueue, fmt.Errorf("reading the attributes of the queue %s: %w", QueueName(queueURL), err)
	}
	return scope, nil
}

// QueueName is the last part of a queue's URL, or the name itself.
func QueueName(nameOrURL string) string {
	if u, err := url.Parse(nameOrURL); err == nil && u.Host != "" {
		return path.Base(u.Path)
	}
	return nameOrURL
}

// unreachable says in one sentence why a queue could not be looked up.
func unreachable(client *sqs.Client, name string, err error) error {
	err = fmt.Errorf("looking up the queue %s%s: %w", name, at(client), awserr.Brief(err))
	if _, answered := errors.AsType[smithy.APIError](err); answered {
		return cli.Hint(err, "check the credentials, the region and the endpoint (AWS_ENDPOINT_URL or --endpoint)")
	}
	return cli.Hint(err, "is the endpoint up? 'fifoproof serve' starts one; AWS_ENDPOINT_URL or --endpoint names another")
}

func at(client *sqs.Client) string {
	if endpoint := aws.ToString(client.Options().BaseEndpoint); endpoint != "" {
		return " at " + endpoint
	}
	return " in " + client.Options().Region
}
