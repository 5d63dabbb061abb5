package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/audit"
	"fifoproof/internal/audit/audittest"
	"fifoproof/internal/cli"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

// auditPair writes a small pair with one fault of each kind.
func auditPair(t *testing.T) (sends, receipts string) {
	t.Helper()
	var s, r bytes.Buffer
	_, err := audittest.Pair{Messages: 2000, Groups: 2, Each: 1, Seed: 1}.Write(&s, &r)
	require.NoError(t, err)
	folder := t.TempDir()
	sends, receipts = filepath.Join(folder, "sends.jsonl"), filepath.Join(folder, "receipts.jsonl")
	require.NoError(t, os.WriteFile(sends, s.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(receipts, r.Bytes(), 0o600))
	return sends, receipts
}

func TestAudit(t *testing.T) {
	sends, receipts := auditPair(t)
	before := debug.SetMemoryLimit(-1)
	got := call(t, "", "audit", sends, receipts)
	require.Equal(t, cli.Failed, got.code, got.err)
	require.Empty(t, got.err, "small files need no talk")
	require.Contains(t, got.out, "FAIL  never-delivered · the only one")
	require.Contains(t, got.out, " · exit 1\n")
	require.Equal(t, before, debug.SetMemoryLimit(-1), "the limit is the audit's own")

	got = call(t, "", "audit", sends, receipts, "--json", "--inconclusive", "warn", "--late", "2m", "--grace", "1h", "--scope", "messageGroup")
	require.Equal(t, cli.Failed, got.code, got.err)
	var result audit.Report
	require.NoError(t, json.Unmarshal([]byte(got.out), &result))
	require.Equal(t, "messageGroup", result.Scope)
	require.InDelta(t, 3600, result.GraceSeconds, 0)
	for _, f := range result.Findings {
		require.NotEqual(t, audit.Late, f.Kind, "two minutes are allowed")
	}
}

// TestAuditDatabase audits the consumer's file as it is.
func TestAuditDatabase(t *testing.T) {
	sends, _ := auditPair(t)
	database := filepath.Join(t.TempDir(), "receipts.db")
	ctx := context.Background()
	store, err := sqlite.Open(ctx, database)
	require.NoError(t, err)
	now := time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC)
	d := receipt.Delivery{
		Queue: "orders.fifo", MessageID: "stranger", Group: "g", DedupID: "x", SequenceNumber: "1", ReceiveCount: 1, SentAt: now, ReceivedAt: now,
		Key: receipt.Key{Rule: "message", Consumer: "orders.fifo", Space: "message", Value: "stranger"},
	}
	ids, err := store.Record(ctx, []receipt.Delivery{d})
	require.NoError(t, err)
	decision, err := store.Begin(ctx, ids[0], d, receipt.Terms{Worker: "w", Lease: time.Minute, Now: now})
	require.NoError(t, err)
	require.NoError(t, store.Complete(ctx, decision.Claim, now, "", nil))
	require.NoError(t, store.Close())

	got := call(t, "", "audit", sends, database)
	require.Equal(t, cli.Failed, got.code, got.err)
	require.Contains(t, got.out, "FAIL  stray · the only one")
	require.Contains(t, got.out, "receipts.db receipt 1 · delivered: fresh")
	require.Contains(t, got.out, "MessageId stranger")
}

func TestAuditRefuses(t *testing.T) {
	sends, receipts := auditPair(t)
	other := filepath.Join(t.TempDir(), "other.db")
	require.NoError(t, os.WriteFile(other, append([]byte("SQLite format 3\x00"), make([]byte, 100)...), 0o600))
	for _, tt := range []struct {
		args []string
		code int
		err  string
	}{
		{[]string{sends}, cli.Usage, "receipts"},
		{[]string{sends, receipts, "--scope", "group"}, cli.Usage, `want "queue" or "messageGroup"`},
		{[]string{sends, receipts, "--late", "0s"}, cli.Usage, "--late"},
		{[]string{sends, receipts, "--inconclusive", "maybe"}, cli.Usage, "--inconclusive"},
		{[]string{sends + "x", receipts}, cli.Harness, "sends.jsonlx"},
		{[]string{sends, other}, cli.Harness, "other.db"},
		{[]string{receipts, sends}, cli.Harness, "hint: the arguments are SENDLOG RECEIPTS, in this order"},
		{[]string{sends, receipts, "--temp", sends}, cli.Harness, "hint: name a folder"},
	} {
		got := call(t, "", append([]string{"audit"}, tt.args...)...)
		require.Equal(t, tt.code, got.code, "%q: %s", tt.args, got.err)
		require.Empty(t, got.out, "%q", tt.args)
		require.Contains(t, got.err, tt.err, "%q", tt.args)
	}
}

func TestAuditInterrupted(t *testing.T) {
	sends, receipts := auditPair(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, talk bytes.Buffer
	code := run(ctx, []string{"audit", sends, receipts}, cli.Stdio{Out: &out, Err: &talk}, noEnv)
	require.Equal(t, cli.Harness, code)
	require.Empty(t, out.String())
	require.Equal(t, "fifoproof: the audit was interrupted; nothing was judged\n", talk.String())
}

func TestAuditProgressLines(t *testing.T) {
	t.Parallel()
	var talk bytes.Buffer
	p := &auditProgress{stdio: cli.Stdio{Err: &talk}, began: time.Now().Add(-time.Minute)}
	p.event("reading the send log", 0.25)
	p.show()
	require.Equal(t, "fifoproof: 25 % · reading the send log · 3 min 0 s left\n", talk.String())
}

func TestMegabytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 MB", 1: "1 MB", 2_500_000: "3 MB", 14_500_000_000: "14.5 GB"} {
		require.Equal(t, want, megabytes(n), fmt.Sprint(n))
	}
}
