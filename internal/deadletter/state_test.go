package deadletter

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// sample-citadel#103, Truxify#15653 (C93): one finished is skipped and told of, one at
// work is left, and so is what came behind it, and one that failed is sent.
func TestRedriveOfDoneRunningAndFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	finished := w.bury("a.fifo", "f", "1")
	afterFinished := w.bury("a.fifo", "f", "2")
	running := w.bury("a.fifo", "r", "3")
	behind := w.bury("a.fifo", "r", "4")
	failed := w.bury("a.fifo", "x", "5")
	rejected := w.bury("a.fifo", "y", "6")
	dead := w.bury("a.fifo", "z", "7")
	now := w.clock.Now()
	store := &records{}
	for id, r := range map[string]receipt.Receipt{
		finished: {Kind: receipt.Fresh, Attempt: receipt.Attempt{Number: 1, Started: now, Ended: now}},
		running:  {Kind: receipt.Pending, Attempt: receipt.Attempt{Number: 1, Started: now.Add(-DefaultStalled + time.Minute)}},
		failed:   {Kind: receipt.Failed, Attempt: receipt.Attempt{Number: 1, Started: now, Ended: now}},
		rejected: {Kind: receipt.Rejected},
		dead:     {Kind: receipt.Pending, Attempt: receipt.Attempt{Number: 1, Started: now.Add(-DefaultStalled)}},
	} {
		r.Queue, r.MessageID = "a.fifo", id
		store.add(r)
	}
	tally, outcomes := w.redrive(w.letters(with(store)), Filter{})
	require.ElementsMatch(t, []string{
		finished + " done already: its effect happened already",
		afterFinished + " sent",
		running + " running: a consumer is at work on it",
		behind + " held back: message " + running + " of its group stays",
		failed + " sent",
		rejected + " sent",
		dead + " sent", // its worker has been silent for too long
	}, outcomes)
	require.Equal(t, map[Result]int{Skipped: 1, Sent: 4, Left: 1, Held: 1}, tally.By)
	require.ElementsMatch(t, []string{"2", "5", "6", "7"}, bodiesOf(w.drain("a.fifo")))
}

// awsdocs#44 (C92): what is put back comes last. m1 died, m2 and m3 were handled; the
// listing of m1 warns of it beforehand.
func TestRedrivenComesLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	store := &records{}
	m1 := w.send("a.fifo", "g", "1", "m1", nil)
	out, err := w.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(w.url("a.fifo")), VisibilityTimeout: 1, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	require.NoError(t, err)
	store.note("a.fifo", w.clock.Now(), receipt.Failed, out.Messages...)
	w.pass(time.Second)
	w.die("a.fifo")

	l := w.letters(with(store))
	m := w.list(l, Filter{}).Messages[0]
	_, found, err := l.Overtaken(t.Context(), m)
	require.NoError(t, err)
	require.False(t, found, "nothing came after it yet")

	w.send("a.fifo", "g", "2", "m2", nil)
	w.send("a.fifo", "g", "3", "m3", nil)
	done := w.drain("a.fifo")
	store.note("a.fifo", w.clock.Now(), receipt.Fresh, done...)
	by, found, err := l.Overtaken(t.Context(), m)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, *done[0].MessageId, by.MessageID)

	_, outcomes := w.redrive(l, Filter{})
	require.Equal(t, []string{m1 + " sent"}, outcomes)
	require.Equal(t, []string{"m2", "m3", "m1"}, bodiesOf(append(done, w.drain("a.fifo")...)))

	store.err = errKilled
	_, _, err = l.Overtaken(t.Context(), Message{Source: m.Source, Group: "h"})
	require.ErrorIs(t, err, errKilled)
}

// It is done by sends and deletes. Nothing else of the queues is touched (C89: no move
// task is needed, so an endpoint without them will do).
func TestRedriveTouchesNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for n := range 30 {
		w.bury("a.fifo", fmt.Sprint(n%4), fmt.Sprint(n))
	}
	w.calls = nil
	w.redrive(w.letters(), Filter{})
	for _, call := range w.calls {
		require.Contains(t, []string{
			"GetQueueAttributes", "GetQueueUrl", "ListDeadLetterSourceQueues", "ReceiveMessage", "ChangeMessageVisibilityBatch", "SendMessage", "DeleteMessage",
		}, call)
	}
}

// A copy that a move task made lacks the attribute: to the consumer it is another
// message, and only its key can tell. Its own deduplication id does not: SQS replaced it.
func TestMoveTaskBesideReceipts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	first := w.bury("a.fifo", "g", `{"event_id":7}`, attributes{"idempotency-key": stringValue("k")})
	_, err := w.client.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(arnPrefix + "dead.fifo")})
	require.NoError(t, err)
	w.pass(time.Second)
	copies := w.drain("a.fifo")
	require.Len(t, copies, 1)
	require.NotContains(t, copies[0].MessageAttributes, AttributeFirst)
	require.NotEqual(t, first, *copies[0].MessageId)
	require.Equal(t, "k", *copies[0].MessageAttributes["idempotency-key"].StringValue, "the key is what is left")

	// Dead again, it has a life of its own: the first one's receipts are not found.
	store := &records{}
	store.add(receipt.Receipt{Delivery: receipt.Delivery{Queue: "a.fifo", MessageID: first}, Kind: receipt.Failed, Reason: "no stock"})
	w.send("a.fifo", "g", "y", `{"event_id":7}`, copies[0].MessageAttributes)
	w.die("a.fifo")
	m := w.list(w.letters(with(store)), Filter{}).Messages[0]
	require.NotEqual(t, first, m.Identity)
	require.False(t, m.History.Known)
}

// Drop deletes what was seen and chosen, and nothing else.
func TestDrop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for n := range 13 {
		w.bury("a.fifo", "g", fmt.Sprint(n))
	}
	kept := w.bury("a.fifo", "h", "kept")
	l := w.letters()
	listing := w.list(l, Filter{Group: "g"})
	var outcomes []string
	tally, err := l.Drop(t.Context(), listing, func(o Outcome) { outcomes = append(outcomes, told(o)) })
	require.NoError(t, err)
	require.Equal(t, map[Result]int{Dropped: 10}, tally.By)
	require.Equal(t, listing.Messages[0].ID+" dropped", outcomes[0])
	require.Equal(t, Depth{Visible: 4}, w.depth("dead.fifo"), "three were behind, and were never shown")
	require.Contains(t, idsOf(w.list(l, Filter{}).Messages), kept)
	require.Empty(t, w.drain("a.fifo"))
}
