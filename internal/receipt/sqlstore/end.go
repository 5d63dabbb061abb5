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
	err := s.transact(ctx, func(tx Tx) error {
		return tx.one(ctx, receipt.ErrLost, s.sql.renew,
			[]byte(claim.Key), claim.Token, s.now(now), int64(min(lease, longest)))
	})
	if err != nil {
		return fmt.Errorf("renewing the lease of receipt %d in %s: %w", claim.ID, s.Where, err)
	}
	return nil
}

// Complete makes the key done in one transaction with the effect. Called again for
// a claim that it has completed, which a caller does whose answer was lost, it does
// nothing.
func (s *Store) Complete(ctx context.Context, claim receipt.Claim, now time.Time, result string, effect receipt.Effect) error {
	s.completing.Store(claim.Token, nil)
	defer s.completing.Delete(claim.Token)
	err := s.transact(ctx, func(tx Tx) error { return s.complete(ctx, tx, claim, now, result, effect) })
	if err != nil {
		return fmt.Errorf("completing receipt %d in %s: %w", claim.ID, s.Where, err)
	}
	return nil
}

func (s *Store) complete(ctx context.Context, tx Tx, claim receipt.Claim, now time.Time, result string, effect receipt.Effect) error {
	var inbox int64
	err := tx.QueryRowContext(ctx, s.sql.complete, []byte(claim.Key), claim.Token, []byte(result)).Scan(&inbox)
	switch {
	case absent(err):
		return s.ended(ctx, tx, claim, receipt.Completed)
	case err != nil:
		return fmt.Errorf("completing the key: %w", err)
	}
	if effect == nil {
		d := s.kept(claim.Delivery)
		_, err = tx.ExecContext(ctx, s.sql.effect,
			inbox, d.Key.Consumer, d.Queue, d.Group, d.MessageID, d.SequenceNumber, d.Key.Value, nanos(d.ReceivedAt))
	} else {
		err = effect(ctx, tx, claim)
	}
	if err != nil {
		return fmt.Errorf("carrying out the effect: %w", err)
	}
	return s.note(tx.one(ctx, receipt.ErrSettled, s.sql.finish, claim.ID, string(receipt.Fresh), "", nanos(now)))
}

// Release opens the key again, and notes on the receipt how the attempt ended. Like
// Complete it may be called again.
func (s *Store) Release(ctx context.Context, claim receipt.Claim, end receipt.Ending) error {
	err := s.transact(ctx, func(tx Tx) error {
		err := tx.one(ctx, receipt.ErrLost, s.sql.release, []byte(claim.Key), claim.Token)
		if errors.Is(err, receipt.ErrLost) {
			return s.ended(ctx, tx, claim, receipt.Open)
		}
		if err != nil {
			return fmt.Errorf("releasing the key: %w", err)
		}
		if end.Kind == receipt.Pending {
			return s.note(tx.one(ctx, receipt.ErrSettled, s.sql.giveBack, claim.ID, reason(end.Reason)))
		}
		return s.note(tx.one(ctx, receipt.ErrSettled, s.sql.finish, claim.ID, string(end.Kind), reason(end.Reason), nanos(end.At)))
	})
	if err != nil {
		return fmt.Errorf("releasing receipt %d in %s: %w", claim.ID, s.Where, err)
	}
	return nil
}

// ended tells a claim that was ended like this before from one that was lost.
func (s *Store) ended(ctx context.Context, tx Tx, claim receipt.Claim, as receipt.State) error {
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
	err := s.transact(ctx, func(tx Tx) error {
		return s.note(tx.one(ctx, receipt.ErrSettled, s.sql.putOff, id, string(end.Kind), reason(end.Reason)))
	})
	if err != nil {
		return fmt.Errorf("settling receipt %d in %s: %w", id, s.Where, err)
	}
	return nil
}

// note is the outcome of writing to a receipt, which the planted fault may have
// swallowed.
func (s *Store) note(err error) error {
	if err == nil || s.Unique && errors.Is(err, receipt.ErrSettled) {
		return nil
	}
	return fmt.Errorf("noting it on the receipt: %w", err)
}
