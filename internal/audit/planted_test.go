package audit_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/audit"
	"fifoproof/internal/audit/audittest"
	"fifoproof/internal/cli"
	"fifoproof/internal/producer"
)

// linesWanted is the environment variable that makes the planted pair larger.
const linesWanted = "FIFOPROOF_AUDIT_LINES"

// pairFolder is the environment variable that keeps the pair for other programs.
const pairFolder = "FIFOPROOF_AUDIT_DIR"

// TestPlanted plants faults of every kind at known lines, and demands that the audit
// finds all of them and nothing else.
//
//	FIFOPROOF_AUDIT_LINES=10000000 FIFOPROOF_AUDIT_DIR=/var/tmp/pair go test -run TestPlanted -timeout 1h ./internal/audit
func TestPlanted(t *testing.T) {
	t.Parallel()
	pair := audittest.Pair{Messages: 100_000, Groups: 50, Each: 10, Seed: 5}
	if text := os.Getenv(linesWanted); text != "" {
		lines, err := strconv.Atoi(text)
		require.NoError(t, err)
		pair = audittest.Pair{Messages: lines, Groups: min(max(lines/10_000, 10), 1000), Each: min(max(lines/10_000, 1), 100), Seed: 5}
	}
	folder := os.Getenv(pairFolder)
	if folder == "" {
		folder = t.TempDir()
	}
	sends, receipts, planted := writePair(t, folder, pair)
	began := time.Now()
	report, err := audit.Run(context.Background(), sends, receipts, audit.Options{Temp: folder})
	require.NoError(t, err)
	t.Logf("%d and %d lines in %s, peak memory %s", report.SendLog.Lines, report.Receipts.Lines, time.Since(began).Round(time.Millisecond), peak())

	require.Equal(t, cli.Failed, report.Exit)
	require.GreaterOrEqual(t, report.SendLog.Lines, int64(pair.Messages))
	require.GreaterOrEqual(t, report.Receipts.Lines, int64(pair.Messages)*99/100)
	expect := map[string][]int64{
		"never-delivered fail":         planted[audittest.Loss],
		"never-delivered inconclusive": planted[audittest.Unanswered],
		"doubled-inside fail":          planted[audittest.Inside],
		"doubled-inside inconclusive":  planted[audittest.Edge],
		"doubled-outside note":         linesOf(planted, audittest.Outside, audittest.RunAgain),
		"effect-twice fail":            planted[audittest.TwiceDone],
		"out-of-order fail":            planted[audittest.Swap],
		"changed-body fail":            planted[audittest.Changed],
		"changed-id inconclusive":      planted[audittest.TwoNames],
		"stray fail":                   planted[audittest.Stray],
		"late note":                    planted[audittest.Late],
		"redelivered note":             linesOf(planted, audittest.Redelivered, audittest.TwiceDone, audittest.FailedOnce, audittest.TwoWorkers),
	}
	want, got := map[string]string{}, map[string]string{}
	for name, lines := range expect {
		want[name] = fmt.Sprintf("%d, first in line %d", len(lines), lines[0])
	}
	for _, f := range report.Findings {
		got[string(f.Kind)+" "+string(f.Verdict)] = fmt.Sprintf("%d, first in line %d", f.Count, f.First.Line)
	}
	require.Equal(t, want, got)
	left, err := filepath.Glob(filepath.Join(folder, "fifoproof-audit-*"))
	require.NoError(t, err)
	require.Empty(t, left, "temporary files are gone")
}

// linesOf are the lines of several faults, in order.
func linesOf(planted audittest.Planted, faults ...audittest.Fault) (lines []int64) {
	for _, fault := range faults {
		lines = append(lines, planted[fault]...)
	}
	slices.Sort(lines)
	return lines
}

func writePair(t testing.TB, folder string, pair audittest.Pair) (sends, receipts string, planted audittest.Planted) {
	t.Helper()
	sends, receipts = filepath.Join(folder, "sends.jsonl"), filepath.Join(folder, "receipts.jsonl")
	sendLog, err := os.Create(sends)
	require.NoError(t, err)
	received, err := os.Create(receipts)
	require.NoError(t, err)
	planted, err = pair.Write(sendLog, received)
	require.NoError(t, err)
	require.NoError(t, sendLog.Close())
	require.NoError(t, received.Close())
	for _, fault := range audittest.Faults() {
		switch fault {
		case audittest.LostReply, audittest.DeadLetter, audittest.Redriven, audittest.OtherTaker, audittest.CopyDone: // are no findings
			require.Empty(t, planted[fault], fault)
		default:
			require.Len(t, planted[fault], pair.Each, fault)
		}
	}
	return sends, receipts, planted
}

// peak is the most memory that the process had, where Linux tells it.
func peak() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(status)) {
		if size, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(size)
		}
	}
	return "unknown"
}

// TestPairIsASendLog holds the generator to the producer's own reader.
func TestPairIsASendLog(t *testing.T) {
	t.Parallel()
	sends, _, _ := writePair(t, t.TempDir(), audittest.Pair{Messages: 2000, Groups: 2, Each: 2, Seed: 1})
	file, err := os.Open(sends)
	require.NoError(t, err)
	defer file.Close()
	entries := 0
	notes, err := producer.ReadLog(bufio.NewReader(file), func(producer.Entry) error { entries++; return nil })
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Greater(t, entries, 2000)
}
