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
	// Where is the database in error messages: a path, or a host and a name. No
	// credentials.
	Where string
	// Transact commits what body does, or undoes it all: where body fails or panics,
	// where ctx has ended, or where the commit fails.
	Transact func(ctx context.Context, body func(receipt.Tx) error) error
	// Direct runs body outside of any transaction: each statement is one of its own.
	Direct func(ctx context.Context, body func(receipt.Tx) error) error
	// Close ends the use of the database. It may be called again.
	Close func() error
	// Again reports whether an error means that the transaction was undone and has to
	// be made again, as a deadlock does. Nil: no error does.
	Again func(error) bool
	// Clock is the database's clock as an expression: nanoseconds since 1970. "": the
	// consumer's clock judges leases.
	Clock string
	// Text is the nearest to a text that the database can keep. Nil: the text itself.
	Text func(string) string
	// Server says that the database is a server, which many transactions use at once.
	// Rows are locked, with FOR UPDATE and SKIP LOCKED, and since every statement costs
	// a round trip, one does as much as it can, by RETURNING and by WITH over statements
	// that write. Otherwise a transaction has the whole database to itself.
	Server bool
	// Unique is a planted fault: a receipt that breaks a unique key is left out in
	// silence.
	Unique bool
}

// Pool is a driver whose transactions have a connection each.
func Pool(db *sql.DB) Driver {
	return Driver{
		Transact: func(ctx context.Context, body func(receipt.Tx) error) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo, and before one the first error counts
			if err := body(tx); err != nil {
				return err
			}
			return tx.Commit()
		},
		Direct: func(_ context.Context, body func(receipt.Tx) error) error { return body(db) },
		Close:  db.Close,
	}
}

// Store is a [receipt.Store] on an SQL database.
type Store struct {
	driver     Driver
	sql        statements
	retries    atomic.Int64
	completing sync.Map // tokens of the claims whose Complete is at work
}

var _ receipt.Store = (*Store)(nil)

// New makes a store of a driver whose tables are there.
func New(driver Driver) *Store {
	if driver.Again == nil {
		driver.Again = func(error) bool { return false }
	}
	if driver.Text == nil {
		driver.Text = func(text string) string { return text }
	}
	return &Store{driver: driver, sql: texts(&driver)}
}

// Retries is how many transactions were made again because the database asked for
// it: deadlocks and serialization failures.
func (s *Store) Retries() int64 { return s.retries.Load() }

// Close ends the use of the database.
func (s *Store) Close() error {
	if err := s.driver.Close(); err != nil {
		return fmt.Errorf("closing the receipts at %s: %w", s.driver.Where, err)
	}
	return nil
}

// transact makes a transaction, again as often as the database asks for it.
func (s *Store) transact(ctx context.Context, body func(receipt.Tx) error) error {
	return s.again(ctx, func() error { return s.driver.Transact(ctx, body) })
}

// direct runs one statement that is a transaction by itself, again as often as the
// database asks for it.
func (s *Store) direct(ctx context.Context, body func(receipt.Tx) error) error {
	return s.again(ctx, func() error { return s.driver.Direct(ctx, body) })
}

func (s *Store) again(ctx context.Context, transaction func() error) error {
	for try := 1; ; try++ {
		err := transaction()
		if err == nil || try == tries || ctx.Err() != nil || !s.driver.Again(err) {
			return err
		}
		s.retries.Add(1)
	}
}

// one runs a statement that has to change one row, and says otherwise where it
// changes none.
func one(ctx context.Context, tx receipt.Tx, otherwise error, query string, args ...any) error {
	result, err := tx.ExecContext(ctx, query, args...)
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

// insert writes a row, and answers its id; 0 where it was there.
func (s *Store) insert(ctx context.Context, tx receipt.Tx, query string, args ...any) (id int64, err error) {
	if s.driver.Server {
		err := tx.QueryRowContext(ctx, query+" RETURNING id", args...).Scan(&id)
		if absent(err) {
			return 0, nil
		}
		return id, err
	}
	result, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	return result.LastInsertId()
}

// now is the time that leases are judged by: NULL where that is the database's.
func (s *Store) now(t time.Time) sql.NullInt64 {
	if s.driver.Clock != "" {
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
