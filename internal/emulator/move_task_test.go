package emulator_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

// moving is an endpoint with dead letters, each in a group of its own.
func moving(t *testing.T, bodies ...string) (e *endpoint, queue, grave string) {
	e = newEndpoint(t)
	grave = e.create("dead.fifo")
	queue = e.create("a.fifo", "RedrivePolicy", redriveTo("dead.fifo", 1))
	e.bury(queue, bodies...)
	return e, queue, grave
}

func (e *endpoint) move(change ...func(*sqs.StartMessageMoveTaskInput)) string {
	e.t.Helper()
	in := &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(arn("dead.fifo"))}
	for _, c := range change {
		c(in)
	}
	out, err := e.sdk.StartMessageMoveTask(e.t.Context(), in)
	require.NoError(e.t, err)
	return *out.TaskHandle
}

func rate(n int32) func(*sqs.StartMessageMoveTaskInput) {
	return func(in *sqs.StartMessageMoveTaskInput) { in.MaxNumberOfMessagesPerSecond = &n }
}

func (e *endpoint) tasks() []types.ListMessageMoveTasksResultEntry {
	e.t.Helper()
	out, err := e.sdk.ListMessageMoveTasks(e.t.Context(), &sqs.ListMessageMoveTasksInput{
		SourceArn: aws.String(arn("dead.fifo")), MaxResults: aws.Int32(10),
	})
	require.NoError(e.t, err)
	return out.Results
}

// Developer guide, "dead-letter queue redrive": moved messages are new ones.
func TestMoveBackToTheSource(t *testing.T) {
	t.Parallel()
	e, queue, grave := moving(t, "one")
	e.set(grave, "VisibilityTimeout", "0")
	held := e.receive(grave)[0]
	handle := e.move()
	started := e.clock.Now()
	require.Equal(t, []types.ListMessageMoveTasksResultEntry{{
		ApproximateNumberOfMessagesToMove: aws.Int64(1), SourceArn: aws.String(arn("dead.fifo")),
		StartedTimestamp: started.UnixMilli(), Status: aws.String("RUNNING"), TaskHandle: &handle,
	}}, e.tasks())
	e.pass(time.Second)
	require.Equal(t, []types.ListMessageMoveTasksResultEntry{{
		ApproximateNumberOfMessagesToMove: aws.Int64(1), ApproximateNumberOfMessagesMoved: 1, SourceArn: aws.String(arn("dead.fifo")),
		StartedTimestamp: started.UnixMilli(), Status: aws.String("COMPLETED"),
	}}, e.tasks())
	require.Empty(t, e.receive(grave))

	e.set(queue, "VisibilityTimeout", "0")
	back := e.receive(queue)
	require.Equal(t, []string{"one"}, bodies(back))
	require.NotEqual(t, *held.MessageId, *back[0].MessageId)
	require.Equal(t, *held.MessageId, back[0].Attributes["MessageDeduplicationId"], "the dead letter's id")
	require.Equal(t, "1", back[0].Attributes["ApproximateReceiveCount"])
	require.Equal(t, fmt.Sprint(started.Add(2*time.Millisecond).UnixMilli()), back[0].Attributes["SentTimestamp"])
	require.NotContains(t, back[0].Attributes, "DeadLetterQueueSourceArn")

	// It may die again, and be moved again: its id is another one each time.
	require.Empty(t, e.receive(queue))
	e.move()
	e.pass(time.Second)
	require.Len(t, e.tasks(), 2)
	again := e.receive(queue)
	require.Equal(t, []string{"one"}, bodies(again))
	require.Equal(t, *back[0].MessageId, again[0].Attributes["MessageDeduplicationId"])
}

// Two a second, half a second after the start and every half second from then on, on
// a clock that is moved in steps, at once, or by a long poll.
func TestRateOfAMove(t *testing.T) {
	t.Parallel()
	five := []string{"1", "2", "3", "4", "5"}
	t.Run("in steps", func(t *testing.T) {
		t.Parallel()
		e, queue, grave := moving(t, five...)
		e.move(rate(2))
		for i := range 5 {
			require.Equal(t, fmt.Sprint(5-i), e.attributes(grave, "All")["ApproximateNumberOfMessages"])
			e.pass(499 * time.Millisecond)
			require.Equal(t, int64(i), e.tasks()[0].ApproximateNumberOfMessagesMoved)
			e.pass(time.Millisecond)
			require.Equal(t, int64(i+1), e.tasks()[0].ApproximateNumberOfMessagesMoved)
		}
		require.Equal(t, "COMPLETED", *e.tasks()[0].Status)
		require.Equal(t, five, bodies(e.receive(queue)))
	})
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		e, queue, _ := moving(t, five...)
		e.move(rate(2))
		started := e.clock.Now()
		e.pass(time.Hour)
		for i, m := range e.receive(queue) {
			require.Equal(t, five[i], *m.Body)
			require.Equal(t, fmt.Sprint(started.Add(time.Duration(i+1)*500*time.Millisecond).UnixMilli()), m.Attributes["SentTimestamp"])
		}
	})
	t.Run("by long polls", func(t *testing.T) {
		t.Parallel()
		e, queue, _ := moving(t, five...)
		e.move(rate(2))
		started := e.clock.Now()
		for i, body := range five {
			require.Equal(t, []string{body}, bodies(e.receive(queue, wait(20))))
			require.Equal(t, time.Duration(i+1)*500*time.Millisecond, e.clock.Now().Sub(started))
		}
	})
	t.Run("in real time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			server := emulator.New(emulator.Options{})
			e := &endpoint{t: t, server: server, sdk: client(server)}
			e.create("dead.fifo")
			queue := e.create("a.fifo", "VisibilityTimeout", "0", "RedrivePolicy", redriveTo("dead.fifo", 1))
			for _, body := range five {
				e.send(queue, body, body, body)
			}
			require.Len(t, e.receive(queue), 5)
			require.Empty(t, e.receive(queue))
			before := time.Now()
			go func() {
				time.Sleep(time.Second)
				e.move(rate(2))
			}()
			for i := range five {
				require.Len(t, e.receive(queue, wait(20)), 1)
				require.Equal(t, time.Second+time.Duration(i+1)*500*time.Millisecond, time.Since(before))
			}
		})
	})
	t.Run("on a clock moved by hand", func(t *testing.T) {
		t.Parallel()
		manual := clock.NewManual(start, time.Millisecond)
		server := emulator.New(emulator.Options{Clock: manual})
		e := &endpoint{t: t, server: server, sdk: client(server)}
		e.create("dead.fifo")
		queue := e.create("a.fifo", "VisibilityTimeout", "0", "RedrivePolicy", redriveTo("dead.fifo", 1))
		e.send(queue, "g", "x", "x")
		require.Len(t, e.receive(queue), 1)
		require.Empty(t, e.receive(queue))
		e.move(rate(1))
		require.Empty(t, e.receive(queue, wait(20)))
		manual.Advance(time.Second)
		require.Len(t, e.receive(queue, wait(20)), 1)
	})
}

// What is in flight is moved when it becomes visible, be it by itself or by hand, and
// no faster than the rate. What arrives after the start stays.
func TestMoveWaitsForWhatIsInFlight(t *testing.T) {
	t.Parallel()
	e, queue, grave := moving(t, "1", "2", "3")
	held := e.receive(grave, visibility(10))
	e.move(rate(1))
	e.bury(queue, "late") // lasts a second
	e.pass(4 * time.Second)
	require.Equal(t, int64(0), e.tasks()[0].ApproximateNumberOfMessagesMoved)
	_, err := e.sdk.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &grave, ReceiptHandle: held[1].ReceiptHandle, VisibilityTimeout: 0,
	})
	require.NoError(t, err)
	released := e.clock.Now()
	e.pass(time.Hour)
	require.Equal(t, "COMPLETED", *e.tasks()[0].Status)
	require.Equal(t, int64(3), e.tasks()[0].ApproximateNumberOfMessagesMoved)
	got := e.receive(queue)
	require.Equal(t, []string{"2", "1", "3"}, bodies(got))
	for i, at := range []time.Time{released, released.Add(5 * time.Second), released.Add(6 * time.Second)} {
		require.Equal(t, fmt.Sprint(at.UnixMilli()), got[i].Attributes["SentTimestamp"])
	}
	require.Equal(t, []string{"late"}, bodies(e.receive(grave)))
}

func TestMoveEndsWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	e, _, grave := moving(t, "1")
	m := e.receive(grave)[0]
	e.move()
	e.pass(time.Second)
	require.Equal(t, "RUNNING", *e.tasks()[0].Status)
	e.delete(grave, m)
	require.Equal(t, "COMPLETED", *e.tasks()[0].Status)
	e.move()
	require.Equal(t, "COMPLETED", *e.tasks()[0].Status, "an empty queue is done at once")
	for range 15 {
		e.move()
	}
	require.Len(t, e.tasks(), 10)
}

func TestMoveToADestination(t *testing.T) {
	t.Parallel()
	e, _, grave := moving(t, "1")
	other := e.create("other.fifo", "ContentBasedDeduplication", "true")
	e.send(grave, "g", "own", "sent to the dead-letter queue")
	e.move(func(in *sqs.StartMessageMoveTaskInput) { in.DestinationArn = aws.String(arn("other.fifo")) })
	e.pass(time.Second)
	require.Equal(t, arn("other.fifo"), *e.tasks()[0].DestinationArn)
	got := e.receive(other)
	require.Equal(t, []string{"1", "sent to the dead-letter queue"}, bodies(got))
	require.Equal(t, "own", got[1].Attributes["MessageDeduplicationId"])
}

func TestMoveThatFails(t *testing.T) {
	t.Parallel()
	e, queue, grave := moving(t, "1")
	e.send(grave, "g", "own", "sent to the dead-letter queue")
	e.move()
	e.pass(time.Second)
	require.Equal(t, "FAILED", *e.tasks()[0].Status)
	require.Equal(t, "CouldNotDetermineMessageSource", *e.tasks()[0].FailureReason)
	require.Equal(t, int64(1), e.tasks()[0].ApproximateNumberOfMessagesMoved)
	left := e.receive(grave)
	require.Len(t, left, 1, "nothing is lost")
	e.delete(grave, left[0])
	for _, m := range e.receive(queue) {
		e.delete(queue, m)
	}

	e.bury(queue, "2")
	e.create("other.fifo", "RedrivePolicy", redriveTo("dead.fifo", 1))
	e.move()
	_, err := e.sdk.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &queue})
	require.NoError(t, err)
	e.pass(time.Hour)
	require.Equal(t, "FAILED", *e.tasks()[0].Status)
	require.Equal(t, "AWS.SimpleQueueService.NonExistentQueue", *e.tasks()[0].FailureReason)
}

func TestOneMoveAtATime(t *testing.T) {
	t.Parallel()
	e, queue, grave := moving(t, "1", "2")
	handle := e.move(rate(1))
	_, err := e.sdk.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(arn("dead.fifo"))})
	requireError(t, err, "InvalidParameterValue", 400)
	_, err = e.sdk.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{
		SourceArn: aws.String(arn("dead.fifo")), DestinationArn: aws.String(arn("none.fifo")),
	})
	requireError(t, err, "ResourceNotFoundException", 404)
	_, err = e.sdk.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{
		SourceArn: aws.String(arn("dead.fifo")), DestinationArn: aws.String(arn("dead.fifo")),
	})
	requireError(t, err, "InvalidParameterValue", 400)

	e.pass(time.Second)
	cancel := func() (*sqs.CancelMessageMoveTaskOutput, error) {
		return e.sdk.CancelMessageMoveTask(t.Context(), &sqs.CancelMessageMoveTaskInput{TaskHandle: &handle})
	}
	out, err := cancel()
	require.NoError(t, err)
	require.Equal(t, int64(1), out.ApproximateNumberOfMessagesMoved)
	require.Equal(t, "CANCELLED", *e.tasks()[0].Status)
	require.Equal(t, int32(1), *e.tasks()[0].MaxNumberOfMessagesPerSecond)
	e.pass(time.Hour)
	require.Len(t, e.receive(queue), 1)
	require.Len(t, e.receive(grave), 1)

	_, err = cancel()
	requireError(t, err, "InvalidParameterValue", 400)
	e.move()
	_, err = e.sdk.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &grave})
	require.NoError(t, err)
	_, err = cancel()
	requireError(t, err, "ResourceNotFoundException", 404)
}
