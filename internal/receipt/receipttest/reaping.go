package receipttest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

func (b *bench) reap(t *testing.T, before time.Time) (keys, receipts int64) {
	t.Helper()
	keys, receipts, err := b.store.Reap(context.Background(), before)
	require.NoError(t, err)
	return keys, receipts
}

// What was last delivered before the time is forgotten, and nothing else.
func reaping(t *testing.T, b *bench) {
	b.handle(t, delivery(0, "m0", "k0"))
	b.handle(t, delivery(1, "m1", "k1"))
	b.handle(t, delivery(2, "m2", "k2"))
	rejected := delivery(0, "m3", "")
	rejected.Key = receipt.Key{}
	require.NoError(t, b.store.Settle(context.Background(), record(t, b.store, rejected)[0], receipt.Ending{Kind: receipt.Rejected, Reason: "no key"}))
	b.fail(t, delivery(0, "m4", "k4"), "and never came again")

	before := delivery(1, "", "").ReceivedAt
	keys, receipts := b.reap(t, before)
	require.Equal(t, int64(2), keys, "k0 and k4: before is before")
	require.Equal(t, int64(3), receipts)
	requireCounts(t, b.store, receipt.Counts{Fresh: 2, Effects: 3})
	require.Equal(t, receipt.Redelivered, b.handle(t, delivery(3, "m1", "k1")).Kind)
	require.Equal(t, receipt.Redelivered, b.handle(t, delivery(4, "m2", "k2")).Kind)
	horizon := func() time.Time {
		got, err := b.store.Horizon(context.Background())
		require.NoError(t, err)
		return got
	}
	require.Equal(t, before, horizon())
	b.reap(t, before.Add(-time.Hour))
	require.Equal(t, before, horizon(), "it never falls")

	// Forgotten is forgotten: the key is new, and its effect has an id of its own.
	claim := b.claim(t, delivery(5, "m0", "k0"))
	require.Equal(t, 1, claim.Attempt)
	b.complete(t, claim)
	keys, receipts = b.reap(t, start.Add(time.Hour))
	require.Equal(t, int64(3), keys)
	require.Equal(t, int64(5), receipts)
	requireCounts(t, b.store, receipt.Counts{Effects: 4})
	last := record(t, b.store, delivery(6, "m0", "k0"))[0]
	require.Greater(t, last, claim.ID, "no id is used twice")
	b.handle(t, delivery(7, "m0", "k0"))
	requireCounts(t, b.store, receipt.Counts{Pending: 1, Fresh: 1, Effects: 5})
}

// A key is kept with all its receipts as long as its message still comes.
func retention(t *testing.T, b *bench) {
	b.handle(t, delivery(0, "m0", "k0"))
	b.handle(t, delivery(10, "m0", "k0"))
	b.handle(t, delivery(5, "m1", "k0")) // from another consumer, whose clock is behind
	keys, receipts := b.reap(t, delivery(10, "", "").ReceivedAt)
	require.Zero(t, keys)
	require.Zero(t, receipts, "they belong to a key that is kept")
	require.Equal(t, receipt.Redelivered, b.handle(t, delivery(11, "m0", "k0")).Kind)
	keys, receipts = b.reap(t, delivery(12, "", "").ReceivedAt)
	require.Equal(t, int64(1), keys)
	require.Equal(t, int64(4), receipts)

	// With the policy run a repeat keeps the first one's key, too.
	terms := b.under(receipt.Run)
	b.handleUnder(t, delivery(20, "m2", "k2"), terms)
	b.handleUnder(t, delivery(21, "m3", "k2"), terms)
	b.handleUnder(t, delivery(30, "m3", "k2"), terms)
	keys, _ = b.reap(t, delivery(30, "", "").ReceivedAt)
	require.Zero(t, keys)
	require.Equal(t, receipt.Redelivered, b.handleUnder(t, delivery(31, "m3", "k2"), terms).Kind)
	require.Equal(t, receipt.Redelivered, b.handleUnder(t, delivery(32, "m2", "k2"), terms).Kind)
}

func reapingWork(t *testing.T, b *bench) {
	claim := b.claim(t, delivery(0, "m0", "k0"))
	keys, receipts := b.reap(t, start.Add(time.Second)) // its lease ends in an hour
	require.Zero(t, keys)
	require.Zero(t, receipts)
	b.complete(t, claim)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Effects: 1})

	// Of a worker that is dead for as long as retention lasts nothing is left, and if it
	// wakes up, it has lost.
	claim = b.claim(t, delivery(1, "m1", "k1"))
	b.pass(t, 48*hour)
	keys, receipts = b.reap(t, b.now.Add(-hour))
	require.Equal(t, int64(2), keys)
	require.Equal(t, int64(2), receipts)
	ran := false
	require.ErrorIs(t, b.store.Complete(context.Background(), claim, b.now, "", spy(&ran)), receipt.ErrLost)
	require.False(t, ran)
}
