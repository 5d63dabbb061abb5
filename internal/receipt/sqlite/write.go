package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"fifoproof/internal/receipt"
)

const receiptColumns = ` INTO receipts
(kind, queue, message_id, message_group, dedup_id, sequence_number, receive_count, body_digest,
 key_rule, key_space, key_group, key_value, sent_at_ns, received_at_ns)
VALUES ('pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const (
	insertReceipt     = `INSERT` + receiptColumns
	insertReceiptOnce = `INSERT OR IGNORE` + receiptColumns

	// uniqueReceipts leaves out rejected deliveries, which have no key.
	uniqueReceipts = `CREATE UNIQUE INDEX IF NOT EXISTS receipts_unique
ON receipts (queue, key_space, key_group, key_value) WHERE key_value <> ''`

	insertInbox = `INSERT INTO inbox (queue, key_space, key_group, key_value, receipt_id, message_id, received_at_ns)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`

	insertEffect = `INSERT INTO effects (inbox_id, queue, message_group, message_id, sequence_number, key_value, received_at_ns)
VALUES (?, ?, ?, ?, ?, ?, ?)`

	selectFirst = `SELECT message_id, received_at_ns FROM inbox
WHERE queue = ? AND key_space = ? AND key_group = ? AND key_value = ?`

	// A repeated message that comes again is a redelivery of itself, so the key's
	// first message is not the only one to compare with.
	selectSeen = `SELECT EXISTS (SELECT 1 FROM receipts
WHERE message_id = ? AND queue = ? AND key_space = ? AND key_group = ? AND key_value = ?
AND id <> ? AND kind IN ('fresh', 'redelivered', 'repeated'))`

	settleReceipt = `UPDATE receipts SET kind = ?, reason = ?, first_message_id = ?, first_received_at_ns = ?
WHERE id = ? AND kind = 'pending'`
)

// Begin commits the receipts of one reply in one transaction.
func (s *Store) Begin(ctx context.Context, deliveries []receipt.Delivery) ([]receipt.Claim, error) {
	claims := make([]receipt.Claim, 0, len(deliveries))
	err := s.transact(ctx, func(tx *sql.Tx) error {
		for _, d := range deliveries {
			id, err := s.begin(ctx, tx, d)
			if err != nil {
				return fmt.Errorf("message %s: %w", d.MessageID, err)
			}
			claims = append(claims, receipt.Claim{ID: id, Delivery: d})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("writing %d receipts to %s: %w", len(deliveries), s.path, err)
	}
	return claims, nil
}

func (s *Store) begin(ctx context.Context, tx *sql.Tx, d receipt.Delivery) (int64, error) {
	result, err := exec(ctx, tx, s.insert,
		d.Queue, d.MessageID, d.Group, d.DedupID, d.SequenceNumber, d.ReceiveCount, d.BodyDigest,
		d.Key.Rule, d.Key.Space, d.Key.Group, d.Key.Value, nanos(d.SentAt), nanos(d.ReceivedAt))
	if err != nil {
		return 0, err
	}
	if s.lossy {
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return 0, err
		}
	}
	return result.LastInsertId()
}

// Complete notes the key, runs the effect of a new one and settles the receipt,
// all in one transaction.
func (s *Store) Complete(ctx context.Context, claim receipt.Claim, effect receipt.Effect) (receipt.Outcome, error) {
	var outcome receipt.Outcome
	err := s.transact(ctx, func(tx *sql.Tx) (err error) {
		outcome, err = s.complete(ctx, tx, claim, effect)
		return err
	})
	if err != nil {
		return receipt.Outcome{}, fmt.Errorf("completing receipt %d in %s: %w", claim.ID, s.path, err)
	}
	return outcome, nil
}

func (s *Store) complete(ctx context.Context, tx *sql.Tx, claim receipt.Claim, effect receipt.Effect) (receipt.Outcome, error) {
	d := claim.Delivery
	if d.Key.Value == "" {
		return receipt.Outcome{}, receipt.ErrNoKey
	}
	var inbox int64
	err := queryRow(ctx, tx, s.note,
		d.Queue, d.Key.Space, d.Key.Group, d.Key.Value, claim.ID, d.MessageID, nanos(d.ReceivedAt)).Scan(&inbox)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		outcome, err := known(ctx, tx, claim)
		if err != nil {
			return receipt.Outcome{}, err
		}
		return outcome, s.settle(ctx, tx, claim, outcome.Kind, "", outcome.First)
	case err != nil:
		return receipt.Outcome{}, fmt.Errorf("noting the key: %w", err)
	}
	if effect == nil {
		_, err = exec(ctx, tx, s.record,
			inbox, d.Queue, d.Group, d.MessageID, d.SequenceNumber, d.Key.Value, nanos(d.ReceivedAt))
	} else {
		err = effect(ctx, tx, claim)
	}
	if err != nil {
		return receipt.Outcome{}, fmt.Errorf("carrying out the effect: %w", err)
	}
	outcome := receipt.Outcome{Kind: receipt.Fresh, First: receipt.Origin{MessageID: d.MessageID, ReceivedAt: d.ReceivedAt}}
	return outcome, s.settle(ctx, tx, claim, receipt.Fresh, "", receipt.Origin{})
}

// known tells what a delivery is whose key is in the inbox.
func known(ctx context.Context, tx *sql.Tx, claim receipt.Claim) (receipt.Outcome, error) {
	d := claim.Delivery
	var first receipt.Origin
	var at sql.NullInt64
	err := tx.QueryRowContext(ctx, selectFirst, d.Queue, d.Key.Space, d.Key.Group, d.Key.Value).Scan(&first.MessageID, &at)
	if err != nil {
		return receipt.Outcome{}, fmt.Errorf("reading the key's first message: %w", err)
	}
	first.ReceivedAt = instant(at)
	seen := first.MessageID == d.MessageID
	if !seen {
		err := tx.QueryRowContext(ctx, selectSeen,
			d.MessageID, d.Queue, d.Key.Space, d.Key.Group, d.Key.Value, claim.ID).Scan(&seen)
		if err != nil {
			return receipt.Outcome{}, fmt.Errorf("looking for the message's earlier deliveries: %w", err)
		}
	}
	if seen {
		return receipt.Outcome{Kind: receipt.Redelivered, First: first}, nil
	}
	return receipt.Outcome{Kind: receipt.Repeated, First: first}, nil
}

// Reject settles a claim that no key, or no effect, could be made for.
func (s *Store) Reject(ctx context.Context, claim receipt.Claim, reason string) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		return s.settle(ctx, tx, claim, receipt.Rejected, reason, receipt.Origin{})
	})
	if err != nil {
		return fmt.Errorf("rejecting receipt %d in %s: %w", claim.ID, s.path, err)
	}
	return nil
}

func (s *Store) settle(ctx context.Context, tx *sql.Tx, claim receipt.Claim, kind receipt.Kind, reason string, first receipt.Origin) error {
	result, err := exec(ctx, tx, s.settled, string(kind), reason, first.MessageID, nanos(first.ReceivedAt), claim.ID)
	if err != nil {
		return fmt.Errorf("settling the receipt: %w", err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("settling the receipt: %w", err)
	}
	if n != 1 && !s.lossy {
		return receipt.ErrSettled
	}
	return nil
}

// transact commits what body does, or undoes it, also when body panics.
func (s *Store) transact(ctx context.Context, body func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo, and before one the first error counts
	if err := body(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// exec runs a prepared statement inside a transaction.
func exec(ctx context.Context, tx *sql.Tx, prepared *sql.Stmt, args ...any) (sql.Result, error) {
	return tx.StmtContext(ctx, prepared).ExecContext(ctx, args...) //nolint:sqlclosecheck // it is closed with tx
}

// queryRow is exec for a statement that answers a row.
func queryRow(ctx context.Context, tx *sql.Tx, prepared *sql.Stmt, args ...any) *sql.Row {
	return tx.StmtContext(ctx, prepared).QueryRowContext(ctx, args...) //nolint:sqlclosecheck // it is closed with tx
}

// nanos is t as it is stored: nanoseconds since 1970 in UTC; NULL for a zero time.
func nanos(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixNano(), Valid: true}
}

func instant(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(0, n.Int64).UTC()
}
