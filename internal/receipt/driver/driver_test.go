package driver_test

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/driver"
	"fifoproof/internal/receipt/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What was written at a place is read there, whichever driver it needs.
func TestOpenAndRead(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{driver.SQLite: filepath.Join(t.TempDir(), "receipts.db"), driver.PostgreSQL: pgtest.Start(t)} {
		got, err := driver.Of(place)
		require.NoError(t, err)
		require.Equal(t, name, got)

		_, err = driver.Read(t.Context(), place)
		if name == driver.SQLite {
			require.ErrorIs(t, err, fs.ErrNotExist)
		} else {
			require.ErrorIs(t, err, receipt.ErrNotReceipts)
		}
		store, err := driver.Open(t.Context(), place)
		require.NoError(t, err)
		_, err = store.Record(t.Context(), []receipt.Delivery{{Queue: "orders.fifo", MessageID: "m", ReceivedAt: time.Unix(1, 0)}})
		require.NoError(t, err)
		require.NoError(t, store.Close())

		store, err = driver.Read(t.Context(), place)
		require.NoError(t, err)
		counts, err := store.Counts(t.Context())
		require.NoError(t, err)
		require.Equal(t, receipt.Counts{Pending: 1}, counts)
		_, err = store.Record(t.Context(), []receipt.Delivery{{Queue: "orders.fifo", MessageID: "n", ReceivedAt: time.Unix(2, 0)}})
		require.Error(t, err, "it is only read")
		require.NoError(t, store.Close())
	}
}

func TestOtherPlaces(t *testing.T) {
	t.Parallel()
	_, err := driver.Open(t.Context(), "mysql://root@localhost/receipts")
	require.ErrorContains(t, err, "no database of the sort mysql://")
	_, err = driver.Open(t.Context(), "postgres://nobody@127.0.0.1:1/receipts?connect_timeout=1")
	require.ErrorContains(t, err, "127.0.0.1:1")
	require.True(t, driver.Passing(err), "nothing listens there yet")
}

func TestShown(t *testing.T) {
	t.Parallel()
	require.Equal(t, "receipts.db", driver.Shown("receipts.db"))
	require.Equal(t, "postgres://app:xxxxx@db/orders", driver.Shown("postgres://app:secret@db/orders"))
	require.NotContains(t, driver.Shown("postgresql://db/orders?user=app&password=secret"), "secret")
}
