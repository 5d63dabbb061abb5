package postgres

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

func migrate(ctx context.Context, db *sql.DB) error {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, folder,
		goose.WithTableName(versions),
		goose.WithDisableGlobalRegistry(true),
		goose.WithSessionLocker(locker{}),
	)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	current, newest, err := provider.GetVersions(ctx)
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

// check makes sure that a database that must not be written holds receipts of the form
// that is known here.
func check(ctx context.Context, db *sql.DB) error {
	var there bool
	err := db.QueryRowContext(ctx, `SELECT to_regclass('`+versions+`') IS NOT NULL AND to_regclass('receipts') IS NOT NULL`).Scan(&there)
	if err != nil {
		return err
	}
	if !there {
		return receipt.ErrNotReceipts
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	var current, newest int64 = 0, int64(len(files))
	if err := db.QueryRowContext(ctx, `SELECT max(version_id) FROM `+versions+` WHERE is_applied`).Scan(&current); err != nil {
		return fmt.Errorf("reading the version: %w", err)
	}
	if current < newest {
		return fmt.Errorf("they were written by an older release (version %d, this one reads %d): a consumer that is started on them brings them up to date", current, newest)
	}
	return known(current, newest)
}

// locker lets one process at a time migrate a schema. goose's own polls every few
// seconds; this one is woken.
type locker struct{}

const lockKey = `hashtextextended('fifoproof receipts ' || current_schema(), 0)`

func (locker) SessionLock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock(`+lockKey+`)`)
	return err
}

func (locker) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock(`+lockKey+`)`)
	return err
}
