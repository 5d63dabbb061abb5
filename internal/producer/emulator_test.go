package producer_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
	"fifoproof/internal/producer"
)

// endpoint is an SQS endpoint in process with one FIFO queue, on a virtual clock.
type endpoint struct {
	client *sqs.Client
	clock  *clock.Virtual
	queue  string
	lose   func(call int) bool // drops the reply to this SendMessageBatch
	sends  int
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{clock: clock.NewVirtual(time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC))}
	inner := emulator.New(emulator.Options{Clock: e.clock}).RoundTripper()
	e.client = sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://embedded"),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			out, err := inner.RoundTrip(r)
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".SendMessageBatch") {
				e.sends++
				if err == nil && e.lose != nil && e.lose(e.sends) {
					_ = out.Body.Close()
					return nil, io.ErrUnexpectedEOF
				}
			}
			return out, err
		})},
	})
	made, err := e.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("orders.fifo"), Attributes: map[string]string{"FifoQueue": "true"},
	})
	require.NoError(t, err)
	e.queue = *made.QueueUrl
	return e
}

// drain receives and deletes what is in the queue.
func (e *endpoint) drain(t *testing.T) []types.Message {
	t.Helper()
	var out []types.Message
	for {
		got, err := e.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &e.queue, MaxNumberOfMessages: 10,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
			MessageAttributeNames:       []string{"All"},
		})
		require.NoError(t, err)
		if len(got.Messages) == 0 {
			return out
		}
		for _, m := range got.Messages {
			_, err := e.client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &e.queue, ReceiptHandle: m.ReceiptHandle})
			require.NoError(t, err)
		}
		out = append(out, got.Messages...)
	}
}

func (e *endpoint) send(t *testing.T, cfg producer.Config, body string) (producer.Summary, []producer.Record) {
	t.Helper()
	cfg.Queue, cfg.Clock = e.queue, e.clock
	p, err := producer.New(cfg, e.client)
	require.NoError(t, err)
	var records []producer.Record
	sum, err := p.Run(t.Context(), []producer.Input{{Name: "in", Reader: strings.NewReader(body)}}, func(r producer.Record) { records = append(records, r) })
	require.NoError(t, err)
	return sum, records
}

// The whole story on one queue: duplicates in one file, all of it again inside the
// window, and all of it again after the window.
func TestDuplicatesWithinAndAfterTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, pointer string
		lines, distinct     int
	}{
		{"orders", "../../examples/orders.ndjson", "/customer/id", 264, 220},
		{"webhooks", "../../../shared/data/webhooks.ndjson", "/event", 329, 324},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(c.path)
			if errors.Is(err, os.ErrNotExist) {
				t.Skip("this file is not part of the repository")
			}
			require.NoError(t, err)
			e := newEndpoint(t)
			path := filepath.Join(t.TempDir(), "sends.jsonl")
			again := func() (producer.Summary, int) {
				log, err := producer.OpenLog(path)
				require.NoError(t, err)
				defer log.Close()
				sum, _ := e.send(t, producer.Config{GroupPointer: c.pointer, Log: log}, string(body))
				return sum, len(e.drain(t))
			}
			first, arrived := again()
			require.Equal(t, c.lines, first.Lines)
			require.Equal(t, c.distinct, first.Accepted)
			require.Equal(t, c.lines-c.distinct, first.Duplicate)
			require.Equal(t, c.distinct, arrived)
			require.Zero(t, first.Warnings)

			require.NoError(t, clock.Sleep(t.Context(), e.clock, 5*time.Minute-time.Nanosecond))
			second, arrived := again()
			require.Equal(t, c.lines, second.Duplicate, "the log knows every message")
			require.Zero(t, arrived)

			require.NoError(t, clock.Sleep(t.Context(), e.clock, time.Nanosecond))
			third, arrived := again()
			require.Equal(t, c.distinct, third.Accepted)
			require.Equal(t, c.distinct, arrived)
		})
	}
}

func TestWhatArrivesIsWhatWasGiven(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	lines := []string{` {"b" : 1, "a": "\u00e9\/"}`, `{"n":1e3}`}
	_, records := e.send(t, producer.Config{Group: "g"}, strings.Join(lines, "\r\n"))
	arrived := e.drain(t)
	require.Len(t, arrived, 2)
	for i, m := range arrived {
		require.Equal(t, lines[i], *m.Body)
		require.Equal(t, records[i].MessageID, *m.MessageId)
		require.Equal(t, records[i].SequenceNumber, m.Attributes["SequenceNumber"])
		require.Equal(t, records[i].ID, m.Attributes["MessageDeduplicationId"])
		require.Equal(t, "g", m.Attributes["MessageGroupId"])
		require.Equal(t, records[i].ID, *m.MessageAttributes[producer.AttributeKey].StringValue)
		require.Equal(t, records[i].BodyDigest, *m.MessageAttributes[producer.AttributeDigest].StringValue)
	}
}

// The first two replies are lost on the way back; the queue has carried the calls out.
func TestLostRepliesDoNotDouble(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	e.lose = func(call int) bool { return call <= 2 }
	sum, records := e.send(t, producer.Config{}, `{"n":1}`)
	require.Equal(t, 1, sum.Accepted)
	require.Len(t, records[0].Attempts, 3, "each attempt is ours: the SDK makes none of its own")
	require.True(t, records[0].Attempts[0].End.IsZero())
	require.Len(t, e.drain(t), 1)
}

func TestQueueThatGoesAway(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	p, err := producer.New(producer.Config{Queue: e.queue + "x.fifo", Clock: e.clock}, e.client)
	require.NoError(t, err)
	sum, err := p.Run(context.Background(), []producer.Input{{Name: "in", Reader: strings.NewReader("{}\n[]\n")}}, nil)
	var stop *producer.StopError
	require.ErrorAs(t, err, &stop)
	require.Equal(t, producer.CauseQueueGone, stop.Cause)
	require.Equal(t, 2, sum.Unsent)
}
