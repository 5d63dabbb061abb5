package emulator_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/emulator"
)

func arn(name string) string { return "arn:aws:sqs:us-east-1:000000000000:" + name }

func (e *endpoint) set(queue, name, value string) {
	e.t.Helper()
	_, err := e.sdk.SetQueueAttributes(e.t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: &queue, Attributes: map[string]string{name: value},
	})
	require.NoError(e.t, err)
}

// bury sends bodies, each in a group of its own, and moves them to the dead-letter
// queue. It lasts a second or two.
func (e *endpoint) bury(queue string, bodies ...string) {
	e.t.Helper()
	for _, body := range bodies {
		e.send(queue, body, body, body)
	}
	require.Len(e.t, e.receive(queue, visibility(1)), len(bodies))
	e.pass(time.Second)
	require.Empty(e.t, e.receive(queue))
}

func visibility(seconds int32) func(*sqs.ReceiveMessageInput) {
	return func(in *sqs.ReceiveMessageInput) { in.VisibilityTimeout = seconds }
}

// Developer guide, "dead-letter queues": what a dead letter keeps and what it does not.
// That it is moved by the receive after the last is recorded of AWS.
func TestDeadLetter(t *testing.T) {
	t.Parallel()
	for _, count := range []string{`2`, `"2"`} {
		e := newEndpoint(t)
		grave := e.create("dead.fifo")
		policy := `{ "maxReceiveCount": ` + count + `, "deadLetterTargetArn": "` + arn("dead.fifo") + `"}`
		queue := e.create("a.fifo", "RedrivePolicy", policy)
		require.Equal(t, policy, e.attributes(queue, "All")["RedrivePolicy"], "reads back as it was set")

		in := letter(queue, "g", "x", "one")
		in.MessageAttributes = map[string]types.MessageAttributeValue{"k": stringValue("v")}
		in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1")},
		}
		sent, err := e.sdk.SendMessage(t.Context(), in)
		require.NoError(t, err)
		e.send(queue, "g", "y", "two")
		for range 2 {
			require.Equal(t, []string{"one", "two"}, bodies(e.receive(queue, visibility(1))))
			e.pass(time.Second)
		}
		e.send(queue, "g", "z", "three")
		require.Equal(t, "0", e.attributes(grave, "All")["ApproximateNumberOfMessages"], "nothing moves by itself")
		require.Equal(t, []string{"three"}, bodies(e.receive(queue)))
		require.Equal(t, "2", e.attributes(grave, "All")["ApproximateNumberOfMessages"])
		require.Equal(t, "0", e.attributes(queue, "All")["ApproximateNumberOfMessages"])

		moved := e.clock.Now()
		e.pass(5 * time.Second)
		dead := e.receive(grave)
		require.Equal(t, []string{"one", "two"}, bodies(dead))
		first := dead[0]
		require.Equal(t, *sent.MessageId, *first.MessageId)
		require.Equal(t, "v", *first.MessageAttributes["k"].StringValue)
		require.Equal(t, map[string]string{
			"MessageDeduplicationId":           *sent.MessageId,
			"MessageGroupId":                   "g",
			"DeadLetterQueueSourceArn":         arn("a.fifo"),
			"ApproximateReceiveCount":          "3",
			"ApproximateFirstReceiveTimestamp": fmt.Sprint(e.clock.Now().UnixMilli()),
			"SentTimestamp":                    fmt.Sprint(moved.UnixMilli()),
			"SenderId":                         "000000000000",
			"SequenceNumber":                   first.Attributes["SequenceNumber"],
			"AWSTraceHeader":                   "Root=1",
		}, first.Attributes)
		require.Empty(t, bodies(e.receive(queue)))
	}
}

// The reason for the new id: two messages that had one id, sent more than five minutes
// apart, both arrive although they die within five minutes.
func TestTwoDeadLettersWithOneID(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	grave := e.create("dead.fifo")
	queue := e.create("a.fifo", "VisibilityTimeout", "0", "RedrivePolicy", redriveTo("dead.fifo", 1))
	e.send(queue, "g", "x", "one")
	e.pass(5 * time.Minute)
	e.send(queue, "g", "x", "two")
	require.Len(t, e.receive(queue), 2)
	require.Empty(t, e.receive(queue))
	require.Equal(t, []string{"one", "two"}, bodies(e.receive(grave)))
}

func TestDeadLetterWithoutAQueueStays(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	grave := e.create("dead.fifo")
	queue := e.create("a.fifo", "VisibilityTimeout", "0", "RedrivePolicy", redriveTo("dead.fifo", 1))
	_, err := e.sdk.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &grave})
	require.NoError(t, err)
	e.send(queue, "g", "x", "one")
	for range 3 {
		require.Len(t, e.receive(queue), 1)
	}
	e.pass(time.Minute)
	e.create("dead.fifo")
	require.Empty(t, e.receive(queue), "it moves once the queue is back")
	require.Len(t, e.receive(grave), 1)

	e.send(queue, "g", "y", "two")
	e.set(queue, "RedrivePolicy", "")
	require.NotContains(t, e.attributes(queue, "All"), "RedrivePolicy")
	for range 3 {
		require.Len(t, e.receive(queue), 1)
	}
}

func TestRedriveAllowPolicy(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	grave := e.create("dead.fifo", "RedriveAllowPolicy", `{"redrivePermission":"byQueue","sourceQueueArns":["`+arn("a.fifo")+`"]}`)
	e.create("a.fifo", "RedrivePolicy", redriveTo("dead.fifo", 1))
	_, err := e.sdk.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("b.fifo"), Attributes: map[string]string{
		"FifoQueue": "true", "RedrivePolicy": redriveTo("dead.fifo", 1),
	}})
	requireError(t, err, "InvalidParameterValue", 400)
	_, err = e.sdk.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("b.fifo")})
	require.Error(t, err, "it was not made")
	e.set(grave, "RedriveAllowPolicy", `{"redrivePermission":"allowAll"}`)
	e.create("b.fifo", "RedrivePolicy", redriveTo("dead.fifo", 1))
	e.create("b.fifo", "RedrivePolicy", `{"maxReceiveCount":"1", "deadLetterTargetArn":"`+arn("dead.fifo")+`"}`) // says the same
	e.set(grave, "RedriveAllowPolicy", `{"redrivePermission":"denyAll"}`)
	e.set(queueURL("b.fifo"), "VisibilityTimeout", "1")

	list := func(most int32, token *string) *sqs.ListDeadLetterSourceQueuesOutput {
		out, err := e.sdk.ListDeadLetterSourceQueues(t.Context(), &sqs.ListDeadLetterSourceQueuesInput{
			QueueUrl: &grave, MaxResults: aws.Int32(most), NextToken: token,
		})
		require.NoError(t, err)
		return out
	}
	first := list(1, nil)
	require.Equal(t, []string{queueURL("a.fifo")}, first.QueueUrls)
	second := list(1, first.NextToken)
	require.Equal(t, []string{queueURL("b.fifo")}, second.QueueUrls)
	require.Nil(t, second.NextToken)
	r := call(t, e.server, "ListDeadLetterSourceQueues", `{"QueueUrl":"`+queueURL("a.fifo")+`"}`)
	require.JSONEq(t, `{"queueUrls":[]}`, r.body)
}

// A long poll on the dead-letter queue wakes when a letter arrives, in real time.
func TestLongPollOnADeadLetterQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := emulator.New(emulator.Options{})
		e := &endpoint{t: t, server: server, sdk: client(server)}
		grave := e.create("dead.fifo")
		queue := e.create("a.fifo", "VisibilityTimeout", "0", "RedrivePolicy", redriveTo("dead.fifo", 1))
		e.send(queue, "g", "x", "one")
		require.Len(t, e.receive(queue), 1)
		before := time.Now()
		go func() {
			time.Sleep(3 * time.Second)
			e.receive(queue)
		}()
		require.Equal(t, []string{"one"}, bodies(e.receive(grave, wait(20))))
		require.Equal(t, 3*time.Second, time.Since(before))
	})
}

// Two queues that are each other's dead-letter queue, and many hands: nothing gets lost
// or doubled, and nobody waits for ever.
func TestDeadLetterCycle(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	e.create("b.fifo", "VisibilityTimeout", "0")
	e.create("a.fifo", "VisibilityTimeout", "0", "RedrivePolicy", redriveTo("b.fifo", 1))
	e.set(queueURL("b.fifo"), "RedrivePolicy", redriveTo("a.fifo", 1))
	const n = 50
	for i := range n {
		e.send(queueURL("a.fifo"), fmt.Sprint(i%7), fmt.Sprint(i), fmt.Sprint(i))
	}
	var all sync.WaitGroup
	for _, name := range []string{"a.fifo", "b.fifo", "a.fifo", "b.fifo"} {
		all.Go(func() {
			for range 100 {
				queue := queueURL(name)
				_, err := e.sdk.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue, MaxNumberOfMessages: 3})
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	for _, name := range []string{"a.fifo", "b.fifo"} {
		e.set(queueURL(name), "RedrivePolicy", "")
		e.set(queueURL(name), "VisibilityTimeout", "30")
	}
	seen := map[string]bool{}
	for range 10 * n {
		for _, name := range []string{"a.fifo", "b.fifo"} {
			for _, m := range e.receive(queueURL(name)) {
				require.False(t, seen[*m.Body])
				seen[*m.Body] = true
				e.delete(queueURL(name), m)
			}
		}
	}
	require.Len(t, seen, n)
}
