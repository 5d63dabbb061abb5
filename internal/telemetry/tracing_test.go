package telemetry

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// sampleTrace is the example of W3C Trace Context, section 3.2.3.
const sampleTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func recorder(t *testing.T) (*tracetest.SpanRecorder, *Tracing) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	t.Cleanup(func() { require.NoError(t, provider.Shutdown(context.WithoutCancel(t.Context()))) })
	return spans, NewTracing(provider.Tracer("test"))
}

func event() handler.Event {
	e := handler.Event{Delivery: delivery("m1", 2, start, time.Minute), Traceparent: sampleTrace, Attempt: 3, IdempotencyKey: "ab12", Body: "secret"}
	e.OriginID = "m0"
	return e
}

// The names and values are those of OpenTelemetry's semantic conventions for messaging
// spans, and for Amazon SQS.
func TestSpan(t *testing.T) {
	t.Parallel()
	spans, tracing := recorder(t)
	ctx, end := tracing.Attempt(t.Context(), event())
	inner := trace.SpanContextFromContext(ctx)
	end(receipt.Fresh, nil)
	require.Len(t, spans.Ended(), 1)
	span := spans.Ended()[0]
	require.Equal(t, "process orders.fifo", span.Name())
	require.Equal(t, trace.SpanKindConsumer, span.SpanKind())
	require.Equal(t, span.SpanContext(), inner, "the handler works in the span")
	require.Equal(t, codes.Unset, span.Status().Code)
	require.ElementsMatch(t, []attribute.KeyValue{
		attribute.String("messaging.system", "aws_sqs"),
		attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.operation.name", "process"),
		attribute.String("messaging.destination.name", "orders.fifo"),
		attribute.String("messaging.message.id", "m1"),
		attribute.String("messaging.consumer.group.name", "billing"),
		attribute.String("fifoproof.message.group", "customer-1"),
		attribute.String("fifoproof.message.first_id", "m0"),
		attribute.Int("fifoproof.message.receive_count", 2),
		attribute.String("fifoproof.idempotency_key", "ab12"),
		attribute.Int("fifoproof.attempt.number", 3),
		attribute.String("fifoproof.attempt.kind", "fresh"),
	}, span.Attributes())
}

// The producer's span is linked: it is neither the parent nor of the same trace.
func TestSpanIsLinkedToTheProducer(t *testing.T) {
	t.Parallel()
	spans, tracing := recorder(t)
	_, end := tracing.Attempt(t.Context(), event())
	end(receipt.Fresh, nil)
	span := spans.Ended()[0]
	require.False(t, span.Parent().IsValid())
	require.Len(t, span.Links(), 1)
	linked := span.Links()[0].SpanContext
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", linked.TraceID().String())
	require.Equal(t, "00f067aa0ba902b7", linked.SpanID().String())
	require.True(t, linked.IsSampled())
	require.NotEqual(t, linked.TraceID(), span.SpanContext().TraceID())
}

func TestSpanWithoutProducer(t *testing.T) {
	t.Parallel()
	for _, traceparent := range []string{"", "rubbish", sampleTrace[:40], "00-00000000000000000000000000000000-00f067aa0ba902b7-01"} {
		spans, tracing := recorder(t)
		e := event()
		e.Traceparent = traceparent
		_, end := tracing.Attempt(t.Context(), e)
		end(receipt.Fresh, nil)
		require.Empty(t, spans.Ended()[0].Links(), traceparent)
	}
}

func TestSpanOfAFailure(t *testing.T) {
	t.Parallel()
	spans, tracing := recorder(t)
	_, end := tracing.Attempt(t.Context(), event())
	end(receipt.Rejected, &handler.RejectError{Err: errors.New("the account does not exist")})
	span := spans.Ended()[0]
	require.Equal(t, sdktrace.Status{Code: codes.Error, Description: "the account does not exist"}, span.Status())
	require.Contains(t, span.Attributes(), attribute.String("error.type", "rejected"))
	require.Contains(t, span.Attributes(), attribute.String("fifoproof.attempt.kind", "rejected"))
}

// diary writes down what it is told.
type diary struct {
	name  string
	pages *[]string
}

type chapter string

func (d diary) Attempt(ctx context.Context, _ handler.Event) (context.Context, func(receipt.Kind, error)) {
	*d.pages = append(*d.pages, d.name+" begins")
	return context.WithValue(ctx, chapter(d.name), true), func(kind receipt.Kind, _ error) {
		*d.pages = append(*d.pages, d.name+" ends "+string(kind))
	}
}

func (d diary) Received([]receipt.Delivery) { *d.pages = append(*d.pages, d.name+" received") }
func (d diary) Settled(receipt.Delivery, receipt.Kind, bool) {
	*d.pages = append(*d.pages, d.name+" settled")
}
func (d diary) TookOver(receipt.Delivery) { *d.pages = append(*d.pages, d.name+" took over") }
func (d diary) BackedOff(receipt.Delivery, time.Duration) {
	*d.pages = append(*d.pages, d.name+" backed off")
}
func (d diary) Lanes(int, int)           { *d.pages = append(*d.pages, d.name+" lanes") }
func (d diary) CallFailed(string, error) { *d.pages = append(*d.pages, d.name+" call failed") }
func (d diary) Ready(bool, string)       { *d.pages = append(*d.pages, d.name+" ready") }

func TestAll(t *testing.T) {
	t.Parallel()
	var pages []string
	both := All(diary{name: "a", pages: &pages}, nil, diary{name: "b", pages: &pages})
	ctx, end := both.Attempt(t.Context(), event())
	require.NotNil(t, ctx.Value(chapter("a")))
	require.NotNil(t, ctx.Value(chapter("b")), "each adds to the context")
	end(receipt.Fresh, nil)
	require.Equal(t, []string{"a begins", "b begins", "b ends fresh", "a ends fresh"}, pages)
	for word, tell := range map[string]func(consumer.Observer){
		"received":    func(o consumer.Observer) { o.Received(nil) },
		"settled":     func(o consumer.Observer) { o.Settled(receipt.Delivery{}, receipt.Fresh, false) },
		"took over":   func(o consumer.Observer) { o.TookOver(receipt.Delivery{}) },
		"backed off":  func(o consumer.Observer) { o.BackedOff(receipt.Delivery{}, 0) },
		"lanes":       func(o consumer.Observer) { o.Lanes(0, 0) },
		"call failed": func(o consumer.Observer) { o.CallFailed("receive", nil) },
		"ready":       func(o consumer.Observer) { o.Ready(true, "") },
	} {
		pages = nil
		tell(both)
		require.Equal(t, []string{"a " + word, "b " + word}, pages)
	}
}

func TestAllOfFew(t *testing.T) {
	t.Parallel()
	require.Nil(t, All())
	require.Nil(t, All(nil, nil))
	m := NewMetrics("orders.fifo", Options{Clock: newClock()})
	require.Same(t, m, All(nil, m))
}
