package emulator_test

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/window"
)

// probe asks an endpoint one question. right is what the right endpoint answers.
type probe struct {
	name  string
	run   func(e *endpoint) string
	right string
	large bool // too much for every variant
}

// probes cover what the developer guide and the API reference say of FIFO queues, and
// where they are silent what docs/endpoint.md says.
var probes = []probe{
	{name: "at half time and at the end", right: "first end", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "first")
		e.pass(window.Length / 2)
		e.send(queue, "g", "x", "half")
		e.pass(window.Length / 2)
		e.send(queue, "g", "x", "end")
		return e.drain(queue)
	}},
	{name: "gaps delivered", right: "300 304 306 329 331 361", run: func(e *endpoint) string {
		queue := e.simple()
		e.pass(10 * time.Second)
		gaps := []int{294, 296, 299, 300, 304, 306, 329, 331, 361}
		for _, gap := range gaps {
			e.send(queue, "g", fmt.Sprint(gap), "opening")
		}
		opened := e.clock.Now()
		for _, gap := range gaps {
			e.pass(opened.Add(time.Duration(gap) * time.Second).Sub(e.clock.Now()))
			e.send(queue, "g", fmt.Sprint(gap), fmt.Sprint(gap))
		}
		return strings.Join(strings.Fields(strings.ReplaceAll(e.drain(queue), "opening", "")), " ")
	}},
	{name: "resent after the delete", right: "", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "first")
		e.drain(queue)
		e.send(queue, "g", "x", "second")
		return e.drain(queue)
	}},
	{name: "resent after the delete, others waiting", right: "other", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "first")
		e.send(queue, "g", "y", "other")
		e.delete(queue, e.held(queue))
		e.send(queue, "g", "x", "second")
		return e.drain(queue)
	}},
	{name: "resent while in flight", right: "", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "first")
		m := e.held(queue)
		e.send(queue, "g", "x", "second")
		e.delete(queue, m)
		return e.drain(queue)
	}},
	{name: "resent after the dead-letter move", right: "", run: func(e *endpoint) string {
		queue, _, _ := e.buried()
		e.send(queue, "g", "x", "second")
		return e.drain(queue)
	}},
	{name: "id of a dead letter", right: "MessageId", run: func(e *endpoint) string {
		_, grave, sent := e.buried()
		m := e.held(grave)
		if m.Attributes["MessageDeduplicationId"] == *sent.MessageId {
			return "MessageId"
		}
		return m.Attributes["MessageDeduplicationId"]
	}},
	{name: "scope messageGroup, groups 1 2 1", right: "1 2", run: func(e *endpoint) string {
		queue := e.simple("DeduplicationScope", "messageGroup")
		for _, group := range []string{"1", "2", "1"} {
			e.send(queue, group, "x", group)
		}
		return e.sorted(queue)
	}},
	{name: "scope queue, groups 1 2 1", right: "1", run: func(e *endpoint) string {
		queue := e.simple()
		for _, group := range []string{"1", "2", "1"} {
			e.send(queue, group, "x", group)
		}
		return e.sorted(queue)
	}},
	{name: "group and id run into each other", right: "a a:b", run: func(e *endpoint) string {
		queue := e.simple("DeduplicationScope", "messageGroup")
		e.send(queue, "a:b", "c", "a:b")
		e.send(queue, "a", "b:c", "a")
		return e.sorted(queue)
	}},
	{name: "id made from a body", right: "532eaabd9574880dbf76b9b8cc00832c20a6ec113d682299550d7a6e0f345e25", run: func(e *endpoint) string {
		queue := e.simple("ContentBasedDeduplication", "true")
		e.send(queue, "g", "", "Test")
		return e.held(queue).Attributes["MessageDeduplicationId"]
	}},
	{name: "one body with two attributes", right: "b", run: func(e *endpoint) string {
		queue := e.simple("ContentBasedDeduplication", "true")
		for _, value := range []string{"1", "2"} {
			in := letter(queue, "g", "", "b")
			in.MessageAttributes = map[string]types.MessageAttributeValue{"k": {DataType: aws.String("String"), StringValue: &value}}
			_, err := e.sdk.SendMessage(e.t.Context(), in)
			require.NoError(e.t, err)
		}
		return e.drain(queue)
	}},
	{name: "one body with two ids", right: "b b", run: func(e *endpoint) string {
		queue := e.simple("ContentBasedDeduplication", "true")
		e.send(queue, "g", "x", "b")
		e.send(queue, "g", "y", "b")
		return e.drain(queue)
	}},
	{name: "in a batch", right: "x y", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "x")
		e.batch(queue, "g", "x", "x-again", "y", "y", "y", "y-again")
		return e.drain(queue)
	}},
	{name: "answer to a duplicate", right: "id=same sequence=same md5=own, first", run: func(e *endpoint) string {
		queue := e.simple()
		same := func(a, b *string) string {
			if *a == *b {
				return "same"
			}
			return "fresh"
		}
		first := e.send(queue, "g", "x", "first")
		r := call(e.t, e.server, "SendMessage", fmt.Sprintf(`{"QueueUrl":%q,"MessageBody":"second","MessageGroupId":"g","MessageDeduplicationId":"x"}`, queue))
		again := r.sent(e.t)
		sum := "own"
		if again.MD5OfMessageBody != md5Hex("second") {
			sum = "other"
		}
		return fmt.Sprintf("id=%s sequence=%s md5=%s, %s", same(first.MessageId, &again.MessageID),
			same(first.SequenceNumber, &again.SequenceNumber), sum, e.drain(queue))
	}},
	{name: "locks", right: "a1 then b1", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "a", "a1", "a1")
		e.send(queue, "a", "a2", "a2")
		e.send(queue, "b", "b1", "b1")
		first := e.held(queue)
		for first.Attributes["MessageGroupId"] != "a" {
			e.delete(queue, first) // any group may come first
			e.send(queue, "b", *first.ReceiptHandle, "b1")
			first = e.held(queue)
		}
		return *first.Body + " then " + e.drain(queue)
	}},
	{name: "order after a timeout", right: "a1 a2", run: func(e *endpoint) string {
		queue := e.create("a.fifo", "VisibilityTimeout", "5")
		e.send(queue, "a", "a1", "a1")
		e.send(queue, "a", "a2", "a2")
		e.held(queue)
		e.pass(6 * time.Second)
		return e.drain(queue)
	}},
	{name: "resent after a timeout", right: "first", run: func(e *endpoint) string {
		queue := e.create("a.fifo", "VisibilityTimeout", "5")
		e.send(queue, "a", "x", "first")
		e.held(queue)
		e.pass(6 * time.Second)
		e.send(queue, "a", "x", "again")
		return e.drain(queue)
	}},
	{name: "order after a resend", right: "a1 a2", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "a", "a1", "a1")
		e.send(queue, "a", "a2", "a2")
		e.send(queue, "a", "a1", "a1")
		return e.drain(queue)
	}},
	{name: "ids that differ in case", right: "1 2", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "AbC", "1")
		e.send(queue, "g", "aBc", "2")
		return e.drain(queue)
	}},
	{name: "ids that differ at the end", right: "1 2", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", strings.Repeat("x", 127)+"1", "1")
		e.send(queue, "g", strings.Repeat("x", 127)+"2", "2")
		return e.drain(queue)
	}},
	{name: "twenty duplicates", right: "1 copy", run: func(e *endpoint) string { return e.copies(20) }},
	{name: "150 duplicates", right: "1 copy", run: func(e *endpoint) string { return e.copies(150) }},
	{name: "90 s after a duplicate", right: "", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "first")
		e.send(queue, "g", "x", "second")
		e.drain(queue)
		e.pass(90 * time.Second)
		return e.drain(queue)
	}},
	{name: "received 60 s before the window ends", right: "again", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "first")
		e.pass(240 * time.Second)
		e.drain(queue)
		e.pass(121 * time.Second)
		e.send(queue, "g", "x", "again")
		return e.drain(queue)
	}},
	{name: "sent again after a refusal", right: "good", run: func(e *endpoint) string {
		queue := e.simple()
		bad := letter(queue, "g", "x", "bad")
		bad.DelaySeconds = 1
		_, err := e.sdk.SendMessage(e.t.Context(), bad)
		requireError(e.t, err, "InvalidParameterValue", 400)
		e.send(queue, "g", "x", "good")
		return e.drain(queue)
	}},
	{name: "after a purge", right: "", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "first")
		_, err := e.sdk.PurgeQueue(e.t.Context(), &sqs.PurgeQueueInput{QueueUrl: &queue})
		require.NoError(e.t, err)
		e.pass(65 * time.Second)
		e.send(queue, "g", "x", "second")
		return e.drain(queue)
	}},
	{name: "a batch with a bad id", right: "400 ", run: func(e *endpoint) string {
		queue := e.simple()
		r := call(e.t, e.server, "SendMessageBatch", fmt.Sprintf(`{"QueueUrl":%q,"Entries":[
			{"Id":"1","MessageBody":"good","MessageGroupId":"g","MessageDeduplicationId":"x"},{"Id":"2","MessageBody":"b","MessageDeduplicationId":"y"}]}`, queue))
		return fmt.Sprint(r.status, " ", e.drain(queue))
	}},
	{name: "twenty at once", right: "1 copy", run: func(e *endpoint) string {
		queue := e.simple()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_, err := e.sdk.SendMessage(e.t.Context(), letter(queue, "g", "x", "x"))
				assert.NoError(e.t, err)
			})
		}
		all.Wait()
		if len(strings.Fields(e.drain(queue))) == 1 {
			return "1 copy"
		}
		return "more"
	}},
	{name: "650 ids", right: "dup", large: true, run: func(e *endpoint) string { return e.manyIDs(650, 640) }},
	{name: "10,050 ids", right: "dup", large: true, run: func(e *endpoint) string { return e.manyIDs(10_050, 7) }},
	{name: "order of groups", right: "in order", run: func(e *endpoint) string {
		queue, out := e.simple(), ""
		for _, group := range "abcdefghij" {
			e.send(queue, string(group), string(group), string(group))
		}
		for range 10 {
			if m, ok := e.tryHeld(queue); ok {
				out += *m.Body
			}
		}
		if out == "abcdefghij" {
			return "in order"
		}
		return fmt.Sprint("another, ", len(out))
	}},
	{name: "sequence numbers", right: "20 digits", run: func(e *endpoint) string {
		queue := e.simple()
		sent := e.send(queue, "g", "x", "x")
		require.Equal(e.t, *sent.SequenceNumber, e.held(queue).Attributes["SequenceNumber"])
		return fmt.Sprint(len(*sent.SequenceNumber), " digits")
	}},
	{name: "receives", right: "3, at once", run: func(e *endpoint) string {
		queue, empties := e.simple(), 0
		for _, group := range []string{"a", "b", "c"} {
			e.send(queue, group, group, group)
		}
		for {
			if got := e.receive(queue); len(got) > 0 && empties == 0 {
				return fmt.Sprint(len(got), ", at once")
			} else if len(got) > 0 {
				return "late"
			}
			empties++
			e.pass(time.Second)
		}
	}},
	{name: "counters", right: "2 waiting", run: func(e *endpoint) string {
		queue := e.simple()
		e.send(queue, "g", "x", "x")
		e.send(queue, "g", "y", "y")
		e.pass(5 * time.Second)
		return e.attributes(queue, "ApproximateNumberOfMessages")["ApproximateNumberOfMessages"] + " waiting"
	}},
}
