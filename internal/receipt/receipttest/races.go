package receipttest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// width is how many consumers race.
const width = 16

// C60, C61: of 16 that begin one key at once one has it, before any of them has
// done anything, and losing is no error.
func race(t *testing.T, b *bench) {
	decisions := b.atOnce(t, b.only, apart)
	winner := requireOneFresh(t, decisions)
	requireCounts(t, b.store, receipt.Counts{Pending: width})
	b.complete(t, decisions[winner].Claim)
	for n := range width {
		kind := b.handle(t, apart(n)).Kind
		if n == winner {
			require.Equal(t, receipt.Redelivered, kind)
			continue
		}
		require.Equal(t, receipt.Repeated, kind)
	}
	requireCounts(t, b.store, receipt.Counts{Pending: width - 1, Fresh: 1, Redelivered: 1, Repeated: width - 1, Effects: 1})
}

func (b *bench) only(int) receipt.Store { return b.store }

// apart are messages of their own with one key.
func apart(n int) receipt.Delivery { return delivery(n, fmt.Sprintf("m%d", n), "k") }

// raceToTheEnd has every consumer come again until its message is done with.
func raceToTheEnd(t *testing.T, b *bench) {
	b.toTheEnd(t, b.only, apart)
	got, err := b.store.Counts(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(1), got.Effects)
	require.Equal(t, int64(1), got.Fresh)
	require.Equal(t, int64(width-1), got.Repeated)
}

func raceOfOneMessage(t *testing.T, b *bench) {
	requireOneFresh(t, b.atOnce(t, b.only, func(n int) receipt.Delivery { return delivery(n, "m1", "k") }))
}

func manyKeys(t *testing.T, b *bench) {
	for _, decision := range b.atOnce(t, b.only, func(n int) receipt.Delivery {
		return delivery(n, fmt.Sprintf("m%d", n), fmt.Sprintf("k%d", n))
	}) {
		require.Equal(t, receipt.Fresh, decision.Kind)
		b.complete(t, decision.Claim)
	}
	requireCounts(t, b.store, receipt.Counts{Fresh: width, Effects: width})
}

// The loser of the race for a key reads what the winner wrote. Were it given the
// database's unique-key error instead, a consumer would count a broken store.
func twoStores(t *testing.T, b *bench) {
	stores := []receipt.Store{b.store, b.open(t)}
	pick := func(n int) receipt.Store { return stores[n%2] }
	b.toTheEnd(t, pick, apart)
	b.toTheEnd(t, pick, func(n int) receipt.Delivery { return delivery(n, "m0", "k") })
	for _, s := range stores {
		got, err := s.Counts(context.Background())
		require.NoError(t, err)
		require.Equal(t, int64(1), got.Effects)
		require.Equal(t, int64(1), got.Fresh)
		require.Equal(t, int64(width-1), got.Repeated)
		require.Equal(t, int64(width), got.Redelivered)
	}
}

// atOnce begins width deliveries side by side, each on the store picked for it.
func (b *bench) atOnce(t *testing.T, pick func(n int) receipt.Store, arrive func(n int) receipt.Delivery) [width]receipt.Decision {
	t.Helper()
	var decisions [width]receipt.Decision
	together(t, func(n int) (err error) {
		var ids []int64
		if ids, err = pick(n).Record(context.Background(), []receipt.Delivery{arrive(n)}); err == nil {
			decisions[n], err = pick(n).Begin(context.Background(), ids[0], arrive(n), b.terms(fmt.Sprintf("w%d", n)))
		}
		return err
	})
	return decisions
}

// toTheEnd handles width deliveries side by side, until nothing is pending.
func (b *bench) toTheEnd(t *testing.T, pick func(n int) receipt.Store, arrive func(n int) receipt.Delivery) {
	t.Helper()
	together(t, func(n int) error {
		ctx, s := context.Background(), pick(n)
		ids, err := s.Record(ctx, []receipt.Delivery{arrive(n)})
		for err == nil {
			var decision receipt.Decision
			decision, err = s.Begin(ctx, ids[0], arrive(n), b.terms(fmt.Sprintf("w%d", n)))
			switch {
			case err == nil && decision.Kind == receipt.Fresh:
				return s.Complete(ctx, decision.Claim, b.now, "", nil)
			case err == nil && decision.Kind != receipt.Pending:
				return nil
			}
		}
		return err
	})
}

// together runs do for every n below width at once.
func together(t *testing.T, do func(n int) error) {
	t.Helper()
	var (
		wg   sync.WaitGroup
		gate = make(chan struct{})
		errs [width]error
	)
	for n := range width {
		wg.Go(func() {
			<-gate
			errs[n] = do(n)
		})
	}
	close(gate)
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func requireOneFresh(t *testing.T, decisions [width]receipt.Decision) (winner int) {
	t.Helper()
	fresh := 0
	for n, decision := range decisions {
		if decision.Kind == receipt.Fresh {
			fresh++
			winner = n
			continue
		}
		require.Equal(t, receipt.Pending, decision.Kind)
	}
	require.Equal(t, 1, fresh)
	return winner
}
