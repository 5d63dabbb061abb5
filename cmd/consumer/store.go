package main

import (
	"context"
	"net/url"
	"strings"
	"time"

	"fifoproof/internal/clock"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/postgres"
	"fifoproof/internal/receipt/sqlite"
)

// isPostgres tells a database's URL from a file's path.
func isPostgres(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// openStore opens the receipts at db: a SQLite file, or a PostgreSQL database by URL.
func openStore(ctx context.Context, db string, readOnly bool) (receipt.Store, error) {
	if isPostgres(db) {
		var options []postgres.Option
		if readOnly {
			options = append(options, postgres.ReadOnly())
		}
		return postgres.Open(ctx, db, options...)
	}
	var options []sqlite.Option
	if readOnly {
		options = append(options, sqlite.ReadOnly())
	}
	return sqlite.Open(ctx, db, options...)
}

const (
	openPatience = 30 * time.Second // what a database takes to start again
	openPause    = time.Second
)

// openPatiently is openStore for a consumer that may be started while its database is.
func openPatiently(ctx context.Context, db string, talk *talk) (receipt.Store, error) {
	for begun := time.Now(); ; {
		store, err := openStore(ctx, db, false)
		if err == nil || !postgres.Passing(err) || time.Since(begun) >= openPatience {
			return store, err
		}
		talk.sayf(warningPrefix+"%v; trying again for %v", err, (openPatience - time.Since(begun)).Round(time.Second))
		if err := clock.Sleep(ctx, clock.Real{}, openPause); err != nil {
			return nil, err
		}
	}
}

// shown is db as it may be printed: without a password.
func shown(db string) string {
	if u, err := url.Parse(db); err == nil && isPostgres(db) {
		return u.Redacted()
	}
	return db
}
