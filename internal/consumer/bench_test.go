package consumer_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/consumer"
	"fifoproof/internal/emulator"
	"fifoproof/internal/receipt/sqlite"
)

// BenchmarkConsume measures the whole receiving path, with the SDK and an endpoint
// in this process: full replies of ten messages in eight groups, receipts on disk
// (every commit flushed) or in memory. Sending is not measured.
func BenchmarkConsume(b *testing.B) {
	for _, place := range []string{"memory", "file"} {
		b.Run(place, func(b *testing.B) {
			path := sqlite.Memory()
			if place == "file" {
				path = filepath.Join(b.TempDir(), "receipts.db")
			}
			store, err := sqlite.Open(b.Context(), path)
			require.NoError(b, err)
			defer store.Close()
			virtual := clock.NewVirtual(start)
			server := emulator.New(emulator.Options{Clock: virtual})
			require.NoError(b, server.CreateQueue("orders.fifo"))
			client := sqs.New(sqs.Options{
				Region: "us-east-1", BaseEndpoint: aws.String("http://embedded"),
				Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
				HTTPClient:  &http.Client{Transport: server.RoundTripper()},
			})
			queue, err := client.GetQueueUrl(b.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("orders.fifo")})
			require.NoError(b, err)
			c, err := consumer.New(consumer.Config{Queue: aws.ToString(queue.QueueUrl), Clock: virtual, Wait: time.Second}, client, store)
			require.NoError(b, err)

			sent, received := 0, 0
			for b.Loop() {
				b.StopTimer()
				in := &sqs.SendMessageBatchInput{QueueUrl: queue.QueueUrl}
				for n := range 10 {
					sent++
					in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
						Id: aws.String(fmt.Sprint(n)), MessageGroupId: aws.String(fmt.Sprintf("g%d", sent%8)),
						MessageDeduplicationId: aws.String(fmt.Sprint(sent)),
						MessageBody:            aws.String(fmt.Sprintf(`{"order":%d,"currency":"EUR","items":[{"sku":"A-1","price":12.50}]}`, sent)),
					})
				}
				_, err := client.SendMessageBatch(context.Background(), in)
				require.NoError(b, err)
				b.StartTimer()
				n, err := c.Poll(context.Background())
				require.NoError(b, err)
				received += n
			}
			require.Equal(b, sent, received)
			b.ReportMetric(float64(received)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
