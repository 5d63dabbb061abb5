package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

// release1 writes a file as release 1 left it: its migration, and what its consumer
// wrote of four deliveries and a rejection. The odd characters are part of the key
// and must be counted in bytes.
func release1(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receipts.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	migration, err := os.ReadFile("migrations/00001_receipts.sql")
	require.NoError(t, err)
	up, _, _ := strings.Cut(string(migration), "-- +goose Down")
	_, err = db.Exec(up + `;
CREATE TABLE receipt_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
INSERT INTO receipt_migrations (version_id, is_applied) VALUES (0, 1), (1, 1);
INSERT INTO receipts (id, kind, reason, queue, message_id, message_group, dedup_id, sequence_number, receive_count, body_digest,
 key_rule, key_space, key_group, key_value, sent_at_ns, received_at_ns, first_message_id, first_received_at_ns) VALUES
 (1, 'pending',     '',       'orders.fifo', 'm1', 'g', 'd', '7', 1, 'digest', 'content', 'event', 'é', 'k' || char(0) || 'ü', 1, 100, '', NULL),
 (2, 'fresh',       '',       'orders.fifo', 'm1', 'g', 'd', '7', 2, 'digest', 'content', 'event', 'é', 'k' || char(0) || 'ü', 1, 200, '', NULL),
 (3, 'repeated',    '',       'orders.fifo', 'm2', 'g', 'd', '8', 1, 'digest', 'content', 'event', 'é', 'k' || char(0) || 'ü', 1, 300, 'm1', 200),
 (4, 'rejected',    'no key', 'orders.fifo', 'm3', 'g', 'd', '9', 1, '',       '',        '',      '',  '',                     1, 400, '', NULL),
 (5, 'redelivered', '',       'orders.fifo', 'm2', 'g', 'd', '8', 2, 'digest', 'content', 'event', 'é', 'k' || char(0) || 'ü', 1, 500, 'm1', 200);
INSERT INTO inbox (id, queue, key_space, key_group, key_value, receipt_id, message_id, received_at_ns) VALUES
 (1, 'orders.fifo', 'event', 'é', 'k' || char(0) || 'ü', 2, 'm1', 200);
INSERT INTO effects (id, inbox_id, queue, message_group, message_id, sequence_number, key_value, received_at_ns) VALUES
 (1, 1, 'orders.fifo', 'g', 'm1', '7', 'k' || char(0) || 'ü', 200)`)
	require.NoError(t, err)
	return path
}

func fromRelease1(message string) receipt.Delivery {
	return receipt.Delivery{
		Queue: "orders.fifo", MessageID: message, Group: "g", DedupID: "d", SequenceNumber: "7", BodyDigest: "digest", Fingerprint: "digest",
		ReceivedAt: time.Unix(0, 1000),
		Key:        receipt.Key{Rule: "content", Consumer: "orders.fifo", Space: "event", Group: "é", Value: "k\x00ü"},
	}
}

// What release 1 has done stays done.
func TestFileOfRelease1(t *testing.T) {
	t.Parallel()
	path := release1(t)
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	// Read only, the file stays as it is, and shows what the migrated one will.
	reader := open(t, path, sqlite.ReadOnly())
	want := all(t, reader)
	require.NoError(t, reader.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after))

	s := open(t, path)
	require.Equal(t, want, all(t, s))
	require.Len(t, want, 5)
	first := fromRelease1("m1")
	first.ReceiveCount, first.SentAt, first.ReceivedAt = 2, time.Unix(0, 1).UTC(), time.Unix(0, 200).UTC()
	require.Equal(t, receipt.Receipt{ID: 2, Delivery: first, Kind: receipt.Fresh}, want[1])
	require.Equal(t, receipt.Key{}, want[3].Key, "it had none")
	counts, err := s.Counts(t.Context())
	require.NoError(t, err)
	require.Equal(t, receipt.Counts{Fresh: 1, Redelivered: 1, Repeated: 1, Rejected: 1, Pending: 1, Effects: 1}, counts)

	require.Equal(t, receipt.Redelivered, handle(t, s, fromRelease1("m1")))
	require.Equal(t, receipt.Redelivered, handle(t, s, fromRelease1("m2")), "a repeat that was done before")
	require.Equal(t, receipt.Repeated, handle(t, s, fromRelease1("m4")))
	other := fromRelease1("m5")
	other.Fingerprint = "another"
	require.Equal(t, receipt.Rejected, handle(t, s, other))
	other.Key.Value = "k"
	require.Equal(t, receipt.Fresh, handle(t, s, other))

	// The key was last delivered at 500 (then at 1,000 above); its pending receipt goes
	// with it, and the rejected one by its own time.
	keys, receipts, err := s.Reap(t.Context(), time.Unix(0, 1000))
	require.NoError(t, err)
	require.Zero(t, keys)
	require.Equal(t, int64(1), receipts)
	require.NoError(t, s.Close())
}

func TestRetentionOfRelease1(t *testing.T) {
	t.Parallel()
	s := open(t, release1(t))
	keys, _, err := s.Reap(t.Context(), time.Unix(0, 500))
	require.NoError(t, err)
	require.Zero(t, keys, "its last delivery was at 500")
	keys, receipts, err := s.Reap(t.Context(), time.Unix(0, 501))
	require.NoError(t, err)
	require.Equal(t, int64(1), keys)
	require.Equal(t, int64(4), receipts, "the fifth went before: it had no key")
	require.NoError(t, s.Close())
}

func all(t *testing.T, s *sqlite.Store) []receipt.Receipt {
	t.Helper()
	found, err := receipt.Collect(s.Receipts(context.Background(), receipt.Filter{}))
	require.NoError(t, err)
	return found
}

// A file of a later release may mean its columns otherwise; it is left alone.
func TestNewerFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "receipts.db")
	require.NoError(t, open(t, path).Close())
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `INSERT INTO receipt_migrations (version_id, is_applied) VALUES (99, 1)`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for _, opts := range [][]sqlite.Option{nil, {sqlite.ReadOnly()}} {
		_, err = sqlite.Open(t.Context(), path, opts...)
		require.ErrorContains(t, err, "written by a newer release (version 99, this one knows 2)", fmt.Sprint(len(opts)))
		require.ErrorContains(t, err, path)
	}
}
