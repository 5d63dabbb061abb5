package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/consumer"
	"fifoproof/internal/deadletter"
	"fifoproof/internal/receipt"
	"fifoproof/internal/telemetry"
)

// lastSpans is how long sending the last spans may take.
const lastSpans = 5 * time.Second

// watch is how a running consumer is seen from outside. Its zero value shows nothing.
type watch struct {
	observer consumer.Observer
	stop     func()
}

// startWatch serves metrics and probes where the flags say so, and sends spans where
// the environment does.
func startWatch(ctx context.Context, f consumeFlags, around surroundings, store receipt.Store, talk *talk, env cli.Env) (watch, error) {
	tracing, endSpans, err := startTracing(ctx, env, slog.New(talk))
	if err != nil {
		return watch{}, err
	}
	stopSpans := func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSpans)
		defer cancel()
		if err := endSpans(late); err != nil {
			talk.sayf(warningPrefix+"the last spans were not sent: %v", err)
		}
	}
	if f.MetricsAddr == "" {
		return watch{observer: tracing, stop: stopSpans}, nil
	}
	metrics := telemetry.NewMetrics(around.settings.Name, metricsOptions(around, store))
	server, err := telemetry.Listen(ctx, f.MetricsAddr, metrics.Handler(), slog.New(talk))
	if err != nil {
		stopSpans()
		return watch{}, cli.Hint(err, "name a free address with --metrics-addr, as 127.0.0.1:0 for any free port")
	}
	talk.sayf("metrics at http://%s/metrics, probes at /livez and /readyz", server.Addr())
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := server.Serve(serving); err != nil {
			talk.sayf(warningPrefix+"%v", err)
		}
	})
	return watch{
		observer: telemetry.All(metrics, tracing),
		stop:     func() { stopServing(); ended.Wait(); stopSpans() },
	}, nil
}

func metricsOptions(around surroundings, store receipt.Store) telemetry.Options {
	options := telemetry.Options{Version: cli.Version}
	if counting, counts := store.(interface{ Retries() int64 }); counts {
		options.StoreRetries = counting.Retries
	}
	if dead := around.deadLetters; dead != nil {
		options.DeadLetterQueue = dead.Name
		options.DeadLetters = func(ctx context.Context) (int64, error) {
			depth, err := deadletter.ReadDepth(ctx, around.client, dead.URL)
			return int64(depth.Total()), err
		}
	}
	return options
}
