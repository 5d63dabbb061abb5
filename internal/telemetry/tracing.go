package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// Attributes of a span that OpenTelemetry has no name for.
const (
	AttributeGroup        = attribute.Key("fifoproof.message.group")
	AttributeOrigin       = attribute.Key("fifoproof.message.first_id") // of a redriven copy: the first MessageId
	AttributeReceiveCount = attribute.Key("fifoproof.message.receive_count")
	AttributeKey          = attribute.Key("fifoproof.idempotency_key")
	AttributeAttempt      = attribute.Key("fifoproof.attempt.number")
	AttributeKind         = attribute.Key("fifoproof.attempt.kind") // what it came to, as in the receipts
)

// Tracing makes a span of every attempt. It is a consumer's Observer.
type Tracing struct {
	deaf

	tracer trace.Tracer
}

// NewTracing returns an observer that starts spans with tracer.
func NewTracing(tracer trace.Tracer) *Tracing { return &Tracing{tracer: tracer} }

// Attempt starts a span of kind consumer. It is linked to the producer's, never a
// child of it: the message may have waited for days, and each attempt is work of its
// own (OpenTelemetry, semantic conventions for messaging spans, "Consumer spans").
func (t *Tracing) Attempt(ctx context.Context, e handler.Event) (context.Context, func(receipt.Kind, error)) {
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributes(e)...)}
	if producer := sentIn(e.Traceparent); producer.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: producer}))
	}
	ctx, span := t.tracer.Start(ctx, "process "+e.Queue, options...) //nolint:spancheck // whoever began the attempt ends it
	return ctx, func(kind receipt.Kind, err error) {                 //nolint:spancheck // as above
		span.SetAttributes(AttributeKind.String(string(kind)))
		if err != nil {
			span.SetAttributes(semconv.ErrorTypeKey.String(string(kind)))
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// sentIn is the span that a message was sent in.
func sentIn(traceparent string) trace.SpanContext {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": traceparent})
	return trace.SpanContextFromContext(ctx)
}

func attributes(e handler.Event) []attribute.KeyValue {
	list := []attribute.KeyValue{
		semconv.MessagingSystemAWSSQS, semconv.MessagingOperationTypeProcess, semconv.MessagingOperationName("process"),
		semconv.MessagingDestinationName(e.Queue), semconv.MessagingMessageID(e.MessageID),
		AttributeGroup.String(e.Group), AttributeReceiveCount.Int(e.ReceiveCount),
		AttributeKey.String(e.IdempotencyKey), AttributeAttempt.Int(e.Attempt),
	}
	if e.Key.Consumer != "" {
		list = append(list, semconv.MessagingConsumerGroupName(e.Key.Consumer))
	}
	if e.OriginID != "" {
		list = append(list, AttributeOrigin.String(e.OriginID))
	}
	return list
}
