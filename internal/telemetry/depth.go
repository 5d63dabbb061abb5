package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fifoproof/internal/clock"
)

// deadLetters is the call by which depth's failures are counted.
const deadLetters = "dead-letters"

const (
	depthAge   = 15 * time.Second // how old an answer may be before the queue is asked again
	depthBound = 5 * time.Second  // how long the queue may take
)

// depth is the metric of what waits in a dead-letter queue. Where the queue cannot be
// asked it is absent: an old number would say that all is as it was.
type depth struct {
	desc  *prometheus.Desc
	ask   func(ctx context.Context) (int64, error)
	clock clock.Clock
	fails func(error)

	mu    sync.Mutex // held while asking, so that scrapes at once are one question
	asked time.Time
	count int64
	known bool
}

func newDepth(queue string, ask func(context.Context) (int64, error), c clock.Clock, fails func(error)) *depth {
	return &depth{
		desc: prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, "dead_letter_messages"),
			"Messages that wait in the dead-letter queue, as SQS approximates them.", nil, prometheus.Labels{"dead_letter_queue": queue}),
		ask: ask, clock: c, fails: fails,
	}
}

// Describe says that there is one metric.
func (d *depth) Describe(out chan<- *prometheus.Desc) { out <- d.desc }

// Collect asks, or remembers.
func (d *depth) Collect(out chan<- prometheus.Metric) {
	if count, known := d.read(); known {
		out <- prometheus.MustNewConstMetric(d.desc, prometheus.GaugeValue, float64(count))
	}
}

func (d *depth) read() (int64, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	if !d.asked.IsZero() && now.Sub(d.asked) < depthAge {
		return d.count, d.known
	}
	ctx, cancel := context.WithTimeout(context.Background(), depthBound)
	defer cancel()
	count, err := d.ask(ctx)
	if err != nil {
		d.fails(err)
	}
	d.asked, d.count, d.known = now, count, err == nil
	return d.count, d.known
}
