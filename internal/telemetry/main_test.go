package telemetry

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/clock"
	"fifoproof/internal/consumer"
	"fifoproof/internal/receipt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	_ consumer.Observer = (*Metrics)(nil)
	_ consumer.Observer = (*Tracing)(nil)
)

var start = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

func newClock() *clock.Manual { return clock.NewManual(start, time.Minute) }

// delivery is a message's n-th delivery, received at an instant that it waited for.
func delivery(message string, n int, at time.Time, waited time.Duration) receipt.Delivery {
	return receipt.Delivery{
		Queue: "orders.fifo", MessageID: message, Group: "customer-1", ReceiveCount: n, SentAt: at.Add(-waited), ReceivedAt: at,
		Key: receipt.Key{Consumer: "billing", Space: "event", Value: "k"},
	}
}

// get asks the handler for a path.
func get(t *testing.T, m *Metrics, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// scrape is every series of ours by its name and labels, without the label queue,
// which all of them have.
func scrape(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	code, text := get(t, m, "/metrics")
	require.Equal(t, http.StatusOK, code)
	all := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, "fifoproof_") {
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		require.Contains(t, name, `queue="orders.fifo"`)
		for _, label := range []string{`,queue="orders.fifo"`, `queue="orders.fifo",`, `{queue="orders.fifo"}`} {
			name = strings.Replace(name, label, "", 1)
		}
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, line)
		all[strings.TrimPrefix(name, "fifoproof_consumer_")] = number
	}
	return all
}

// only are the series that the wanted ones name.
func only(all map[string]float64, want map[string]float64) map[string]float64 {
	some := map[string]float64{}
	for name := range want {
		if value, there := all[name]; there {
			some[name] = value
		}
	}
	return some
}

func label(name, key, value string) string { return fmt.Sprintf("%s{%s=%q}", name, key, value) }
