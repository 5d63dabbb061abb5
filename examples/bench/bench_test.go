package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type sink struct{ bytes.Buffer }

func (*sink) Close() error { return nil }

// Bodies are JSON of exactly the size that was asked for, no two alike, in all groups.
func TestBodies(t *testing.T) {
	t.Parallel()
	var out sink
	require.NoError(t, writeBodies(&out, 130, 64, 256))
	groups, events := map[string]int{}, map[int]bool{}
	for line := range strings.Lines(out.String()) {
		require.Len(t, line, 256+len("\n"))
		var b struct {
			Event int
			Group string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &b))
		groups[b.Group]++
		events[b.Event] = true
	}
	require.Len(t, events, 130)
	require.Len(t, groups, 64)
}

// The bars of issue 7, "Done when" 6.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	loop := result{name: "bare SDK loop", messages: 1000, took: time.Second}
	run := func(name string, messages int, rate float64, peak int64) result {
		return result{
			name: name, messages: messages, peak: peak, cpu: time.Second,
			took: time.Duration(float64(messages) / rate * float64(time.Second)),
		}
	}
	for _, tt := range []struct {
		name    string
		results []result
		reached []bool
	}{
		{"half of the bare loop", []result{loop, run("c", 1000, 500, 10)}, []bool{true}},
		{"less than half", []result{loop, run("c", 1000, 490, 10)}, []bool{false}},
		{"the quota, whatever the loop does", []result{{messages: 10_000, took: time.Second}, run("c", 9000, 3000, 10)}, []bool{true}},
		{"memory grows by a fifth", []result{loop, run("c", 1000, 600, 10), run("c", 10_000, 600, 12)}, []bool{true, true, true}},
		{"by more", []result{loop, run("c", 1000, 600, 10), run("c", 10_000, 600, 13)}, []bool{true, true, false}},
		{"each database has its own", []result{loop, run("c", 1000, 600, 10), run("d", 1000, 600, 90), run("d", 10_000, 600, 91)}, []bool{true, true, true, true}},
	} {
		all := true
		reached := []bool{}
		for _, v := range verdicts(tt.results) {
			reached = append(reached, v.reached)
			all = all && v.reached
		}
		require.Equal(t, tt.reached, reached, tt.name)
		passed, err := writeTables(io.Discard, plan{}, tt.results)
		require.NoError(t, err)
		require.Equal(t, all, passed, tt.name)
	}
}

func TestSummaryHasEveryEffectOnce(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkSummary([]byte(`{"queue":"q","deliveries":12,"effects":10}`), 10))
	require.ErrorContains(t, checkSummary([]byte(`{"deliveries":9,"effects":9}`), 10), "9 effects of 10 messages")
	require.Error(t, checkSummary(nil, 10))
}

func TestHighWater(t *testing.T) {
	t.Parallel()
	peak, ok := highWater(os.Getpid())
	if !ok {
		t.Skip("this system does not tell (proc(5), VmHWM)")
	}
	require.Greater(t, peak, int64(1<<20))
	_, ok = highWater(-1)
	require.False(t, ok)
}
