package pgtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	_ "fifoproof/internal/receipt/postgres" // the driver "pgx"
)

// Environment names a server that is running already, by URL.
const Environment = "FIFOPROOF_POSTGRES"

// shared is the server of this test binary.
var shared = sync.OnceValues(func() (*Server, error) {
	if running := os.Getenv(Environment); running != "" {
		return &Server{URL: running}, nil
	}
	return start(context.Background(), false)
})

// Start returns the URL of an empty schema, on the server that all tests of this
// binary share. It ends with the test.
func Start(t testing.TB) string {
	t.Helper()
	s, err := shared()
	available(t, err)
	return s.Schema(t)
}

// New starts a server for one test, that may be stopped and started. It ends with the
// test. durable leaves fsync on: for benchmarks, and where a crash has to be real.
func New(t testing.TB, durable bool) *Server {
	t.Helper()
	s, err := start(context.Background(), durable)
	available(t, err)
	t.Cleanup(func() { require.NoError(t, s.end()) })
	return s
}

func available(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrAbsent) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
}

// Schema makes an empty schema that ends with the test, and returns a URL that
// connects to it under its name, by which pg_stat_activity tells tests apart.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	name := "t" + strings.ToLower(rand.Text())
	require.NoError(t, execute(s.URL, "CREATE SCHEMA "+name))
	t.Cleanup(func() { _ = execute(s.URL, "DROP SCHEMA "+name+" CASCADE") }) // the test may have stopped the server
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	query := u.Query()
	query.Set("search_path", name)
	query.Set("application_name", name)
	u.RawQuery = query.Encode()
	return u.String()
}

func execute(address, statement string) (err error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(context.Background(), statement)
	return err
}
