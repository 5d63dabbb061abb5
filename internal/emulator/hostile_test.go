package emulator_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

// Whatever comes in, the answer is JSON with a request id, and never the server's
// fault.
func requireSane(t *testing.T, r reply) {
	t.Helper()
	require.Less(t, r.status, 500, r.body)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, r.header.Get("X-Amzn-Requestid"))
	if r.body != "" {
		require.True(t, json.Valid([]byte(r.body)), r.body)
	}
	if r.status != 200 {
		require.Contains(t, r.errorType(), "#")
		require.Regexp(t, `^[A-Za-z.]+;Sender$`, r.header.Get("X-Amzn-Query-Error"))
	}
}

func TestHostileRequests(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo")
	const target = "AmazonSQS.SendMessage"
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		want               int
	}{
		"bare GET":       {"GET", "/", "", nil, 404},
		"PUT":            {"PUT", "/", "{}", []string{"X-Amz-Target", target}, 404},
		"DELETE a queue": {"DELETE", "/000000000000/a.fifo", "", nil, 404},
		"no target":      {"POST", "/", "{}", nil, 400},
		"other service":  {"POST", "/", "{}", []string{"X-Amz-Target", "DynamoDB_20120810.PutItem"}, 400},
		"query protocol": {"POST", "/", "Action=SendMessage&Version=2012-11-05", []string{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}, 400},
		"empty body":     {"POST", "/", "", []string{"X-Amz-Target", target}, 400},
		"null":           {"POST", "/", "null", []string{"X-Amz-Target", target}, 400},
		"binary":         {"POST", "/", "\x00\xff\xfe", []string{"X-Amz-Target", target}, 400},
		"deep":           {"POST", "/", strings.Repeat(`{"a":`, 100_000), []string{"X-Amz-Target", target}, 400},
		"over the limit": {"POST", "/", strings.Repeat(" ", 16<<20+1), []string{"X-Amz-Target", target}, 413},
		"queue's own path": {
			"POST", "/000000000000/a.fifo", `{"QueueUrl":"` + queue + `","MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"x"}`,
			[]string{"X-Amz-Target", target, "Content-Type", "text/plain"},
			200,
		},
		"invalid UTF-8 becomes U+FFFD": {
			"POST", "/", `{"QueueUrl":"` + queue + `","MessageBody":"` + "\xff" + `","MessageGroupId":"h","MessageDeduplicationId":"y"}`,
			[]string{"X-Amz-Target", target},
			200,
		},
	} {
		r := do(t, e.server, c.method, c.path, c.body, c.headers...)
		require.Equal(t, c.want, r.status, "%s: %s", name, r.body)
		requireSane(t, r)
	}
	require.ElementsMatch(t, []string{"b", "\uFFFD"}, bodies(e.receive(queue)))

	// The largest requests that make sense fit, with every character escaped.
	r := call(t, e.server, "SendMessage", `{"QueueUrl":"`+queue+`","MessageGroupId":"i","MessageDeduplicationId":"z","MessageBody":"`+
		strings.Repeat(`\u0009`, 1<<20)+`"}`)
	require.Equal(t, 200, r.status, r.body)
}

// A body that lies about its length, and one that breaks off.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	server := emulator.New(emulator.Options{})
	for _, c := range []struct {
		body   io.Reader
		length int64
		want   int
	}{
		{strings.NewReader("{}"), 1 << 40, 413},
		{io.MultiReader(strings.NewReader(`{"QueueUrl":`), brokenReader{}), -1, 400},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", c.body)
		r.ContentLength = c.length
		r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		require.Equal(t, c.want, w.Code)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// HTTP/1.0 has no Host header, and TLS has another scheme.
func TestQueueURLOfOddRequests(t *testing.T) {
	t.Parallel()
	server := emulator.New(emulator.Options{})
	require.NoError(t, server.CreateQueue("a.fifo"))
	for target, want := range map[string]string{
		"/":                         "http://localhost/000000000000/a.fifo",
		"https://sqs.test:4566/any": "https://sqs.test:4566/000000000000/a.fifo",
	} {
		r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(`{"QueueName":"a.fifo"}`))
		if target == "/" {
			r.Host = ""
		}
		r.URL.Scheme = ""
		r.Header.Set("X-Amz-Target", "AmazonSQS.GetQueueUrl")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		require.JSONEq(t, `{"QueueUrl":"`+want+`"}`, w.Body.String())
	}
}

func FuzzHandler(f *testing.F) {
	const url = `"QueueUrl":"http://sqs.test/000000000000/a.fifo"`
	for _, seed := range [][2]string{
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"x","MessageAttributes":{"k":{"DataType":"Binary","BinaryValue":"AA=="}}}`},
		{"SendMessageBatch", `{` + url + `,"Entries":[{"Id":"1","MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"x"}]}`},
		{"ReceiveMessage", `{` + url + `,"WaitTimeSeconds":20,"MaxNumberOfMessages":10,"VisibilityTimeout":0,"MessageAttributeNames":[".*"],"ReceiveRequestAttemptId":"a"}`},
		{"DeleteMessage", `{` + url + `,"ReceiptHandle":"AQEBAAAA"}`},
		{"DeleteMessageBatch", `{` + url + `,"Entries":[{"Id":"1","ReceiptHandle":"x"}]}`},
		{"ChangeMessageVisibility", `{` + url + `,"ReceiptHandle":"x","VisibilityTimeout":1}`},
		{"ChangeMessageVisibilityBatch", `{` + url + `,"Entries":[{"Id":"1","ReceiptHandle":"x","VisibilityTimeout":1e3}]}`},
		{"CreateQueue", `{"QueueName":"b.fifo","Attributes":{"FifoQueue":"true","DelaySeconds":"900"},"tags":{"k":"v"}}`},
		{"SetQueueAttributes", `{` + url + `,"Attributes":{"Policy":"{}","DelaySeconds":"1"}}`},
		{"GetQueueAttributes", `{` + url + `,"AttributeNames":["All"]}`},
		{"GetQueueUrl", `{"QueueName":"a.fifo"}`},
		{"ListQueues", `{"MaxResults":1,"NextToken":"YQ"}`},
		{"TagQueue", `{` + url + `,"Tags":{"k":"v"}}`},
		{"UntagQueue", `{` + url + `,"TagKeys":["k"]}`},
		{"ListQueueTags", `{` + url + `}`},
		{"PurgeQueue", `{` + url + `}`},
		{"DeleteQueue", `{` + url + `}`},
		{"Unknown", `[`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, action, body string) {
		server := emulator.New(emulator.Options{Clock: clock.NewVirtual(start)})
		require.NoError(t, server.CreateQueue("a.fifo"))
		call(t, server, "SendMessage", `{`+url+`,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"seed"}`)
		requireSane(t, call(t, server, action, body))
	})
}
