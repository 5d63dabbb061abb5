package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/deadletter"
	"fifoproof/internal/receipt"
)

// consume runs the program on the graveyard until nothing is left to do.
func (g *graveyard) consume(t *testing.T, db string, args ...string) outcome {
	t.Helper()
	return execute(t.Context(), append([]string{
		"--queue", "orders.fifo", "--endpoint", g.url, "--db", db, "--until-empty", "1s", "--visibility", "2s", "--backoff-base", "1ms", "--backoff-cap", "1ms",
	}, args...)...)
}

// TestExerciseDeadLetters: a handler that fails on purpose. Each message is in the
// dead-letter queue after exactly three attempts; the report has source, time and reason
// of each; the alert comes with more than ten and not with ten; redrive brings all back,
// and each effect happens once.
func TestExerciseDeadLetters(t *testing.T) {
	t.Parallel()
	g, db := newGraveyard(t, clock.Real{}, 3), database(t)
	fail := []string{"--handler", "exec sh -c 'echo no stock >&2; exit 1'"}
	watch := func() outcome {
		return g.dlq(t, "watch", "--queue", "dead.fifo", "--once", "--alert-over", "10", "--alert-run", "touch "+filepath.Join(filepath.Dir(db), "alert"))
	}
	begun := time.Now()
	sent := map[string]bool{}
	for n := range 10 {
		sent[g.send(t, fmt.Sprint("customer-", n), fmt.Sprint(n), fmt.Sprintf(`{"order":%d}`, n))] = true
	}
	got := g.consume(t, db, fail...)
	require.Equal(t, cli.Failed, got.code, got.err)
	require.Equal(t, deadletter.Depth{Visible: 10}, g.depth(t, g.dead))
	require.Equal(t, deadletter.Depth{}, g.depth(t, g.queue))
	require.Equal(t, cli.OK, watch().code)
	require.NoFileExists(t, filepath.Join(filepath.Dir(db), "alert"))

	sent[g.send(t, "customer-1", "10", `{"order":10}`)] = true
	g.consume(t, db, fail...)
	require.Equal(t, cli.Failed, watch().code)
	require.FileExists(t, filepath.Join(filepath.Dir(db), "alert"))

	listed := g.dlq(t, "list", "--queue", "dead.fifo", "--db", db, "--reason", "no stock", "--json")
	require.Equal(t, cli.OK, listed.code, listed.err)
	lines := strings.Split(strings.TrimSpace(listed.out), "\n")
	require.Len(t, lines, 11)
	for _, text := range lines {
		var line dlqLine
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		require.True(t, sent[line.MessageID])
		require.Equal(t, "orders.fifo", line.Source)
		require.Equal(t, deadletter.Open, line.State)
		require.Len(t, line.Attempts, 3, "exactly three attempts: %s", text)
		for i, a := range line.Attempts {
			require.Equal(t, i+1, a.Number)
			require.Equal(t, receipt.Failed, a.Kind)
			require.Contains(t, a.Reason, "no stock")
			require.WithinRange(t, a.ReceivedAt, begun, time.Now())
			require.WithinRange(t, *a.StartedAt, begun, time.Now())
			require.WithinRange(t, *a.EndedAt, *a.StartedAt, time.Now())
		}
	}

	moved := g.dlq(t, "redrive", "--queue", "dead.fifo", "--db", db, "--approve", "11")
	require.Equal(t, cli.OK, moved.code, moved.err)
	require.Equal(t, 11, strings.Count(moved.out, "sent  "))
	require.Equal(t, deadletter.Depth{}, g.depth(t, g.dead))
	got = g.consume(t, db)
	require.Equal(t, cli.OK, got.code, got.err)
	require.Contains(t, got.err, "11 deliveries · 11 effects")
	got = g.consume(t, db)
	require.Contains(t, got.err, "0 deliveries · 0 effects")

	// Every effect is that of a first message, once.
	store, err := openStore(t.Context(), db, true)
	require.NoError(t, err)
	defer store.Close()
	counts, err := store.Counts(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(11), counts.Effects)
	require.Equal(t, int64(11), counts.Fresh)
	require.Equal(t, int64(33), counts.Failed)
	for id := range sent {
		records, err := store.Message(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, records, 4, "three attempts failed, the fourth is the copy's")
		require.Equal(t, 4, records[3].Attempt.Number)
		require.Equal(t, receipt.Fresh, records[3].Kind)
	}
}
