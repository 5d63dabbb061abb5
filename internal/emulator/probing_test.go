package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
)

// held takes one message, which an endpoint may hide for some receives.
func (e *endpoint) held(queue string) types.Message {
	e.t.Helper()
	m, ok := e.tryHeld(queue)
	require.True(e.t, ok, "nothing to receive")
	return m
}

func (e *endpoint) tryHeld(queue string) (m types.Message, ok bool) {
	e.t.Helper()
	for range patience {
		got := e.receive(queue, func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = 1 })
		if len(got) == 1 {
			return got[0], true
		}
		e.pass(time.Second / 4)
	}
	return m, false
}

// patience is how many receives in a row must come back empty before a queue is taken
// to be empty.
const patience = 6

// drain receives and deletes until nothing comes, and returns the bodies.
func (e *endpoint) drain(queue string) string {
	e.t.Helper()
	var all []string
	for empties := 0; empties < patience; {
		got := e.receive(queue)
		for _, m := range got {
			all = append(all, *m.Body)
			e.delete(queue, m)
		}
		if empties++; len(got) > 0 {
			empties = 0
		} else {
			e.pass(time.Second / 4)
		}
	}
	return strings.Join(all, " ")
}

// sorted is drain for several groups, whose order is nobody's promise.
func (e *endpoint) sorted(queue string) string {
	e.t.Helper()
	all := strings.Fields(e.drain(queue))
	slices.Sort(all)
	return strings.Join(all, " ")
}

// batch sends entries given as id and body. The answer to each is its own.
func (e *endpoint) batch(queue, group string, entries ...string) {
	e.t.Helper()
	in := &sqs.SendMessageBatchInput{QueueUrl: &queue}
	for i := 0; i < len(entries); i += 2 {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(fmt.Sprint(i)), MessageGroupId: &group, MessageDeduplicationId: &entries[i], MessageBody: &entries[i+1],
		})
	}
	out, err := e.sdk.SendMessageBatch(e.t.Context(), in)
	require.NoError(e.t, err)
	require.Empty(e.t, out.Failed)
}

// buried makes a queue and its dead-letter queue, sends x to the one and has it moved.
func (e *endpoint) buried() (queue, grave string, sent *sqs.SendMessageOutput) {
	e.t.Helper()
	grave = e.create("dead.fifo")
	queue = e.create("a.fifo", "RedrivePolicy", redriveTo("dead.fifo", 1))
	sent = e.send(queue, "g", "x", "first")
	e.held(queue)
	e.pass(31 * time.Second)
	require.Empty(e.t, e.drain(queue))
	return queue, grave, sent
}

func redriveTo(name string, most int) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:%s","maxReceiveCount":%d}`, name, most)
}

func (e *endpoint) simple(attributes ...string) string {
	return e.create("a.fifo", append([]string{"VisibilityTimeout", "3600"}, attributes...)...)
}

// copies sends an id, deletes its message and sends the id n times more.
func (e *endpoint) copies(n int) string {
	queue := e.simple()
	for i := range n + 1 {
		e.send(queue, "g", "x", "x")
		if i == 0 {
			e.send(queue, "other", "y", "y") // the queue never gets empty
		}
	}
	if got := strings.Count(e.drain(queue), "x"); got > 1 {
		return "more"
	}
	return "1 copy"
}

// manyIDs sends n ids and then number i again.
func (e *endpoint) manyIDs(n, i int) string {
	queue := e.simple()
	for from := 0; from < n; from += 10 {
		var entries []string
		for j := from; j < from+10; j++ {
			entries = append(entries, fmt.Sprint(j), fmt.Sprint(j))
		}
		e.batch(queue, "g", entries...)
	}
	before := e.attributes(queue, "All")["ApproximateNumberOfMessages"]
	e.send(queue, "g", fmt.Sprint(i), "again")
	e.pass(2 * time.Second)
	if e.attributes(queue, "All")["ApproximateNumberOfMessages"] == before {
		return "dup"
	}
	return "new"
}
