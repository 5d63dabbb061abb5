package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/receipttest"
	"fifoproof/internal/receipt/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, path string, opts ...sqlite.Option) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts...)
	require.NoError(t, err)
	return s
}

func TestFile(t *testing.T) {
	t.Parallel()
	receipttest.Exercise(t, func(t *testing.T) receipttest.Place {
		path := filepath.Join(t.TempDir(), "receipts.db")
		return receipttest.Place{Open: func(t *testing.T) receipt.Store { return open(t, path) }, Lasting: true}
	})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	receipttest.Exercise(t, func(*testing.T) receipttest.Place {
		return receipttest.Place{Open: func(t *testing.T) receipt.Store { return open(t, sqlite.Memory()) }}
	})
}

func arrival(message, key string) receipt.Delivery {
	return receipt.Delivery{
		Queue: "orders.fifo", MessageID: message, ReceivedAt: time.Unix(1, 2),
		Key: receipt.Key{Rule: "content", Consumer: "orders.fifo", Space: "event", Value: key},
	}
}

var terms = receipt.Terms{Worker: "w", Lease: time.Minute, Now: time.Unix(2, 0)}

func claim(t *testing.T, s *sqlite.Store, d receipt.Delivery) receipt.Decision {
	t.Helper()
	ids, err := s.Record(t.Context(), []receipt.Delivery{d})
	require.NoError(t, err)
	decision, err := s.Begin(t.Context(), ids[0], d, terms)
	require.NoError(t, err)
	return decision
}

func handle(t *testing.T, s *sqlite.Store, d receipt.Delivery) receipt.Kind {
	t.Helper()
	decision := claim(t, s, d)
	if decision.Kind == receipt.Fresh {
		require.NoError(t, s.Complete(t.Context(), decision.Claim, terms.Now, "", nil))
	}
	return decision.Kind
}

// A path is a path, whatever SQLite's URI syntax makes of its characters.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with space.db", "what?mode=memory", "a#b", "100%25.db", "a:b", "ä.db", "./-x", "a//b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "in here", name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			s := open(t, path)
			require.Equal(t, receipt.Fresh, handle(t, s, arrival("m", "k")))
			require.NoError(t, s.Close())
			require.FileExists(t, path)
		})
	}
}

func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	s := open(t, "receipts.db")
	require.NoError(t, s.Close())
	require.FileExists(t, "receipts.db")
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	missing := filepath.Join(folder, "no", "receipts.db")
	_, err := sqlite.Open(t.Context(), missing)
	require.ErrorContains(t, err, missing)

	text := filepath.Join(folder, "notes.txt")
	require.NoError(t, os.WriteFile(text, []byte("this is a text of some length, and no database at all\n"), 0o600))
	_, err = sqlite.Open(t.Context(), text)
	require.ErrorContains(t, err, text)
	_, err = sqlite.Open(t.Context(), text, sqlite.ReadOnly())
	require.ErrorIs(t, err, receipt.ErrNotReceipts)
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "receipts.db")
	_, err := sqlite.Open(t.Context(), path, sqlite.ReadOnly())
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)

	writer := open(t, path)
	require.Equal(t, receipt.Fresh, handle(t, writer, arrival("m1", "k")))

	// Beside a consumer at work: what it has committed is seen, and it is not held up.
	reader := open(t, path, sqlite.ReadOnly())
	require.Equal(t, receipt.Repeated, handle(t, writer, arrival("m2", "k")))
	counts, err := reader.Counts(t.Context())
	require.NoError(t, err)
	require.Equal(t, receipt.Counts{Fresh: 1, Repeated: 1, Effects: 1}, counts)
	_, err = reader.Record(t.Context(), []receipt.Delivery{arrival("m3", "l")})
	require.Error(t, err)
	require.NoError(t, reader.Close())

	// And of a file that was closed cleanly, so that its log is gone.
	require.NoError(t, writer.Close())
	reader = open(t, path, sqlite.ReadOnly())
	found, err := receipt.Collect(reader.Receipts(t.Context(), receipt.Filter{}))
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.NoError(t, reader.Close())
}

// Three consumers started by one script all find no file.
func TestOpenedByManyAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "receipts.db")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for n := range errs {
		wg.Go(func() {
			s, err := sqlite.Open(context.Background(), path)
			if err == nil {
				err = s.Close()
			}
			errs[n] = err
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
}

// The planted fault must do what its name says, or the suite that is to catch it
// proves nothing: effects stay right, and a receipt is missing.
func TestUniqueReceipts(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Memory(), sqlite.UniqueReceipts())
	require.Equal(t, receipt.Fresh, handle(t, s, arrival("m1", "k")))
	require.Equal(t, receipt.Repeated, handle(t, s, arrival("m2", "k")))
	require.Equal(t, receipt.Redelivered, handle(t, s, arrival("m1", "k")))
	require.Equal(t, receipt.Fresh, handle(t, s, arrival("m3", "l")))
	found, err := receipt.Collect(s.Receipts(t.Context(), receipt.Filter{}))
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "m1", found[0].MessageID)
	require.Equal(t, "m3", found[1].MessageID)
	counts, err := s.Counts(t.Context())
	require.NoError(t, err)
	require.Equal(t, receipt.Counts{Fresh: 2, Effects: 2}, counts)
	require.NoError(t, s.Close())
}

// What was answered as committed is on disk: the settings that make it so, and the
// unique key that makes an effect happen once, are those of the file.
func TestSettings(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "receipts.db")
	s := open(t, path)
	got := map[string]string{}
	err := s.Complete(t.Context(), claim(t, s, arrival("m", "k")).Claim, terms.Now, "", func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
		for _, setting := range []string{"journal_mode", "synchronous", "foreign_keys", "busy_timeout"} {
			var value string
			if err := tx.QueryRowContext(ctx, "PRAGMA "+setting).Scan(&value); err != nil {
				return err
			}
			got[setting] = value
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "60000"}, got)
	require.NoError(t, s.Close())

	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `INSERT INTO inbox (key, consumer, key_space, key_group, key_value, key_message,
 state, token, worker, fingerprint, receipt_id, message_id, received_at_ns, last_delivery_ns)
SELECT key, '', '', '', '', '', 'open', '', '', '', 7, '', 7, 7 FROM inbox`)
	require.ErrorContains(t, err, "UNIQUE constraint failed: inbox.key")
	var received int64
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT received_at_ns FROM receipts`).Scan(&received))
	require.Equal(t, int64(1_000_000_002), received, "nanoseconds since 1970")
	require.NoError(t, db.Close())
}
