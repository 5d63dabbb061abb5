package handler

import (
	"context"
	"errors"
	"fmt"

	"fifoproof/internal/receipt"
)

// Amounts are in billionths; see [Amount]. Sequence numbers are padded to 39 digits.
// The uniqueness that the forms stand on is that of the primary keys.
var ledgerTables = []string{
	`CREATE TABLE IF NOT EXISTS ledger_balances (
		account text NOT NULL PRIMARY KEY,
		balance bigint NOT NULL,
		version bigint NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS ledger_places (
		account text NOT NULL,
		queue text NOT NULL,
		message_group text NOT NULL,
		sequence_number text NOT NULL,
		PRIMARY KEY (account, queue, message_group)
	)`,
	`CREATE TABLE IF NOT EXISTS ledger_entries (
		natural_key text NOT NULL PRIMARY KEY,
		account text NOT NULL,
		amount bigint NOT NULL,
		message_id text NOT NULL
	)`,
}

// ledgerLock is the advisory lock under which the tables are made; the number is
// "ledger" in ASCII.
const ledgerLock = 0x6c6564676572

// prepare makes the tables where they are missing. That they were made is no news to
// keep, since the transaction may be undone; that they were there when it began is,
// until an entry cannot be booked.
//
// There are two databases and one port to them, so what only one of them knows is
// asked of PostgreSQL first: SQLite refuses the statement and its transaction goes
// on, whereas PostgreSQL, where a statement fails, fails all that follow.
func (l *Ledger) prepare(ctx context.Context, tx receipt.Tx) error {
	if l.made.Load() {
		return nil
	}
	there, err := tablesThere(ctx, tx)
	if err != nil {
		return fmt.Errorf("looking for the ledger's tables: %w", err)
	}
	if there {
		l.made.Store(true)
		return nil
	}
	// CREATE TABLE IF NOT EXISTS fails on PostgreSQL where two make the same table at
	// once. SQLite has one writer and no such lock.
	_, _ = tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(ledgerLock))
	for _, table := range ledgerTables {
		if _, err := tx.ExecContext(ctx, table); err != nil {
			return fmt.Errorf("making the ledger's tables: %w", err)
		}
	}
	return nil
}

func tablesThere(ctx context.Context, tx receipt.Tx) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM information_schema.tables
		WHERE table_schema = current_schema()
		AND table_name IN ('ledger_balances', 'ledger_places', 'ledger_entries')`).Scan(&n)
	if err != nil {
		// The first error is PostgreSQL's own, by which the store may try again.
		if second := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema
			WHERE type = 'table' AND name IN ('ledger_balances', 'ledger_places', 'ledger_entries')`).Scan(&n); second != nil {
			return false, errors.Join(err, second)
		}
	}
	return n == len(ledgerTables), nil
}
