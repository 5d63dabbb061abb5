package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

// BenchmarkOpenMemory is what every embedded conformance case pays for its store.
func BenchmarkOpenMemory(b *testing.B) {
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), sqlite.Memory())
		require.NoError(b, err)
		require.NoError(b, s.Close())
	}
}

// BenchmarkReply is one full reply of ten fresh messages: one commit for its
// receipts and two for each message.
func BenchmarkReply(b *testing.B) {
	for _, place := range []string{"memory", "file"} {
		b.Run(place, func(b *testing.B) {
			path := sqlite.Memory()
			if place == "file" {
				path = filepath.Join(b.TempDir(), "receipts.db")
			}
			s, err := sqlite.Open(b.Context(), path)
			require.NoError(b, err)
			defer s.Close()
			n := 0
			for b.Loop() {
				deliveries := make([]receipt.Delivery, 10)
				for i := range deliveries {
					n++
					deliveries[i] = receipt.Delivery{
						Queue: "orders.fifo", MessageID: fmt.Sprintf("%036d", n), Group: "g", DedupID: fmt.Sprintf("%064d", n),
						SequenceNumber: fmt.Sprintf("%020d", n), ReceiveCount: 1, ReceivedAt: time.Unix(0, int64(n)),
						Key: receipt.Key{Rule: "content", Consumer: "orders.fifo", Space: "event", Value: fmt.Sprintf("%064d", n)},
					}
				}
				ids, err := s.Record(context.Background(), deliveries)
				require.NoError(b, err)
				for i, d := range deliveries {
					decision, err := s.Begin(context.Background(), ids[i], d, terms)
					require.NoError(b, err)
					require.NoError(b, s.Complete(context.Background(), decision.Claim, terms.Now, "", nil))
				}
			}
			b.ReportMetric(float64(10*b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
