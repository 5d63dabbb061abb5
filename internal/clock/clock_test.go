package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func TestVirtualWalks(t *testing.T) {
	t.Parallel()
	c := clock.NewVirtual(start)
	require.NoError(t, clock.Sleep(t.Context(), c, 5*time.Minute))
	require.Equal(t, start.Add(5*time.Minute), c.Now())

	require.NoError(t, c.Wait(t.Context(), start, nil), "a moment that has passed is not waited for")
	require.Equal(t, start.Add(5*time.Minute), c.Now(), "time never goes back")

	awake := make(chan struct{})
	close(awake)
	require.NoError(t, c.Wait(t.Context(), start.Add(time.Hour), awake))
	require.Equal(t, start.Add(5*time.Minute), c.Now(), "whoever is awake already lets no time pass")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Wait(ended, start.Add(time.Hour), nil), context.Canceled)
	require.Equal(t, start.Add(5*time.Minute), c.Now())
}

func TestManualStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewManual(start, 50*time.Millisecond)
		began := time.Now()
		require.ErrorIs(t, c.Wait(t.Context(), start.Add(time.Second), nil), clock.ErrStandsStill)
		require.Equal(t, 50*time.Millisecond, time.Since(began))
		require.Equal(t, start, c.Now())
		require.NoError(t, c.Wait(t.Context(), start, nil))
	})
}

func TestManualIsMovedByHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewManual(start, time.Hour)
		done := make(chan error)
		go func() { done <- c.Wait(t.Context(), start.Add(time.Minute), nil) }()
		synctest.Wait()
		require.Equal(t, start.Add(59*time.Second), c.Advance(59*time.Second))
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("woke a second early: %v", err)
		default:
		}
		c.Advance(time.Second)
		require.NoError(t, <-done)
		require.Equal(t, start.Add(time.Minute), c.Advance(-time.Hour), "time never goes back")
	})
}

func TestManualWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewManual(start, time.Hour)
		wake, done := make(chan struct{}), make(chan error)
		go func() { done <- c.Wait(t.Context(), start.Add(time.Minute), wake) }()
		synctest.Wait()
		close(wake)
		require.NoError(t, <-done)

		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- c.Wait(ctx, start.Add(time.Minute), nil) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestReal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c clock.Real
		began := c.Now()
		require.NoError(t, clock.Sleep(t.Context(), c, 5*time.Minute))
		require.Equal(t, 5*time.Minute, c.Now().Sub(began))
		require.NoError(t, clock.Sleep(t.Context(), c, -time.Second))

		wake := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(wake) })
		require.NoError(t, c.Wait(t.Context(), c.Now().Add(time.Hour), wake))
		require.Equal(t, 5*time.Minute+time.Second, c.Now().Sub(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, clock.Sleep(ctx, c, time.Hour), context.DeadlineExceeded)
	})
}
