package receipt

import (
	"context"
	"database/sql"
	"iter"
	"time"
)

// Store is the port to a database of receipts. It is safe for concurrent use, and
// several stores may share one database: of any number of deliveries of a key, in
// any number of processes, exactly one has the effect. Losing a race is an outcome,
// never an error; deadlocks and serialization failures are tried again inside.
type Store interface { //nolint:interfacebloat // a consumer needs all but Reap, and two ports would be one database
	// Record commits a Pending receipt for each delivery of one reply, in their order
	// and all together, before any of them is worked on. It returns their ids.
	Record(ctx context.Context, deliveries []Delivery) ([]int64, error)

	// Begin decides what a recorded delivery is, and commits that: the claim with its
	// attempt and lease where its effect has to be carried out, else the settled
	// receipt. A fingerprint that differs from the key's is told before anything else
	// about the key. No transaction stays open.
	Begin(ctx context.Context, id int64, d Delivery, terms Terms) (Decision, error)

	// Renew lets the claim's lease end so long from now. ErrLost where it was taken
	// over.
	Renew(ctx context.Context, claim Claim, now time.Time, lease time.Duration) error

	// Complete makes the key done with its result, in one transaction with effect; a
	// nil effect writes one row to the table effects. On an error (effect's own comes
	// back wrapped) nothing of the transaction is left, and the claim holds on until
	// Release or the end of its lease. A lease that has ended but was not taken over
	// still completes. While the transaction is open nobody can take the key over, and
	// Renew has nothing to do. Called again by who has completed it and did not hear so,
	// it does nothing.
	Complete(ctx context.Context, claim Claim, now time.Time, result string, effect Effect) error

	// Release ends the claim without effect, and notes how on its receipt. The key is
	// open again.
	Release(ctx context.Context, claim Claim, end Ending) error

	// Settle notes on a pending receipt that nobody claimed why it has no effect:
	// Rejected, where no key could be made, or Pending with a reason, where it was
	// put off.
	Settle(ctx context.Context, id int64, end Ending) error

	// Message yields what is on record of a message, its redriven copies included, in
	// the order of ids.
	Message(ctx context.Context, identity string) ([]Receipt, error)

	// Receipts yields what is on record up to now in the order of ids. It holds no
	// transaction open between two receipts, so the caller may take its time, and
	// may use the store. It ends after the first error.
	Receipts(ctx context.Context, filter Filter) iter.Seq2[Receipt, error]

	// Counts counts receipts and effects at one moment.
	Counts(ctx context.Context) (Counts, error)

	// Reap forgets the keys that nobody works on and that were last delivered before a
	// time, and the receipts received before it that belong to no key any more. Rows of
	// effects stay. It returns how many keys and receipts it forgot.
	Reap(ctx context.Context, before time.Time) (keys, receipts int64, err error)

	// Horizon is the latest time that Reap was given: of what was received before it,
	// receipts may be missing. Zero: nothing was ever forgotten.
	Horizon(ctx context.Context) (time.Time, error)

	// Close ends the use of the database.
	Close() error
}

// Effect is what an event causes, done through the transaction that also notes
// its key: both are committed, or neither. It must use only tx, never the store, and
// may be called again where the database asks for the transaction to be repeated.
type Effect func(ctx context.Context, tx Tx, claim Claim) error

// Tx is the part of a transaction that an effect may use. On every driver parameters
// are written $1, $2 and so on.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
