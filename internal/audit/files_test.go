package audit_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/audit"
	"fifoproof/internal/cli"
	"fifoproof/internal/producer"
	"fifoproof/internal/receipt"
)

// run sets the run of an entry.
func run(name string) func(*producer.Entry) { return func(e *producer.Entry) { e.Run = name } }

// pairOfRuns is a history of two runs; cut cuts off a line of the send log.
func pairOfRuns(t *testing.T, cut int) (sends, receipts string) {
	t.Helper()
	var h history
	h.send(0, "a", "m1")
	h.send(1, "b", "m2")
	h.send(100, "c", "m3")
	h.send(101, "d", "m4", run("0000beef"))
	for i, id := range []string{"a", "b", "c", "d"} {
		sent := []float64{0, 1, 100, 101}[i]
		h.deliver(sent, sent+0.5, id, "m"+string(rune('1'+i)))
	}
	sends, receipts = h.write(t)
	text, err := os.ReadFile(sends)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	if cut > 0 {
		lines[cut-1] = lines[cut-1][:40]
		if cut < 4 {
			lines[cut-1] += "\n"
		}
	}
	require.NoError(t, os.WriteFile(sends, []byte(strings.Join(lines, "")), 0o600))
	return sends, receipts
}

func TestCutSendLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cut         int
		stray, note string
		err         string
	}{
		// The message of the cut line is delivered, and nobody is to blame for it.
		{cut: 3, stray: "stray inconclusive 1@3", note: "line 3 of "},
		{cut: 4, stray: "stray inconclusive 1@4", note: "line 4 of "},
		{cut: 1, stray: "stray inconclusive 1@1", note: "line 1 of "}, // its run is not known
		{cut: 2, err: "sends.jsonl line 2: no send log entry"},
	} {
		sends, receipts := pairOfRuns(t, tt.cut)
		report, err := audit.Run(context.Background(), sends, receipts, audit.Options{})
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err)
			require.NotEmpty(t, cli.HintOf(err))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []string{tt.stray}, brief(report))
		require.Len(t, report.Notes, 1)
		require.Contains(t, report.Notes[0], tt.note)
		require.Equal(t, cli.Inconclusive, report.Exit)
	}
}

func TestCutReceipts(t *testing.T) {
	t.Parallel()
	sends, receipts := pairOfRuns(t, 0)
	text, err := os.ReadFile(receipts)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(receipts, text[:len(text)-30], 0o600))
	report, err := audit.Run(context.Background(), sends, receipts, audit.Options{})
	require.NoError(t, err)
	require.Contains(t, report.Notes[0], "line 4 of ")
	require.Equal(t, []string{"never-delivered inconclusive 1@4"}, brief(report))

	require.NoError(t, os.WriteFile(receipts, append(text[:100:100], append([]byte("\n"), text...)...), 0o600))
	_, err = audit.Run(context.Background(), sends, receipts, audit.Options{})
	require.ErrorContains(t, err, "receipts.jsonl line 1: no receipt in JSON")
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	sends, receipts := pairOfRuns(t, 0)
	folder := t.TempDir()
	long := filepath.Join(folder, "long.jsonl")
	require.NoError(t, os.WriteFile(long, bytes.Repeat([]byte("x"), 3<<20), 0o600))
	for _, tt := range []struct{ sends, receipts, temp, err string }{
		{sends: filepath.Join(folder, "none"), receipts: receipts, err: "none"},
		{sends: sends, receipts: filepath.Join(folder, "none"), err: "none"},
		{sends: folder, receipts: receipts, err: "is no regular file"},
		{sends: receipts, receipts: sends, err: "receipts.jsonl line 1: version 0 of the send log"},
		{sends: sends, receipts: sends, err: "sends.jsonl line 1: a receipt without queue or received_at"},
		{sends: long, receipts: receipts, err: "long.jsonl line 1: longer than"},
		{sends: sends, receipts: long, err: "long.jsonl line 1: longer than"},
		{sends: sends, receipts: receipts, temp: filepath.Join(folder, "none"), err: "making a temporary file"},
	} {
		_, err := audit.Run(context.Background(), tt.sends, tt.receipts, audit.Options{Temp: tt.temp})
		require.ErrorContains(t, err, tt.err)
	}
}

// TestFullDisk writes its temporary file to a device that is always full.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	sends, receipts := pairOfRuns(t, 0)
	_, err := audit.RunOn(t, "/dev/full", sends, receipts)
	require.ErrorContains(t, err, "no space left on device")
	require.Contains(t, cli.HintOf(err), "--temp")
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	sends, receipts := pairOfRuns(t, 0)
	temp := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	steps := []string{}
	_, err := audit.Run(ctx, sends, receipts, audit.Options{Temp: temp, Progress: func(step string, _ float64) {
		if steps = append(steps, step); len(steps) == 3 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestProgress(t *testing.T) {
	t.Parallel()
	sends, receipts := pairOfRuns(t, 0)
	last := 0.0
	_, err := audit.Run(context.Background(), sends, receipts, audit.Options{Progress: func(step string, done float64) {
		require.NotEmpty(t, step)
		require.GreaterOrEqual(t, done, last)
		last = done
	}})
	require.NoError(t, err)
	require.InDelta(t, 1, last, 0.01)
}

// TestDatabase reads the same receipts from a database, and shows the same.
func TestDatabase(t *testing.T) {
	t.Parallel()
	var h history
	h.send(0, "a", "m1")
	h.send(1, "b", "m2")
	h.deliver(1, 1.1, "b", "m2")
	h.deliver(0, 1.2, "a", "m1")
	h.deliver(2, 2.1, "x", "m9", group("h"))
	h.send(4, "c", "m3", sendGroup("i"))
	h.deliver(4, 4.1, "c", "m3", group("i"))
	sends, _ := h.write(t)
	database := filepath.Join(t.TempDir(), "receipts.db")
	require.NoError(t, os.WriteFile(database, append([]byte("SQLite format 3\x00"), make([]byte, 4096)...), 0o600))

	opened, closed := 0, 0
	failure := error(nil)
	horizon, read := time.Time{}, false
	open := func(context.Context, string) (*audit.Database, error) {
		opened++
		return &audit.Database{
			Format: "SQLite",
			Receipts: func(yield func(receipt.Receipt, error) bool) {
				for _, r := range h.receipts {
					if !yield(r, failure) || failure != nil {
						return
					}
				}
				read = true
			},
			Horizon: func(context.Context) (time.Time, error) {
				require.True(t, read, "what is forgotten while receipts are read is before the horizon")
				return horizon, nil
			},
			Close: func() error { closed++; return nil },
		}, nil
	}
	report, err := audit.Run(context.Background(), sends, database, audit.Options{Database: open})
	require.NoError(t, err)
	require.Equal(t, []string{"out-of-order fail 1@0", "stray fail 1@0"}, brief(report))
	require.Equal(t, audit.File{Path: database, Format: "SQLite", Lines: 4}, report.Receipts)
	require.Equal(t, int64(2), report.Findings[0].First.Receipt)
	require.Equal(t, int64(1), report.Findings[0].First.Other.Receipt)
	require.Equal(t, "m1", report.Findings[0].First.MessageID)
	require.Equal(t, 1, opened)
	require.Equal(t, opened, closed)
	require.Zero(t, report.Horizon)

	h.receipts = h.receipts[1:] // b is forgotten
	horizon = at(1.5)
	report, err = audit.Run(context.Background(), sends, database, audit.Options{Database: open})
	require.NoError(t, err)
	require.Equal(t, []string{"stray fail 1@0", "never-delivered inconclusive 1@2"}, brief(report))
	require.Equal(t, at(1.5), report.Horizon)
	require.Contains(t, report.Notes[0], "2026-03-02T09:00:01.5Z")

	_, err = audit.Run(context.Background(), sends, database, audit.Options{})
	require.ErrorContains(t, err, "receipts.db is a database")
	failure = errors.New("the disk is gone")
	_, err = audit.Run(context.Background(), sends, database, audit.Options{Database: open})
	require.ErrorContains(t, err, "the disk is gone")
}

// TestTolerant leaves the exit code alone where nothing is certain.
func TestTolerant(t *testing.T) {
	t.Parallel()
	var h history
	h.send(0, "a", "")
	sends, receipts := h.write(t)
	for tolerant, exit := range map[bool]int{false: cli.Inconclusive, true: cli.OK} {
		report, err := audit.Run(context.Background(), sends, receipts, audit.Options{Tolerant: tolerant})
		require.NoError(t, err)
		require.Equal(t, []string{"never-delivered inconclusive 1@1"}, brief(report))
		require.Equal(t, exit, report.Exit)
	}
}

// TestOffender shows what is told of the first case of a finding.
func TestOffender(t *testing.T) {
	t.Parallel()
	var h history
	h.send(0, "a", "m1")
	h.send(10, "a", "m2")
	h.deliver(0, 0.1, "a", "m1")
	h.deliver(10, 10.1, "a", "m2", kind(receipt.Repeated), group("h"))
	sends, receipts := h.write(t)
	report, err := audit.Run(context.Background(), sends, receipts, audit.Options{})
	require.NoError(t, err)
	require.Len(t, report.Findings, 1)
	first := report.Findings[0].First
	require.InDelta(t, 10, *first.GapSeconds, 1e-9)
	require.Equal(t, audit.Place{
		File: receipts, Line: 2, Receipt: 2, Queue: "orders.fifo", Group: "h", ID: "a", MessageID: "m2", SequenceNumber: sequenceAt(10),
		BodyDigest: "a", Kind: "repeated", Key: "a", ReceiveCount: 1, SentAt: at(10), ReceivedAt: at(10.1),
	}, first.Place)
	require.Equal(t, int64(1), first.Other.Line)
	require.Contains(t, first.Reason, "give --scope messageGroup")
}

// TestDatabaseByURL reads receipts of a database that is no file, and keeps its
// password to itself.
func TestDatabaseByURL(t *testing.T) {
	t.Parallel()
	var h history
	h.send(0, "a", "m1")
	h.deliver(0, 0.1, "a", "m1")
	sends, _ := h.write(t)
	closed := 0
	open := func(_ context.Context, where string) (*audit.Database, error) {
		require.Contains(t, where, "secret", "the password is needed to open it")
		return &audit.Database{
			Format: "PostgreSQL", Rows: 1,
			Receipts: func(yield func(receipt.Receipt, error) bool) { yield(h.receipts[0], nil) },
			Horizon:  func(context.Context) (time.Time, error) { return time.Time{}, nil },
			Close:    func() error { closed++; return nil },
		}, nil
	}
	for where, shown := range map[string]string{
		"postgres://me:secret@db.example.org/receipts?sslmode=require": "postgres://me:xxxxx@db.example.org/receipts?sslmode=require",
		"postgres://db.example.org/receipts?password=secret":           "postgres://db.example.org/receipts?password=xxxxx",
		"postgres://db.example.org:secret/receipts":                    "the database",
	} {
		report, err := audit.Run(context.Background(), sends, where, audit.Options{Database: open})
		require.NoError(t, err)
		require.Empty(t, report.Findings)
		require.Equal(t, cli.OK, report.Exit)
		require.Equal(t, audit.File{Path: shown, Format: "PostgreSQL", Lines: 1}, report.Receipts)

		_, err = audit.Run(context.Background(), sends, where, audit.Options{})
		require.ErrorContains(t, err, "nothing was given to open it with")
		require.NotContains(t, err.Error(), "secret")
	}
	require.Equal(t, 3, closed)
}
