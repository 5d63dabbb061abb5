package pgtest

import (
	"database/sql"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func query(t *testing.T, url, text string) (answer string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRow(text).Scan(&answer))
	return answer
}

// A server keeps its port and data over a stop, of either sort, and leaves nothing.
func TestServer(t *testing.T) { //nolint:tparallel // the end of its part is looked at
	t.Parallel()
	var folder string
	t.Run("lives", func(t *testing.T) {
		s := New(t, true)
		folder = s.folder
		require.DirExists(t, folder)
		url := s.Schema(t)
		require.Equal(t, query(t, url, `SHOW application_name`), query(t, url, `SELECT current_schema()`))
		require.Equal(t, "on", query(t, url, `SHOW fsync`))
		require.NoError(t, execute(url, `CREATE TABLE kept AS SELECT 7 AS n`))
		for _, mode := range []string{"fast", "immediate"} {
			require.NoError(t, s.Stop(t.Context(), mode))
			require.Error(t, execute(s.URL, `SELECT 1`))
			require.NoError(t, s.Start(t.Context()))
			require.Equal(t, "7", query(t, url, `SELECT n FROM kept`))
		}
	})
	if folder != "" { // else it was skipped
		require.NoDirExists(t, folder)
	}
}

// The shared server is one, and its tests do not see each other.
func TestStart(t *testing.T) {
	t.Parallel()
	one, two := Start(t), Start(t)
	require.NotEqual(t, query(t, one, `SELECT current_schema()`), query(t, two, `SELECT current_schema()`))
	require.Equal(t, query(t, one, `SHOW port`), query(t, two, `SHOW port`))
}

// The guard lets go of everything when the process that held it is gone: here its
// pipe is closed without a word, as a kill does.
func TestGuard(t *testing.T) {
	t.Parallel()
	s, err := start(t.Context(), false)
	available(t, err)
	require.NoError(t, s.leash.Close())
	require.NoError(t, s.guard.Wait())
	_, err = os.Stat(s.folder)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Error(t, execute(s.URL, `SELECT 1`))
}
