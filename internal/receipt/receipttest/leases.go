package receipttest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// instant is how exactly leases are judged: to the nanosecond by Terms.Now; by a
// database's clock, which runs on meanwhile, to a minute.
func (b *bench) instant() time.Duration {
	if b.place.Pass == nil {
		return time.Nanosecond
	}
	return time.Minute
}

// C57: one unit in the whole store. A lease is over at its end, not before.
func leasesEnd(t *testing.T, b *bench) {
	first := b.claim(t, delivery(1, "m1", "k"))
	b.pass(t, hour-b.instant())
	decision := b.begin(t, delivery(2, "m1", "k"), b.terms("v"))
	require.Equal(t, receipt.Pending, decision.Kind)
	require.Equal(t, "in flight with w", decision.Reason)
	require.WithinDuration(t, b.now.Add(b.instant()), decision.Until, b.instant()/2, "by Terms.Now's clock")
	require.Equal(t, "in flight with w", all(t, b.store)[1].Reason)

	b.pass(t, b.instant())
	decision = b.begin(t, delivery(3, "m1", "k"), b.terms("v"))
	require.Equal(t, receipt.Fresh, decision.Kind)
	require.True(t, decision.TookOver)
	require.Equal(t, 2, decision.Claim.Attempt)
	require.NotEqual(t, first.Token, decision.Claim.Token)
	b.complete(t, decision.Claim)
	got := all(t, b.store)
	require.Equal(t, receipt.Pending, got[0].Kind, "its worker died")
	require.Equal(t, receipt.Attempt{Number: 1, Worker: "w", Started: start}, got[0].Attempt)
	require.Equal(t, receipt.Attempt{Number: 2, Worker: "v", Started: b.now, Ended: b.now}, got[2].Attempt)
	requireCounts(t, b.store, receipt.Counts{Pending: 2, Fresh: 1, Effects: 1})
}

// C66: a lease without an end, or with one in the past, must never hold a key.
func leaseOfNothing(t *testing.T, b *bench) {
	for _, lease := range []time.Duration{0, -1, -time.Hour, math.MinInt64 / 2, time.Nanosecond} {
		terms := b.terms("w")
		terms.Lease = lease
		decision := b.begin(t, delivery(1, "m1", "k"), terms)
		require.Equal(t, receipt.Fresh, decision.Kind, lease)
		b.pass(t, time.Nanosecond)
	}
	got := b.begin(t, delivery(2, "m1", "k"), b.terms("w"))
	require.True(t, got.TookOver)
	require.Equal(t, 6, got.Claim.Attempt)
}

func longLease(t *testing.T, b *bench) {
	terms := b.terms("w")
	terms.Lease = math.MaxInt64
	decision := b.begin(t, delivery(1, "m1", "k"), terms)
	again := b.begin(t, delivery(2, "m1", "k"), b.terms("v"))
	require.Equal(t, receipt.Pending, again.Kind)
	require.Greater(t, again.Until.Sub(b.now), 10*365*24*time.Hour)
	require.NoError(t, b.store.Renew(context.Background(), decision.Claim, b.now, math.MaxInt64))
	require.Equal(t, receipt.Pending, b.begin(t, delivery(3, "m1", "k"), b.terms("v")).Kind)
}

// C70: a renewal sets the end from now; it does not add to what is left.
func renewed(t *testing.T, b *bench) {
	ctx := context.Background()
	claim := b.claim(t, delivery(1, "m1", "k"))
	b.pass(t, hour/2)
	require.NoError(t, b.store.Renew(ctx, claim, b.now, hour))
	b.pass(t, hour-b.instant())
	require.Equal(t, receipt.Pending, b.begin(t, delivery(2, "m1", "k"), b.terms("v")).Kind)
	b.pass(t, b.instant())
	// Over, but nobody has taken it: whoever comes first has it.
	require.NoError(t, b.store.Renew(ctx, claim, b.now, hour))
	require.Equal(t, receipt.Pending, b.begin(t, delivery(3, "m1", "k"), b.terms("v")).Kind)
	b.complete(t, claim)
	require.ErrorIs(t, b.store.Renew(ctx, claim, b.now, hour), receipt.ErrLost, "done")
}

func renewedIntoThePast(t *testing.T, b *bench) {
	claim := b.claim(t, delivery(1, "m1", "k"))
	require.NoError(t, b.store.Renew(context.Background(), claim, b.now, 0))
	require.True(t, b.begin(t, delivery(2, "m1", "k"), b.terms("v")).TookOver)
}

// A worker that slept through its lease must change nothing.
func fenced(t *testing.T, b *bench) {
	ctx := context.Background()
	old := b.claim(t, delivery(1, "m1", "k"))
	b.pass(t, hour)
	decision := b.begin(t, delivery(2, "m1", "k"), b.terms("v"))
	require.True(t, decision.TookOver)
	refuse := func(state string) {
		t.Helper()
		ran := false
		require.ErrorIs(t, b.store.Complete(ctx, old, b.now, "old", spy(&ran)), receipt.ErrLost, state)
		require.False(t, ran, state)
		require.ErrorIs(t, b.store.Renew(ctx, old, b.now, hour), receipt.ErrLost, state)
		require.ErrorIs(t, b.store.Release(ctx, old, receipt.Ending{Kind: receipt.Failed, Reason: "old", At: b.now}), receipt.ErrLost, state)
	}
	refuse("taken over")
	require.Equal(t, receipt.Pending, b.begin(t, delivery(3, "m1", "k"), b.terms("u")).Kind, "the new lease stands")
	require.NoError(t, b.store.Release(ctx, decision.Claim, receipt.Ending{Kind: receipt.Failed, Reason: "new", At: b.now}))
	refuse("open again")
	claim := b.claim(t, delivery(4, "m1", "k"))
	require.NoError(t, b.store.Complete(ctx, claim, b.now, "new", nil))
	refuse("done by another")
	require.Equal(t, "new", b.handle(t, delivery(5, "m1", "k")).Result)
	requireCounts(t, b.store, receipt.Counts{Pending: 2, Failed: 1, Fresh: 1, Redelivered: 1, Effects: 1})

	forged := claim
	forged.Token = ""
	require.ErrorIs(t, b.store.Complete(ctx, forged, b.now, "", nil), receipt.ErrLost)
}

func spy(ran *bool) receipt.Effect {
	return func(context.Context, receipt.Tx, receipt.Claim) error {
		*ran = true
		return nil
	}
}

func lateCompletion(t *testing.T, b *bench) {
	claim := b.claim(t, delivery(1, "m1", "k"))
	b.pass(t, 2*hour)
	b.complete(t, claim)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Effects: 1})
	require.Equal(t, receipt.Redelivered, b.begin(t, delivery(2, "m1", "k"), b.terms("v")).Kind)
}

// A heartbeat that waited for the effect to end would hold its worker up.
func renewWhileCompleting(t *testing.T, b *bench) {
	ctx := context.Background()
	claim := b.claim(t, delivery(1, "m1", "k"))
	require.NoError(t, b.store.Complete(ctx, claim, b.now, "", func(context.Context, receipt.Tx, receipt.Claim) error {
		return b.store.Renew(ctx, claim, b.now, hour)
	}))
}

// C68: a conflict is told before anything else, also while the key is in work.
func mismatch(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	claim := b.claim(t, first)
	other := delivery(2, "m2", "k")
	other.Fingerprint = "0123456789abcdef0123"
	require.NotEqual(t, first.Fingerprint, other.Fingerprint)
	for _, state := range []string{"in flight", "done"} {
		decision := b.begin(t, other, b.terms("v"))
		require.Equal(t, receipt.Rejected, decision.Kind, state)
		require.Equal(t, origin(first), decision.First, state)
		require.True(t, decision.Repeats, state)
		require.Contains(t, decision.Reason, "the key is known with another body: message m1", state)
		require.Contains(t, decision.Reason, "0123456789abcdef…", state)
		got := all(t, b.store, receipt.Rejected)
		require.Equal(t, decision.Reason, got[len(got)-1].Reason, state)
		if state == "in flight" {
			b.complete(t, claim)
		}
	}
	for _, policy := range []receipt.Policy{receipt.Run, receipt.Refuse} {
		terms := b.terms("v")
		terms.Repeated = policy
		require.Contains(t, b.begin(t, other, terms).Reason, "another body", policy)
	}
	// The same MessageId with another body: nothing may call it a redelivery.
	same := first
	same.Fingerprint = another
	decision := b.begin(t, same, b.terms("v"))
	require.Equal(t, receipt.Rejected, decision.Kind)
	require.False(t, decision.Repeats)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Rejected: 5, Effects: 1})
}

func noFingerprint(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	first.Fingerprint = ""
	claim := b.claim(t, first)
	require.NoError(t, b.store.Release(context.Background(), claim, receipt.Ending{Kind: receipt.Failed, At: b.now}))
	with := delivery(2, "m1", "k")
	b.complete(t, b.claim(t, with)) // the first fingerprint told is the key's
	require.Equal(t, receipt.Repeated, b.handle(t, delivery(3, "m2", "k")).Kind)
	other := delivery(4, "m3", "k")
	other.Fingerprint = another
	require.Equal(t, receipt.Rejected, b.handle(t, other).Kind)
	other.Fingerprint = ""
	require.Equal(t, receipt.Repeated, b.handle(t, other).Kind)
}

// A commit may have happened although its answer was lost. Whoever asks again must
// not be told that the claim is lost, and must have no second effect.
func twice(t *testing.T, b *bench) {
	ctx := context.Background()
	claim := b.claim(t, delivery(1, "m1", "k"))
	failed := receipt.Ending{Kind: receipt.Failed, Reason: "no", At: b.now}
	require.NoError(t, b.store.Release(ctx, claim, failed))
	require.NoError(t, b.store.Release(ctx, claim, failed))
	require.ErrorIs(t, b.store.Complete(ctx, claim, b.now, "", nil), receipt.ErrLost, "released")
	require.ErrorIs(t, b.store.Renew(ctx, claim, b.now, hour), receipt.ErrLost, "released")

	claim = b.claim(t, delivery(2, "m1", "k"))
	require.NoError(t, b.store.Complete(ctx, claim, b.now, "one", nil))
	require.NoError(t, b.store.Complete(ctx, claim, b.now, "two", nil))
	ran := false
	require.NoError(t, b.store.Complete(ctx, claim, b.now, "three", spy(&ran)))
	require.False(t, ran)
	require.ErrorIs(t, b.store.Release(ctx, claim, failed), receipt.ErrLost, "done")
	require.Equal(t, "one", b.handle(t, delivery(3, "m1", "k")).Result)
	requireCounts(t, b.store, receipt.Counts{Failed: 1, Fresh: 1, Redelivered: 1, Effects: 1})
}

// C63: no transaction is open while a worker works, waits or backs off.
func noOpenTransaction(t *testing.T, b *bench) {
	if b.place.Transactions == nil {
		t.Skip("the place cannot tell")
	}
	ctx := context.Background()
	open := func(want int, when string) {
		t.Helper()
		got, err := b.place.Transactions()
		require.NoError(t, err)
		require.Equal(t, want, got, when)
	}
	none := func(when string) {
		t.Helper()
		open(0, when)
	}
	d := delivery(1, "m1", "k")
	id := record(t, b.store, d)[0]
	none("recorded")
	decision, err := b.store.Begin(ctx, id, d, b.terms("w"))
	require.NoError(t, err)
	none("begun")
	require.NoError(t, b.store.Renew(ctx, decision.Claim, b.now, hour))
	none("renewed")
	require.Equal(t, receipt.Pending, b.begin(t, delivery(2, "m1", "k"), b.terms("v")).Kind)
	none("in flight")
	require.NoError(t, b.store.Release(ctx, decision.Claim, receipt.Ending{Kind: receipt.Failed, At: b.now}))
	none("released")
	claim := b.claim(t, delivery(3, "m1", "k"))
	require.NoError(t, b.store.Complete(ctx, claim, b.now, "", func(context.Context, receipt.Tx, receipt.Claim) error {
		open(1, "it can tell")
		return nil
	}))
	none("completed")
	for _, err := range b.store.Receipts(ctx, receipt.Filter{}) {
		require.NoError(t, err)
		none("between two receipts")
	}
}
