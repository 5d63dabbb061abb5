package deadletter

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
	"fifoproof/internal/receipt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

const arnPrefix = "arn:aws:sqs:us-east-1:000000000000:"

// world is an endpoint in this process with a dead-letter queue and the sources that a
// test asks for, on a clock that waits move.
type world struct {
	t      *testing.T
	server *emulator.Server
	clock  *clock.Virtual
	client *sqs.Client
	dead   string // URL of dead.fifo
	calls  []string
	sends  int

	lag    time.Duration                        // of every call
	before func(action string) error            // a call that is not carried out
	after  func(action string) error            // a call whose answer is lost
	seen   func(action string, r *http.Request) // of every call
}

func newWorld(t *testing.T, sources ...string) *world {
	t.Helper()
	w := &world{t: t, clock: clock.NewVirtual(start)}
	w.server = emulator.New(emulator.Options{Clock: w.clock, Seed: 7})
	w.client = sqs.New(sqs.Options{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String("http://embedded"),
		HTTPClient:   &http.Client{Transport: wire{w, w.server.RoundTripper()}},
		Retryer:      aws.NopRetryer{},
	})
	w.dead = w.create("dead.fifo")
	for _, name := range sources {
		w.source(name, 1)
	}
	return w
}

// wire disturbs calls as the test says.
type wire struct {
	world *world
	next  http.RoundTripper
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	action := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
	w.world.calls = append(w.world.calls, action)
	if w.world.seen != nil {
		w.world.seen(action, r)
	}
	if w.world.lag > 0 {
		_ = clock.Sleep(r.Context(), w.world.clock, w.world.lag)
	}
	if w.world.before != nil {
		if err := w.world.before(action); err != nil {
			return nil, err
		}
	}
	answer, err := w.next.RoundTrip(r)
	if err == nil && w.world.after != nil {
		if err := w.world.after(action); err != nil {
			_ = answer.Body.Close()
			return nil, err
		}
	}
	return answer, err
}

func (w *world) create(name string, attributes ...string) string {
	w.t.Helper()
	all := map[string]string{"FifoQueue": "true"}
	for i := 0; i < len(attributes); i += 2 {
		all[attributes[i]] = attributes[i+1]
	}
	made, err := w.client.CreateQueue(w.t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: all})
	require.NoError(w.t, err)
	return aws.ToString(made.QueueUrl)
}

// source makes a queue whose dead-letter queue is dead.fifo.
func (w *world) source(name string, maxReceives int) string {
	w.t.Helper()
	return w.create(name, "RedrivePolicy", fmt.Sprintf(`{"deadLetterTargetArn":"%sdead.fifo","maxReceiveCount":%d}`, arnPrefix, maxReceives))
}

func (w *world) url(name string) string { return strings.TrimSuffix(w.dead, "dead.fifo") + name }

type attributes = map[string]types.MessageAttributeValue

func stringValue(text string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &text}
}

func (w *world) send(queue, group, id, body string, with attributes) string {
	w.t.Helper()
	out, err := w.client.SendMessage(w.t.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(w.url(queue)), MessageGroupId: &group, MessageDeduplicationId: &id, MessageBody: &body, MessageAttributes: with,
	})
	require.NoError(w.t, err)
	return aws.ToString(out.MessageId)
}

// bury sends one message and has it moved to the dead-letter queue at once. It returns
// its MessageId.
func (w *world) bury(queue, group, body string, with ...attributes) string {
	w.t.Helper()
	w.sends++
	id := w.send(queue, group, fmt.Sprint("send-", w.sends), body, append(with, nil)[0])
	w.die(queue)
	return id
}

// die has everything in a queue moved to the dead-letter queue.
func (w *world) die(queue string) {
	w.t.Helper()
	for empty := 0; empty < 2; {
		out, err := w.client.ReceiveMessage(w.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(w.url(queue)), MaxNumberOfMessages: 10})
		require.NoError(w.t, err)
		var back []types.ChangeMessageVisibilityBatchRequestEntry
		for i, m := range slices.Backward(out.Messages) {
			back = append(back, types.ChangeMessageVisibilityBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0})
		}
		if len(back) > 0 {
			changed, err := w.client.ChangeMessageVisibilityBatch(w.t.Context(), &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: aws.String(w.url(queue)), Entries: back})
			require.NoError(w.t, err)
			require.Empty(w.t, changed.Failed)
		}
		if empty++; len(out.Messages) > 0 {
			empty = 0
		}
	}
}

// drain receives and deletes everything in a queue.
func (w *world) drain(queue string) []types.Message {
	w.t.Helper()
	var all []types.Message
	for {
		out, err := w.client.ReceiveMessage(w.t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(w.url(queue)), MaxNumberOfMessages: 10, VisibilityTimeout: 30,
			MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
		})
		require.NoError(w.t, err)
		if len(out.Messages) == 0 {
			return all
		}
		for _, m := range out.Messages {
			_, err := w.client.DeleteMessage(w.t.Context(), &sqs.DeleteMessageInput{QueueUrl: aws.String(w.url(queue)), ReceiptHandle: m.ReceiptHandle})
			require.NoError(w.t, err)
		}
		all = append(all, out.Messages...)
	}
}

func (w *world) depth(queue string) Depth {
	w.t.Helper()
	d, err := ReadDepth(w.t.Context(), w.client, w.url(queue))
	require.NoError(w.t, err)
	return d
}

func (w *world) pass(d time.Duration) {
	w.t.Helper()
	require.NoError(w.t, clock.Sleep(w.t.Context(), w.clock, d))
}

// letters are the dead letters as one run of the program sees them.
func (w *world) letters(change ...func(*Config)) *Letters {
	w.t.Helper()
	cfg := Config{URL: w.dead, ARN: arnPrefix + "dead.fifo", Clock: w.clock}
	for _, c := range change {
		c(&cfg)
	}
	l, err := New(cfg, w.client)
	require.NoError(w.t, err)
	return l
}

func with(records *records) func(*Config) {
	return func(cfg *Config) { cfg.Receipts = records }
}

// list looks, in a way that has to work.
func (w *world) list(l *Letters, f Filter) Listing {
	w.t.Helper()
	listing, err := l.List(w.t.Context(), f)
	require.NoError(w.t, err)
	require.Zero(w.t, w.depth("dead.fifo").InFlight, "everything is given back")
	return listing
}

// redrive puts back everything that a filter chooses, and tells the outcomes as texts.
func (w *world) redrive(l *Letters, f Filter) (Tally, []string) {
	w.t.Helper()
	listing := w.list(l, f)
	return w.redriveAs(l, listing)
}

func (w *world) redriveAs(l *Letters, listing Listing) (Tally, []string) {
	w.t.Helper()
	var outcomes []string
	tally, err := l.Redrive(w.t.Context(), listing, func(o Outcome) { outcomes = append(outcomes, told(o)) })
	require.NoError(w.t, err)
	require.Zero(w.t, w.depth("dead.fifo").InFlight, "everything is given back")
	return tally, outcomes
}

func told(o Outcome) string {
	text := o.Message.ID + " " + string(o.Result)
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}

func idsOf(messages []Message) []string {
	var ids []string
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

func bodiesOf(messages []types.Message) []string {
	var bodies []string
	for _, m := range messages {
		bodies = append(bodies, aws.ToString(m.Body))
	}
	return bodies
}

var errKilled = errors.New("killed")

// records stands in for a store of receipts.
type records struct {
	all []receipt.Receipt
	err error
	lag func() // of every question
}

func (s *records) add(r receipt.Receipt) {
	r.ID = int64(len(s.all) + 1)
	s.all = append(s.all, r)
}

// note records the deliveries of a drained queue as a consumer does.
func (s *records) note(queue string, at time.Time, kind receipt.Kind, messages ...types.Message) {
	for _, m := range messages {
		sent, _ := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
		s.add(receipt.Receipt{
			Delivery: receipt.Delivery{
				Queue: queue, MessageID: aws.ToString(m.MessageId), OriginID: text(m, AttributeFirst), Group: m.Attributes["MessageGroupId"],
				SequenceNumber: m.Attributes["SequenceNumber"], SentAt: time.UnixMilli(sent).UTC(), ReceivedAt: at,
			},
			Kind: kind, Attempt: receipt.Attempt{Number: 1, Worker: "w", Started: at, Ended: at},
		})
	}
}

func (s *records) Message(_ context.Context, identity string) ([]receipt.Receipt, error) {
	if s.lag != nil {
		s.lag()
	}
	var found []receipt.Receipt
	for _, r := range s.all {
		if r.MessageID == identity || r.OriginID == identity {
			found = append(found, r)
		}
	}
	return found, s.err
}

func (s *records) Receipts(_ context.Context, f receipt.Filter) iter.Seq2[receipt.Receipt, error] {
	return func(yield func(receipt.Receipt, error) bool) {
		for _, r := range s.all {
			if r.Queue == f.Queue && r.Group == f.Group && !r.ReceivedAt.Before(f.Since) && !yield(r, nil) {
				return
			}
		}
		if s.err != nil {
			yield(receipt.Receipt{}, s.err)
		}
	}
}
