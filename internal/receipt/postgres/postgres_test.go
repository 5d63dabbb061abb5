package postgres_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/pgtest"
	"fifoproof/internal/receipt/postgres"
	"fifoproof/internal/receipt/receipttest"
	"fifoproof/internal/receipt/sqlstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, url string, opts ...postgres.Option) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, opts...)
	require.NoError(t, err)
	return s
}

// look is a connection beside the store's.
func look(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestExercise(t *testing.T) {
	t.Parallel()
	receipttest.Exercise(t, func(t *testing.T) receipttest.Place {
		url := pgtest.Start(t)
		db := look(t, url)
		db.SetMaxOpenConns(1)
		return receipttest.Place{
			Open:    func(t *testing.T) receipt.Store { return open(t, url, postgres.MaxConnections(4)) },
			Lasting: true,
			Pass: func(d time.Duration) error {
				_, err := db.Exec(`UPDATE inbox SET lease_until_ns = lease_until_ns - $1`, int64(d))
				return err
			},
			Kept: sqlstore.Printable,
			Transactions: func() (n int, err error) {
				err = db.QueryRow(`SELECT count(*) FROM pg_stat_activity WHERE xact_start IS NOT NULL
AND application_name = current_setting('application_name') AND pid <> pg_backend_pid()`).Scan(&n)
				return n, err
			},
		}
	})
}

// What a server, a role or a URL says otherwise must not change what is promised:
// that a commit survives, and that losing a race is no error.
func TestSettings(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t) + "&synchronous_commit=off&default_transaction_isolation=serializable"
	s := open(t, url)
	defer s.Close()
	got := map[string]string{}
	err := s.Complete(t.Context(), begin(t, s, arrival("m", "k"), terms).Claim, terms.Now, "", func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
		for _, setting := range []string{"synchronous_commit", "transaction_isolation", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count"} {
			var value string
			if err := tx.QueryRowContext(ctx, `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
				return err
			}
			got[setting] = value
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"synchronous_commit": "on", "transaction_isolation": "read committed",
		"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
	}, got)

	stricter := open(t, pgtest.Start(t)+"&synchronous_commit=remote_apply")
	defer stricter.Close()
	err = stricter.Complete(t.Context(), begin(t, stricter, arrival("m", "k"), terms).Claim, terms.Now, "", func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
		var value string
		err := tx.QueryRowContext(ctx, `SHOW synchronous_commit`).Scan(&value)
		require.Equal(t, "remote_apply", value)
		return err
	})
	require.NoError(t, err)
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), "postgres://me:secret@localhost:port/db")
	require.ErrorContains(t, err, "opening the receipts")
	require.NotContains(t, err.Error(), "secret")
	_, err = postgres.Open(t.Context(), "postgres://me:secret@127.0.0.1:1/db?connect_timeout=5")
	require.ErrorContains(t, err, "opening the receipts at postgres://127.0.0.1:1/db")
	require.NotContains(t, err.Error(), "secret")
}

// Tables of a later release may mean their columns otherwise; they are left alone.
func TestNewerTables(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t)
	require.NoError(t, open(t, url).Close())
	_, err := look(t, url).Exec(`INSERT INTO receipt_migrations (version_id, is_applied) VALUES (99, true)`)
	require.NoError(t, err)
	_, err = postgres.Open(t.Context(), url)
	require.ErrorContains(t, err, "written by a newer release (version 99, this one knows 1)")
}

// Leases are judged by the database's clock: a consumer whose own is wrong by years
// neither takes a key away nor keeps one.
func TestWrongClocks(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t)
	s, db := open(t, url), look(t, url)
	defer s.Close()
	behind, ahead := terms, terms
	behind.Now, ahead.Now = time.Unix(0, 1), terms.Now.Add(50*365*24*time.Hour)
	begin(t, s, arrival("m", "k"), behind)
	decision := begin(t, s, arrival("m", "k"), ahead)
	require.Equal(t, receipt.Pending, decision.Kind)
	require.WithinDuration(t, ahead.Now.Add(time.Hour), decision.Until, time.Minute, "as the asking consumer's clock says it")
	_, err := db.Exec(`UPDATE inbox SET lease_until_ns = lease_until_ns - 3600000000000`)
	require.NoError(t, err)
	require.True(t, begin(t, s, arrival("m", "k"), behind).TookOver)
	require.Equal(t, receipt.Pending, begin(t, s, arrival("m", "k"), ahead).Kind)
}
