package telemetry

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func ask(t *testing.T, url string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return client.Do(request)
}

func TestServe(t *testing.T) {
	t.Parallel()
	m := NewMetrics("orders.fifo", Options{})
	s, err := Listen(t.Context(), "127.0.0.1:0", m.Handler(), nil)
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(s.Addr())
	require.NoError(t, err)
	require.NotEqual(t, "0", port, "the port that it got")

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	for path, want := range map[string]int{
		"/metrics": http.StatusOK, "/livez": http.StatusOK, "/readyz": http.StatusServiceUnavailable, "/": http.StatusNotFound,
	} {
		answer, err := ask(t, "http://"+s.Addr()+path)
		require.NoError(t, err)
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		require.Equal(t, want, answer.StatusCode, path)
	}
	stop()
	require.NoError(t, <-ended)
	_, err = ask(t, "http://"+s.Addr()+"/livez")
	require.Error(t, err, "the port is given back")
}

// An answer under way when the end comes is given.
func TestServeEndsWithItsAnswers(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	s, err := Listen(ctx, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stop()
		io.WriteString(w, "late")
	}), nil)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	answer, err := ask(t, "http://"+s.Addr())
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "late", string(text))
	require.NoError(t, <-ended)
}

func TestListenSaysWhere(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = Listen(t.Context(), taken.Addr().String(), http.NotFoundHandler(), nil)
	require.ErrorContains(t, err, "listening for metrics on "+taken.Addr().String())
}

// A client that sends no headers cannot hold a connection for ever.
func TestServerHasTimeouts(t *testing.T) {
	t.Parallel()
	s, err := Listen(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), nil)
	require.NoError(t, err)
	defer s.listener.Close()
	require.Positive(t, s.http.ReadHeaderTimeout)
	require.Positive(t, s.http.ReadTimeout)
	require.Positive(t, s.http.WriteTimeout)
	require.Positive(t, s.http.IdleTimeout)
}
