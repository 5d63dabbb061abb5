package consumer_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/emulator"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/pgtest"
	"fifoproof/internal/receipt/postgres"
)

// Three consumers share a queue and a PostgreSQL, in real time: 300 messages of 20
// groups, every tenth sent again under another id. Each event has one effect, and each
// group its order.
func TestThreeConsumersOnPostgres(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t)
	server := emulator.New(emulator.Options{})
	require.NoError(t, server.CreateQueue("orders.fifo"))
	w := &world{server: server.RoundTripper()}
	w.client = sqs.New(sqs.Options{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String("http://embedded"),
		HTTPClient:   &http.Client{Transport: w.server},
	})
	queue, err := w.client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("orders.fifo")})
	require.NoError(t, err)
	w.url = *queue.QueueUrl
	want := map[string][]string{}
	const groups, each = 20, 15
	for n := range groups * each {
		group := fmt.Sprint("g", n%groups)
		body := fmt.Sprintf(`{"order":%d}`, n)
		want[group] = append(want[group], w.send(t, group, fmt.Sprint("id", n), body))
		if n%10 == 0 {
			w.send(t, group, fmt.Sprint("again", n), body)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stores := make([]*noting, 3)
	var tally sync.Mutex
	settled := 0
	var running sync.WaitGroup
	for i := range stores {
		store, err := postgres.Open(t.Context(), url)
		require.NoError(t, err)
		defer store.Close()
		stores[i] = &noting{Store: store, done: map[string][]string{}}
		c, err := consumer.New(consumer.Config{
			Queue: w.url, Worker: fmt.Sprint("w", i),
			Progress: func(consumer.Summary) {
				tally.Lock()
				defer tally.Unlock()
				if settled++; settled == groups*each*11/10 {
					cancel()
				}
			},
		}, w.client, stores[i])
		require.NoError(t, err)
		running.Go(func() {
			_, err := c.Run(ctx)
			require.NoError(t, err)
		})
	}
	running.Wait()
	counts, err := stores[0].Counts(t.Context())
	require.NoError(t, err)
	require.Equal(t, receipt.Counts{Fresh: 300, Repeated: 30, Effects: 300}, counts)
	got := map[string][]string{}
	for _, r := range receiptsOf(t, stores[0]) {
		if r.Kind == receipt.Fresh {
			got[r.Group] = append(got[r.Group], r.MessageID)
		}
	}
	require.Equal(t, want, got)
	require.Equal(t, "0+0", w.left(t, w.url))
}
