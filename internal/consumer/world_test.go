package consumer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/emulator"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

// world is the unmodified SDK on an endpoint in this process, in a bubble: the time of
// both is that of package time, and passes when everything waits.
type world struct {
	client *sqs.Client
	url    string
	dead   string // URL of the dead-letter queue
	file   string // of the receipts; "": in memory
	store  *noting
	began  time.Time
	server http.RoundTripper

	mu    sync.Mutex
	calls []string
	// cut loses requests where the test says so; lose loses replies.
	cut, lose func(action string) error
}

// inWorld runs a test in a bubble with a queue in it. A maximum receive count makes a
// dead-letter queue as well.
func inWorld(t *testing.T, maxReceives int, test func(t *testing.T, w *world)) {
	t.Helper()
	onFile(t, sqlite.Memory(), maxReceives, test)
}

func onFile(t *testing.T, file string, maxReceives int, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{file: file, began: time.Now()}
		w.server = emulator.New(emulator.Options{}).RoundTripper()
		w.client = w.sdk(aws.NopRetryer{})
		attributes := map[string]string{"FifoQueue": "true"}
		if maxReceives > 0 {
			w.dead = w.create(t, "dead.fifo", attributes)
			policy, err := json.Marshal(map[string]any{
				"deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:dead.fifo", "maxReceiveCount": maxReceives,
			})
			require.NoError(t, err)
			attributes = map[string]string{"FifoQueue": "true", "RedrivePolicy": string(policy)}
		}
		w.url = w.create(t, "orders.fifo", attributes)
		w.store = w.open(t)
		defer func() { require.NoError(t, w.store.Close()) }()
		test(t, w)
	})
}

func diskFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "receipts.db")
}

func (w *world) open(t *testing.T) *noting {
	t.Helper()
	store, err := sqlite.Open(t.Context(), w.file)
	require.NoError(t, err)
	return &noting{Store: store, done: map[string][]string{}}
}

// noting is a store that notes in which order keys were done.
type noting struct {
	receipt.Store

	mu   sync.Mutex
	done map[string][]string // MessageIds by group
}

func (s *noting) Complete(ctx context.Context, claim receipt.Claim, now time.Time, result string, effect receipt.Effect) error {
	err := s.Store.Complete(ctx, claim, now, result, effect)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done[claim.Delivery.Group] = append(s.done[claim.Delivery.Group], claim.Delivery.MessageID)
	}
	return err
}

func (w *world) sdk(retryer aws.Retryer) *sqs.Client {
	return sqs.New(sqs.Options{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String("http://embedded"),
		HTTPClient:   &http.Client{Transport: wire{w}},
		Retryer:      retryer,
	})
}

// wire notes requests, and loses them or their replies where the test says so.
type wire struct{ world *world }

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	action := r.Header.Get("X-Amz-Target")[len("AmazonSQS."):]
	w.world.mu.Lock()
	w.world.calls = append(w.world.calls, action)
	cut, lose := w.world.cut, w.world.lose
	w.world.mu.Unlock()
	if cut != nil {
		if err := cut(action); err != nil {
			return nil, err
		}
	}
	answer, err := w.world.server.RoundTrip(r)
	if err == nil && lose != nil {
		if lost := lose(action); lost != nil {
			return nil, lost
		}
	}
	return answer, err
}

// called counts the calls of an action so far.
func (w *world) called(action string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, call := range w.calls {
		if call == action {
			n++
		}
	}
	return n
}

func (w *world) create(t *testing.T, name string, attributes map[string]string) string {
	t.Helper()
	out, err := w.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	require.NoError(t, err)
	return aws.ToString(out.QueueUrl)
}

func (w *world) send(t *testing.T, group, id, body string, attributes ...string) string {
	t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: &w.url, MessageGroupId: &group, MessageDeduplicationId: &id, MessageBody: &body}
	for i := 0; i+1 < len(attributes); i += 2 {
		if in.MessageAttributes == nil {
			in.MessageAttributes = map[string]types.MessageAttributeValue{}
		}
		in.MessageAttributes[attributes[i]] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &attributes[i+1]}
	}
	out, err := w.client.SendMessage(t.Context(), in)
	require.NoError(t, err)
	return aws.ToString(out.MessageId)
}

// sendMany sends n orders to one group, and returns their MessageIds.
func (w *world) sendMany(t *testing.T, group string, n int) []string {
	t.Helper()
	var ids []string
	for i := range n {
		ids = append(ids, w.send(t, group, fmt.Sprintf("%s-%d", group, i), fmt.Sprintf(`{"group":%q,"order":%d}`, group, i)))
	}
	return ids
}

// look receives without hiding anything for long, and returns MessageIds.
func (w *world) look(t *testing.T, url string) (ids []string) {
	t.Helper()
	out, err := w.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10, VisibilityTimeout: 1})
	require.NoError(t, err)
	for _, m := range out.Messages {
		ids = append(ids, aws.ToString(m.MessageId))
	}
	return ids
}

// left is how many messages a queue has, visible or not.
func (w *world) left(t *testing.T, url string) string {
	t.Helper()
	out, err := w.client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	require.NoError(t, err)
	return out.Attributes["ApproximateNumberOfMessages"] + "+" + out.Attributes["ApproximateNumberOfMessagesNotVisible"]
}

// life is one process: a consumer on the world's queue.
func (w *world) life(t *testing.T, change func(*consumer.Config)) *consumer.Consumer {
	t.Helper()
	return w.lifeOn(t, w.client, w.store, change)
}

func (w *world) lifeOn(t *testing.T, queue consumer.Queue, store receipt.Store, change func(*consumer.Config)) *consumer.Consumer {
	t.Helper()
	cfg := consumer.Config{Queue: w.url, UntilEmpty: 5 * time.Second, Random: seeded(), Worker: "w1"}
	if w.dead != "" {
		cfg.MaxReceives = 3
	}
	if change != nil {
		change(&cfg)
	}
	c, err := consumer.New(cfg, queue, store)
	require.NoError(t, err)
	return c
}

func (w *world) run(t *testing.T, change func(*consumer.Config)) consumer.Summary {
	t.Helper()
	summary, err := w.life(t, change).Run(t.Context())
	require.NoError(t, err)
	return summary
}

func (w *world) counts(t *testing.T) receipt.Counts {
	t.Helper()
	counts, err := w.store.Counts(t.Context())
	require.NoError(t, err)
	return counts
}

// doers are the MessageIds that had an effect, in the order in which they had it, by
// group.
func (w *world) doers() map[string][]string {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return w.store.done
}

// log is a list that handlers may write to.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *log) read() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.lines...)
}

// wait sleeps in the bubble.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
	synctest.Wait()
}

// uncut is a client whose requests are never lost.
func (w *world) uncut() *sqs.Client {
	return sqs.New(sqs.Options{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String("http://embedded"),
		HTTPClient:   &http.Client{Transport: w.server},
		Retryer:      aws.NopRetryer{},
	})
}
