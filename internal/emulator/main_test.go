package emulator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const base = "http://sqs.test"

func queueURL(name string) string { return base + "/000000000000/" + name }

// endpoint is a server, its virtual clock and the SDK's unmodified client on it.
type endpoint struct {
	t      *testing.T
	server *emulator.Server
	clock  *clock.Virtual
	sdk    *sqs.Client
}

func newEndpoint(t *testing.T, variants ...string) *endpoint {
	t.Helper()
	e := &endpoint{t: t, clock: clock.NewVirtual(start)}
	e.server = emulator.New(emulator.Options{Clock: e.clock, Seed: 1, Variants: variants})
	// The SDK's own check of digests would hide what a wrong endpoint answers.
	e.sdk = client(e.server, func(o *sqs.Options) { o.DisableMessageChecksumValidation = len(variants) > 0 })
	return e
}

func client(s *emulator.Server, change ...func(*sqs.Options)) *sqs.Client {
	return sqs.New(sqs.Options{
		BaseEndpoint: aws.String(base),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:   &http.Client{Transport: s.RoundTripper()},
		Retryer:      aws.NopRetryer{},
	}, change...)
}

func (e *endpoint) pass(d time.Duration) {
	require.NoError(e.t, clock.Sleep(e.t.Context(), e.clock, d))
}

// create makes a queue with attributes given as name, value, name, value.
func (e *endpoint) create(name string, attributes ...string) string {
	e.t.Helper()
	given := map[string]string{"FifoQueue": "true"}
	for i := 0; i < len(attributes); i += 2 {
		given[attributes[i]] = attributes[i+1]
	}
	out, err := e.sdk.CreateQueue(e.t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: given})
	require.NoError(e.t, err)
	require.Equal(e.t, queueURL(name), *out.QueueUrl)
	return *out.QueueUrl
}

func letter(queue, group, id, body string) *sqs.SendMessageInput {
	in := &sqs.SendMessageInput{QueueUrl: &queue, MessageGroupId: &group, MessageBody: &body}
	if id != "" {
		in.MessageDeduplicationId = &id
	}
	return in
}

func (e *endpoint) send(queue, group, id, body string) *sqs.SendMessageOutput {
	e.t.Helper()
	out, err := e.sdk.SendMessage(e.t.Context(), letter(queue, group, id, body))
	require.NoError(e.t, err)
	return out
}

func (e *endpoint) receive(queue string, change ...func(*sqs.ReceiveMessageInput)) []types.Message {
	e.t.Helper()
	in := &sqs.ReceiveMessageInput{
		QueueUrl: &queue, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
		MessageAttributeNames:       []string{"All"},
	}
	for _, c := range change {
		c(in)
	}
	out, err := e.sdk.ReceiveMessage(e.t.Context(), in)
	require.NoError(e.t, err)
	return out.Messages
}

func (e *endpoint) delete(queue string, m types.Message) {
	e.t.Helper()
	_, err := e.sdk.DeleteMessage(e.t.Context(), &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle})
	require.NoError(e.t, err)
}

func (e *endpoint) attributes(queue string, names ...types.QueueAttributeName) map[string]string {
	e.t.Helper()
	out, err := e.sdk.GetQueueAttributes(e.t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &queue, AttributeNames: names})
	require.NoError(e.t, err)
	return out.Attributes
}

func bodies(messages []types.Message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, *m.Body)
	}
	return out
}

// requireError asserts what the SDK makes of an error: its code (that of the Query
// protocol) and the HTTP status.
func requireError(t *testing.T, err error, code string, status int) {
	t.Helper()
	var api smithy.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, code, api.ErrorCode(), api.ErrorMessage())
	require.Equal(t, smithy.FaultClient, fault(api))
	var reply *awshttp.ResponseError
	require.ErrorAs(t, err, &reply)
	require.Equal(t, status, reply.HTTPStatusCode())
	require.NotEmpty(t, reply.ServiceRequestID())
}

func fault(err smithy.APIError) smithy.ErrorFault {
	if generic, ok := errors.AsType[*smithy.GenericAPIError](err); ok {
		return generic.Fault
	}
	return err.ErrorFault()
}

// reply is an answer as it is on the wire.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) errorType() string {
	var e struct {
		Type string `json:"__type"`
	}
	_ = json.Unmarshal([]byte(r.body), &e)
	return e.Type
}

// do sends a request in process. Headers are given as name, value, name, value.
func do(t testing.TB, s *emulator.Server, method, path, body string, headers ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.RoundTripper().RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var got bytes.Buffer
	_, err = io.Copy(&got, resp.Body)
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(got.Len()), resp.Header.Get("Content-Length"))
	return reply{resp.StatusCode, resp.Header, got.String()}
}

// call sends an action's JSON as the SDK would.
func call(t testing.TB, s *emulator.Server, action, body string) reply {
	t.Helper()
	return do(t, s, http.MethodPost, "/", body,
		"Content-Type", "application/x-amz-json-1.0", "X-Amz-Target", "AmazonSQS."+action)
}

type sentReply struct{ MessageID, SequenceNumber, MD5OfMessageBody string }

// sent reads the answer to a send.
func (r reply) sent(t testing.TB) sentReply {
	t.Helper()
	var out sentReply
	require.Equal(t, http.StatusOK, r.status, r.body)
	require.NoError(t, json.Unmarshal([]byte(r.body), &out))
	return out
}
