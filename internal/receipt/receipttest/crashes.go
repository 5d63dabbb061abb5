package receipttest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

var errEffect = errors.New("the ledger is closed")

func failingEffect(t *testing.T, b *bench) {
	claim := b.claim(t, delivery(1, "m1", "k"))
	err := b.store.Complete(context.Background(), claim, b.now, "", spoiled(func() error { return errEffect }))
	require.ErrorIs(t, err, errEffect)
	requireUntouched(t, b, claim)
}

func panickingEffect(t *testing.T, b *bench) {
	claim := b.claim(t, delivery(1, "m1", "k"))
	require.PanicsWithError(t, errEffect.Error(), func() {
		_ = b.store.Complete(context.Background(), claim, b.now, "", spoiled(func() error { panic(errEffect) }))
	})
	requireUntouched(t, b, claim)
}

func cutOff(t *testing.T, b *bench) {
	claim := b.claim(t, delivery(1, "m1", "k"))
	ctx, cancel := context.WithCancel(context.Background())
	err := b.store.Complete(ctx, claim, b.now, "", spoiled(func() error { cancel(); return nil }))
	require.ErrorIs(t, err, context.Canceled)
	requireUntouched(t, b, claim)
}

// spoiled is an effect that writes before it comes to grief.
func spoiled(end func() error) receipt.Effect {
	return func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
		if _, err := tx.ExecContext(ctx, `CREATE TABLE half_done (n INTEGER)`); err != nil {
			return err
		}
		return end()
	}
}

// requireUntouched checks that a completion that failed left the claim as it was,
// the receipt pending and no trace of its effect, and that the store works on.
func requireUntouched(t *testing.T, b *bench, claim receipt.Claim) {
	t.Helper()
	ctx := context.Background()
	requireCounts(t, b.store, receipt.Counts{Pending: 1})
	require.NoError(t, b.store.Renew(ctx, claim, b.now, hour))
	require.NoError(t, b.store.Complete(ctx, claim, b.now, "", spoiled(func() error { return nil }))) // fails if half_done is there
	requireCounts(t, b.store, receipt.Counts{Fresh: 1})
}

func crashBeforeBegin(t *testing.T, b *bench) {
	record(t, b.store, delivery(1, "m1", "k"))
	b.reopen(t)
	claim := b.claim(t, delivery(2, "m1", "k"))
	require.Equal(t, 1, claim.Attempt, "none was made before")
	b.complete(t, claim)
	requireCounts(t, b.store, receipt.Counts{Pending: 1, Fresh: 1, Effects: 1})
	require.Equal(t, receipt.Redelivered, b.handle(t, delivery(3, "m1", "k")).Kind)
}

func crashBeforeComplete(t *testing.T, b *bench) {
	b.claim(t, delivery(1, "m1", "k"))
	b.reopen(t)
	require.Equal(t, receipt.Pending, b.handle(t, delivery(2, "m1", "k")).Kind, "nobody can know that the worker is dead")
	b.pass(t, hour)
	b.reopen(t)
	decision := b.handle(t, delivery(3, "m1", "k"))
	require.Equal(t, receipt.Fresh, decision.Kind)
	require.True(t, decision.TookOver)
	require.Equal(t, 2, decision.Claim.Attempt)
	requireCounts(t, b.store, receipt.Counts{Pending: 2, Fresh: 1, Effects: 1})
	require.Equal(t, receipt.Redelivered, b.handle(t, delivery(4, "m1", "k")).Kind)
}

func crashBeforeDelete(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	b.handle(t, first)
	b.reopen(t)
	require.Equal(t, redelivered(first), b.handle(t, delivery(2, "m1", "k")))
	b.reopen(t)
	require.Equal(t, repeated(first), b.handle(t, delivery(3, "m2", "k")))
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Redelivered: 1, Repeated: 1, Effects: 1})
}

func crashAfterRelease(t *testing.T, b *bench) {
	b.fail(t, delivery(1, "m1", "k"), "no")
	b.reopen(t)
	decision := b.handle(t, delivery(2, "m1", "k"))
	require.False(t, decision.TookOver, "its worker had ended it")
	require.Equal(t, 2, decision.Claim.Attempt)
	requireCounts(t, b.store, receipt.Counts{Failed: 1, Fresh: 1, Effects: 1})
}

func failedRecord(t *testing.T, b *bench) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := b.store.Record(ctx, []receipt.Delivery{delivery(1, "m1", "k"), delivery(2, "m2", "l")})
	require.ErrorIs(t, err, context.Canceled)
	requireCounts(t, b.store, receipt.Counts{})
}
