package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/emulator"
)

// The 16 attributes that a recorded run on AWS shows of a fresh FIFO queue.
func TestFreshQueueHasSixteenAttributes(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	require.Equal(t, map[string]string{
		"ApproximateNumberOfMessages":           "0",
		"ApproximateNumberOfMessagesDelayed":    "0",
		"ApproximateNumberOfMessagesNotVisible": "0",
		"ContentBasedDeduplication":             "false",
		"CreatedTimestamp":                      fmt.Sprint(start.Unix()),
		"DeduplicationScope":                    "queue",
		"DelaySeconds":                          "0",
		"FifoQueue":                             "true",
		"FifoThroughputLimit":                   "perQueue",
		"LastModifiedTimestamp":                 fmt.Sprint(start.Unix()),
		"MaximumMessageSize":                    "1048576",
		"MessageRetentionPeriod":                "345600",
		"QueueArn":                              "arn:aws:sqs:us-east-1:000000000000:a.fifo",
		"ReceiveMessageWaitTimeSeconds":         "0",
		"SqsManagedSseEnabled":                  "true",
		"VisibilityTimeout":                     "30",
	}, e.attributes(queue, "All"))
	require.Empty(t, e.attributes(queue))
	require.Equal(t, map[string]string{"FifoQueue": "true"}, e.attributes(queue, "FifoQueue", "KmsMasterKeyId"))
}

func TestSetQueueAttributes(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	e.pass(90 * time.Second)
	set := func(attributes map[string]string) {
		t.Helper()
		_, err := e.sdk.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &queue, Attributes: attributes})
		require.NoError(t, err)
	}
	given := map[string]string{
		"ContentBasedDeduplication": "true", "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId",
		"DelaySeconds": "900", "MaximumMessageSize": "1024", "MessageRetentionPeriod": "60", "ReceiveMessageWaitTimeSeconds": "20",
		"VisibilityTimeout": "43200", "FifoQueue": "true", "KmsMasterKeyId": "alias/aws/sqs",
		"KmsDataKeyReusePeriodSeconds": "300", "Policy": `{"Version":"2012-10-17"}`,
	}
	set(given)
	got := e.attributes(queue, "All")
	for name, value := range given {
		require.Equal(t, value, got[name], name)
	}
	require.Equal(t, "false", got["SqsManagedSseEnabled"], "one encryption at a time")
	require.Equal(t, fmt.Sprint(start.Unix()), got["CreatedTimestamp"])
	require.Equal(t, fmt.Sprint(start.Unix()+90), got["LastModifiedTimestamp"])

	set(map[string]string{"KmsMasterKeyId": "", "Policy": ""})
	got = e.attributes(queue, "All")
	require.NotContains(t, got, "KmsMasterKeyId")
	require.NotContains(t, got, "Policy")
}

// A recorded run on AWS: after a change of scope the attribute reads back changed
// and deduplication goes on as the queue was created.
func TestScopeStaysAsCreated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{"queue", "messageGroup", []string{"in 1"}},
		{"messageGroup", "queue", []string{"in 1", "in 2"}},
	} {
		e := newEndpoint(t)
		queue := e.create("a.fifo", "DeduplicationScope", c.from)
		_, err := e.sdk.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
			QueueUrl: &queue, Attributes: map[string]string{"DeduplicationScope": c.to},
		})
		require.NoError(t, err)
		require.Equal(t, c.to, e.attributes(queue, "DeduplicationScope")["DeduplicationScope"])
		e.send(queue, "1", "x", "in 1")
		e.send(queue, "2", "x", "in 2")
		require.Equal(t, c.want, bodies(e.receive(queue)), c.from)
	}
}

func TestCreateAgain(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	e.create("a.fifo", "DelaySeconds", "7", "ContentBasedDeduplication", "true")
	e.create("a.fifo")
	e.create("a.fifo", "DelaySeconds", "07", "ContentBasedDeduplication", "TRUE", "VisibilityTimeout", "30")
	_, err := e.sdk.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("a.fifo"), Attributes: map[string]string{"FifoQueue": "true", "DelaySeconds": "8"},
	})
	requireError(t, err, "QueueAlreadyExists", 400)
	var exists *types.QueueNameExists
	require.ErrorAs(t, err, &exists)
	require.Contains(t, exists.ErrorMessage(), "DelaySeconds")
}

func TestListQueues(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	out, err := e.sdk.ListQueues(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, out.QueueUrls)

	want := []string{}
	for i := range 7 {
		want = append(want, e.create(fmt.Sprintf("p-%d.fifo", i)))
		e.create(fmt.Sprintf("q-%d.fifo", i))
	}
	out, err = e.sdk.ListQueues(t.Context(), &sqs.ListQueuesInput{QueueNamePrefix: aws.String("p-")})
	require.NoError(t, err)
	require.Equal(t, want, out.QueueUrls)
	require.Nil(t, out.NextToken)

	var got []string
	pages := sqs.NewListQueuesPaginator(e.sdk, &sqs.ListQueuesInput{QueueNamePrefix: aws.String("p-"), MaxResults: aws.Int32(3)})
	sizes := []int{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		got = append(got, page.QueueUrls...)
		sizes = append(sizes, len(page.QueueUrls))
	}
	require.Equal(t, want, got)
	require.Equal(t, []int{3, 3, 1}, sizes)
}

func TestGetQueueURL(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	want := e.create("a.fifo")
	got, err := e.sdk.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("a.fifo")})
	require.NoError(t, err)
	require.Equal(t, want, *got.QueueUrl)

	// The URL is made for whoever asks, so that it works through port mappings.
	r := do(t, e.server, "POST", "/", `{"QueueName":"a.fifo"}`, "X-Amz-Target", "AmazonSQS.GetQueueUrl")
	require.JSONEq(t, `{"QueueUrl":"http://sqs.test/000000000000/a.fifo"}`, r.body)
}

func TestDeleteQueue(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	e.send(queue, "g", "x", "one")
	_, err := e.sdk.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &queue})
	require.NoError(t, err)
	_, err = e.sdk.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &queue})
	requireError(t, err, "AWS.SimpleQueueService.NonExistentQueue", 400)

	again := &sqs.CreateQueueInput{QueueName: aws.String("a.fifo"), Attributes: map[string]string{"FifoQueue": "true"}}
	e.pass(time.Minute - 1)
	_, err = e.sdk.CreateQueue(t.Context(), again)
	requireError(t, err, "AWS.SimpleQueueService.QueueDeletedRecently", 400)
	e.pass(1)
	e.create("a.fifo")
	require.Empty(t, e.receive(queue), "a queue of the same name is another queue")
	e.send(queue, "g", "x", "two")
	require.Equal(t, []string{"two"}, bodies(e.receive(queue)), "and knows no ids of it")
}

func TestPurgeQueue(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	e.send(queue, "g", "x", "one")
	e.send(queue, "h", "y", "two")
	e.receive(queue, func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = 1 })
	purge := func() error {
		_, err := e.sdk.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &queue})
		return err
	}
	require.NoError(t, purge())
	require.Equal(t, map[string]string{"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"},
		e.attributes(queue, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"))
	err := purge()
	requireError(t, err, "AWS.SimpleQueueService.PurgeQueueInProgress", 403)
	var purging *types.PurgeQueueInProgress
	require.ErrorAs(t, err, &purging)
	e.pass(time.Minute)
	require.NoError(t, purge())

	e.send(queue, "g", "x", "again")
	require.Empty(t, e.receive(queue), "the ids are kept")
}

func TestTags(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	out, err := e.sdk.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("a.fifo"), Attributes: map[string]string{"FifoQueue": "true"}, Tags: map[string]string{"made": "here", "k": "1"},
	})
	require.NoError(t, err)
	queue := out.QueueUrl
	_, err = e.sdk.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: queue, Tags: map[string]string{"k": "2", "empty": ""}})
	require.NoError(t, err)
	_, err = e.sdk.UntagQueue(t.Context(), &sqs.UntagQueueInput{QueueUrl: queue, TagKeys: []string{"made", "unknown"}})
	require.NoError(t, err)
	tags, err := e.sdk.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: queue})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k": "2", "empty": ""}, tags.Tags)
}

func TestCreateQueueWithoutTheProtocol(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	require.NoError(t, e.server.CreateQueue("a.fifo", emulator.Attribute{Name: "DeduplicationScope", Value: "messageGroup"}))
	require.NoError(t, e.server.CreateQueue("a.fifo"))
	require.Equal(t, "messageGroup", e.attributes(queueURL("a.fifo"), "DeduplicationScope")["DeduplicationScope"])
	require.ErrorContains(t, e.server.CreateQueue("a"), "must end with .fifo")
	require.ErrorContains(t, e.server.CreateQueue(strings.Repeat("a", 76)+".fifo"), "1 to 80 in length")
	require.ErrorContains(t, e.server.CreateQueue("b.fifo", emulator.Attribute{Name: "Colour", Value: "red"}), "Unknown Attribute Colour")
}

// Recorded of AWS: what is told of an attribute of FIFO queues on a standard queue.
func TestAttributesOfFIFOQueuesOnly(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for name, text := range map[string]string{
		"FifoQueue": "Unknown Attribute FifoQueue.", "ContentBasedDeduplication": "Unknown Attribute ContentBasedDeduplication.",
		"DeduplicationScope": "only when FifoQueue is set to true", "FifoThroughputLimit": "only when FifoQueue is set to true",
	} {
		values := map[string]string{"FifoQueue": "false", "ContentBasedDeduplication": "true", "DeduplicationScope": "queue", "FifoThroughputLimit": "perQueue"}
		r := call(t, e.server, "CreateQueue", `{"QueueName":"standard","Attributes":{"`+name+`":"`+values[name]+`"}}`)
		require.Equal(t, "InvalidAttributeName;Sender", r.header.Get("X-Amzn-Query-Error"))
		require.Contains(t, r.body, text)
	}
}
