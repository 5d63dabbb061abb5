package postgres_test

import (
	"fmt"
	"testing"

	"fifoproof/internal/receipt/pgtest"
	"fifoproof/internal/receipt/postgres"
	"fifoproof/internal/receipt/receipttest"
)

// BenchmarkReply is one full reply of ten fresh messages, on a server with fsync on.
func BenchmarkReply(b *testing.B) {
	server := pgtest.New(b, true)
	for _, lanes := range []int{1, 10, 64} {
		b.Run(fmt.Sprintf("lanes=%d", lanes), func(b *testing.B) {
			s := open(b, server.Schema(b), postgres.MaxConnections(lanes))
			defer s.Close()
			receipttest.Lanes(b, s, lanes)
		})
	}
}
