package deadletter

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
)

// script is a watch over depths, one a reading.
func script(depths ...int) (*Watch, *[]Reading) {
	var readings []Reading
	c := clock.NewVirtual(start)
	n := 0
	return &Watch{
		Limit: 10, Interval: time.Minute, Clock: c,
		Read: func(context.Context) (Depth, error) {
			n++
			if depths[n-1] < 0 {
				return Depth{}, errKilled
			}
			return Depth{Visible: depths[n-1]}, nil
		},
		Told: func(r Reading) { readings = append(readings, r) },
	}, &readings
}

// The alert is for more than the limit and not for the limit, once for each time that the
// depth rises above it. A reading that failed says nothing about that.
func TestWatchAlertsOncePerCrossing(t *testing.T) {
	t.Parallel()
	depths := []int{0, 10, 11, 12, -1, 30, 10, 9, 11, 0, 10}
	w, readings := script(depths...)
	var alerts []int
	w.Alert = func(_ context.Context, r Reading) error { alerts = append(alerts, r.Depth.Total()); return nil }
	for range depths {
		w.Told(w.Once(t.Context()))
	}
	require.Equal(t, []int{11, 11}, alerts)
	require.False(t, (*readings)[1].Over, "ten are not more than ten")
	require.True(t, (*readings)[2].Alerted)
	require.True(t, (*readings)[3].Over)
	require.False(t, (*readings)[3].Alerted)
	require.ErrorIs(t, (*readings)[4].Err, errKilled)
}

// An alert that could not be given is given again, until it could be, or until there is no
// more reason for it.
func TestWatchRepeatsFailedAlerts(t *testing.T) {
	t.Parallel()
	depths := []int{11, 11, 11, 11, 5, 11, 5, 5}
	w, readings := script(depths...)
	calls := 0
	w.Alert = func(context.Context, Reading) error {
		if calls++; calls == 3 {
			return nil
		}
		return errKilled
	}
	for range depths {
		w.Told(w.Once(t.Context()))
	}
	require.Equal(t, 4, calls)
	require.ErrorIs(t, (*readings)[0].AlertErr, errKilled)
	require.True(t, (*readings)[2].Alerted)
	require.NoError(t, (*readings)[6].AlertErr)
}

// Readings are due at whole intervals from the start, however long an answer takes: ten
// seconds each, and once two and a half minutes.
func TestWatchDoesNotDrift(t *testing.T) {
	t.Parallel()
	w, _ := script()
	var at []time.Duration
	ctx, cancel := context.WithCancel(t.Context())
	w.Read = func(context.Context) (Depth, error) {
		took := 10 * time.Second
		if len(at) == 1 {
			took = 150 * time.Second
		}
		return Depth{}, clock.Sleep(ctx, w.Clock, took)
	}
	w.Told = func(r Reading) {
		if at = append(at, r.At.Sub(start)); len(at) == 4 {
			cancel()
		}
	}
	w.Run(ctx)
	require.Equal(t, []time.Duration{0, time.Minute, 4 * time.Minute, 5 * time.Minute}, at)
}

func TestWatchWithoutLimit(t *testing.T) {
	t.Parallel()
	w, _ := script(1000)
	w.Limit = -1
	require.False(t, w.Once(t.Context()).Over)
}

func TestReadDepth(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	w.bury("a.fifo", "g", "{}")
	require.Equal(t, Depth{Visible: 1}, w.depth("dead.fifo"))
	_, err := ReadDepth(t.Context(), w.client, w.url("none.fifo"))
	require.ErrorContains(t, err, "reading the depth of the queue none.fifo")
}
