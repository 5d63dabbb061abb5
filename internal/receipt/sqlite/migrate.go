package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlstore"
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

func migrate(ctx context.Context, db *sql.DB) error {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder,
		goose.WithTableName(versions),
		goose.WithDisableGlobalRegistry(true),
	)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	for attempt := 1; ; attempt++ {
		_, err := provider.Up(ctx)
		if err == nil {
			break
		}
		if attempt == attempts || ctx.Err() != nil {
			return fmt.Errorf("migrating: %w", err)
		}
	}
	current, newest, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("reading the version: %w", err)
	}
	if current > newest {
		return fmt.Errorf("they were written by a newer release (version %d, this one knows %d)", current, newest)
	}
	return nil
}

// check makes sure that a database that must not be written holds receipts of the form
// that is known here.
func check(ctx context.Context, db *sql.DB) error {
	var found int
	err := db.QueryRowContext(ctx,
		`SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('receipts', 'inbox', 'effects', '`+versions+`')`).Scan(&found)
	if err != nil {
		return fmt.Errorf("%w: %w", receipt.ErrNotReceipts, err)
	}
	if found != 4 {
		return receipt.ErrNotReceipts
	}
	return sqlstore.CheckVersion(ctx, db, versions, migrations)
}
