package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt/receipttest"
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
// receipts and two for each message, which lanes beside each other share.
func BenchmarkReply(b *testing.B) {
	for _, place := range []string{"memory", "file"} {
		for _, lanes := range []int{1, 10, 64} {
			b.Run(fmt.Sprintf("%s/lanes=%d", place, lanes), func(b *testing.B) {
				path := sqlite.Memory()
				if place == "file" {
					path = filepath.Join(b.TempDir(), "receipts.db")
				}
				s, err := sqlite.Open(b.Context(), path)
				require.NoError(b, err)
				defer s.Close()
				receipttest.Lanes(b, s, lanes)
			})
		}
	}
}
