package producer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// client is the real SDK over an HTTP transport of the test's own.
func client(transport roundTrip, keys aws.CredentialsProvider) *sqs.Client {
	return sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://127.0.0.1:1"), Credentials: keys,
		HTTPClient: &http.Client{Transport: transport},
	})
}

func answer(status int, header, body string) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
		if header != "" {
			h.Set("X-Amzn-Query-Error", header)
		}
		return &http.Response{
			StatusCode: status, Status: fmt.Sprint(status), Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
		}, nil
	}
}

// Each case goes through the real SDK, whose error types are what classify reads. The
// statuses and codes are those of the SQS model (RequestThrottled is 403, an unknown
// queue is 400).
func TestClassify(t *testing.T) {
	t.Parallel()
	static := credentials.NewStaticCredentialsProvider("k", "s", "")
	none := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("no profile")
	})
	dial := func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	reset := func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
	}
	for _, c := range []struct {
		name      string
		transport roundTrip
		keys      aws.CredentialsProvider
		want      fault
	}{
		{"throttled as SQS answers", answer(403, "RequestThrottled;Sender", `{"__type":"com.amazonaws.sqs#RequestThrottled","message":"slow"}`), static, fault{remedy: again, cause: CauseBusy, answered: true, text: "RequestThrottled: slow"}},
		{"throttled as documented", answer(400, "ThrottlingException;Sender", `{"__type":"com.amazon.coral.service#ThrottlingException","message":"slow"}`), static, fault{remedy: again, cause: CauseBusy, answered: true, text: "ThrottlingException: slow"}},
		{"429 of a proxy", answer(429, "", "slow"), static, fault{remedy: again, cause: CauseBusy, answered: true}},
		{"500", answer(500, "InternalError;Receiver", `{"__type":"com.amazon.coral.service#InternalFailure","message":"oops"}`), static, fault{remedy: again, cause: CauseBusy, answered: true, uncertain: true}},
		{"503 of a proxy", answer(503, "", "<html>"), static, fault{remedy: again, cause: CauseBusy, answered: true, uncertain: true}},
		{"queue gone", answer(400, "AWS.SimpleQueueService.NonExistentQueue;Sender", `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"gone"}`), static, fault{remedy: stop, cause: CauseQueueGone, answered: true, text: "AWS.SimpleQueueService.NonExistentQueue: gone"}},
		{"queue gone, no header", answer(400, "", `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"gone"}`), static, fault{remedy: stop, cause: CauseQueueGone, answered: true, text: "QueueDoesNotExist: gone"}},
		{"access denied", answer(403, "AccessDenied;Sender", `{"__type":"com.amazon.coral.service#AccessDeniedException","message":"no"}`), static, fault{remedy: stop, cause: CauseAccess, answered: true, text: "AccessDenied: no"}},
		{"unknown 403", answer(403, "", `{"__type":"x#SomethingNew","message":"no"}`), static, fault{remedy: stop, cause: CauseAccess, answered: true, text: "SomethingNew: no"}},
		{"bad parameter", answer(400, "InvalidParameterValue;Sender", `{"__type":"com.amazon.coral.service#InvalidParameterValueException","message":"bad"}`), static, fault{remedy: divide, cause: CauseRefused, answered: true, text: "InvalidParameterValue: bad"}},
		{"not an SQS endpoint", answer(404, "", "not found"), static, fault{remedy: stop, cause: CauseRefused, answered: true}},
		{"connection refused", dial, static, fault{remedy: again, cause: CauseUnreachable, answered: true, text: "dial tcp: connection refused"}},
		{"connection reset", reset, static, fault{remedy: again, cause: CauseUnreachable, uncertain: true, text: "read tcp: connection reset by peer"}},
		{"answer cut off", answer(200, "", `{"Successful":[`), static, fault{remedy: again, cause: CauseUnreachable, uncertain: true}},
		{"no credentials", reset, none, fault{remedy: stop, cause: CauseAccess, answered: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			counted := roundTrip(func(r *http.Request) (*http.Response, error) { sent++; return c.transport(r) })
			_, err := client(counted, c.keys).SendMessageBatch(t.Context(), request(testQueue, []*message{{body: "{}"}}), oneAttempt)
			require.Error(t, err)
			got := classify(err)
			require.LessOrEqual(t, sent, 1, "the SDK must not retry by itself")
			require.NotEmpty(t, got.text)
			require.NotContains(t, got.text, "operation error")
			if c.want.text == "" {
				c.want.text = got.text
			}
			require.Equal(t, err, got.err)
			got.err = nil
			require.Equal(t, c.want, got)
		})
	}
}

func TestClassifyInterrupted(t *testing.T) {
	t.Parallel()
	static := credentials.NewStaticCredentialsProvider("k", "s", "")
	ctx, cancel := context.WithCancel(t.Context())
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		cancel()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	_, err := client(transport, static).SendMessageBatch(ctx, request(testQueue, []*message{{body: "{}"}}), oneAttempt)
	got := classify(err)
	got.err = nil
	require.Equal(t, fault{remedy: again, cause: CauseUnreachable, uncertain: true, text: "interrupted before the answer came"}, got)
}

// SQS's answer carries the MD5 of the body. The SDK would turn a wrong one into an error
// without MessageIds for the whole batch, though all of it was enqueued.
func TestChecksumIsLeftToUs(t *testing.T) {
	t.Parallel()
	body := `{"Successful":[{"Id":"0","MessageId":"m1","MD5OfMessageBody":"00000000000000000000000000000000","SequenceNumber":"1"}]}`
	out, err := client(answer(200, "", body), credentials.NewStaticCredentialsProvider("k", "s", "")).
		SendMessageBatch(t.Context(), request(testQueue, []*message{{body: "{}"}}), oneAttempt)
	require.NoError(t, err)
	require.Equal(t, "m1", *out.Successful[0].MessageId)
}
