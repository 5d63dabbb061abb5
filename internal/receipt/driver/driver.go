// Package driver owns which driver of receipts a place needs: a path is a SQLite file,
// a URL of PostgreSQL its database.
//
// It never looks at receipts, and knows no other place.
package driver

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/postgres"
	"fifoproof/internal/receipt/sqlite"
)

// Names of the drivers.
const (
	SQLite     = "SQLite"
	PostgreSQL = "PostgreSQL"
)

// Of names the driver of a place. A URL of any other scheme than postgres and
// postgresql is an error.
func Of(place string) (string, error) {
	scheme, _, isURL := strings.Cut(place, "://")
	switch {
	case !isURL:
		return SQLite, nil
	case scheme == "postgres" || scheme == "postgresql":
		return PostgreSQL, nil
	default:
		return "", fmt.Errorf("receipts are in no database of the sort %s://; a URL looks like postgres://USER@HOST/DATABASE", scheme)
	}
}

// Open opens the receipts at a place, making them where there are none. Errors are
// those of the drivers' Open.
func Open(ctx context.Context, place string) (receipt.Store, error) {
	switch name, err := Of(place); {
	case err != nil:
		return nil, err
	case name == PostgreSQL:
		return opened(postgres.Open(ctx, place))
	default:
		return opened(sqlite.Open(ctx, place))
	}
}

// Read opens the receipts at a place for reading only: nothing is made, migrated or
// written.
func Read(ctx context.Context, place string) (receipt.Store, error) {
	switch name, err := Of(place); {
	case err != nil:
		return nil, err
	case name == PostgreSQL:
		return opened(postgres.Open(ctx, place, postgres.ReadOnly()))
	default:
		return opened(sqlite.Open(ctx, place, sqlite.ReadOnly()))
	}
}

// opened is a driver's store, or no store at all where there is an error.
func opened[S receipt.Store](store S, err error) (receipt.Store, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}

// Passing reports whether an error of Open may pass by itself, as while a server starts.
func Passing(err error) bool { return postgres.Passing(err) }

// Shown is a place as it may be printed: without a password.
func Shown(place string) string {
	u, err := url.Parse(place)
	if name, _ := Of(place); err != nil || name != PostgreSQL {
		return place
	}
	query := u.Query()
	for _, secret := range []string{"password", "sslpassword"} { // libpq, "Connection URIs"
		if query.Has(secret) {
			query.Set(secret, "xxxxx")
		}
	}
	u.RawQuery = query.Encode()
	return u.Redacted()
}
