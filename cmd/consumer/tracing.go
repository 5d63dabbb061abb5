package main

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"fifoproof/internal/cli"
	"fifoproof/internal/consumer"
	"fifoproof/internal/telemetry"
)

// serviceName is what traces know the program by, unless OTEL_SERVICE_NAME or
// OTEL_RESOURCE_ATTRIBUTES says otherwise.
const serviceName = "fifoproof-consumer"

// startTracing sets up spans over OTLP/HTTP where the environment names an endpoint for
// them (OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT), by the
// variables that OpenTelemetry has for that. Without one the observer is nil. stop
// sends what is left, until its context ends; it is never nil. Spans that cannot be
// sent are told to logger, and stop nothing.
func startTracing(ctx context.Context, env cli.Env, logger *slog.Logger) (observer consumer.Observer, stop func(context.Context) error, err error) {
	stop = func(context.Context) error { return nil }
	endpoint, _ := traceSetting(env, "ENDPOINT")
	if endpoint == "" || env.Get("OTEL_SDK_DISABLED") == "true" || env.Get("OTEL_TRACES_EXPORTER") == "none" {
		return nil, stop, nil
	}
	if protocol, variable := traceSetting(env, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, stop, cli.Hint(fmt.Errorf("setting up traces: %s asks for the protocol %q, and this program speaks http/protobuf", variable, protocol),
			"set it to http/protobuf, and the endpoint to the collector's port for that, which is 4318 by default")
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, stop, fmt.Errorf("setting up traces to %s: %w", endpoint, err)
	}
	// What the environment says comes last, and wins.
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(serviceName), semconv.ServiceVersion(cli.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, stop, fmt.Errorf("setting up traces: reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		logger.Warn("spans were not sent", "error", err)
	}))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return telemetry.NewTracing(provider.Tracer("fifoproof/internal/telemetry")), provider.Shutdown, nil
}

// traceSetting is a setting of the exporter, its own for traces before the one for
// everything, and the variable that has it.
func traceSetting(env cli.Env, name string) (value, variable string) {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
		if value := env.Get(variable); value != "" {
			return value, variable
		}
	}
	return "", ""
}
