package receipttest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

func empty(t *testing.T, b *bench) {
	require.Empty(t, all(t, b.store))
	requireCounts(t, b.store, receipt.Counts{})
	require.Empty(t, record(t, b.store))
	requireCounts(t, b.store, receipt.Counts{})
	horizon, err := b.store.Horizon(context.Background())
	require.NoError(t, err)
	require.True(t, horizon.IsZero(), "nothing was ever forgotten")
}

func fields(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	first.Key.Group = group
	first.OriginID = "m0"
	again := first
	again.MessageID, again.OriginID, again.ReceiveCount = "m2", "", 3
	again.ReceivedAt = first.ReceivedAt.Add(time.Nanosecond) // no unit coarser than this
	b.handle(t, first)
	b.now = b.now.Add(time.Nanosecond)
	b.handle(t, again)

	got := all(t, b.store)
	require.Len(t, got, 2)
	require.Less(t, got[0].ID, got[1].ID)
	require.Equal(t, receipt.Receipt{
		ID: got[0].ID, Delivery: first, Kind: receipt.Fresh,
		Attempt: receipt.Attempt{Number: 1, Worker: "w", Started: start, Ended: start},
	}, got[0])
	require.Equal(t, receipt.Receipt{ID: got[1].ID, Delivery: again, Kind: receipt.Repeated, First: origin(first)}, got[1])
}

func zeroTimes(t *testing.T, b *bench) {
	d := delivery(1, "m1", "k")
	d.SentAt = time.Time{} // an endpoint that leaves SentTimestamp out
	claim := b.claim(t, d)
	got := all(t, b.store)
	require.Len(t, got, 1)
	require.True(t, got[0].SentAt.IsZero())
	require.True(t, got[0].First.ReceivedAt.IsZero())
	require.Equal(t, start, got[0].Attempt.Started)
	require.True(t, got[0].Attempt.Ended.IsZero(), "at work")
	b.complete(t, claim)
}

func kinds(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	fresh := b.handle(t, first)
	fresh.Claim = receipt.Claim{}
	require.Equal(t, receipt.Decision{Kind: receipt.Fresh}, fresh)
	require.Equal(t, redelivered(first), b.handle(t, delivery(2, "m1", "k")))
	require.Equal(t, repeated(first), b.handle(t, delivery(3, "m2", "k")))
	require.Equal(t, receipt.Fresh, b.handle(t, delivery(4, "m3", another)).Kind)

	requireCounts(t, b.store, receipt.Counts{Fresh: 2, Redelivered: 1, Repeated: 1, Effects: 2})
	var got []receipt.Kind
	for _, r := range all(t, b.store) {
		got = append(got, r.Kind)
	}
	require.Equal(t, []receipt.Kind{receipt.Fresh, receipt.Redelivered, receipt.Repeated, receipt.Fresh}, got)
}

// A late retry m2 of m1 may itself be delivered twice. Only its first delivery is
// a repeat; counted as two, one retry would look like two equal events.
func repeatedAgain(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	b.handle(t, first)
	record(t, b.store, delivery(2, "m2", "k")) // cut off: not a delivery to compare with
	require.Equal(t, receipt.Repeated, b.handle(t, delivery(3, "m2", "k")).Kind)
	require.Equal(t, redelivered(first), b.handle(t, delivery(4, "m2", "k")))
	// The same MessageId under another key was never completed for this one.
	require.Equal(t, receipt.Fresh, b.handle(t, delivery(5, "m2", "l")).Kind)
}

func equality(t *testing.T, b *bench) {
	base := delivery(1, "m0", "k")
	base.Key.Group, base.Fingerprint = "g", ""
	require.Equal(t, receipt.Fresh, b.handle(t, base).Kind)
	for name, change := range map[string]func(*receipt.Delivery){
		"another consumer":   func(d *receipt.Delivery) { d.Key.Consumer = otherQueue },
		"another space":      func(d *receipt.Delivery) { d.Key.Space = "pointer:/event_id" },
		"another group":      func(d *receipt.Delivery) { d.Key.Group = "h" },
		"no group":           func(d *receipt.Delivery) { d.Key.Group = "" },
		"another value":      func(d *receipt.Delivery) { d.Key.Value = "l" },
		"upper case":         func(d *receipt.Delivery) { d.Key.Value = "K" },
		"a space at the end": func(d *receipt.Delivery) { d.Key.Value = "k " },
		"a longer group":     func(d *receipt.Delivery) { d.Key.Group, d.Key.Value = "gk", "k" },
		"group into value":   func(d *receipt.Delivery) { d.Key.Group, d.Key.Value = "", "gk" },
		"number, string":     func(d *receipt.Delivery) { d.Key.Value = `"k"` },
	} {
		d := base
		d.MessageID = name
		change(&d)
		require.Equal(t, receipt.Fresh, b.handle(t, d).Kind, name)
	}
	for name, change := range map[string]func(*receipt.Delivery){
		"the rule explains the key":   func(d *receipt.Delivery) { d.Key.Rule = "content" },
		"another queue":               func(d *receipt.Delivery) { d.Queue = "orders-dlq.fifo" },
		"the message's group":         func(d *receipt.Delivery) { d.Group = "elsewhere" },
		"the deduplication id":        func(d *receipt.Delivery) { d.DedupID = "moved" },
		"the body's digest":           func(d *receipt.Delivery) { d.BodyDigest = another },
		"the times":                   func(d *receipt.Delivery) { d.ReceivedAt = d.ReceivedAt.Add(1000 * time.Hour) },
		"the receive count, sequence": func(d *receipt.Delivery) { d.ReceiveCount, d.SequenceNumber = 9, "7" },
	} {
		d := base
		d.MessageID = name
		change(&d)
		require.Equal(t, receipt.Repeated, b.handle(t, d).Kind, name)
	}
}

// Two consumers of one queue are told apart by their names alone.
func consumers(t *testing.T, b *bench) {
	for _, name := range []string{"billing", "shipping"} {
		d := delivery(1, "m1", "k")
		d.Key.Consumer = name
		claim := b.claim(t, d)
		require.Equal(t, 1, claim.Attempt, "attempts are a consumer's own")
		b.complete(t, claim)
		require.Equal(t, receipt.Redelivered, b.handle(t, d).Kind)
	}
	requireCounts(t, b.store, receipt.Counts{Fresh: 2, Redelivered: 2, Effects: 2})
}

// Scope message group: one body in two groups is two events.
func groups(t *testing.T, b *bench) {
	for n, name := range []string{"g", "h"} {
		d := delivery(n, "m-"+name, "k")
		d.Group, d.Key.Group = name, name
		require.Equal(t, receipt.Fresh, b.handle(t, d).Kind)
	}
	requireCounts(t, b.store, receipt.Counts{Fresh: 2, Effects: 2})
}

func oddStrings(t *testing.T, b *bench) {
	odd := []string{
		"a\x00", "a\x00b", "a", "\x00", // no string ends at a NUL
		"é", "e\u0301", // composed and decomposed stay two
		"\U0001F4B6 1", "\ufffd", "'; DROP TABLE receipts; --", `"`, "?1", "$1", "%", "_", "\xff",
		strings.Repeat("x", 128), strings.Repeat("x", 127) + "y",
		"7", "07", "7.0", " 7", // text stays text
	}
	for i, value := range odd {
		d := delivery(i, value, value)
		d.Group, d.DedupID, d.BodyDigest, d.Fingerprint = value, value, value, value
		d.Key.Rule, d.Key.Consumer, d.Key.Group = value, value, value
		require.Equal(t, receipt.Fresh, b.handle(t, d).Kind, "%q", value)
		require.Equal(t, receipt.Redelivered, b.handle(t, d).Kind, "%q", value)
	}
	kept := b.place.Kept
	if kept == nil {
		kept = func(text string) string { return text }
	}
	got := all(t, b.store, receipt.Fresh)
	require.Len(t, got, len(odd))
	for i, value := range odd {
		for _, text := range []string{got[i].Key.Value, got[i].Key.Group, got[i].Key.Consumer, got[i].Group, got[i].MessageID} {
			require.Equal(t, kept(value), text)
		}
	}
}

func results(t *testing.T, b *bench) {
	odd := "201 \x00\xff é"
	claim := b.claim(t, delivery(1, "m1", "k"))
	require.NoError(t, b.store.Complete(context.Background(), claim, b.now, odd, nil))
	require.Equal(t, odd, b.handle(t, delivery(2, "m1", "k")).Result)
	require.Equal(t, odd, b.handle(t, delivery(3, "m2", "k")).Result)
}

func rejected(t *testing.T, b *bench) {
	const why = "the body has no value at /event_id"
	ctx := context.Background()
	for n := range 2 { // the queue brings it again, and there is no key to know it by
		d := delivery(n, "m1", "")
		d.Key = receipt.Key{}
		require.NoError(t, b.store.Settle(ctx, record(t, b.store, d)[0], receipt.Ending{Kind: receipt.Rejected, Reason: why, At: b.now}))
	}
	got := all(t, b.store, receipt.Rejected)
	require.Len(t, got, 2)
	require.Equal(t, why, got[0].Reason)
	require.Empty(t, got[0].First)
	require.Empty(t, got[0].Attempt)
	requireCounts(t, b.store, receipt.Counts{Rejected: 2})

	// A delivery with a key may be rejected as well: the key stays free.
	require.NoError(t, b.store.Settle(ctx, record(t, b.store, delivery(3, "m2", "k"))[0], receipt.Ending{Kind: receipt.Rejected, Reason: why}))
	require.Equal(t, receipt.Fresh, b.handle(t, delivery(4, "m2", "k")).Kind)
}

func noKey(t *testing.T, b *bench) {
	d := delivery(1, "m1", "")
	_, err := b.store.Begin(context.Background(), record(t, b.store, d)[0], d, b.terms("w"))
	require.ErrorIs(t, err, receipt.ErrNoKey)
	requireCounts(t, b.store, receipt.Counts{Pending: 1})
}

func settledOnce(t *testing.T, b *bench) {
	ctx := context.Background()
	rejection := receipt.Ending{Kind: receipt.Rejected, Reason: "why"}
	d := delivery(1, "m1", "k")
	ids := record(t, b.store, d, delivery(2, "m2", "l"))
	decision, err := b.store.Begin(ctx, ids[0], d, b.terms("w"))
	require.NoError(t, err)
	require.ErrorIs(t, b.store.Settle(ctx, ids[0], rejection), receipt.ErrSettled, "it is claimed")
	b.complete(t, decision.Claim)
	require.ErrorIs(t, b.store.Settle(ctx, ids[0], rejection), receipt.ErrSettled)
	_, err = b.store.Begin(ctx, ids[0], d, b.terms("w"))
	require.ErrorIs(t, err, receipt.ErrSettled)

	require.NoError(t, b.store.Settle(ctx, ids[1], rejection))
	require.ErrorIs(t, b.store.Settle(ctx, ids[1], rejection), receipt.ErrSettled)
	_, err = b.store.Begin(ctx, ids[1], delivery(2, "m2", "l"), b.terms("w"))
	require.ErrorIs(t, err, receipt.ErrSettled)
	require.ErrorIs(t, b.store.Settle(ctx, ids[1]+1, rejection), receipt.ErrSettled, "no such receipt")
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Rejected: 1, Effects: 1})
	require.Equal(t, receipt.Fresh, b.handle(t, delivery(3, "m3", "l")).Kind, "nothing was left of the claim")
}

func putOff(t *testing.T, b *bench) {
	ctx := context.Background()
	d := delivery(1, "m1", "k")
	id := record(t, b.store, d)[0]
	require.NoError(t, b.store.Settle(ctx, id, receipt.Ending{Kind: receipt.Pending, Reason: "behind m0"}))
	require.Equal(t, "behind m0", all(t, b.store, receipt.Pending)[0].Reason)
	// Its turn may still come.
	decision, err := b.store.Begin(ctx, id, d, b.terms("w"))
	require.NoError(t, err)
	require.Empty(t, all(t, b.store, receipt.Pending)[0].Reason)
	b.complete(t, decision.Claim)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Effects: 1})
}

// A handler's error may be anything that an outside program has printed.
func reasons(t *testing.T, b *bench) {
	ctx := context.Background()
	for why, want := range map[string]string{
		"no \x00 and no \xff\xfe": "no \ufffd and no \ufffd",
		strings.Repeat("é", 1000): strings.Repeat("é", 1000), // 2,000 bytes
		strings.Repeat("é", 1001): strings.Repeat("é", 998) + "…",
		"":                        "",
	} {
		claim := b.claim(t, delivery(1, "m1", "k"))
		require.NoError(t, b.store.Release(ctx, claim, receipt.Ending{Kind: receipt.Failed, Reason: why, At: b.now}))
		got := all(t, b.store, receipt.Failed)
		require.Equal(t, want, got[len(got)-1].Reason)
		require.True(t, utf8.ValidString(got[len(got)-1].Reason))
		require.LessOrEqual(t, len(got[len(got)-1].Reason), 2000)
	}
}

// An effect of the caller's own is in the transaction that notes the key, and
// stands in for the row in effects.
func ownEffect(t *testing.T, b *bench) {
	ctx := context.Background()
	err := b.store.Complete(ctx, b.claim(t, delivery(0, "m0", "k0")), b.now, "",
		func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			_, err := tx.ExecContext(ctx, `CREATE TABLE balance (amount INTEGER NOT NULL)`)
			return err
		})
	require.NoError(t, err)
	var seen []string
	for n, message := range []string{"m1", "m1", "m2"} {
		decision := b.begin(t, delivery(n, message, "k"), b.terms("w"))
		if decision.Kind != receipt.Fresh {
			continue
		}
		require.NoError(t, b.store.Complete(ctx, decision.Claim, b.now, "",
			func(ctx context.Context, tx receipt.Tx, claim receipt.Claim) error {
				require.Equal(t, decision.Claim, claim)
				seen = append(seen, claim.Delivery.MessageID)
				_, err := tx.ExecContext(ctx, `INSERT INTO balance VALUES ($1)`, 10)
				return err
			}))
	}
	require.Equal(t, []string{"m1"}, seen)

	var sum sql.NullInt64
	require.NoError(t, b.store.Complete(ctx, b.claim(t, delivery(9, "m9", "k9")), b.now, "",
		func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			return tx.QueryRowContext(ctx, `SELECT sum(amount) FROM balance`).Scan(&sum)
		}))
	require.Equal(t, int64(10), sum.Int64)
	requireCounts(t, b.store, receipt.Counts{Fresh: 3, Redelivered: 1, Repeated: 1})
}
