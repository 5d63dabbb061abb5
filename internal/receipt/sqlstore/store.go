package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"fifoproof/internal/receipt"
)

// tries is how often a transaction is made that the database asks to be made again.
const tries = 10

// Driver is what one sort of database has of its own.
type Driver struct {
	// DB is the database, migrated.
	DB *sql.DB
	// Where is the database in error messages: a path, or a host and a name. No
	// credentials.
	Where string
	// Transact commits what body does, or undoes it all: where body fails or panics,
	// where ctx has ended, or where the commit fails. Nil: a transaction of its own.
	Transact func(ctx context.Context, body func(*sql.Tx) error) error
	// Again reports whether an error means that the transaction was undone and has to
	// be made again, as a deadlock does. Nil: no error does.
	Again func(error) bool
	// Lock is appended to a SELECT that takes a row until the transaction ends, and
	// passes over a row that somebody else has taken. "": a transaction has the whole
	// database to itself.
	Lock string
	// Clock is the database's clock as an expression: nanoseconds since 1970. "": the
	// consumer's clock judges leases.
	Clock string
	// Text is the nearest to a text that the database can keep. Nil: the text itself.
	Text func(string) string
	// Rows is how many receipts are inserted by one statement. 0: one.
	Rows int
	// Prepare says that statements are prepared once, since the driver parses them
	// every time.
	Prepare bool
	// Shared says that several operations share a transaction. None of their statements
	// may then be interrupted, since that would undo what the others have done.
	Shared bool
	// Unique is a planted fault: a receipt that breaks a unique key is left out in
	// silence.
	Unique bool
}

// Store is a [receipt.Store] on an SQL database.
type Store struct {
	Driver

	sql        statements
	prepared   map[string]*sql.Stmt
	retries    atomic.Int64
	completing sync.Map // tokens of the claims whose Complete is at work
}

var _ receipt.Store = (*Store)(nil)

// New makes a store of a driver whose tables are there. The store closes the
// database.
func New(ctx context.Context, driver Driver) (*Store, error) {
	s := &Store{Driver: driver, prepared: map[string]*sql.Stmt{}}
	if s.Transact == nil {
		s.Transact = s.alone
	}
	if s.Again == nil {
		s.Again = func(error) bool { return false }
	}
	if s.Text == nil {
		s.Text = func(text string) string { return text }
	}
	s.sql = texts(&s.Driver)
	if !s.Prepare {
		return s, nil
	}
	for _, text := range s.sql.frequent() {
		statement, err := s.DB.PrepareContext(ctx, text) //nolint:sqlclosecheck // closed with the database
		if err != nil {
			return nil, fmt.Errorf("preparing a statement: %w", err)
		}
		s.prepared[text] = statement
	}
	return s, nil
}

// Retries is how many transactions were made again because the database asked for
// it: deadlocks and serialization failures.
func (s *Store) Retries() int64 { return s.retries.Load() }

// Close ends the use of the database.
func (s *Store) Close() error {
	if err := s.DB.Close(); err != nil {
		return fmt.Errorf("closing the receipts at %s: %w", s.Where, err)
	}
	return nil
}

// transact is Transact, made again as often as the database asks for it.
func (s *Store) transact(ctx context.Context, body func(Tx) error) error {
	for try := 1; ; try++ {
		err := s.Transact(ctx, func(tx *sql.Tx) error { return body(Tx{tx: tx, store: s}) })
		if err == nil || try == tries || ctx.Err() != nil || !s.Again(err) {
			return err
		}
		s.retries.Add(1)
	}
}

// alone makes a transaction of its own. Read committed is said, since a database
// may be set to something stricter, under which a lost race would be an error.
func (s *Store) alone(ctx context.Context, body func(*sql.Tx) error) error {
	tx, err := s.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo, and before one the first error counts
	if err := body(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Tx is an open transaction.
type Tx struct {
	tx    *sql.Tx
	store *Store
}

var _ receipt.Tx = Tx{}

// ExecContext runs a statement that answers no rows.
func (t Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = t.context(ctx)
	if prepared, ok := t.store.prepared[query]; ok {
		return t.tx.StmtContext(ctx, prepared).ExecContext(ctx, args...) //nolint:sqlclosecheck // it is closed with tx
	}
	return t.tx.ExecContext(ctx, query, args...)
}

// QueryContext runs a statement that answers rows, which must be closed.
func (t Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = t.context(ctx)
	if prepared, ok := t.store.prepared[query]; ok {
		return t.tx.StmtContext(ctx, prepared).QueryContext(ctx, args...) //nolint:sqlclosecheck // it is closed with tx
	}
	return t.tx.QueryContext(ctx, query, args...)
}

// QueryRowContext runs a statement that answers one row.
func (t Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = t.context(ctx)
	if prepared, ok := t.store.prepared[query]; ok {
		return t.tx.StmtContext(ctx, prepared).QueryRowContext(ctx, args...) //nolint:sqlclosecheck // it is closed with tx
	}
	return t.tx.QueryRowContext(ctx, query, args...)
}

func (t Tx) context(ctx context.Context) context.Context {
	if t.store.Shared {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// one runs a statement that has to change one row, and says else instead where it
// changes none.
func (t Tx) one(ctx context.Context, otherwise error, query string, args ...any) error {
	result, err := t.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if n != 1 {
		return otherwise
	}
	return nil
}

// now is the time that leases are judged by: NULL where that is the database's.
func (s *Store) now(t time.Time) sql.NullInt64 {
	if s.Clock != "" {
		return sql.NullInt64{}
	}
	return nanos(t)
}

// nanos is t as it is stored: nanoseconds since 1970 in UTC; NULL for a zero time.
func nanos(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixNano(), Valid: true}
}

func instant(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(0, n.Int64).UTC()
}

// absent reports whether a row was not there.
func absent(err error) bool { return errors.Is(err, sql.ErrNoRows) }
