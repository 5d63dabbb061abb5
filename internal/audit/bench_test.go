package audit_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/audit"
	"fifoproof/internal/audit/audittest"
)

// BenchmarkRun audits pairs of some 100,000 lines each; bytes are those of both files.
func BenchmarkRun(b *testing.B) {
	pair := audittest.Pair{Messages: 100_000, Groups: 50, Each: 10, Seed: 5}
	sends, receipts, _ := writePair(b, b.TempDir(), pair)
	b.ResetTimer()
	for b.Loop() {
		report, err := audit.Run(context.Background(), sends, receipts, audit.Options{})
		require.NoError(b, err)
		b.ReportMetric(float64(report.SendLog.Lines+report.Receipts.Lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	}
}
