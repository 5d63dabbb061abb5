package receipttest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// fail makes an attempt that fails.
func (b *bench) fail(t *testing.T, d receipt.Delivery, why string) receipt.Claim {
	t.Helper()
	claim := b.claim(t, d)
	b.pass(t, time.Second)
	require.NoError(t, b.store.Release(context.Background(), claim, receipt.Ending{Kind: receipt.Failed, Reason: why, At: b.now}))
	return claim
}

// Attempts are found by MessageId: a dead-letter move keeps it, and a redriven copy
// carries the first one's.
func attempts(t *testing.T, b *bench) {
	require.Equal(t, 1, b.fail(t, delivery(1, "m1", "k"), "one").Attempt)
	require.Equal(t, 2, b.fail(t, delivery(2, "m1", "k"), "two").Attempt)
	moved := delivery(3, "m1", "k")
	moved.Queue, moved.DedupID, moved.ReceiveCount = "orders-dlq.fifo", "another", 1
	require.Equal(t, 3, b.fail(t, moved, "three").Attempt)
	for n, message := range []string{"c1", "c2"} {
		redriven := delivery(4+n, message, "k")
		redriven.OriginID = "m1"
		require.Equal(t, 4+n, b.fail(t, redriven, "redriven").Attempt)
	}
	require.Equal(t, 1, b.fail(t, delivery(6, "m2", "k"), "another message").Attempt, "whatever its key")
	require.Equal(t, 6, b.fail(t, delivery(7, "m1", "l"), "another key").Attempt, "whatever its key")

	got := all(t, b.store, receipt.Failed)
	require.Len(t, got, 7)
	require.Equal(t, receipt.Attempt{Number: 2, Worker: "w", Started: start.Add(time.Second), Ended: start.Add(2 * time.Second)}, got[1].Attempt)
	require.Equal(t, "two", got[1].Reason)

	// A redriven copy of a done message is a redelivery of it.
	b.complete(t, b.claim(t, delivery(8, "m1", "k")))
	copied := delivery(9, "c3", "k")
	copied.OriginID = "m1"
	require.Equal(t, receipt.Redelivered, b.handle(t, copied).Kind)
}

func givenBack(t *testing.T, b *bench) {
	b.fail(t, delivery(1, "m1", "k"), "one")
	d := delivery(2, "m1", "k")
	claim := b.claim(t, d)
	require.Equal(t, 2, claim.Attempt)
	require.NoError(t, b.store.Release(context.Background(), claim, receipt.Ending{Kind: receipt.Pending, Reason: "stopped", At: b.now}))
	got := all(t, b.store, receipt.Pending)
	require.Len(t, got, 1)
	require.Equal(t, "stopped", got[0].Reason)
	require.Empty(t, got[0].Attempt)
	// The same receipt may be begun again, as after a pause of the same worker.
	decision, err := b.store.Begin(context.Background(), claim.ID, d, b.terms("w"))
	require.NoError(t, err)
	require.False(t, decision.TookOver)
	require.Equal(t, 2, decision.Claim.Attempt)
	b.complete(t, decision.Claim)
	requireCounts(t, b.store, receipt.Counts{Failed: 1, Fresh: 1, Effects: 1})
}

// A worker that slept through its lease may still have the delivery in hand, and
// begin it again. That is another attempt.
func beganTwice(t *testing.T, b *bench) {
	d := delivery(1, "m1", "k")
	claim := b.claim(t, d)
	b.pass(t, hour)
	decision, err := b.store.Begin(context.Background(), claim.ID, d, b.terms("w"))
	require.NoError(t, err)
	require.True(t, decision.TookOver)
	require.Equal(t, 2, decision.Claim.Attempt)
	require.ErrorIs(t, b.store.Complete(context.Background(), claim, b.now, "", nil), receipt.ErrLost)
	b.complete(t, decision.Claim)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Effects: 1})
}

// The handler has seen it and will never want it: the message fails for good, and
// the key is free for another with the same body.
func rejectedByHandler(t *testing.T, b *bench) {
	claim := b.claim(t, delivery(1, "m1", "k"))
	require.NoError(t, b.store.Release(context.Background(), claim, receipt.Ending{Kind: receipt.Rejected, Reason: "unknown type", At: b.now}))
	got := all(t, b.store)
	require.Equal(t, receipt.Rejected, got[0].Kind)
	require.Equal(t, "unknown type", got[0].Reason)
	require.Equal(t, receipt.Attempt{Number: 1, Worker: "w", Started: start, Ended: start}, got[0].Attempt)
	require.Equal(t, 2, b.claim(t, delivery(2, "m1", "k")).Attempt)
}

func messages(t *testing.T, b *bench) {
	ctx := context.Background()
	b.fail(t, delivery(1, "m1", "k"), "one")
	b.handle(t, delivery(2, "m2", "l"))
	redriven := delivery(3, "c1", "k")
	redriven.OriginID = "m1"
	b.handle(t, redriven)
	found, err := b.store.Message(ctx, "m1")
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, receipt.Failed, found[0].Kind)
	require.Equal(t, receipt.Fresh, found[1].Kind)
	require.Equal(t, redriven, found[1].Delivery)
	require.Less(t, found[0].ID, found[1].ID)
	for _, unknown := range []string{"c1", "m3", ""} { // c1 is known by its first MessageId
		found, err := b.store.Message(ctx, unknown)
		require.NoError(t, err)
		require.Empty(t, found)
	}
}
