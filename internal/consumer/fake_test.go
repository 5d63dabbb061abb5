package consumer_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/clock"
	"fifoproof/internal/consumer"
	"fifoproof/internal/receipt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const queueURL = "http://sqs.example/123456789012/orders.fifo"

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// diary notes what queue and store were asked for, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) notef(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// read returns the lines so far; with prefixes, only those that begin with one.
func (d *diary) read(prefixes ...string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, line := range d.lines {
		if len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(line, p) }) {
			out = append(out, line)
		}
	}
	return out
}

// fakeQueue answers by a script; when that has ended, long polls run empty.
type fakeQueue struct {
	diary   *diary
	clock   clock.Clock
	hurried bool // empty replies come at once

	mu     sync.Mutex
	script []func() ([]types.Message, error)
	asked  []*sqs.ReceiveMessageInput

	onDelete func(try int, handles []string) (failed map[string]types.BatchResultErrorEntry, err error)
	deletes  int
	// onHide is asked for every message whose visibility is changed.
	onHide func(handle string, seconds int32) (failed *types.BatchResultErrorEntry, err error)
}

func (q *fakeQueue) then(next func() ([]types.Message, error)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.script = append(q.script, next)
}

func (q *fakeQueue) give(messages ...types.Message) {
	q.then(func() ([]types.Message, error) { return messages, nil })
}

func (q *fakeQueue) fail(err error) {
	q.then(func() ([]types.Message, error) { return nil, err })
}

func (q *fakeQueue) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	q.mu.Lock()
	q.asked = append(q.asked, in)
	var next func() ([]types.Message, error)
	if len(q.script) > 0 {
		next = q.script[0]
		q.script = q.script[1:]
	}
	q.mu.Unlock()
	if next != nil {
		messages, err := next()
		q.diary.notef("receive %d", len(messages))
		return &sqs.ReceiveMessageOutput{Messages: messages}, err
	}
	if !q.hurried {
		if err := clock.Sleep(ctx, q.clock, time.Duration(in.WaitTimeSeconds)*time.Second); err != nil {
			return nil, err
		}
	}
	return &sqs.ReceiveMessageOutput{}, ctx.Err()
}

func (q *fakeQueue) DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	var handles []string
	for _, e := range in.Entries {
		handles = append(handles, aws.ToString(e.ReceiptHandle))
	}
	q.mu.Lock()
	q.deletes++
	try := q.deletes
	q.mu.Unlock()
	q.diary.notef("delete %s", strings.Join(handles, " "))
	out := &sqs.DeleteMessageBatchOutput{}
	if q.onDelete == nil {
		return out, ctx.Err()
	}
	failed, err := q.onDelete(try, handles)
	for _, e := range in.Entries {
		if f, ok := failed[aws.ToString(e.ReceiptHandle)]; ok {
			f.Id = e.Id
			out.Failed = append(out.Failed, f)
		}
	}
	return out, err
}

func (q *fakeQueue) ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	var notes []string
	out := &sqs.ChangeMessageVisibilityBatchOutput{}
	for _, e := range in.Entries {
		handle := aws.ToString(e.ReceiptHandle)
		notes = append(notes, fmt.Sprintf("%s:%d", handle, e.VisibilityTimeout))
		if q.onHide == nil {
			continue
		}
		failed, err := q.onHide(handle, e.VisibilityTimeout)
		if err != nil {
			return nil, err
		}
		if failed != nil {
			failed.Id = e.Id
			out.Failed = append(out.Failed, *failed)
		}
	}
	slices.Sort(notes) // heartbeats go through a map
	q.diary.notef("hide %s", strings.Join(notes, " "))
	return out, ctx.Err()
}

// expired is how a queue refuses a handle whose visibility timeout is over.
func expired() *types.BatchResultErrorEntry {
	return &types.BatchResultErrorEntry{SenderFault: true, Code: aws.String("InvalidParameterValue"), Message: aws.String("The receipt handle has expired")}
}

// message is one delivery; its handle is its id with an h before it.
func message(id, group, body string, attributes ...string) types.Message {
	m := types.Message{
		MessageId:     aws.String(id),
		ReceiptHandle: aws.String("h" + id),
		Body:          aws.String(body),
		Attributes: map[string]string{
			"MessageGroupId": group, "MessageDeduplicationId": "d-" + id, "SequenceNumber": "18849496460467696128",
			"ApproximateReceiveCount": "2", "SentTimestamp": "1767225600123", "SenderId": "AIDA",
		},
		MessageAttributes: map[string]types.MessageAttributeValue{},
	}
	for i := 0; i+1 < len(attributes); i += 2 {
		m.MessageAttributes[attributes[i]] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(attributes[i+1])}
	}
	return m
}

// order is a message whose content is n.
func order(id, group string, n int) types.Message {
	return message(id, group, fmt.Sprintf(`{"order":%d}`, n))
}

// again is a later delivery of a message, with a handle of its own.
func again(m types.Message, count int) types.Message {
	m.ReceiptHandle = aws.String(fmt.Sprintf("%s-%d", *m.ReceiptHandle, count))
	attributes := maps.Clone(m.Attributes)
	attributes["ApproximateReceiveCount"] = fmt.Sprint(count)
	m.Attributes = attributes
	return m
}

// quietLog is a log that several may write to.
type quietLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *quietLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *quietLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// bench is a consumer between a scripted queue and a store in memory.
type bench struct {
	diary *diary
	clock clock.Clock
	queue *fakeQueue
	store *memStore
	log   *quietLog
	cfg   consumer.Config
}

// setup is for Poll, on a clock that waits move.
func setup(t *testing.T) *bench {
	t.Helper()
	return newBench(clock.NewVirtual(start))
}

// bubble runs a test of Run in a bubble, where the machine's time passes when all wait.
func bubble(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newBench(clock.Real{})) })
}

func newBench(c clock.Clock) *bench {
	b := &bench{diary: &diary{}, clock: c, log: &quietLog{}}
	b.queue = &fakeQueue{diary: b.diary, clock: b.clock}
	b.store = newMemStore(b.diary)
	b.cfg = consumer.Config{
		Queue: queueURL, Clock: b.clock, Worker: "w1", Random: seeded(),
		Logger: slog.New(slog.NewTextHandler(b.log, nil)),
	}
	return b
}

func (b *bench) consumer(t *testing.T) *consumer.Consumer {
	t.Helper()
	c, err := consumer.New(b.cfg, b.queue, b.store)
	require.NoError(t, err)
	return c
}

// start runs a consumer until stop is called, which waits for its end.
func (b *bench) start(t *testing.T) (c *consumer.Consumer, stop func() consumer.Summary) {
	t.Helper()
	c = b.consumer(t)
	return c, running(t, c)
}

func (b *bench) receipts(t *testing.T) []receipt.Receipt {
	t.Helper()
	return receiptsOf(t, b.store)
}

func (b *bench) counts(t *testing.T) receipt.Counts {
	t.Helper()
	counts, err := b.store.Counts(context.Background())
	require.NoError(t, err)
	return counts
}

func receiptsOf(t *testing.T, store receipt.Store) []receipt.Receipt {
	t.Helper()
	found, err := receipt.Collect(store.Receipts(context.Background(), receipt.Filter{}))
	require.NoError(t, err)
	return found
}

// running runs a consumer beside the test.
func running(t *testing.T, c *consumer.Consumer) (stop func() consumer.Summary) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	type end struct {
		summary consumer.Summary
		err     error
	}
	ended := make(chan end, 1)
	go func() {
		summary, err := c.Run(ctx)
		ended <- end{summary, err}
	}()
	return func() consumer.Summary {
		cancel()
		e := <-ended
		require.NoError(t, e.err)
		return e.summary
	}
}

// strangeQueue reports failures of entries that were not in the batch.
type strangeQueue struct{ *fakeQueue }

func (q *strangeQueue) DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput, opts ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	out, err := q.fakeQueue.DeleteMessageBatch(ctx, in, opts...)
	for _, id := range []string{"7", "-1", "x", ""} {
		out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: aws.String(id)})
	}
	return out, err
}
