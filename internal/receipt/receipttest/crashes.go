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
	claim := begin(t, b.store, delivery(1, "m1", "k"))[0]
	_, err := b.store.Complete(context.Background(), claim, spoiled(func() error { return errEffect }))
	require.ErrorIs(t, err, errEffect)
	requireUntouched(t, b, claim)
}

func panickingEffect(t *testing.T, b *bench) {
	claim := begin(t, b.store, delivery(1, "m1", "k"))[0]
	require.PanicsWithError(t, errEffect.Error(), func() {
		_, _ = b.store.Complete(context.Background(), claim, spoiled(func() error { panic(errEffect) }))
	})
	requireUntouched(t, b, claim)
}

func cutOff(t *testing.T, b *bench) {
	claim := begin(t, b.store, delivery(1, "m1", "k"))[0]
	ctx, cancel := context.WithCancel(context.Background())
	_, err := b.store.Complete(ctx, claim, spoiled(func() error { cancel(); return nil }))
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

// requireUntouched checks that a completion that failed left the key free, the
// receipt pending and no trace of its effect, and that the store works on.
func requireUntouched(t *testing.T, b *bench, claim receipt.Claim) {
	t.Helper()
	ctx := context.Background()
	requireCounts(t, b.store, receipt.Counts{Pending: 1})
	outcome, err := b.store.Complete(ctx, claim, spoiled(func() error { return nil })) // fails if half_done is there
	require.NoError(t, err)
	require.Equal(t, receipt.Fresh, outcome.Kind)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1})
}

func crashBeforeComplete(t *testing.T, b *bench) {
	begin(t, b.store, delivery(1, "m1", "k"))
	b.reopen(t)
	require.Equal(t, receipt.Fresh, handle(t, b.store, delivery(2, "m1", "k")).Kind)
	requireCounts(t, b.store, receipt.Counts{Pending: 1, Fresh: 1, Effects: 1})
	require.Equal(t, receipt.Redelivered, handle(t, b.store, delivery(3, "m1", "k")).Kind)
}

func crashBeforeDelete(t *testing.T, b *bench) {
	first := delivery(1, "m1", "k")
	handle(t, b.store, first)
	b.reopen(t)
	require.Equal(t, receipt.Outcome{Kind: receipt.Redelivered, First: origin(first)}, handle(t, b.store, delivery(2, "m1", "k")))
	b.reopen(t)
	require.Equal(t, receipt.Outcome{Kind: receipt.Repeated, First: origin(first)}, handle(t, b.store, delivery(3, "m2", "k")))
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Redelivered: 1, Repeated: 1, Effects: 1})
}

func failedBegin(t *testing.T, b *bench) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := b.store.Begin(ctx, []receipt.Delivery{delivery(1, "m1", "k"), delivery(2, "m2", "l")})
	require.ErrorIs(t, err, context.Canceled)
	requireCounts(t, b.store, receipt.Counts{})
}
