package consumer_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/emulator"
	"fifoproof/internal/receipt/sqlite"
)

// away is an endpoint in this process whose replies take 5 ms longer.
type away struct{ near http.RoundTripper }

func (a away) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.near.RoundTrip(r)
	time.Sleep(5 * time.Millisecond)
	return answer, err
}

// BenchmarkConsume measures the whole receiving path with the SDK and an endpoint in
// this process that answers 5 ms late: 256-byte bodies, 64 groups, receipts on disk
// (every commit flushed) or in memory, beside bare loops that receive and delete. An
// operation is one message.
func BenchmarkConsume(b *testing.B) {
	b.Run("bare/1", func(b *testing.B) { bare(b, 1) })
	b.Run("bare/8", func(b *testing.B) { bare(b, 8) })
	for _, lanes := range []int{10, 64} {
		for _, place := range []string{"memory", "disk"} {
			b.Run(fmt.Sprintf("%s/%d", place, lanes), func(b *testing.B) {
				path := sqlite.Memory()
				if place == "disk" {
					path = filepath.Join(b.TempDir(), "receipts.db")
				}
				consume(b, path, lanes)
			})
		}
	}
}

func backlog(b *testing.B, messages int) (client *sqs.Client, url *string) {
	b.Helper()
	server := emulator.New(emulator.Options{})
	require.NoError(b, server.CreateQueue("orders.fifo"))
	dial := func(way http.RoundTripper) *sqs.Client {
		return sqs.New(sqs.Options{
			Region: "us-east-1", BaseEndpoint: aws.String("http://embedded"),
			Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
			HTTPClient:  &http.Client{Transport: way},
		})
	}
	near := dial(server.RoundTripper())
	queue, err := near.GetQueueUrl(b.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("orders.fifo")})
	require.NoError(b, err)
	padding := strings.Repeat("x", 220)
	for sent := 0; sent < messages; {
		in := &sqs.SendMessageBatchInput{QueueUrl: queue.QueueUrl}
		for n := 0; n < 10 && sent < messages; n++ {
			sent++
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
				Id: aws.String(fmt.Sprint(n)), MessageGroupId: aws.String(fmt.Sprintf("g%d", sent%64)),
				MessageDeduplicationId: aws.String(fmt.Sprint(sent)),
				MessageBody:            aws.String(fmt.Sprintf(`{"order":%8d,"padding":%q}`, sent, padding)),
			})
		}
		_, err := near.SendMessageBatch(b.Context(), in)
		require.NoError(b, err)
	}
	return dial(away{server.RoundTripper()}), queue.QueueUrl
}

func consume(b *testing.B, path string, lanes int) {
	client, url := backlog(b, b.N)
	store, err := sqlite.Open(b.Context(), path)
	require.NoError(b, err)
	defer store.Close()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	c, err := consumer.New(consumer.Config{
		Queue: *url, Concurrency: lanes,
		Progress: func(s consumer.Summary) {
			if s.Effects == int64(b.N) {
				cancel()
			}
		},
	}, client, store)
	require.NoError(b, err)
	b.ResetTimer()
	summary, err := c.Run(ctx)
	require.NoError(b, err)
	require.Equal(b, int64(b.N), summary.Effects)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

func bare(b *testing.B, loops int) {
	client, url := backlog(b, b.N)
	b.ResetTimer()
	var work sync.WaitGroup
	for range loops {
		work.Go(func() {
			for {
				out, err := client.ReceiveMessage(b.Context(), &sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 10})
				if err != nil || len(out.Messages) == 0 {
					return
				}
				in := &sqs.DeleteMessageBatchInput{QueueUrl: url}
				for n, m := range out.Messages {
					in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(n)), ReceiptHandle: m.ReceiptHandle})
				}
				if _, err = client.DeleteMessageBatch(b.Context(), in); err != nil {
					return
				}
			}
		})
	}
	work.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
