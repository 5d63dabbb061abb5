package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/backoff"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestPeakIsTenTimesLower is issue 7, Done when 5: with base 8 s, cap 60 s, bins of
// 100 ms and 100 fixed seeds, in every one.
func TestPeakIsTenTimesLower(t *testing.T) {
	t.Parallel()
	s := settings()[0]
	require.Equal(t, backoff.Policy{Base: 8 * time.Second, Cap: time.Minute}, s.policy)
	without := peak(s.steady().calls(0))
	require.Equal(t, clients, without, "without jitter every retry is of all clients at once")
	for seed := range uint64(seeds) {
		require.GreaterOrEqual(t, float64(without)/float64(peak(s.calls(seed+1))), 10.0, "seed %d", seed+1)
	}
}

// What docs/backoff.md says of the other two: neither would reach the bar.
func TestShortBaseAndWholeSeconds(t *testing.T) {
	t.Parallel()
	for _, s := range settings()[1:] {
		m := s.measure()
		require.Equal(t, clients, m.steady, s.name)
		require.Greater(t, m.least, 2.0, s.name)
		require.Less(t, m.utmost, float64(bar), s.name)
	}
}

func TestSteadyCallsAreTheLimitsAddedUp(t *testing.T) {
	t.Parallel()
	s := settings()[0].steady()
	counts := histogram(s.calls(1))
	for i, count := range counts {
		switch at := time.Duration(i) * bin; at {
		case 8 * time.Second, 24 * time.Second, 56 * time.Second, 116 * time.Second, 176 * time.Second:
			require.Equal(t, clients, count, at)
		default:
			require.Zero(t, count, at)
		}
	}
	require.Equal(t, 176*time.Second, s.longest())
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		calls := s.calls(7)
		require.Len(t, calls, clients*retries, "the first attempts are left out")
		require.Equal(t, calls, s.calls(7), "a seed is a run")
		require.NotEqual(t, calls, s.calls(8))
		sum := 0
		for _, n := range histogram(calls) {
			sum += n
		}
		require.Equal(t, len(calls), sum)
		for i, at := range calls {
			require.LessOrEqual(t, at, s.longest())
			if i%retries > 0 {
				require.GreaterOrEqual(t, at, calls[i-1], "a client's waits add up")
			}
			if s.whole {
				require.Zero(t, at%time.Second)
			}
		}
	}
}

func TestHistogramAndPeak(t *testing.T) {
	t.Parallel()
	calls := []time.Duration{0, bin - 1, bin, 3*bin + 1, 3 * bin, 3*bin + 99}
	require.Equal(t, []int{2, 1, 0, 3}, histogram(calls))
	require.Equal(t, 3, peak(calls))
}

func TestText(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	reached, err := writeText(&got)
	require.NoError(t, err)
	require.True(t, reached)
	golden(t, "testdata/herd.txt", got.Bytes())
}

// The committed picture is what "go run ./examples/herd --svg docs/backoff.svg" writes.
func TestPicture(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	require.NoError(t, writePicture(&got))
	decoder := xml.NewDecoder(bytes.NewReader(got.Bytes()))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	golden(t, "../../docs/backoff.svg", got.Bytes())
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make golden writes it")
	require.Equal(t, string(want), string(got))
}
