package receipttest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

func empty(t *testing.T, b *bench) {
	require.Empty(t, all(t, b.store))
	requireCounts(t, b.store, receipt.Counts{})
	require.Empty(t, begin(t, b.store))
	requireCounts(t, b.store, receipt.Counts{})
}

func fields(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	first.Key.Group = "customer-7"
	again := first
	again.MessageID, again.ReceiveCount = "m2", 3
	again.ReceivedAt = first.ReceivedAt.Add(time.Nanosecond) // no unit coarser than this
	handle(t, b.store, first)
	handle(t, b.store, again)

	got := all(t, b.store)
	require.Len(t, got, 2)
	require.Less(t, got[0].ID, got[1].ID)
	require.Equal(t, receipt.Receipt{ID: got[0].ID, Delivery: first, Kind: receipt.Fresh}, got[0])
	require.Equal(t, receipt.Receipt{ID: got[1].ID, Delivery: again, Kind: receipt.Repeated, First: origin(first)}, got[1])
}

func zeroTimes(t *testing.T, b *bench) {
	d := delivery(1, "m1", "k")
	d.SentAt = time.Time{} // an endpoint that leaves SentTimestamp out
	handle(t, b.store, d)
	got := all(t, b.store)
	require.Len(t, got, 1)
	require.True(t, got[0].SentAt.IsZero())
	require.True(t, got[0].First.ReceivedAt.IsZero())
}

func kinds(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	require.Equal(t, receipt.Outcome{Kind: receipt.Fresh, First: origin(first)}, handle(t, b.store, first))
	require.Equal(t, receipt.Outcome{Kind: receipt.Redelivered, First: origin(first)}, handle(t, b.store, delivery(2, "m1", "k")))
	require.Equal(t, receipt.Outcome{Kind: receipt.Repeated, First: origin(first)}, handle(t, b.store, delivery(3, "m2", "k")))
	require.Equal(t, receipt.Fresh, handle(t, b.store, delivery(4, "m3", "other")).Kind)

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
	handle(t, b.store, first)
	begin(t, b.store, delivery(2, "m2", "k")) // cut off: not a delivery to compare with
	require.Equal(t, receipt.Repeated, handle(t, b.store, delivery(3, "m2", "k")).Kind)
	require.Equal(t, receipt.Outcome{Kind: receipt.Redelivered, First: origin(first)}, handle(t, b.store, delivery(4, "m2", "k")))
	// The same MessageId under another key was never completed for this one.
	require.Equal(t, receipt.Fresh, handle(t, b.store, delivery(5, "m2", "l")).Kind)
}

func equality(t *testing.T, b *bench) {
	base := delivery(1, "m0", "k")
	base.Key.Group = "g"
	require.Equal(t, receipt.Fresh, handle(t, b.store, base).Kind)
	for name, change := range map[string]func(*receipt.Delivery){
		"another queue":      func(d *receipt.Delivery) { d.Queue = "payments.fifo" },
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
		require.Equal(t, receipt.Fresh, handle(t, b.store, d).Kind, name)
	}
	for name, change := range map[string]func(*receipt.Delivery){
		"the rule explains the key":   func(d *receipt.Delivery) { d.Key.Rule = "content" },
		"the message's group":         func(d *receipt.Delivery) { d.Group = "elsewhere" },
		"the deduplication id":        func(d *receipt.Delivery) { d.DedupID = "moved" },
		"the body's digest":           func(d *receipt.Delivery) { d.BodyDigest = "other" },
		"the times":                   func(d *receipt.Delivery) { d.ReceivedAt = d.ReceivedAt.Add(1000 * time.Hour) },
		"the receive count, sequence": func(d *receipt.Delivery) { d.ReceiveCount, d.SequenceNumber = 9, "7" },
	} {
		d := base
		d.MessageID = name
		change(&d)
		require.Equal(t, receipt.Repeated, handle(t, b.store, d).Kind, name)
	}
}

func oddStrings(t *testing.T, b *bench) {
	odd := []string{
		"a\x00", "a\x00b", "a", "\x00", // no string ends at a NUL
		"é", "e\u0301", // composed and decomposed stay two
		"\U0001F4B6 1", "\ufffd", "'; DROP TABLE receipts; --", `"`, "?1", "%", "_",
		strings.Repeat("x", 128), strings.Repeat("x", 127) + "y",
		"7", "07", "7.0", " 7", // text stays text
	}
	for i, value := range odd {
		d := delivery(i, value, value)
		d.Group, d.DedupID, d.BodyDigest, d.Key.Rule, d.Key.Group = value, value, value, value, value
		require.Equal(t, receipt.Fresh, handle(t, b.store, d).Kind, "%q", value)
		require.Equal(t, receipt.Redelivered, handle(t, b.store, d).Kind, "%q", value)
	}
	got := all(t, b.store, receipt.Fresh)
	require.Len(t, got, len(odd))
	for i, value := range odd {
		require.Equal(t, value, got[i].Key.Value)
		require.Equal(t, value, got[i].Key.Group)
		require.Equal(t, value, got[i].Group)
		require.Equal(t, value, got[i].MessageID)
	}
}

func rejected(t *testing.T, b *bench) {
	reason := "the body has no value at /event_id"
	for n := range 2 { // the queue brings it again, and there is no key to know it by
		d := delivery(n, "m1", "")
		d.Key = receipt.Key{}
		require.NoError(t, b.store.Reject(context.Background(), begin(t, b.store, d)[0], reason))
	}
	got := all(t, b.store, receipt.Rejected)
	require.Len(t, got, 2)
	require.Equal(t, reason, got[0].Reason)
	require.Empty(t, got[0].First)
	requireCounts(t, b.store, receipt.Counts{Rejected: 2})

	// A delivery with a key may be rejected as well: the key stays free.
	require.NoError(t, b.store.Reject(context.Background(), begin(t, b.store, delivery(3, "m2", "k"))[0], reason))
	require.Equal(t, receipt.Fresh, handle(t, b.store, delivery(4, "m2", "k")).Kind)
}

func noKey(t *testing.T, b *bench) {
	d := delivery(1, "m1", "")
	_, err := b.store.Complete(context.Background(), begin(t, b.store, d)[0], nil)
	require.ErrorIs(t, err, receipt.ErrNoKey)
	requireCounts(t, b.store, receipt.Counts{Pending: 1})
}

func settledOnce(t *testing.T, b *bench) {
	ctx := context.Background()
	claims := begin(t, b.store, delivery(1, "m1", "k"), delivery(2, "m2", ""))
	_, err := b.store.Complete(ctx, claims[0], nil)
	require.NoError(t, err)
	_, err = b.store.Complete(ctx, claims[0], nil)
	require.ErrorIs(t, err, receipt.ErrSettled)
	require.ErrorIs(t, b.store.Reject(ctx, claims[0], "late"), receipt.ErrSettled)

	require.NoError(t, b.store.Reject(ctx, claims[1], "why"))
	require.ErrorIs(t, b.store.Reject(ctx, claims[1], "again"), receipt.ErrSettled)
	rejectedLate := claims[1]
	rejectedLate.Delivery.Key.Value = "l"
	_, err = b.store.Complete(ctx, rejectedLate, nil)
	require.ErrorIs(t, err, receipt.ErrSettled)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Rejected: 1, Effects: 1})
}

// An effect of the caller's own is in the transaction that notes the key, and
// stands in for the row in effects.
func ownEffect(t *testing.T, b *bench) {
	ctx := context.Background()
	_, err := b.store.Complete(ctx, begin(t, b.store, delivery(0, "m0", "k0"))[0],
		func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			_, err := tx.ExecContext(ctx, `CREATE TABLE balance (amount INTEGER NOT NULL)`)
			return err
		})
	require.NoError(t, err)
	var seen []string
	pay := func(ctx context.Context, tx receipt.Tx, claim receipt.Claim) error {
		seen = append(seen, claim.Delivery.MessageID)
		_, err := tx.ExecContext(ctx, `INSERT INTO balance VALUES (10)`)
		return err
	}
	for n, message := range []string{"m1", "m1", "m2"} {
		_, err := b.store.Complete(ctx, begin(t, b.store, delivery(n, message, "k"))[0], pay)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"m1"}, seen)

	var sum sql.NullInt64
	_, err = b.store.Complete(ctx, begin(t, b.store, delivery(9, "m9", "k9"))[0],
		func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			return tx.QueryRowContext(ctx, `SELECT sum(amount) FROM balance`).Scan(&sum)
		})
	require.NoError(t, err)
	require.Equal(t, int64(10), sum.Int64)
	requireCounts(t, b.store, receipt.Counts{Fresh: 3, Redelivered: 1, Repeated: 1})
}
