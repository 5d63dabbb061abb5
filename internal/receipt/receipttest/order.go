package receipttest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

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
	ids := record(t, b.store, deliveries...)
	for n := len(ids) - 1; n >= 0; n -= 50 { // from the end, which must not move them
		require.NoError(t, b.store.Settle(ctx, ids[n], receipt.Ending{Kind: receipt.Rejected, Reason: "every fiftieth"}))
	}
	got := all(t, b.store)
	require.Len(t, got, many)
	for n, r := range got {
		require.Equal(t, ids[n], r.ID)
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

func filters(t *testing.T, b *bench) {
	change := func(n int, with func(*receipt.Delivery)) receipt.Delivery {
		d := delivery(n, fmt.Sprintf("m%d", n), fmt.Sprintf("k%d", n))
		with(&d)
		return d
	}
	b.handle(t, change(0, func(*receipt.Delivery) {}))
	b.handle(t, change(1, func(d *receipt.Delivery) { d.Queue = otherQueue }))
	b.handle(t, change(2, func(d *receipt.Delivery) { d.Group = "customer-8" }))
	b.handle(t, change(3, func(d *receipt.Delivery) { d.OriginID = "m0" }))
	record(t, b.store, change(4, func(d *receipt.Delivery) { d.Key.Value = "k0" }))
	for name, tt := range map[string]struct {
		filter receipt.Filter
		want   []string
	}{
		"all":             {receipt.Filter{}, []string{"m0", "m1", "m2", "m3", "m4"}},
		"kind":            {receipt.Filter{Kinds: []receipt.Kind{receipt.Pending}}, []string{"m4"}},
		"queue":           {receipt.Filter{Queue: otherQueue}, []string{"m1"}},
		"group":           {receipt.Filter{Group: "customer-8"}, []string{"m2"}},
		"message":         {receipt.Filter{Message: "m0"}, []string{"m0", "m3"}},
		"a copy's own id": {receipt.Filter{Message: "m3"}, []string{"m3"}},
		"key":             {receipt.Filter{Key: "k0"}, []string{"m0", "m4"}},
		"since":           {receipt.Filter{Since: start.Add(3 * time.Millisecond)}, []string{"m3", "m4"}},
		"until":           {receipt.Filter{Until: start.Add(time.Millisecond)}, []string{"m0"}},
		"since and until": {receipt.Filter{Since: start.Add(time.Millisecond), Until: start.Add(time.Millisecond + 1)}, []string{"m1"}},
		"all must hold":   {receipt.Filter{Key: "k0", Kinds: []receipt.Kind{receipt.Fresh, receipt.Repeated}}, []string{"m0"}},
		"everything":      {receipt.Filter{Kinds: receipt.Kinds(), Queue: queue, Group: group, Message: "m0", Key: "k3", Since: start, Until: start.Add(time.Hour)}, []string{"m3"}},
		"none":            {receipt.Filter{Message: "m9"}, nil},
		"no text is code": {receipt.Filter{Queue: "' OR '1'='1"}, nil},
	} {
		var got []string
		for _, r := range some(t, b.store, tt.filter) {
			got = append(got, r.MessageID)
		}
		require.True(t, slices.IsSorted(got), name)
		require.Equal(t, tt.want, got, name)
	}
}

// Reading must hold no lock: whoever prints a million receipts into a pager must
// not stop a consumer.
func usedWhileRead(t *testing.T, b *bench) {
	for n := range 3 {
		b.handle(t, delivery(n, fmt.Sprintf("m%d", n), fmt.Sprintf("k%d", n)))
	}
	n := 0
	for _, err := range b.store.Receipts(context.Background(), receipt.Filter{}) {
		require.NoError(t, err)
		n++
		b.handle(t, delivery(10+n, fmt.Sprintf("n%d", n), fmt.Sprintf("l%d", n)))
	}
	require.Equal(t, 3, n, "what came after the call is not shown")
	requireCounts(t, b.store, receipt.Counts{Fresh: 6, Effects: 6})
}

func stopReading(t *testing.T, b *bench) {
	record(t, b.store, delivery(1, "m1", "k"), delivery(2, "m2", "l"))
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
