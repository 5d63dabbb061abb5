package receipttest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

func (b *bench) under(policy receipt.Policy) receipt.Terms {
	terms := b.terms("w")
	terms.Repeated = policy
	return terms
}

// Two equal events a day apart: one effect by default.
func skip(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	b.handleUnder(t, first, b.under(receipt.Skip))
	b.pass(t, 24*hour)
	require.Equal(t, repeated(first), b.handleUnder(t, delivery(2, "m2", "k"), b.under(receipt.Skip)))
	require.Equal(t, repeated(first), b.handleUnder(t, delivery(3, "m3", "k"), b.under("")), "the default")
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Repeated: 2, Effects: 1})
}

// Two equal events a day apart: two effects with run, and a redelivery of either
// has none.
func runRepeats(t *testing.T, b *bench) {
	terms := b.under(receipt.Run)
	first, second := delivery(1, "m1", "k"), delivery(2, "m2", "k")
	b.handleUnder(t, first, terms)
	decision := b.begin(t, second, terms)
	require.Equal(t, receipt.Fresh, decision.Kind)
	require.True(t, decision.Repeats)
	require.Equal(t, origin(first), decision.First)
	extended := second
	extended.Key.Message = "m2"
	require.Equal(t, extended, decision.Claim.Delivery)
	require.Equal(t, extended.Key.Encode(), decision.Claim.Key)
	require.NoError(t, b.store.Complete(context.Background(), decision.Claim, b.now, "second", nil))

	require.Equal(t, redelivered(first), b.handleUnder(t, delivery(3, "m1", "k"), terms))
	again := redelivered(second)
	again.Result = "second"
	require.Equal(t, again, b.handleUnder(t, delivery(4, "m2", "k"), terms))
	copied := delivery(5, "c2", "k")
	copied.OriginID = "m2"
	require.Equal(t, again, b.handleUnder(t, copied, terms), "a redriven copy")
	require.Equal(t, receipt.Fresh, b.handleUnder(t, delivery(6, "m3", "k"), terms).Kind)
	requireCounts(t, b.store, receipt.Counts{Fresh: 3, Redelivered: 3, Effects: 3})
	require.Equal(t, extended, all(t, b.store, receipt.Fresh)[1].Delivery, "the receipt says which key it was")

	// What was skipped before the policy changed is not run afterwards.
	b.handleUnder(t, delivery(7, "m7", "l"), b.under(receipt.Skip))
	require.Equal(t, receipt.Repeated, b.handleUnder(t, delivery(8, "m8", "l"), b.under(receipt.Skip)).Kind)
	require.Equal(t, receipt.Redelivered, b.handleUnder(t, delivery(9, "m8", "l"), terms).Kind)
}

// A message that failed has its key, and a repeat that failed has its own.
func runFailing(t *testing.T, b *bench) {
	ctx := context.Background()
	terms := b.under(receipt.Run)
	failed := receipt.Ending{Kind: receipt.Failed, Reason: "no", At: b.now}
	first := b.begin(t, delivery(1, "m1", "k"), terms)
	require.NoError(t, b.store.Release(ctx, first.Claim, failed))
	// The key is open: the next message with it is no repeat of an effect.
	second := b.begin(t, delivery(2, "m2", "k"), terms)
	require.Equal(t, receipt.Fresh, second.Kind)
	require.False(t, second.Repeats)
	require.Empty(t, second.Claim.Delivery.Key.Message)
	b.complete(t, second.Claim)
	// So the first message is the repeat now.
	for attempt := 2; attempt < 4; attempt++ {
		first = b.begin(t, delivery(1+attempt, "m1", "k"), terms)
		require.Equal(t, receipt.Fresh, first.Kind)
		require.True(t, first.Repeats)
		require.Equal(t, "m2", first.First.MessageID)
		require.Equal(t, "m1", first.Claim.Delivery.Key.Message)
		require.Equal(t, attempt, first.Claim.Attempt)
		require.NoError(t, b.store.Release(ctx, first.Claim, failed))
	}
	first = b.begin(t, delivery(6, "m1", "k"), terms)
	b.complete(t, first.Claim)
	require.Equal(t, receipt.Redelivered, b.begin(t, delivery(7, "m1", "k"), terms).Kind)
	require.Equal(t, receipt.Redelivered, b.begin(t, delivery(8, "m2", "k"), terms).Kind)
	requireCounts(t, b.store, receipt.Counts{Failed: 3, Fresh: 2, Redelivered: 2, Effects: 2})
}

// Each has its own effect, so a repeat need not wait for the first to be done.
func runBeside(t *testing.T, b *bench) {
	terms := b.under(receipt.Run)
	first, second := b.begin(t, delivery(1, "m1", "k"), terms), b.begin(t, delivery(2, "m2", "k"), terms)
	require.Equal(t, receipt.Fresh, second.Kind)
	require.Equal(t, receipt.Pending, b.begin(t, delivery(3, "m1", "k"), terms).Kind)
	require.Equal(t, receipt.Pending, b.begin(t, delivery(4, "m2", "k"), terms).Kind)
	b.complete(t, second.Claim)
	b.complete(t, first.Claim)
	require.Equal(t, receipt.Redelivered, b.begin(t, delivery(5, "m1", "k"), terms).Kind)
	require.Equal(t, receipt.Redelivered, b.begin(t, delivery(6, "m2", "k"), terms).Kind)
	requireCounts(t, b.store, receipt.Counts{Fresh: 2, Pending: 2, Redelivered: 2, Effects: 2})
}

// Two deliveries of one message meet at the key without the MessageId, whatever is
// there of the other.
func runOnce(t *testing.T, b *bench) {
	terms := b.under(receipt.Run)
	b.handleUnder(t, delivery(0, "m0", "k"), terms)
	var wg sync.WaitGroup
	var decisions [width]receipt.Decision
	var errs [width]error
	ids := make([]int64, width)
	for n := range width {
		ids[n] = record(t, b.store, delivery(1+n, "m1", "k"))[0]
	}
	for n := range width {
		wg.Go(func() {
			decisions[n], errs[n] = b.store.Begin(context.Background(), ids[n], delivery(1+n, "m1", "k"), terms)
		})
	}
	wg.Wait()
	fresh := 0
	for n, decision := range decisions {
		require.NoError(t, errs[n])
		if decision.Kind == receipt.Fresh {
			fresh++
			b.complete(t, decision.Claim)
			continue
		}
		require.Equal(t, receipt.Pending, decision.Kind, n)
	}
	require.Equal(t, 1, fresh)
	requireCounts(t, b.store, receipt.Counts{Fresh: 2, Pending: width - 1, Effects: 2})
}

func refuse(t *testing.T, b *bench) {
	terms := b.under(receipt.Refuse)
	first := delivery(1, "m1", "k")
	b.handleUnder(t, first, terms)
	for n := range 2 {
		decision := b.handleUnder(t, delivery(2+n, "m2", "k"), terms)
		require.Equal(t, receipt.Decision{
			Kind: receipt.Rejected, First: origin(first), Repeats: true, Reason: "the key was done before by message m1",
		}, decision)
	}
	require.Equal(t, receipt.Redelivered, b.handleUnder(t, delivery(4, "m1", "k"), terms).Kind)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Rejected: 2, Redelivered: 1, Effects: 1})
}
