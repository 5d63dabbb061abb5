package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

// queue is a FIFO queue on an endpoint in this process, called by the SDK.
type queue struct {
	client *sqs.Client
	url    string
	clock  *clock.Virtual
	// loseDeletes lets deletes end before they reach the endpoint.
	loseDeletes bool
}

const queueName = "payments.fifo"

func newQueue(ctx context.Context) (*queue, error) {
	q := &queue{clock: clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	server := emulator.New(emulator.Options{Clock: q.clock})
	if err := server.CreateQueue(queueName); err != nil {
		return nil, err
	}
	q.client = sqs.New(sqs.Options{
		Region:       emulator.Region,
		Credentials:  aws.AnonymousCredentials{},
		BaseEndpoint: aws.String("http://embedded"),
		HTTPClient:   &http.Client{Transport: wire{q, server.RoundTripper()}},
		Retryer:      aws.NopRetryer{},
	})
	out, err := q.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(queueName)})
	if err != nil {
		return nil, fmt.Errorf("looking for the queue %s: %w", queueName, err)
	}
	q.url = aws.ToString(out.QueueUrl)
	return q, nil
}

// wire is the way to the endpoint.
type wire struct {
	queue *queue
	next  http.RoundTripper
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.queue.loseDeletes && strings.Contains(r.Header.Get("X-Amz-Target"), ".DeleteMessage") {
		return nil, errors.New("the network lost the delete")
	}
	return w.next.RoundTrip(r)
}

func (q *queue) send(ctx context.Context, body string) error {
	_, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &q.url, MessageBody: &body,
		MessageGroupId: aws.String("alice"), MessageDeduplicationId: aws.String("payment-1"),
	})
	if err != nil {
		return fmt.Errorf("sending to the queue %s: %w", queueName, err)
	}
	return nil
}

// receive waits for the next message, as long as SQS lets it.
func (q *queue) receive(ctx context.Context) (types.Message, error) {
	messages, err := q.poll(ctx)
	for waited := 0; err == nil && len(messages) == 0; waited++ {
		if waited > deliveries {
			return types.Message{}, fmt.Errorf("no message came from the queue %s", queueName)
		}
		messages, err = q.poll(ctx)
	}
	if err != nil {
		return types.Message{}, err
	}
	return messages[0], nil
}

func (q *queue) poll(ctx context.Context) ([]types.Message, error) {
	out, err := q.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &q.url, WaitTimeSeconds: 20, VisibilityTimeout: int32(visibility / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return nil, fmt.Errorf("receiving from the queue %s: %w", queueName, err)
	}
	return out.Messages, nil
}

// delete deletes a message. Where that fails it comes again, which is what the
// exercise is about.
func (q *queue) delete(ctx context.Context, m types.Message) {
	_, _ = q.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle})
}

// empty is an error where a message is left after its visibility timeout.
func (q *queue) empty(ctx context.Context) error {
	for range 2 { // 40 s, more than the visibility timeout
		messages, err := q.poll(ctx)
		if err != nil {
			return err
		}
		if len(messages) > 0 {
			return fmt.Errorf("the queue %s still holds a message", queueName)
		}
	}
	return nil
}
