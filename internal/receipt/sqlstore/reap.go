package sqlstore

import (
	"context"
	"fmt"
	"time"

	"fifoproof/internal/receipt"
)

// stretch is how many ids one transaction of Reap looks at, so that consumers never
// wait for long.
const stretch = 1000

const (
	raiseHorizon = `UPDATE reaped SET horizon_ns = $1 WHERE horizon_ns IS NULL OR horizon_ns < $1`

	// Of a key that somebody works on, the effect may be about to happen.
	forgetKeys = `DELETE FROM inbox WHERE id >= $1 AND id < $2 AND last_delivery_ns < $3
AND (state <> 'leased' OR coalesce(lease_until_ns, 0) < $3)`

	forgetReceipts = `DELETE FROM receipts WHERE id >= $1 AND id < $2 AND received_at_ns < $3
AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.id = receipts.inbox_id)`
)

// Reap forgets keys, then receipts, a stretch of ids at a time. The horizon is
// raised before, so that a Reap that is cut off never leaves a gap which looks like
// deliveries that never were.
func (s *Store) Reap(ctx context.Context, before time.Time) (keys, receipts int64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("forgetting what is older than %s in %s: %w", before.UTC().Format(time.RFC3339), s.driver.Where, err)
		}
	}()
	err = s.transact(ctx, func(tx receipt.Tx) error {
		_, err := tx.ExecContext(ctx, raiseHorizon, before.UnixNano())
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if keys, err = s.forget(ctx, `SELECT coalesce(min(id), 0), coalesce(max(id), 0) FROM inbox`, forgetKeys, before); err != nil {
		return keys, 0, err
	}
	receipts, err = s.forget(ctx, `SELECT coalesce(min(id), 0), coalesce(max(id), 0) FROM receipts`, forgetReceipts, before)
	return keys, receipts, err
}

func (s *Store) forget(ctx context.Context, bounds, statement string, before time.Time) (forgotten int64, err error) {
	var low, high int64
	if err := s.look(ctx, bounds, &low, &high); err != nil {
		return 0, err
	}
	for ; low <= high; low += stretch {
		var n int64
		err := s.transact(ctx, func(tx receipt.Tx) error {
			result, err := tx.ExecContext(ctx, statement, low, low+stretch, before.UnixNano())
			if err != nil {
				return err
			}
			n, err = result.RowsAffected()
			return err
		})
		if err != nil {
			return forgotten, err
		}
		forgotten += n
	}
	return forgotten, nil
}
