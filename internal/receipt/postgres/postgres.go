package postgres

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlstore"
)

// Connections is how many connections a store opens at most, where it is not told
// otherwise: PostgreSQL's own default allows 100 in all.
const Connections = 20

// clock is the database's time, in nanoseconds since 1970, down to its microseconds.
const clock = `CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS bigint)`

// onConnect is run once on every connection. A commit that was answered has to
// survive a power cut: a default that says otherwise is not taken, one that says more
// is. Under a stricter isolation than read committed a lost race would be an error. And a
// machine that vanishes in the middle of a transaction must not hold its
// rows for the two hours after which an operating system begins to wonder.
const onConnect = `SELECT
 CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END,
 set_config('default_transaction_isolation', 'read committed', false),
 set_config('tcp_keepalives_idle', '10', false),
 set_config('tcp_keepalives_interval', '5', false),
 set_config('tcp_keepalives_count', '3', false)`

// Store is a [receipt.Store] on PostgreSQL.
type Store struct{ *sqlstore.Store }

var _ receipt.Store = Store{}

type options struct {
	connections int
	readOnly    bool
}

// Option changes how a store is opened.
type Option func(*options)

// MaxConnections is how many connections the store opens at most. Each effect at
// work has one.
func MaxConnections(n int) Option { return func(o *options) { o.connections = n } }

// ReadOnly opens a database for reading only: nothing is made, migrated or written.
func ReadOnly() Option { return func(o *options) { o.readOnly = true } }

// Open connects to a database, named by a URL or a list of settings as libpq reads
// them, and makes and migrates the tables as needed.
//
// Errors name host and database, never a password: [receipt.ErrNotReceipts] with
// ReadOnly where the database has no receipts, and whatever PostgreSQL says.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	o := options{connections: Connections}
	for _, opt := range opts {
		opt(&o)
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("opening the receipts: %w", err) // pgx has made the password unreadable
	}
	where := place(config)
	setUp := migrate
	if o.readOnly {
		config.RuntimeParams["default_transaction_read_only"] = "on"
		setUp = check
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, onConnect)
		return err
	}))
	db.SetMaxOpenConns(o.connections)
	db.SetMaxIdleConns(o.connections)
	s, err := prepare(ctx, db, where, setUp)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the receipts at %s: %w", where, err), db.Close())
	}
	return s, nil
}

func prepare(ctx context.Context, db *sql.DB, where string, setUp func(context.Context, *sql.DB) error) (*Store, error) {
	if err := setUp(ctx, db); err != nil {
		return nil, err
	}
	driver := sqlstore.Pool(db)
	driver.Where = where
	driver.Again = again
	driver.Clock = clock
	driver.Text = sqlstore.Printable // a text of PostgreSQL's has neither NUL nor broken UTF-8
	driver.Server = true
	return &Store{sqlstore.New(driver)}, nil
}

// again reports whether the server has undone the transaction for it to be made
// again: serialization_failure and deadlock_detected (PostgreSQL, Appendix A).
func again(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "40001" || answer.Code == "40P01")
}

// Passing reports whether an error of [Open] may pass by itself: the server cannot be
// reached, is starting or shutting down, or has no connection left (PostgreSQL, Appendix
// A: classes 08, 53 and 57).
func Passing(err error) bool {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains([]string{"08", "53", "57"}, answer.Code[:min(2, len(answer.Code))])
	}
	_, unconnected := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return unconnected || network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, sqldriver.ErrBadConn) || strings.Contains(err.Error(), "conn closed") // pgconn has no name for it
}

func place(c *pgx.ConnConfig) string {
	return "postgres://" + net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
}
