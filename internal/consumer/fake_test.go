package consumer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/clock"
	"fifoproof/internal/consumer"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const queueURL = "http://sqs.example/123456789012/orders.fifo"

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// diary notes what queue and store were asked for, in order.
type diary struct{ lines []string }

func (d *diary) notef(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// fakeQueue answers by a script; when that has ended, long polls run empty.
type fakeQueue struct {
	diary   *diary
	clock   clock.Clock
	script  []func() ([]types.Message, error)
	asked   []*sqs.ReceiveMessageInput
	hurried bool // empty replies come at once

	onDelete func(try int, handles []string) (failed map[string]types.BatchResultErrorEntry, err error)
	deletes  int
	onHide   func(handle string) error
}

func (q *fakeQueue) give(messages ...types.Message) {
	q.script = append(q.script, func() ([]types.Message, error) { return messages, nil })
}

func (q *fakeQueue) fail(err error) {
	q.script = append(q.script, func() ([]types.Message, error) { return nil, err })
}

func (q *fakeQueue) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	q.asked = append(q.asked, in)
	if len(q.script) > 0 {
		next := q.script[0]
		q.script = q.script[1:]
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
	q.deletes++
	q.diary.notef("delete %s", strings.Join(handles, " "))
	out := &sqs.DeleteMessageBatchOutput{}
	if q.onDelete == nil {
		return out, ctx.Err()
	}
	failed, err := q.onDelete(q.deletes, handles)
	for _, e := range in.Entries {
		if f, ok := failed[aws.ToString(e.ReceiptHandle)]; ok {
			f.Id = e.Id
			out.Failed = append(out.Failed, f)
		}
	}
	return out, err
}

func (q *fakeQueue) ChangeMessageVisibility(ctx context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	q.diary.notef("give back %s", aws.ToString(in.ReceiptHandle))
	if in.VisibilityTimeout != 0 {
		return nil, errors.New("given back, but hidden")
	}
	if q.onHide != nil {
		return nil, q.onHide(aws.ToString(in.ReceiptHandle))
	}
	return nil, ctx.Err()
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

// spyStore notes calls and can be made to fail.
type spyStore struct {
	receipt.Store
	diary      *diary
	onBegin    func() error
	onComplete func(receipt.Claim) error
}

func (s *spyStore) Begin(ctx context.Context, deliveries []receipt.Delivery) ([]receipt.Claim, error) {
	s.diary.notef("begin %d", len(deliveries))
	if s.onBegin != nil {
		if err := s.onBegin(); err != nil {
			return nil, err
		}
	}
	return s.Store.Begin(ctx, deliveries)
}

func (s *spyStore) Complete(ctx context.Context, claim receipt.Claim, effect receipt.Effect) (receipt.Outcome, error) {
	s.diary.notef("complete %s", claim.Delivery.MessageID)
	if s.onComplete != nil {
		if err := s.onComplete(claim); err != nil {
			return receipt.Outcome{}, err
		}
	}
	return s.Store.Complete(ctx, claim, effect)
}

func (s *spyStore) Reject(ctx context.Context, claim receipt.Claim, reason string) error {
	s.diary.notef("reject %s", claim.Delivery.MessageID)
	return s.Store.Reject(ctx, claim, reason)
}

// bench is a consumer between a scripted queue and a real store.
type bench struct {
	diary *diary
	clock *clock.Virtual
	queue *fakeQueue
	store *spyStore
	log   *bytes.Buffer
	cfg   consumer.Config
}

func setup(t *testing.T) *bench {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Memory())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	b := &bench{diary: &diary{}, clock: clock.NewVirtual(start), log: &bytes.Buffer{}}
	b.queue = &fakeQueue{diary: b.diary, clock: b.clock}
	b.store = &spyStore{Store: store, diary: b.diary}
	b.cfg = consumer.Config{Queue: queueURL, Clock: b.clock, Logger: slog.New(slog.NewTextHandler(b.log, nil))}
	return b
}

func (b *bench) consumer(t *testing.T) *consumer.Consumer {
	t.Helper()
	c, err := consumer.New(b.cfg, b.queue, b.store)
	require.NoError(t, err)
	return c
}

func (b *bench) receipts(t *testing.T) []receipt.Receipt {
	t.Helper()
	found, err := receipt.Collect(b.store.Receipts(context.Background(), receipt.Filter{}))
	require.NoError(t, err)
	return found
}

func (b *bench) counts(t *testing.T) receipt.Counts {
	t.Helper()
	counts, err := b.store.Counts(context.Background())
	require.NoError(t, err)
	return counts
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
