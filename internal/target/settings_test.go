package target

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
	"fifoproof/internal/window"
)

const testARN = "arn:aws:sqs:us-east-1:000000000000:"

// sdk is a client of an endpoint behind a handler.
func sdk(t *testing.T, handler http.Handler) *sqs.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
}

// answering is an endpoint that answers GetQueueAttributes with attributes, by the last
// part of the queue's URL, and GetQueueUrl for each of those queues.
func answering(t *testing.T, queues map[string]map[string]string) *sqs.Client {
	t.Helper()
	return sdk(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ QueueUrl, QueueName string }
		_ = json.NewDecoder(r.Body).Decode(&in) // what cannot be read names no queue that is there
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		name := in.QueueName + in.QueueUrl[strings.LastIndexByte(in.QueueUrl, '/')+1:]
		attributes, known := queues[name]
		switch {
		case !known:
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]string{"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "no"})
		case in.QueueName != "":
			_ = json.NewEncoder(w).Encode(map[string]string{"QueueUrl": "http://elsewhere/1/" + name})
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"Attributes": attributes})
		}
	}))
}

func TestReadSettings(t *testing.T) {
	t.Parallel()
	server := emulator.New(emulator.Options{Clock: clock.NewVirtual(start)})
	require.NoError(t, server.CreateQueue("dead.fifo"))
	require.NoError(t, server.CreateQueue("orders.fifo",
		emulator.Attribute{Name: "DeduplicationScope", Value: "messageGroup"}, emulator.Attribute{Name: "VisibilityTimeout", Value: "7"},
		emulator.Attribute{Name: "MessageRetentionPeriod", Value: "86400"}, emulator.Attribute{Name: "DelaySeconds", Value: "3"},
		emulator.Attribute{Name: "RedrivePolicy", Value: `{"deadLetterTargetArn":"` + testARN + `dead.fifo","maxReceiveCount":"3"}`}))
	client := sdk(t, server)
	url, err := QueueURL(t.Context(), client, "orders.fifo", false)
	require.NoError(t, err)
	got, err := ReadSettings(t.Context(), client, url)
	require.NoError(t, err)
	require.Equal(t, Settings{
		URL: url, Name: "orders.fifo", ARN: testARN + "orders.fifo", Scope: window.ScopeGroup, ScopeTold: true, Visibility: 7 * time.Second,
		Retention: 24 * time.Hour, Delay: 3 * time.Second, Redrive: Redrive{Target: testARN + "dead.fifo", MaxReceives: 3},
	}, got)

	dead, err := DeadLetters(t.Context(), client, got)
	require.NoError(t, err)
	require.Equal(t, "dead.fifo", dead.Name)
	require.Equal(t, 4*24*time.Hour, dead.Retention, "SQS's default")
	require.Equal(t, Redrive{}, dead.Redrive)
	require.True(t, dead.FIFO())

	_, err = DeadLetters(t.Context(), client, dead)
	require.ErrorIs(t, err, ErrNoDeadLetters)
	_, err = ReadSettings(t.Context(), client, strings.Replace(url, "orders", "none", 1))
	require.ErrorContains(t, err, "none.fifo")
	require.NotEmpty(t, cli.HintOf(err))
}

// What an endpoint does not tell is not made up, and what makes no sense is refused.
func TestReadSettingsOfOtherEndpoints(t *testing.T) {
	t.Parallel()
	client := answering(t, map[string]map[string]string{
		"bare.fifo":  {},
		"scope.fifo": {"DeduplicationScope": "galaxy"},
		"time.fifo":  {"VisibilityTimeout": "soon"},
		"count.fifo": {"RedrivePolicy": `{"deadLetterTargetArn":"a","maxReceiveCount":0}`},
		"gone.fifo":  {"RedrivePolicy": `{"deadLetterTargetArn":"` + testARN + `none.fifo","maxReceiveCount":3}`},
	})
	got, err := ReadSettings(t.Context(), client, "http://h/1/bare.fifo")
	require.NoError(t, err)
	require.Equal(t, Settings{URL: "http://h/1/bare.fifo", Name: "bare.fifo"}, got)
	for name, want := range map[string]string{"scope": "galaxy", "time": `"soon"`, "count": "maxReceiveCount is 0"} {
		_, err := ReadSettings(t.Context(), client, "http://h/1/"+name+".fifo")
		require.ErrorContains(t, err, want)
	}
	source, err := ReadSettings(t.Context(), client, "http://h/1/gone.fifo")
	require.NoError(t, err)
	_, err = DeadLetters(t.Context(), client, source)
	require.ErrorContains(t, err, "the dead-letter queue none.fifo of the queue gone.fifo does not exist, so nothing is ever moved")
}

// terraform-aws-github-runner#2591, localstack#10281 (C99): AWS refuses a FIFO queue with
// a dead-letter queue of the other kind, an emulator let it pass and never moved a
// message. Here it is refused, whoever let it pass.
func TestDeadLettersOfTheOtherKind(t *testing.T) {
	t.Parallel()
	client := answering(t, map[string]map[string]string{
		"orders.fifo": {"RedrivePolicy": `{"deadLetterTargetArn":"` + testARN + `dead","maxReceiveCount":3}`},
		"dead":        {},
	})
	source, err := ReadSettings(t.Context(), client, "http://h/1/orders.fifo")
	require.NoError(t, err)
	_, err = DeadLetters(t.Context(), client, source)
	require.EqualError(t, err, "the queue orders.fifo and its dead-letter queue dead are of two kinds, so nothing is ever moved")
	require.Contains(t, cli.HintOf(err), "has to be a FIFO queue")
	source.Name = "orders"
	_, err = DeadLetters(t.Context(), client, source)
	require.NoError(t, err, "two of the old kind go together")
}

func TestParseRedrive(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]Redrive{
		"": {},
		`{"deadLetterTargetArn":"a:b:dead.fifo","maxReceiveCount":3}`:     {"a:b:dead.fifo", 3},
		`{ "maxReceiveCount" : "10", "deadLetterTargetArn":"dead.fifo" }`: {"dead.fifo", 10},
		`{"deadLetterTargetArn":""}`:                                      {},
	} {
		got, err := ParseRedrive(value)
		require.NoError(t, err, value)
		require.Equal(t, want, got, value)
		require.Equal(t, want.Target != "", got.Name() == "dead.fifo")
	}
	for _, value := range []string{"x", `{"deadLetterTargetArn":"a"}`, `{"deadLetterTargetArn":"a","maxReceiveCount":-1}`, `{"deadLetterTargetArn":"a","maxReceiveCount":1.5}`} {
		_, err := ParseRedrive(value)
		require.ErrorContains(t, err, "reading the redrive policy", value)
	}
}
