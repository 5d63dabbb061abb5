package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

// noon is when the first receipt was received.
var noon = time.Date(2026, time.January, 1, 12, 0, 0, 5e6, time.UTC)

// recorded is a file with one receipt of each kind, a minute apart: m1 had the effect
// and came again, m2 repeats it, m3 has no key, m4's handler failed, m5 is at work,
// and m6, a redriven copy of m4, came through.
func recorded(t *testing.T) string {
	t.Helper()
	db := database(t)
	store, err := sqlite.Open(t.Context(), db)
	require.NoError(t, err)
	for n, message := range []string{"m1", "m1", "m2", "m3", "m4", "m5", "m6"} {
		d := receipt.Delivery{
			Queue: "orders.fifo", MessageID: message, Group: "customer\x1b[31m", DedupID: "d", SequenceNumber: "18849496460467696128",
			ReceiveCount: 1, BodyDigest: "b", Fingerprint: "f", SentAt: noon, ReceivedAt: noon.Add(time.Duration(n) * time.Minute),
			Key: receipt.Key{Rule: "pointer:/id", Consumer: "billing", Space: "pointer:/id", Value: `"<0123456789abcdef>"`},
		}
		switch message {
		case "m1":
			d.ReceiveCount = n + 1
		case "m3":
			d.Key, d.Fingerprint = receipt.Key{}, ""
		case "m4":
			d.Key.Value = "4"
		case "m5":
			d.Key.Value, d.Group = "5", "other"
		case "m6":
			d.Key.Value, d.OriginID = "4", "m4"
		}
		carryOut(t, store, d)
	}
	require.NoError(t, store.Close())
	return db
}

// carryOut does what a consumer does with a delivery.
func carryOut(t *testing.T, store receipt.Store, d receipt.Delivery) {
	t.Helper()
	ids, err := store.Record(t.Context(), []receipt.Delivery{d})
	require.NoError(t, err)
	if d.Key == (receipt.Key{}) {
		require.NoError(t, store.Settle(t.Context(), ids[0], receipt.Ending{Kind: receipt.Rejected, Reason: "the body has no value at /id", At: d.ReceivedAt}))
		return
	}
	decision, err := store.Begin(t.Context(), ids[0], d, receipt.Terms{Worker: "host-1/1234/abcdef", Lease: time.Minute, Now: d.ReceivedAt})
	require.NoError(t, err)
	ended := d.ReceivedAt.Add(time.Second)
	switch {
	case decision.Kind != receipt.Fresh || d.MessageID == "m5":
	case d.MessageID == "m4":
		require.NoError(t, store.Release(t.Context(), decision.Claim, receipt.Ending{Kind: receipt.Failed, Reason: "the bank answered 503", At: ended}))
	default:
		require.NoError(t, store.Complete(t.Context(), decision.Claim, ended, "", nil))
	}
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	at := func(minute int) string { return local(noon.Add(time.Duration(minute) * time.Minute)) }
	got := execute(t.Context(), "receipts", "--db", recorded(t))
	require.Equal(t, cli.OK, got.code, got.err)
	require.Equal(t, strings.Join([]string{
		"received                 kind         group             message                               key               attempt  worker          ",
		at(0) + "  fresh        customer [31m     m1                                    \"<0123456789abc…        1  host-1/1234/abc…",
		at(1) + "  redelivered  customer [31m     m1                                    \"<0123456789abc…        -  -                 received 2 times",
		at(2) + "  repeated     customer [31m     m2                                    \"<0123456789abc…        -  -                 first m1 at " + at(0),
		at(3) + "  rejected     customer [31m     m3                                    -                       -  -                 the body has no value at /id",
		at(4) + "  failed       customer [31m     m4                                    4                       1  host-1/1234/abc…  the bank answered 503",
		at(5) + "  pending      other             m5                                    5                       1  host-1/1234/abc…",
		at(6) + "  fresh        customer [31m     m6                                    4                       2  host-1/1234/abc…  a redriven copy of m4",
		"",
	}, "\n"), got.out)
	require.Equal(t, "consumer: 7 receipts on record · 2 fresh · 1 redelivered · 1 repeated · 1 rejected · 1 failed · 1 pending · 2 effects\n", got.err)
}

func TestReceiptsJSON(t *testing.T) {
	t.Parallel()
	got := execute(t.Context(), "receipts", "--db", recorded(t), "--json")
	require.Equal(t, cli.OK, got.code)
	require.Empty(t, got.err)
	golden(t, "receipts.jsonl", got.out)
}

func TestReceiptsSelected(t *testing.T) {
	t.Parallel()
	db := recorded(t)
	for flags, want := range map[string]string{
		"":                                      "m1 m1 m2 m3 m4 m5 m6",
		"--kind pending":                        "m5",
		"--kind failed --kind fresh":            "m1 m4 m6",
		"--group other":                         "m5",
		"--queue orders.fifo":                   "m1 m1 m2 m3 m4 m5 m6",
		"--queue invoices.fifo":                 "",
		"--message m1":                          "m1 m1",
		"--message m4":                          "m4 m6", // and the copy of it
		"--key 4":                               "m4 m6",
		"--key 4 --kind failed":                 "m4", // all must hold
		"--since 2026-01-01T12:04:00Z":          "m4 m5 m6",
		"--until 2026-01-01T13:02:00.005+01:00": "m1 m1", // the end is not included
		"--since 2026-01-01T12:01:00Z --until 2026-01-01T12:03:00Z": "m1 m2",
		"--since 1h":               "",
		"--until 1h --group other": "m5",
	} {
		got := execute(t.Context(), append([]string{"receipts", "--db", db, "--json"}, strings.Fields(flags)...)...)
		require.Equal(t, cli.OK, got.code, got.err)
		var messages []string
		for line := range strings.Lines(got.out) {
			_, rest, _ := strings.Cut(line, `"message_id":"`)
			message, _, _ := strings.Cut(rest, `"`)
			messages = append(messages, message)
		}
		require.Equal(t, want, strings.Join(messages, " "), flags)
	}
}

func TestInstant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"":                          {},
		"0s":                        noon,
		"2h":                        noon.Add(-2 * time.Hour),
		"1h30m":                     noon.Add(-90 * time.Minute),
		"2026-03-02T09:00:00+01:00": time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC),
	} {
		got, err := instant("--since", text, noon)
		require.NoError(t, err)
		require.True(t, want.Equal(got), text)
	}
}

func TestReceiptsHTML(t *testing.T) {
	t.Parallel()
	db := recorded(t)
	file := filepath.Join(t.TempDir(), "timeline.html")
	got := execute(t.Context(), "receipts", "--db", db, "--html", file)
	require.Equal(t, cli.OK, got.code, got.err)
	require.Empty(t, got.out)
	require.Equal(t, "consumer: timeline of 7 deliveries in "+file+"\n", got.err)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(page), "<!doctype html>"))
	require.Contains(t, string(page), "5 messages in 2 groups, 7 deliveries: 2 without an effect.")

	streamed := execute(t.Context(), "receipts", "--db", db, "--html", "-")
	require.Equal(t, string(page), streamed.out, "the same on standard output")
	require.Empty(t, streamed.err)
	selected := execute(t.Context(), "receipts", "--db", db, "--html", "-", "--group", "other")
	require.Contains(t, selected.out, "1 message in 1 group, 1 delivery: 1 without an effect.")

	folder := execute(t.Context(), "receipts", "--db", db, "--html", t.TempDir())
	require.Equal(t, cli.Harness, folder.code)
	require.Contains(t, folder.err, "writing the timeline: ")
	require.Contains(t, folder.err, "hint: name a file that can be written")
}

// What was read before the database failed is printed; nothing waits for the end.
func TestReceiptsAreStreamed(t *testing.T) {
	t.Parallel()
	failure := errors.New("the disk is gone")
	var printed strings.Builder
	var all iter.Seq2[receipt.Receipt, error] = func(yield func(receipt.Receipt, error) bool) {
		for range 1000 {
			if !yield(receipt.Receipt{Kind: receipt.Fresh}, nil) {
				return
			}
		}
		if printed.Len() == 0 {
			yield(receipt.Receipt{}, errors.New("nothing was printed yet"))
			return
		}
		yield(receipt.Receipt{}, failure)
	}
	require.ErrorIs(t, writeAll(&printed, all, writeJSON), failure)
	require.Equal(t, 1000, strings.Count(printed.String(), "\n"))
}

// What was forgotten is told, before the receipts and, where more was forgotten while
// they were read, behind them.
func TestReceiptsTellTheHorizon(t *testing.T) {
	t.Parallel()
	db := recorded(t)
	store, err := sqlite.Open(t.Context(), db)
	require.NoError(t, err)
	horizon := noon.Add(3 * time.Minute)
	_, _, err = store.Reap(t.Context(), horizon)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	got := execute(t.Context(), "receipts", "--db", db, "--json")
	require.Equal(t, cli.OK, got.code, got.err)
	lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	require.JSONEq(t, `{"horizon":"2026-01-01T12:03:00.005Z"}`, lines[0])
	require.NotContains(t, strings.Join(lines[1:], "\n"), "horizon")
	require.Contains(t, lines[1], `"message_id":"m3"`)

	var printed strings.Builder
	one := func(yield func(receipt.Receipt, error) bool) {
		yield(receipt.Receipt{Kind: receipt.Fresh}, nil)
		horizon = horizon.Add(time.Hour)
	}
	require.NoError(t, writeLines(t.Context(), &printed, one, func(context.Context) (time.Time, error) { return horizon, nil }))
	lines = strings.Split(printed.String(), "\n")
	require.JSONEq(t, `{"horizon":"2026-01-01T12:03:00.005Z"}`, lines[0])
	require.Contains(t, lines[1], `"kind":"fresh"`)
	require.JSONEq(t, `{"horizon":"2026-01-01T13:03:00.005Z"}`, lines[2])

	failure := errors.New("the disk is gone")
	require.ErrorIs(t, writeLines(t.Context(), &printed, one, func(context.Context) (time.Time, error) { return time.Time{}, failure }), failure)
}

func TestReceiptsErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text := filepath.Join(folder, "notes.txt")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600))
	for _, c := range []struct {
		args string
		code int
		want string
		hint string
	}{
		{"--db " + filepath.Join(folder, "none.db"), cli.Harness, "there are no receipts at", "name the file with --db"},
		{"--db " + text, cli.Harness, "it holds no receipts", "--db"},
		{"--kind late", cli.Usage, `there is no kind "late"`, "kinds are fresh, redelivered, repeated, rejected, failed, pending"},
		{"--since yesterday", cli.Usage, `--since "yesterday" is no time`, "how long ago"},
		{"--until=-2h", cli.Usage, `--until "-2h" is no time`, "how long ago"},
		{"--since 1h --until 2h", cli.Usage, "nothing is since 1h and before 2h", "--since is the earlier one"},
		{"--json --html -", cli.Usage, "--json and --html exclude each other", "run it once for each"},
		{"--color", cli.Usage, "--color", "consumer receipts --help"},
	} {
		got := execute(t.Context(), append([]string{"receipts"}, strings.Fields(c.args)...)...)
		require.Equal(t, c.code, got.code, got.err)
		require.Contains(t, got.err, c.want)
		require.Contains(t, got.err, "hint: ")
		require.Contains(t, got.err, c.hint)
		require.Empty(t, got.out)
	}
	require.NoFileExists(t, filepath.Join(folder, "none.db"), "looking makes no file")
}
