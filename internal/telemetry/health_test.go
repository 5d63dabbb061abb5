package telemetry

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReady(t *testing.T) {
	t.Parallel()
	m := NewMetrics("orders.fifo", Options{Clock: newClock()})
	probe := func(code int, text string) {
		gotCode, gotText := get(t, m, "/readyz")
		require.Equal(t, code, gotCode)
		require.Equal(t, text, gotText)
	}
	probe(http.StatusServiceUnavailable, "starting\n")
	m.Ready(true, "")
	probe(http.StatusOK, "ok\n")
	require.InDelta(t, 1, scrape(t, m)["ready"], 0)
	m.Ready(false, "the handler answers 401")
	probe(http.StatusServiceUnavailable, "the handler answers 401\n")
	require.Zero(t, scrape(t, m)["ready"])
	m.Ready(false, "")
	probe(http.StatusServiceUnavailable, "not ready\n")
}

// Alive: an answer to a poll, an empty one or a failed one, within 90 s, or work in hand.
func TestLive(t *testing.T) {
	t.Parallel()
	c := newClock()
	m := NewMetrics("orders.fifo", Options{Clock: c})
	alive := func(want bool, why string) {
		code, text := get(t, m, "/livez")
		require.Equal(t, want, code == http.StatusOK, "%s: %s", why, text)
	}
	alive(true, "it has just begun")
	c.Advance(90 * time.Second)
	alive(true, "within the time")
	c.Advance(time.Second)
	alive(false, "over it")
	_, text := get(t, m, "/livez")
	require.Equal(t, "no answer to a poll for 1m31s, with nothing in hand\n", text)
	m.Received(nil)
	alive(true, "an empty reply")
	c.Advance(91 * time.Second)
	m.CallFailed("receive", errors.New("no route"))
	alive(true, "a failed poll is a poll: restarting mends no network")
	m.Lanes(1, 1)
	c.Advance(12 * time.Hour)
	alive(true, "a handler may take its time, and so may a back-off")
	m.Lanes(0, 0)
	c.Advance(91 * time.Second)
	alive(false, "empty hands again")
	m.CallFailed(deadLetters, errors.New("no route"))
	alive(false, "a scrape says nothing of the consumer")
}

func TestSilenceIsAnOption(t *testing.T) {
	t.Parallel()
	c := newClock()
	m := NewMetrics("orders.fifo", Options{Clock: c, Silence: 5 * time.Second})
	c.Advance(6 * time.Second)
	code, _ := get(t, m, "/livez")
	require.Equal(t, http.StatusServiceUnavailable, code)
}
