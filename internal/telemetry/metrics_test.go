package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// A message that fails once and then has its effect, and one that repeats it.
func TestMetricsCount(t *testing.T) {
	t.Parallel()
	c := newClock()
	m := NewMetrics("orders.fifo", Options{Clock: c, Version: "1.2.3", StoreRetries: func() int64 { return 7 }})
	m.Ready(true, "")
	first, second := delivery("m1", 1, start, 2*time.Second), delivery("m2", 1, start, 40*time.Second)
	m.Received([]receipt.Delivery{first, second})
	m.Lanes(2, 1)
	lanes := map[string]float64{"lanes_open": 2, "lanes_working": 1, "messages_in_hand": 2}
	require.Equal(t, lanes, only(scrape(t, m), lanes))
	attempt := func(d receipt.Delivery, took time.Duration, kind receipt.Kind, err error) {
		_, end := m.Attempt(t.Context(), handler.Event{Delivery: d})
		c.Advance(took)
		end(kind, err)
		m.Settled(d, kind, false)
	}
	attempt(first, 20*time.Millisecond, receipt.Failed, errors.New("the bank is closed"))
	m.BackedOff(first, 3*time.Second)
	m.Settled(second, receipt.Repeated, true)
	again := delivery("m1", 2, c.Now(), 5*time.Second)
	m.Received([]receipt.Delivery{again})
	m.TookOver(again)
	m.CallFailed("delete", errors.New("reset"))
	attempt(again, 2*time.Second, receipt.Fresh, nil)
	m.Lanes(0, 0)

	want := map[string]float64{
		"deliveries_total":                             3,
		label("outcomes_total", "kind", "fresh"):       1,
		label("outcomes_total", "kind", "failed"):      1,
		label("outcomes_total", "kind", "repeated"):    1,
		label("outcomes_total", "kind", "redelivered"): 0, // there from the start
		label("outcomes_total", "kind", "rejected"):    0,
		label("outcomes_total", "kind", "pending"):     0,

		"repeats_total": 1,

		label("attempt_duration_seconds_count", "kind", "fresh"):  1,
		label("attempt_duration_seconds_sum", "kind", "fresh"):    2,
		label("attempt_duration_seconds_count", "kind", "failed"): 1,
		label("attempt_duration_seconds_sum", "kind", "failed"):   .02,

		"retry_wait_seconds_count":                      1,
		"retry_wait_seconds_sum":                        3,
		"lease_takeovers_total":                         1,
		label("call_failures_total", "call", "delete"):  1,
		label("call_failures_total", "call", "receive"): 0,

		"lanes_open":                 0,
		"lanes_working":              0,
		"ready":                      1,
		"messages_in_hand":           0,
		"store_retries_total":        7,
		"delivery_lag_seconds_count": 2, // of m1's second delivery the age is that of its retry
		"delivery_lag_seconds_sum":   42,
	}
	require.Equal(t, want, only(scrape(t, m), want))
	_, text := get(t, m, "/metrics")
	require.Contains(t, text, `,version="1.2.3"} 1`)
	require.Contains(t, text, "\ngo_goroutines ")
	require.Contains(t, text, "\nprocess_resident_memory_bytes ")
}

// Whatever comes along, the number of series stays.
func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	m := NewMetrics("orders.fifo", Options{Clock: newClock()})
	all := func(n int) int {
		d := delivery(fmt.Sprint("m", n), n, start, time.Duration(n)*time.Second)
		d.Group, d.Key.Value, d.OriginID = fmt.Sprint("g", n), fmt.Sprint("k", n), fmt.Sprint("o", n)
		m.Received([]receipt.Delivery{d})
		_, end := m.Attempt(t.Context(), handler.Event{Delivery: d, Attempt: n})
		for _, kind := range receipt.Kinds() {
			end(kind, fmt.Errorf("failure %d", n))
			m.Settled(d, kind, true)
		}
		m.TookOver(d)
		m.BackedOff(d, time.Duration(n)*time.Second)
		m.Lanes(n, n)
		m.CallFailed("receive", fmt.Errorf("failure %d", n))
		m.Ready(n%2 == 0, fmt.Sprint("reason ", n))
		return len(scrape(t, m))
	}
	series := all(1)
	for n := range 50 {
		require.Equal(t, series, all(n+2))
	}
}

// The queue's clock and the consumer's are two.
func TestLagIsNeverNegative(t *testing.T) {
	t.Parallel()
	m := NewMetrics("orders.fifo", Options{Clock: newClock()})
	m.Received([]receipt.Delivery{delivery("m1", 1, start, -2*time.Second)})
	want := map[string]float64{"delivery_lag_seconds_count": 1, "delivery_lag_seconds_sum": 0, "oldest_message_age_seconds": 0}
	require.Equal(t, want, only(scrape(t, m), want))
}

func TestOldestInHand(t *testing.T) {
	t.Parallel()
	c := newClock()
	m := NewMetrics("orders.fifo", Options{Clock: c})
	age := func() float64 { return scrape(t, m)["oldest_message_age_seconds"] }
	require.Zero(t, age())
	old, young := delivery("old", 3, start, time.Hour), delivery("young", 1, start, time.Minute)
	untold := delivery("untold", 1, start, 0)
	untold.SentAt = time.Time{} // counts from when it was received
	m.Received([]receipt.Delivery{young, old, untold})
	c.Advance(30 * time.Second)
	require.InDelta(t, 3630, age(), 1e-9)
	m.Settled(old, receipt.Fresh, false)
	require.InDelta(t, 90, age(), 1e-9)
	m.Settled(young, receipt.Failed, false)
	require.InDelta(t, 30, age(), 1e-9)
	m.Settled(untold, receipt.Pending, false)
	require.Zero(t, age())
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	c := newClock()
	asked, answer := 0, errors.New("no route")
	m := NewMetrics("orders.fifo", Options{Clock: c, DeadLetterQueue: "orders-dlq.fifo", DeadLetters: func(ctx context.Context) (int64, error) {
		asked++
		until, bound := ctx.Deadline()
		require.True(t, bound)
		require.LessOrEqual(t, time.Until(until), 5*time.Second)
		return 12, answer
	}})
	series := label("dead_letter_messages", "dead_letter_queue", "orders-dlq.fifo")
	require.NotContains(t, scrape(t, m), series, "nothing is said while nothing is known")
	require.InDelta(t, 1, scrape(t, m)[label("call_failures_total", "call", "dead-letters")], 0)
	require.Equal(t, 1, asked, "a failure is remembered too")
	answer = nil
	c.Advance(15 * time.Second)
	require.InDelta(t, 12, scrape(t, m)[series], 0)
	c.Advance(14 * time.Second)
	require.InDelta(t, 12, scrape(t, m)[series], 0)
	require.Equal(t, 2, asked)
	answer = errors.New("denied")
	c.Advance(time.Second)
	require.NotContains(t, scrape(t, m), series, "an old number would be taken for the depth now")
	require.Equal(t, 3, asked)
}

// Several who scrape at once are one question to the queue.
func TestDeadLettersAreAskedForOnce(t *testing.T) {
	t.Parallel()
	var asked int
	m := NewMetrics("orders.fifo", Options{Clock: newClock(), DeadLetters: func(context.Context) (int64, error) { asked++; return 1, nil }})
	var scrapes sync.WaitGroup
	for range 4 {
		scrapes.Go(func() { m.Registry().Gather() })
	}
	scrapes.Wait()
	require.Equal(t, 1, asked)
}

// The names follow Prometheus's own rules, and docs/monitoring.md has each of them.
func TestNames(t *testing.T) {
	t.Parallel()
	m := NewMetrics("orders.fifo", Options{
		Clock: newClock(), Version: "1", StoreRetries: func() int64 { return 0 },
		DeadLetterQueue: "d", DeadLetters: func(context.Context) (int64, error) { return 0, nil },
	})
	_, end := m.Attempt(t.Context(), handler.Event{})
	end(receipt.Fresh, nil)
	code, text := get(t, m, "/metrics")
	require.Equal(t, http.StatusOK, code)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)

	document, err := os.ReadFile("../../docs/monitoring.md")
	require.NoError(t, err)
	names := func(pattern, text string) []string {
		var found []string
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, match[1])
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	require.Equal(t, names(`(?m)^# TYPE (fifoproof_\w+)`, text), names("(?m)^\\| `(fifoproof_\\w+)`", string(document)))
}
