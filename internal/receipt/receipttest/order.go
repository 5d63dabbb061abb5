package receipttest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// many is more than two pages of any driver.
const many = 1201

func order(t *testing.T, b *bench) {
	ctx := context.Background()
	var deliveries []receipt.Delivery
	for n := range many {
		deliveries = append(deliveries, delivery(n, fmt.Sprintf("m%d", n), fmt.Sprintf("k%d", n)))
	}
	claims := begin(t, b.store, deliveries...)
	for n := len(claims) - 1; n >= 0; n -= 50 { // from the end, which must not move them
		require.NoError(t, b.store.Reject(ctx, claims[n], "every fiftieth"))
	}
	got := all(t, b.store)
	require.Len(t, got, many)
	for n, r := range got {
		require.Equal(t, claims[n].ID, r.ID)
		require.Equal(t, deliveries[n], r.Delivery)
		if n > 0 {
			require.Greater(t, r.ID, got[n-1].ID)
		}
	}
	odd, rest := all(t, b.store, receipt.Rejected), all(t, b.store, receipt.Pending)
	require.Len(t, odd, (many+49)/50)
	require.Len(t, rest, many-len(odd))
	require.Len(t, all(t, b.store, receipt.Rejected, receipt.Pending), many)
	require.Empty(t, all(t, b.store, receipt.Fresh, receipt.Repeated))
}

// Reading must hold no lock: whoever prints a million receipts into a pager must
// not stop a consumer.
func usedWhileRead(t *testing.T, b *bench) {
	for n := range 3 {
		handle(t, b.store, delivery(n, fmt.Sprintf("m%d", n), fmt.Sprintf("k%d", n)))
	}
	n := 0
	for _, err := range b.store.Receipts(context.Background(), receipt.Filter{}) {
		require.NoError(t, err)
		n++
		handle(t, b.store, delivery(10+n, fmt.Sprintf("n%d", n), fmt.Sprintf("l%d", n)))
	}
	require.Equal(t, 3, n, "what came after the call is not shown")
	requireCounts(t, b.store, receipt.Counts{Fresh: 6, Effects: 6})
}

func stopReading(t *testing.T, b *bench) {
	begin(t, b.store, delivery(1, "m1", "k"), delivery(2, "m2", "l"))
	for _, err := range b.store.Receipts(context.Background(), receipt.Filter{}) {
		require.NoError(t, err)
		break
	}
	require.Len(t, all(t, b.store), 2)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := receipt.Collect(b.store.Receipts(ctx, receipt.Filter{}))
	require.ErrorIs(t, err, context.Canceled)
}

// width is how many consumers race.
const width = 16

func race(t *testing.T, b *bench) {
	outcomes := atOnce(t, func(int) receipt.Store { return b.store }, func(n int) receipt.Delivery {
		return delivery(n, fmt.Sprintf("m%d", n), "k")
	})
	requireOneFresh(t, outcomes)
	requireCounts(t, b.store, receipt.Counts{Fresh: 1, Repeated: width - 1, Effects: 1})
}

func manyKeys(t *testing.T, b *bench) {
	for _, outcome := range atOnce(t, func(int) receipt.Store { return b.store }, func(n int) receipt.Delivery {
		return delivery(n, fmt.Sprintf("m%d", n), fmt.Sprintf("k%d", n))
	}) {
		require.Equal(t, receipt.Fresh, outcome.Kind)
	}
	requireCounts(t, b.store, receipt.Counts{Fresh: width, Effects: width})
}

// The loser of the race for a key reads what the winner wrote. Were it given the
// database's unique-key error instead, a consumer would count a broken store.
func twoStores(t *testing.T, b *bench) {
	stores := []receipt.Store{b.store, b.open(t)}
	pick := func(n int) receipt.Store { return stores[n%2] }
	outcomes := atOnce(t, pick, func(n int) receipt.Delivery { return delivery(n, fmt.Sprintf("m%d", n), "k") })
	requireOneFresh(t, outcomes)
	for _, outcome := range atOnce(t, pick, func(n int) receipt.Delivery { return delivery(n, "m0", "k") }) {
		require.Equal(t, receipt.Redelivered, outcome.Kind)
	}
	for _, s := range stores {
		requireCounts(t, s, receipt.Counts{Fresh: 1, Repeated: width - 1, Redelivered: width, Effects: 1})
	}
}

// atOnce handles width deliveries side by side, each on the store picked for it.
func atOnce(t *testing.T, pick func(n int) receipt.Store, arrive func(n int) receipt.Delivery) [width]receipt.Outcome {
	t.Helper()
	var (
		wg       sync.WaitGroup
		gate     = make(chan struct{})
		outcomes [width]receipt.Outcome
		errs     [width]error
	)
	for n := range width {
		wg.Go(func() {
			<-gate
			s := pick(n)
			var claims []receipt.Claim
			if claims, errs[n] = s.Begin(context.Background(), []receipt.Delivery{arrive(n)}); errs[n] == nil {
				outcomes[n], errs[n] = s.Complete(context.Background(), claims[0], nil)
			}
		})
	}
	close(gate)
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	return outcomes
}

func requireOneFresh(t *testing.T, outcomes [width]receipt.Outcome) {
	t.Helper()
	var first receipt.Origin
	fresh := 0
	for _, outcome := range outcomes {
		if outcome.Kind == receipt.Fresh {
			fresh, first = fresh+1, outcome.First
		}
	}
	require.Equal(t, 1, fresh)
	for _, outcome := range outcomes {
		require.Equal(t, first, outcome.First)
		require.Contains(t, []receipt.Kind{receipt.Fresh, receipt.Repeated}, outcome.Kind)
	}
}
