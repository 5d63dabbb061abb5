package target

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
	"fifoproof/internal/window"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func noEnv(string) (string, bool) { return "", false }

func plain(next HTTPClient) HTTPClient { return next }

// served is our endpoint behind a real socket.
func served(t *testing.T, c clock.Clock) *httptest.Server {
	t.Helper()
	bare(t)
	server := httptest.NewServer(emulator.New(emulator.Options{Clock: c}))
	t.Cleanup(server.Close)
	return server
}

func TestOpenEmbedded(t *testing.T) {
	t.Parallel()
	opened, notes, err := Open(t.Context(), Embedded, noEnv)
	require.NoError(t, err)
	require.Empty(t, notes)
	require.True(t, opened.Own())
	require.False(t, opened.Shared())

	// Two connections are two endpoints, each on its own clock.
	first, firstClock, err := opened.Connect(plain)
	require.NoError(t, err)
	second, secondClock, err := opened.Connect(plain)
	require.NoError(t, err)
	_, err = QueueURL(t.Context(), first, "orders.fifo", true)
	require.NoError(t, err)
	_, err = QueueURL(t.Context(), second, "orders.fifo", false)
	require.ErrorContains(t, err, "does not exist")
	require.NoError(t, clock.Sleep(t.Context(), firstClock, time.Hour))
	require.Equal(t, time.Hour, firstClock.Now().Sub(secondClock.Now()))
}

func TestOpenServedVirtualClock(t *testing.T) {
	hand := clock.NewManual(start, 50*time.Millisecond)
	server := served(t, hand)
	opened, notes, err := Open(t.Context(), server.URL, noEnv)
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.True(t, opened.Own())
	require.True(t, opened.Shared())
	require.Equal(t, "virtual", opened.Clock)

	_, remote, err := opened.Connect(plain)
	require.NoError(t, err)
	require.True(t, remote.Now().Equal(start))
	require.NoError(t, clock.Sleep(t.Context(), remote, 5*time.Minute))
	require.True(t, hand.Now().Equal(start.Add(5*time.Minute)))
	require.True(t, remote.Now().Equal(hand.Now()))

	// Somebody else who moves the clock makes every gap a guess: say so.
	hand.Advance(time.Second)
	require.ErrorContains(t, clock.Sleep(t.Context(), remote, time.Second), "somebody else moves it too")
}

func TestOpenServedRealClock(t *testing.T) {
	opened, _, err := Open(t.Context(), served(t, clock.Real{}).URL, noEnv)
	require.NoError(t, err)
	require.True(t, opened.Own())
	require.False(t, opened.Shared())
	require.Equal(t, "real", opened.Clock)
}

func TestOpenStranger(t *testing.T) {
	opened := stranger(t, func(http.ResponseWriter, string, map[string]any) bool { return false })
	require.False(t, opened.Own())
	require.Equal(t, "SQS endpoint at "+opened.Name, opened.String())
}

func TestOpenRefuses(t *testing.T) {
	bare(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	webPage := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(webPage.Close)
	for _, tt := range []struct {
		spec, err string
		usage     bool
	}{
		{closed.URL, "nobody answers at " + closed.URL, false},
		{webPage.URL, "asking " + webPage.URL + " for its queues", false},
		{"nonsense", "nonsense", true},
		{"ftp://127.0.0.1", "ftp", true},
		{"https://sqs.eu-west-1.amazonaws.com", "real AWS is not tested by a URL", true},
	} {
		_, _, err := Open(t.Context(), tt.spec, noEnv)
		require.ErrorContains(t, err, tt.err)
		require.NotEmpty(t, cli.HintOf(err), tt.spec)
		if tt.usage {
			require.ErrorIs(t, err, ErrSpec)
		} else {
			require.NotErrorIs(t, err, ErrSpec)
		}
	}
}

func TestQueueURL(t *testing.T) {
	t.Parallel()
	client := embedded(t)
	made, err := QueueURL(t.Context(), client, "orders.fifo", true)
	require.NoError(t, err)
	for _, name := range []string{"orders.fifo", made} {
		found, err := QueueURL(t.Context(), client, name, false)
		require.NoError(t, err)
		require.Equal(t, made, found)
	}
	_, err = QueueURL(t.Context(), client, "none.fifo", false)
	require.ErrorContains(t, err, "the queue none.fifo does not exist at http://embedded")
	require.Contains(t, cli.HintOf(err), "--create")
	_, err = QueueURL(t.Context(), client, "http://embedded/000000000000/none.fifo", false)
	require.ErrorContains(t, err, "does not exist")
	_, err = QueueURL(t.Context(), client, "orders", true)
	require.ErrorContains(t, err, "no FIFO queue")
	require.Contains(t, cli.HintOf(err), ".fifo")
}

func TestScope(t *testing.T) {
	t.Parallel()
	client := embedded(t)
	url, err := QueueURL(t.Context(), client, "orders.fifo", true)
	require.NoError(t, err)
	scope, err := Scope(t.Context(), client, url)
	require.NoError(t, err)
	require.Equal(t, window.ScopeQueue, scope)

	name := "groups.fifo"
	made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: map[string]string{
		"FifoQueue": "true", "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId",
	}})
	require.NoError(t, err)
	scope, err = Scope(t.Context(), client, *made.QueueUrl)
	require.NoError(t, err)
	require.Equal(t, window.ScopeGroup, scope)
}

func embedded(t *testing.T) *sqs.Client {
	t.Helper()
	opened, _, err := Open(context.Background(), Embedded, noEnv)
	require.NoError(t, err)
	client, _, err := opened.Connect(plain)
	require.NoError(t, err)
	return client
}
