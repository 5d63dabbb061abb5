package receipt

import (
	"context"
	"database/sql"
	"iter"
)

// Store is the port to a database of receipts. It is safe for concurrent use, and
// several stores may share one database: of any number of deliveries of a key,
// in any number of processes, exactly one becomes Fresh. Losing that race is an
// outcome, never an error.
//
// What a caller holds between Begin and Complete is a [Claim], so that a lease
// and its fencing token can become part of it.
type Store interface {
	// Begin commits a receipt for each delivery of one reply, in their order and
	// all together, before any of them is worked on.
	Begin(ctx context.Context, deliveries []Delivery) ([]Claim, error)

	// Complete settles a claim in one transaction. Where the key is new it is noted
	// in the inbox and effect runs; a nil effect writes one row to the table
	// effects. Where the key is known nothing happens. The receipt is marked either
	// way. On an error (effect's own comes back wrapped) nothing of the transaction
	// is left, and the receipt stays Pending.
	Complete(ctx context.Context, claim Claim, effect Effect) (Outcome, error)

	// Reject settles a claim as Rejected, for the reason given.
	Reject(ctx context.Context, claim Claim, reason string) error

	// Receipts yields what is on record up to now in the order of ids. It holds no
	// transaction open between two receipts, so the caller may take its time, and
	// may use the store. It ends after the first error.
	Receipts(ctx context.Context, filter Filter) iter.Seq2[Receipt, error]

	// Counts counts receipts and effects at one moment.
	Counts(ctx context.Context) (Counts, error)

	// Close ends the use of the database.
	Close() error
}

// Effect is what an event causes, done through the transaction that also notes
// its key: both are committed, or neither. It must use only tx, never the store.
type Effect func(ctx context.Context, tx Tx, claim Claim) error

// Tx is the part of a transaction that an effect may use.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
