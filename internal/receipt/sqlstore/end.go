package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fifoproof/internal/receipt"
)

// Renew lets a lease end so long from now. While the claim's Complete is at work
// there is nothing to renew: its transaction holds the row, and Renew would wait for
// it.
func (s *Store) Renew(ctx context.Context, claim receipt.Claim, now time.Time, lease time.Duration) error {
	if _, completing := s.completing.Load(claim.Token); completing {
		return nil
	}
	err := s.transact(ctx, func(tx receipt.Tx) error {
		return one(ctx, tx, receipt.ErrLost, s.sql.renew,
			[]byte(claim.Key), claim.Token, s.now(now), int64(min(lease, longest)))
	})
	if err != nil {
		return fmt.Errorf("renewing the lease of receipt %d in %s: %w", claim.ID, s.driver.Where, err)
	}
	return nil
}

// Complete makes the key done in one transaction with the effect. Called again for
// a claim that it has completed, which a caller does whose answer was lost, it does
// nothing.
func (s *Store) Complete(ctx context.Context, claim receipt.Claim, now time.Time, result string, effect receipt.Effect) error {
	s.completing.Store(claim.Token, nil)
	defer s.completing.Delete(claim.Token)
	err := s.complete(ctx, claim, now, result, effect)
	if err != nil {
		return fmt.Errorf("completing receipt %d in %s: %w", claim.ID, s.driver.Where, err)
	}
	return nil
}

func (s *Store) complete(ctx context.Context, claim receipt.Claim, now time.Time, result string, effect receipt.Effect) error {
	if effect == nil {
		if s.driver.Server {
			if done, err := s.completeAtOnce(ctx, claim, now, result); err != nil || done {
				return err
			}
		}
		effect = s.row
	}
	return s.transact(ctx, func(tx receipt.Tx) error {
		if held, err := s.hold(ctx, tx, claim); err != nil || !held {
			return err
		}
		if err := effect(ctx, tx, claim); err != nil {
			return fmt.Errorf("carrying out the effect: %w", err)
		}
		if err := one(ctx, tx, receipt.ErrLost, s.sql.complete, []byte(claim.Key), claim.Token, []byte(result)); err != nil {
			return fmt.Errorf("completing the key: %w", err)
		}
		return s.note(one(ctx, tx, receipt.ErrSettled, s.sql.finish, claim.ID, string(receipt.Fresh), "", nanos(now)))
	})
}

// hold locks the claim's row for as long as an effect takes. The row is not written
// before the effect has ended: whoever tries to insert a key waits for a transaction
// that has written it, but not for one that has locked it. held is false where the
// claim was completed before.
func (s *Store) hold(ctx context.Context, tx receipt.Tx, claim receipt.Claim) (held bool, err error) {
	var id int64
	err = tx.QueryRowContext(ctx, s.sql.hold, []byte(claim.Key), claim.Token).Scan(&id)
	switch {
	case absent(err):
		return false, s.ended(ctx, tx, claim, receipt.Completed)
	case err != nil:
		return false, fmt.Errorf("locking the key: %w", err)
	}
	return true, nil
}

// completeAtOnce completes in one statement. done is false where something was
// otherwise than it should be.
func (s *Store) completeAtOnce(ctx context.Context, claim receipt.Claim, now time.Time, result string) (done bool, err error) {
	args := append([]any{[]byte(claim.Key), claim.Token, claim.ID, []byte(result), nanos(now)}, s.effect(claim)...)
	err = s.direct(ctx, func(tx receipt.Tx) error {
		return one(ctx, tx, receipt.ErrLost, s.sql.completeAtOnce, args...)
	})
	switch {
	case errors.Is(err, receipt.ErrLost):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("completing the key: %w", err)
	}
	return true, nil
}

// row is the effect where the caller has none: one row in the table effects.
func (s *Store) row(ctx context.Context, tx receipt.Tx, claim receipt.Claim) error {
	_, err := tx.ExecContext(ctx, s.sql.effect, append([]any{[]byte(claim.Key)}, s.effect(claim)...)...)
	return err
}

func (s *Store) effect(claim receipt.Claim) []any {
	d := s.kept(claim.Delivery)
	return []any{d.Key.Consumer, d.Queue, d.Group, d.MessageID, d.SequenceNumber, d.Key.Value, nanos(d.ReceivedAt)}
}

// Release opens the key again, and notes on the receipt how the attempt ended. Like
// Complete it may be called again.
func (s *Store) Release(ctx context.Context, claim receipt.Claim, end receipt.Ending) error {
	err := s.transact(ctx, func(tx receipt.Tx) error {
		err := one(ctx, tx, receipt.ErrLost, s.sql.release, []byte(claim.Key), claim.Token)
		if errors.Is(err, receipt.ErrLost) {
			return s.ended(ctx, tx, claim, receipt.Open)
		}
		if err != nil {
			return fmt.Errorf("releasing the key: %w", err)
		}
		if end.Kind == receipt.Pending {
			return s.note(one(ctx, tx, receipt.ErrSettled, s.sql.giveBack, claim.ID, reason(end.Reason)))
		}
		return s.note(one(ctx, tx, receipt.ErrSettled, s.sql.finish, claim.ID, string(end.Kind), reason(end.Reason), nanos(end.At)))
	})
	if err != nil {
		return fmt.Errorf("releasing receipt %d in %s: %w", claim.ID, s.driver.Where, err)
	}
	return nil
}

// ended tells a claim that was ended like this before from one that was lost.
func (s *Store) ended(ctx context.Context, tx receipt.Tx, claim receipt.Claim, as receipt.State) error {
	var state receipt.State
	err := tx.QueryRowContext(ctx, s.sql.held, []byte(claim.Key), claim.Token).Scan(&state)
	switch {
	case absent(err):
		return receipt.ErrLost
	case err != nil:
		return fmt.Errorf("reading the key: %w", err)
	case state != as:
		return receipt.ErrLost
	}
	return nil
}

// Settle notes why a receipt that nobody claimed has no effect.
func (s *Store) Settle(ctx context.Context, id int64, end receipt.Ending) error {
	err := s.transact(ctx, func(tx receipt.Tx) error {
		return s.note(one(ctx, tx, receipt.ErrSettled, s.sql.putOff, id, string(end.Kind), reason(end.Reason)))
	})
	if err != nil {
		return fmt.Errorf("settling receipt %d in %s: %w", id, s.driver.Where, err)
	}
	return nil
}

// note is the outcome of writing to a receipt, which the planted fault may have
// swallowed.
func (s *Store) note(err error) error {
	if err == nil || s.driver.Unique && errors.Is(err, receipt.ErrSettled) {
		return nil
	}
	return fmt.Errorf("noting it on the receipt: %w", err)
}
