package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/postgres"
	"fifoproof/internal/receipt/sqlite"
)

// books are an empty database with the tables of the receipts in it.
type books struct {
	store receipt.Store
	db    *sql.DB // a connection beside the store's
	drop  func() error
}

func openBooks(ctx context.Context, server string) (b *books, err error) {
	if server != "" {
		return openSchema(ctx, server)
	}
	return openFile(ctx)
}

// openFile makes the books in an SQLite file.
func openFile(ctx context.Context) (*books, error) {
	folder, err := os.MkdirTemp("", "ledger-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the books: %w", err)
	}
	b := &books{drop: func() error { return os.RemoveAll(folder) }}
	file := filepath.Join(folder, "books.db")
	if b.store, err = sqlite.Open(ctx, file); err != nil {
		return nil, errors.Join(err, b.close())
	}
	address := url.URL{Scheme: "file", Path: file, RawQuery: "_txlock=immediate&_pragma=busy_timeout(10000)"}
	if b.db, err = sql.Open("sqlite", address.String()); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// openSchema makes the books in a new schema of a PostgreSQL database.
func openSchema(ctx context.Context, server string) (*books, error) {
	address, err := url.Parse(server)
	if err != nil || address.Scheme != "postgres" && address.Scheme != "postgresql" {
		return nil, errors.New("the database is not named by a URL that begins with postgres://")
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	schema := "ledger_" + strings.ToLower(rand.Text())
	if _, err := admin.ExecContext(ctx, "CREATE SCHEMA "+schema); err != nil {
		return nil, errors.Join(fmt.Errorf("making a schema: %w", err), admin.Close())
	}
	b := &books{drop: func() error {
		_, err := admin.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+schema+" CASCADE")
		return errors.Join(err, admin.Close())
	}}
	query := address.Query()
	query.Set("search_path", schema)
	address.RawQuery = query.Encode()
	if b.store, err = postgres.Open(ctx, address.String()); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if b.db, err = sql.Open("pgx", address.String()); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// close leaves nothing behind.
func (b *books) close() error {
	var errs []error
	if b.db != nil {
		errs = append(errs, b.db.Close())
	}
	if b.store != nil {
		errs = append(errs, b.store.Close())
	}
	return errors.Join(append(errs, b.drop())...)
}

// book carries a message out in a transaction, without noting that it did.
func (b *books) book(ctx context.Context, ledger *handler.Ledger, m types.Message) (err error) {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	received, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"]) // for show only
	err = ledger.Apply(ctx, tx, handler.Event{
		Delivery: receipt.Delivery{
			Queue: queueName, MessageID: *m.MessageId,
			Group: m.Attributes["MessageGroupId"], SequenceNumber: m.Attributes["SequenceNumber"], ReceiveCount: received,
		},
		Body: *m.Body, Attempt: received,
		IdempotencyKey: m.Attributes["MessageDeduplicationId"], // what a sender repeats is the same event
	})
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// unique reports whether the database refuses a copy of a table's rows, but for their
// number: a unique index is what makes a key happen once, not a program's good will.
func (b *books) unique(ctx context.Context, table string) (bool, error) {
	names, err := b.columns(ctx, table)
	if err != nil {
		return false, fmt.Errorf("reading the table %s: %w", table, err)
	}
	list := strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "id" }), ", ")
	_, err = b.db.ExecContext(ctx, "INSERT INTO "+table+" ("+list+") SELECT "+list+" FROM "+table) //nolint:gosec // names of columns
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "unique constraint"), nil
}

func (b *books) columns(ctx context.Context, table string) (names []string, err error) {
	rows, err := b.db.QueryContext(ctx, "SELECT * FROM "+table) //nolint:gosec // a name of this program
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close(), rows.Err()) }()
	return rows.Columns()
}
