package telemetry

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"fifoproof/internal/clock"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

const (
	namespace = "fifoproof"
	subsystem = "consumer"
)

// Options are what metrics may be told beside what a consumer tells. The zero value
// of a field is its default.
type Options struct {
	// Version is the program's, for the metric build_info. "": there is none.
	Version string
	// StoreRetries tells how often the store's transactions were made again because of
	// a deadlock or a serialization failure. Nil: there is no such metric.
	StoreRetries func() int64
	// DeadLetters asks how many messages wait in the dead-letter queue. It is called on
	// a scrape, at most every fifteen seconds, with a context of five. Nil: there is no
	// such metric.
	DeadLetters func(ctx context.Context) (int64, error)
	// DeadLetterQueue is the name that DeadLetters' metric is labelled with.
	DeadLetterQueue string
	// Silence is how long a consumer with empty hands may go without an answer to a
	// poll before it counts as dead. 0: [DefaultSilence].
	Silence time.Duration
	// Clock dates what is in hand and times attempts. Nil: the machine's.
	Clock clock.Clock
}

// Metrics counts what a consumer of one queue does, and knows whether it is alive and
// ready. It is a consumer's Observer; its methods may be called concurrently.
type Metrics struct {
	registry *prometheus.Registry
	clock    clock.Clock
	health   *health
	hand     *hand

	deliveries prometheus.Counter
	outcomes   *prometheus.CounterVec
	repeats    prometheus.Counter
	attempts   *prometheus.HistogramVec
	waits      prometheus.Histogram
	takeovers  prometheus.Counter
	failures   *prometheus.CounterVec
	lag        prometheus.Histogram
	open       prometheus.Gauge
	working    prometheus.Gauge
	ready      prometheus.Gauge
}

// calls are those that an observer is told the failures of.
func calls() []string { return []string{"receive", "delete", "visibility", "store", deadLetters} }

// NewMetrics returns the metrics of a consumer of the queue of that name, in a registry
// of their own beside those of the process and of Go's runtime.
func NewMetrics(queue string, o Options) *Metrics {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(), clock: o.Clock,
		health: newHealth(o.Clock, o.Silence), hand: newHand(),

		deliveries: counter("deliveries_total", "Deliveries received and recorded."),
		outcomes:   prometheus.NewCounterVec(options("outcomes_total", "Deliveries by what they came to."), []string{"kind"}),
		repeats:    counter("repeats_total", "Deliveries whose key was known under another MessageId, whatever was made of that."),
		attempts: prometheus.NewHistogramVec(histogram("attempt_duration_seconds", "Attempts by what they came to, and how long the handler ran.",
			.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900), []string{"kind"}),
		waits: prometheus.NewHistogram(histogram("retry_wait_seconds", "Failed messages that are tried again, and for how long they are hidden until then.",
			1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 3600, 43200)),
		takeovers: counter("lease_takeovers_total", "Leases taken over from a worker that did not end them."),
		failures:  prometheus.NewCounterVec(options("call_failures_total", "Calls that failed and are made again."), []string{"call"}),
		lag: prometheus.NewHistogram(histogram("delivery_lag_seconds", "Age of messages when they are received for the first time.",
			.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600, 21600, 86400)),
		open:    gauge("lanes_open", "Message groups with messages in hand."),
		working: gauge("lanes_working", "Message groups whose handler is running."),
		ready:   gauge("ready", "Whether work can be done: 1, or 0."),
	}
	// From the start, so that the first of a kind is seen as an increase.
	for _, kind := range receipt.Kinds() {
		m.outcomes.WithLabelValues(string(kind))
	}
	for _, kind := range []receipt.Kind{receipt.Fresh, receipt.Failed, receipt.Rejected} {
		m.attempts.WithLabelValues(string(kind))
	}
	for _, call := range calls() {
		m.failures.WithLabelValues(call)
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	ours := prometheus.WrapRegistererWith(prometheus.Labels{"queue": queue}, m.registry)
	ours.MustRegister(m.deliveries, m.outcomes, m.repeats, m.attempts, m.waits, m.takeovers, m.failures, m.lag, m.open, m.working, m.ready,
		gaugeFunc("messages_in_hand", "Messages received and not settled.", func() float64 { return float64(m.hand.size()) }),
		gaugeFunc("oldest_message_age_seconds", "Age of the oldest message in hand; 0 where none is.", m.oldest),
	)
	m.optional(ours, o)
	return m
}

// optional registers what only some programs know.
func (m *Metrics) optional(ours prometheus.Registerer, o Options) {
	if o.Version != "" {
		info := prometheus.NewGaugeVec(prometheus.GaugeOpts(options("build_info", "The program's version and that of Go.")), []string{"version", "goversion"})
		info.WithLabelValues(o.Version, runtime.Version()).Set(1)
		ours.MustRegister(info)
	}
	if o.StoreRetries != nil {
		ours.MustRegister(prometheus.NewCounterFunc(options("store_retries_total", "Transactions made again because of a deadlock or a serialization failure."),
			func() float64 { return float64(o.StoreRetries()) }))
	}
	if o.DeadLetters != nil {
		ours.MustRegister(newDepth(o.DeadLetterQueue, o.DeadLetters, m.clock, func(err error) { m.CallFailed(deadLetters, err) }))
	}
}

// Registry is where the metrics are, for what else a program has to tell.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Received counts deliveries, and dates those that come for the first time: with a
// redelivery the age would be that of its retries.
func (m *Metrics) Received(deliveries []receipt.Delivery) {
	m.health.move()
	m.deliveries.Add(float64(len(deliveries)))
	m.hand.take(deliveries)
	for _, d := range deliveries {
		if d.ReceiveCount <= 1 && !d.SentAt.IsZero() {
			// The two clocks are different machines': a little less than nothing is nothing.
			m.lag.Observe(max(0, d.ReceivedAt.Sub(d.SentAt).Seconds()))
		}
	}
}

// Attempt times a handler.
func (m *Metrics) Attempt(ctx context.Context, _ handler.Event) (context.Context, func(receipt.Kind, error)) {
	started := m.clock.Now()
	return ctx, func(kind receipt.Kind, _ error) {
		m.attempts.WithLabelValues(string(kind)).Observe(m.clock.Now().Sub(started).Seconds())
	}
}

// Settled counts what a delivery came to.
func (m *Metrics) Settled(d receipt.Delivery, kind receipt.Kind, repeats bool) {
	m.hand.put(d)
	m.outcomes.WithLabelValues(string(kind)).Inc()
	if repeats {
		m.repeats.Inc()
	}
}

// TookOver counts the leases of workers that died.
func (m *Metrics) TookOver(receipt.Delivery) { m.takeovers.Inc() }

// BackedOff counts retries by how long they wait.
func (m *Metrics) BackedOff(_ receipt.Delivery, wait time.Duration) { m.waits.Observe(wait.Seconds()) }

// Lanes tells how many groups there are to work on.
func (m *Metrics) Lanes(open, working int) {
	m.health.lanes(open)
	m.open.Set(float64(open))
	m.working.Set(float64(working))
}

// CallFailed counts failures; a call that fails was at least made.
func (m *Metrics) CallFailed(call string, _ error) {
	if call != deadLetters {
		m.health.move()
	}
	m.failures.WithLabelValues(call).Inc()
}

// Ready is told to the readiness probe.
func (m *Metrics) Ready(ready bool, why string) {
	m.health.ready(ready, why)
	m.ready.Set(map[bool]float64{true: 1}[ready])
}

// oldest is the age in seconds of the oldest message in hand.
func (m *Metrics) oldest() float64 {
	sent, found := m.hand.oldest()
	if !found {
		return 0
	}
	return max(0, m.clock.Now().Sub(sent).Seconds())
}

func options(name, help string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}
}

func counter(name, help string) prometheus.Counter { return prometheus.NewCounter(options(name, help)) }

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts(options(name, help)))
}

func gaugeFunc(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts(options(name, help)), value)
}

func histogram(name, help string, buckets ...float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help, Buckets: buckets}
}
