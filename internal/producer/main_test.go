package producer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testQueue = "http://127.0.0.1:9324/000000000000/orders.fifo"

var start = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// step answers one call. ids are the entry Ids in the order in which they came.
type step func(q *queue, in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error)

// queue stands in for SQS: it takes every entry and answers an ID it knows with the
// MessageId and SequenceNumber of the first, as SQS does. Steps answer the first calls
// in its place.
type queue struct {
	steps []step
	calls []*sqs.SendMessageBatchInput
	took  []string // bodies, in the order in which they were taken
	first map[string]types.SendMessageBatchResultEntry
	clock *clock.Virtual
}

func (q *queue) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	q.calls = append(q.calls, in)
	if q.clock != nil {
		_ = clock.Sleep(ctx, q.clock, time.Millisecond) // a round trip
	}
	if n := len(q.calls) - 1; n < len(q.steps) && q.steps[n] != nil {
		return q.steps[n](q, in)
	}
	return q.take(in, func(int) bool { return true }), nil
}

// take carries out the entries that wanted picks.
func (q *queue) take(in *sqs.SendMessageBatchInput, wanted func(int) bool) *sqs.SendMessageBatchOutput {
	out := &sqs.SendMessageBatchOutput{}
	for i, e := range in.Entries {
		if !wanted(i) {
			continue
		}
		known, again := q.first[*e.MessageDeduplicationId]
		if !again {
			q.took = append(q.took, *e.MessageBody)
			n := len(q.took)
			known = types.SendMessageBatchResultEntry{
				MessageId:      aws.String(messageID(n)),
				SequenceNumber: aws.String(fmt.Sprintf("%020d", n)),
			}
			if q.first == nil {
				q.first = map[string]types.SendMessageBatchResultEntry{}
			}
			q.first[*e.MessageDeduplicationId] = known
		}
		known.Id = e.Id
		out.Successful = append(out.Successful, known)
	}
	return out
}

func messageID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// fails refuses the numbered entries and takes the others.
func fails(code string, senderFault bool, entries ...int) step {
	return func(q *queue, in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
		refused := map[int]bool{}
		for _, n := range entries {
			refused[n] = true
		}
		out := q.take(in, func(i int) bool { return !refused[i] })
		for i, e := range in.Entries {
			if refused[i] {
				out.Failed = append(out.Failed, types.BatchResultErrorEntry{
					Id: e.Id, Code: aws.String(code), Message: aws.String("as scripted"), SenderFault: senderFault,
				})
			}
		}
		return out, nil
	}
}

// answers fails a whole call.
func answers(err error) step {
	return func(*queue, *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) { return nil, err }
}

// lost carries a call out and loses the reply.
func lost(q *queue, in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
	q.take(in, func(int) bool { return true })
	return nil, errors.New("read tcp 127.0.0.1:9324: connection reset by peer")
}

func (q *queue) bodies(call int) []string {
	var out []string
	for _, e := range q.calls[call].Entries {
		out = append(out, *e.MessageBody)
	}
	return out
}

// bench is a producer with a scripted queue on a virtual clock.
type bench struct {
	*Producer
	queue   *queue
	clock   *clock.Virtual
	records []Record
	pauses  []time.Duration // upper ends
}

func newBench(t *testing.T, change func(*Config), steps ...step) *bench {
	t.Helper()
	b := &bench{clock: clock.NewVirtual(start)}
	b.queue = &queue{steps: steps, clock: b.clock}
	cfg := Config{Queue: testQueue, Clock: b.clock, Jitter: func(limit time.Duration) time.Duration {
		b.pauses = append(b.pauses, limit)
		return limit / 2
	}}
	if change != nil {
		change(&cfg)
	}
	var err error
	b.Producer, err = New(cfg, b.queue)
	require.NoError(t, err)
	runs := 0
	b.newRun = func() string { runs++; return fmt.Sprintf("run%d", runs) }
	return b
}

func (b *bench) send(ctx context.Context, lines ...string) (Summary, error) {
	b.records = nil
	return b.Run(ctx, []Input{text("test.ndjson", lines...)}, func(r Record) { b.records = append(b.records, r) })
}

func text(name string, lines ...string) Input {
	return Input{Name: name, Reader: strings.NewReader(strings.Join(lines, "\n"))}
}

// numbered is n bodies, all different.
func numbered(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`{"n":%d}`, i+1))
	}
	return out
}

func outcomes(records []Record) []string {
	var out []string
	for _, r := range records {
		text := fmt.Sprintf("%d %s", r.Line, r.Outcome)
		if r.Original != "" {
			text += " of " + r.Original
		}
		out = append(out, text)
	}
	return out
}
