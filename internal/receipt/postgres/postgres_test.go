package postgres_test

import (
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
