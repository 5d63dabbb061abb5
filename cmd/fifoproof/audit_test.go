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
	"fifoproof/internal/receipt/pgtest"
	"fifoproof/internal/receipt/postgres"
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

// databases are where receipts can be: a consumer's file, or its PostgreSQL.
func databases(t *testing.T) map[string]func(t *testing.T) (where string, store receipt.Store) {
	t.Helper()
	return map[string]func(t *testing.T) (string, receipt.Store){
		"SQLite": func(t *testing.T) (string, receipt.Store) {
			where := filepath.Join(t.TempDir(), "receipts.db")
			store, err := sqlite.Open(context.Background(), where)
			require.NoError(t, err)
			return where, store
		},
		"PostgreSQL": func(t *testing.T) (string, receipt.Store) {
			where := pgtest.Start(t)
			store, err := postgres.Open(context.Background(), where)
			require.NoError(t, err)
			return where, store
		},
	}
}

// TestAuditDatabase audits the consumer's database as it is.
func TestAuditDatabase(t *testing.T) {
	sends, _ := auditPair(t)
	for format, open := range databases(t) {
		t.Run(format, func(t *testing.T) {
			where, store := open(t)
			now := time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC)
			completeOne(t, store, receipt.Delivery{
				Queue: "orders.fifo", MessageID: "stranger", Group: "g", DedupID: "x", SequenceNumber: "1", ReceiveCount: 1, SentAt: now, ReceivedAt: now,
				Key: receipt.Key{Rule: "message", Consumer: "orders.fifo", Space: "message", Value: "stranger"},
			})
			require.NoError(t, store.Close())

			got := call(t, "", "audit", sends, where)
			require.Equal(t, cli.Failed, got.code, got.err)
			require.Contains(t, got.out, "FAIL  stray · the only one")
			require.Contains(t, got.out, " receipt 1 · delivered: fresh")
			require.Contains(t, got.out, "MessageId stranger")

			got = call(t, "", "audit", sends, where, "--json")
			var result audit.Report
			require.NoError(t, json.Unmarshal([]byte(got.out), &result))
			require.Equal(t, format, result.Receipts.Format)
			require.Equal(t, int64(1), result.Receipts.Lines)
			require.Zero(t, result.Horizon)
		})
	}
}

// TestAuditForgotten audits a database whose consumer has forgotten its receipts: what
// was sent before is neither lost nor fine.
func TestAuditForgotten(t *testing.T) {
	const line = `{"v":1,"run":"5f0c9a3e","queue":"http://127.0.0.1:9324/000000000000/orders.fifo","source":"-","line":%d,"copy":1,"group":"g","id":"%s",` +
		`"body_digest":"","attempts":[{"start_ns":0,"end_ns":0,"start":"%s","end":"%[3]s"}],"message_id":"%[2]s","sequence_number":"%[1]d","outcome":"accepted"}` + "\n"
	early, late := time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC), time.Date(2026, time.March, 3, 10, 0, 0, 0, time.UTC)
	sends := filepath.Join(t.TempDir(), "sends.jsonl")
	text := fmt.Sprintf(line, 1, "early", early.Format(time.RFC3339)) + fmt.Sprintf(line, 2, "late", late.Format(time.RFC3339))
	require.NoError(t, os.WriteFile(sends, []byte(text), 0o600))
	for format, open := range databases(t) {
		t.Run(format, func(t *testing.T) {
			where, store := open(t)
			for i, sent := range []time.Time{early, late} {
				id := []string{"early", "late"}[i]
				completeOne(t, store, receipt.Delivery{
					Queue: "orders.fifo", MessageID: id, Group: "g", DedupID: id, SequenceNumber: fmt.Sprint(i + 1), ReceiveCount: 1, SentAt: sent, ReceivedAt: sent,
					Key: receipt.Key{Rule: "content", Consumer: "orders.fifo", Space: "event", Value: id},
				})
			}
			got := call(t, "", "audit", sends, where)
			require.Equal(t, cli.OK, got.code, got.out)

			keys, receipts, err := store.Reap(context.Background(), early.Add(time.Hour))
			require.NoError(t, err)
			require.Equal(t, [2]int64{1, 1}, [2]int64{keys, receipts})
			require.NoError(t, store.Close())
			got = call(t, "", "audit", sends, where)
			require.Equal(t, cli.Inconclusive, got.code, got.out)
			require.Contains(t, got.out, "inconclusive  never-delivered · the only one")
			require.Contains(t, got.out, "note: receipts from before 2026-03-02T11:00:00Z may have been forgotten")
		})
	}
}

// completeOne is one delivery with its effect.
func completeOne(t *testing.T, store receipt.Store, d receipt.Delivery) {
	t.Helper()
	ctx := context.Background()
	ids, err := store.Record(ctx, []receipt.Delivery{d})
	require.NoError(t, err)
	decision, err := store.Begin(ctx, ids[0], d, receipt.Terms{Worker: "w", Lease: time.Minute, Now: d.ReceivedAt})
	require.NoError(t, err)
	require.Equal(t, receipt.Fresh, decision.Kind)
	require.NoError(t, store.Complete(ctx, decision.Claim, d.ReceivedAt, "", nil))
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
		{[]string{sends, "mysql://db.example.org/receipts"}, cli.Harness, "a URL looks like postgres://"},
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
