package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"fifoproof/internal/receipt"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versions is the table in which the migrations applied are noted. It has a name
// of its own, since a service may keep receipts in the database of its data, with
// migrations of its own beside them.
const versions = "receipt_migrations"

// attempts is how often a migration is tried. Several processes may open a new
// file at once; SQLite has no lock that goose could hold over all its steps, but
// each step is a transaction, so whoever loses finds the work done on the next try.
const attempts = 10

func provider(db *sql.DB) (*goose.Provider, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("reading the migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, folder,
		goose.WithTableName(versions),
		goose.WithDisableGlobalRegistry(true),
	)
	if err != nil {
		return nil, fmt.Errorf("reading the migrations: %w", err)
	}
	return p, nil
}

func migrate(ctx context.Context, db *sql.DB) error {
	p, err := provider(db)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		_, err := p.Up(ctx)
		if err == nil {
			break
		}
		if attempt == attempts || ctx.Err() != nil {
			return fmt.Errorf("migrating: %w", err)
		}
	}
	current, newest, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("reading the version: %w", err)
	}
	return known(current, newest)
}

func known(current, newest int64) error {
	if current > newest {
		return fmt.Errorf("they were written by a newer release (version %d, this one knows %d)", current, newest)
	}
	return nil
}

// check makes sure that a database that must not be written holds receipts that can
// be read. Those of release 1 are shown as they would be migrated.
func check(ctx context.Context, db *sql.DB) error {
	var found int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema
WHERE type = 'table' AND name IN ('receipts', 'inbox', 'effects', '`+versions+`')`).Scan(&found)
	if err != nil {
		return fmt.Errorf("%w: %w", receipt.ErrNotReceipts, err)
	}
	if found != 4 {
		return receipt.ErrNotReceipts
	}
	p, err := provider(db)
	if err != nil {
		return err
	}
	var current int64
	if err := db.QueryRowContext(ctx, `SELECT max(version_id) FROM `+versions).Scan(&current); err != nil {
		return fmt.Errorf("reading the version: %w", err)
	}
	if current == 1 {
		if _, err := db.ExecContext(ctx, asMigrated); err != nil {
			return fmt.Errorf("reading what release 1 wrote: %w", err)
		}
	}
	sources := p.ListSources()
	return known(current, sources[len(sources)-1].Version)
}

// asMigrated lays views over the tables of release 1. They are the connection's own,
// and leave the file as it is.
const asMigrated = `
CREATE TEMP VIEW receipts AS SELECT id, kind, reason, queue, CASE WHEN key_value = '' THEN '' ELSE queue END AS consumer,
 message_id, '' AS origin_id, message_id AS identity, message_group, dedup_id, sequence_number, receive_count,
 body_digest, body_digest AS fingerprint, key_rule, key_space, key_group, key_value, '' AS key_message, sent_at_ns, received_at_ns,
 first_message_id, first_received_at_ns, 0 AS attempt, '' AS worker, NULL AS started_at_ns, NULL AS ended_at_ns
FROM main.receipts;
CREATE TEMP VIEW reaped AS SELECT NULL AS horizon_ns`
