package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlstore"
)

// busyTimeout is how long a transaction waits for another process's, in
// milliseconds: another process's effect may take that long. Who waits longer is told.
const busyTimeout = "60000"

// Store is a [receipt.Store] on SQLite.
type Store struct{ *sqlstore.Store }

var _ receipt.Store = Store{}

type options struct {
	readOnly       bool
	uniqueReceipts bool
}

// Option changes how a store is opened.
type Option func(*options)

// ReadOnly opens a file for reading only: it must exist, and nothing is created
// or migrated.
func ReadOnly() Option { return func(o *options) { o.readOnly = true } }

// uniqueReceipts leaves out rejected deliveries, which have no key.
const uniqueReceipts = `CREATE UNIQUE INDEX IF NOT EXISTS receipts_unique
ON receipts (consumer, key_space, key_group, key_value) WHERE key_value <> ''`

// UniqueReceipts plants a defect for the conformance suite's own tests: a unique
// key on receipts, so that the receipt of a key's second delivery silently
// vanishes. A suite that only looks at receipts then sees no second delivery.
func UniqueReceipts() Option { return func(o *options) { o.uniqueReceipts = true } }

// Memory is the path of a database that lives in its store and ends with it.
func Memory() string { return ":memory:" }

// Open opens the database at path, making and migrating it as needed.
//
// Errors: [fs.ErrNotExist] with ReadOnly where there is no file, [receipt.ErrNotReceipts]
// with ReadOnly where the file is another database, and whatever SQLite says, all
// with the path.
func Open(ctx context.Context, path string, opts ...Option) (*Store, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if o.readOnly {
		// SQLite's own answer, "unable to open database file", is the same for a
		// missing file and a forbidden one.
		if _, err := os.Stat(path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = fs.ErrNotExist
			}
			return nil, fmt.Errorf("opening the receipts at %s: %w", path, err)
		}
	}
	db, err := sql.Open("sqlite", dsn(path, o))
	if err != nil {
		return nil, fmt.Errorf("opening the receipts at %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	s, err := prepare(ctx, db, path, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the receipts at %s: %w", path, err), db.Close())
	}
	return s, nil
}

func prepare(ctx context.Context, db *sql.DB, path string, o options) (*Store, error) {
	setUp := migrate
	if o.readOnly {
		setUp = check
	}
	if err := setUp(ctx, db); err != nil {
		return nil, err
	}
	if o.uniqueReceipts {
		if _, err := db.ExecContext(ctx, uniqueReceipts); err != nil {
			return nil, fmt.Errorf("planting the unique key on receipts: %w", err)
		}
	}
	shared, err := newCommits(ctx, db)
	if err != nil {
		return nil, err
	}
	return &Store{sqlstore.New(sqlstore.Driver{
		Where:    path,
		Transact: shared.transact,
		Direct:   shared.direct,
		Close:    shared.close,
		Unique:   o.uniqueReceipts,
	})}, nil
}

// dsn is the driver's name for the database. The path is escaped, since SQLite
// reads it as a URI, in which ? and # have a meaning.
func dsn(path string, o options) string {
	q := url.Values{
		"_busy_timeout": {busyTimeout},
		"_txlock":       {"immediate"},
		"_foreign_keys": {"on"},
	}
	switch {
	case path == Memory():
	case o.readOnly:
		q.Set("mode", "ro")
	default:
		q.Set("_journal_mode", "WAL")
		q.Set("_synchronous", "FULL")
	}
	name := path
	if path != Memory() {
		name = (&url.URL{Path: filepath.ToSlash(filepath.Clean(path))}).EscapedPath()
	}
	return "file:" + name + "?" + q.Encode()
}
