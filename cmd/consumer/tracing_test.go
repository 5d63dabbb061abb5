package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

func environment(pairs map[string]string) cli.Env {
	return func(name string) (string, bool) { value, there := pairs[name]; return value, there }
}

func TestTracingIsOffUnlessAskedFor(t *testing.T) {
	t.Parallel()
	for _, pairs := range []map[string]string{
		nil,
		{"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		observer, stop, err := startTracing(t.Context(), environment(pairs), slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		require.Nil(t, observer)
		require.NoError(t, stop(t.Context()))
	}
}

func TestTracingSpeaksOneProtocol(t *testing.T) {
	t.Parallel()
	_, stop, err := startTracing(t.Context(), environment(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
	}), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, `OTEL_EXPORTER_OTLP_PROTOCOL asks for the protocol "grpc"`)
	require.Contains(t, cli.HintOf(err), "http/protobuf")
	require.NoError(t, stop(t.Context()))
}

// A span reaches the collector that the environment names, with the service's name.
// The exporter reads the process's own environment, so this test owns it.
func TestTracing(t *testing.T) {
	requests := make(chan []byte, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Team") != "billing" {
			t.Errorf("%s %v", r.URL.Path, r.Header)
		}
		body, _ := io.ReadAll(r.Body)
		requests <- body
	}))
	defer collector.Close()
	pairs := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-team=billing", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=staging",
	}
	for name, value := range pairs {
		t.Setenv(name, value)
	}
	observer, stop, err := startTracing(t.Context(), environment(pairs), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	_, end := observer.Attempt(t.Context(), handler.Event{
		Delivery:    receipt.Delivery{Queue: "orders.fifo", MessageID: "m1"},
		Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	})
	end(receipt.Fresh, nil)
	require.NoError(t, stop(context.WithoutCancel(t.Context())))
	sent := <-requests
	for _, text := range []string{"process orders.fifo", "m1", "fifoproof-consumer", "staging", "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36"} {
		require.True(t, bytes.Contains(sent, []byte(text)), "the request lacks %q", text)
	}
}
