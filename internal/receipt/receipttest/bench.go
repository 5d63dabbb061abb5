package receipttest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// Lanes measures a store as a consumer uses it: lanes that each record a reply of ten
// fresh messages, and begin and complete one after the other.
func Lanes(b *testing.B, store receipt.Store, lanes int) {
	b.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, lanes)
	b.ResetTimer()
	for lane := range lanes {
		wg.Go(func() {
			for errs[lane] == nil {
				n := int(next.Add(1))
				if n > b.N {
					return
				}
				errs[lane] = reply(store, n)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	for _, err := range errs {
		require.NoError(b, err)
	}
	b.ReportMetric(float64(10*b.N)/b.Elapsed().Seconds(), "messages/s")
}

func reply(store receipt.Store, n int) error {
	ctx := context.Background()
	terms := receipt.Terms{Worker: "w", Lease: time.Minute, Now: start}
	deliveries := make([]receipt.Delivery, 10)
	for i := range deliveries {
		id := 10*n + i
		deliveries[i] = receipt.Delivery{
			Queue: queue, MessageID: fmt.Sprintf("%036d", id), Group: fmt.Sprintf("group-%d", n%64), DedupID: fmt.Sprintf("%064d", id),
			SequenceNumber: fmt.Sprintf("%020d", id), ReceiveCount: 1, BodyDigest: fmt.Sprintf("%064d", id), Fingerprint: fmt.Sprintf("%064d", id),
			SentAt: start, ReceivedAt: start,
			Key: receipt.Key{Rule: "content", Consumer: queue, Space: "event", Value: fmt.Sprintf("%064d", id)},
		}
	}
	ids, err := store.Record(ctx, deliveries)
	if err != nil {
		return err
	}
	for i, d := range deliveries {
		decision, err := store.Begin(ctx, ids[i], d, terms)
		if err != nil {
			return err
		}
		if err := store.Complete(ctx, decision.Claim, start, "", nil); err != nil {
			return err
		}
	}
	return nil
}
