package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
)

// CheckVersion makes sure that a database that must not be migrated is at the newest
// of the migrations, which are the files *.sql in one folder, numbered from 1. table is
// where goose has noted which were applied.
func CheckVersion(ctx context.Context, db *sql.DB, table string, migrations fs.FS) error {
	files, err := fs.Glob(migrations, "*/*.sql")
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	var current int
	if err := db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+table+` WHERE is_applied`).Scan(&current); err != nil {
		return fmt.Errorf("reading the version: %w", err)
	}
	switch newest := len(files); {
	case current > newest:
		return fmt.Errorf("they were written by a newer release (version %d, this one knows %d)", current, newest)
	case current < newest:
		return fmt.Errorf("they were written by an older release (version %d, this one reads %d): a consumer that is started on them brings them up to date", current, newest)
	}
	return nil
}
