package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"fifoproof/internal/receipt"
)

// moment is how long a delivery is put off whose key's row is taken by somebody
// else's open transaction, most likely the one that completes the key.
const moment = time.Second

// longest is the longest lease that is kept as asked for, so that its end is a time
// that can be stored.
const longest = 100 * 365 * 24 * time.Hour

// errMoved is a key that was forgotten between two looks at it.
var errMoved = errors.New("the key was forgotten meanwhile")

// Begin decides what a delivery is, and commits that.
func (s *Store) Begin(ctx context.Context, id int64, d receipt.Delivery, terms receipt.Terms) (receipt.Decision, error) {
	if d.Key.Value == "" {
		return receipt.Decision{}, fmt.Errorf("beginning receipt %d in %s: %w", id, s.driver.Where, receipt.ErrNoKey)
	}
	b := &beginning{store: s, id: id, delivery: d, kept: s.kept(d), terms: terms}
	var decision receipt.Decision
	var err error
	for try := range tries {
		known := false
		if s.driver.Server && try == 0 {
			if decision, known, err = b.atOnce(ctx); err != nil || !known {
				break
			}
		}
		err = s.transact(ctx, func(tx receipt.Tx) (err error) {
			decision, err = b.run(ctx, tx, known)
			return err
		})
		if !errors.Is(err, errMoved) {
			break
		}
	}
	if err != nil {
		return receipt.Decision{}, fmt.Errorf("beginning receipt %d in %s: %w", id, s.driver.Where, err)
	}
	return decision, nil
}

// beginning is one call of Begin.
type beginning struct {
	store    *Store
	id       int64
	delivery receipt.Delivery
	kept     receipt.Delivery // as the database keeps it
	terms    receipt.Terms
}

// row is a key's row, taken until the transaction ends.
type row struct {
	id    int64
	entry receipt.Entry
	now   time.Time // by the clock that judges leases
}

// atOnce claims a new key in one statement. known says that there was no new key to
// claim, most likely.
func (b *beginning) atOnce(ctx context.Context) (decision receipt.Decision, known bool, err error) {
	claim := b.claim(b.delivery.Key)
	err = b.store.direct(ctx, func(tx receipt.Tx) error {
		return tx.QueryRowContext(ctx, b.store.sql.claimAtOnce, append(b.claimed(claim), nanos(b.terms.Now))...).Scan(&claim.Attempt)
	})
	switch {
	case absent(err):
		return receipt.Decision{}, true, nil
	case err != nil:
		return receipt.Decision{}, false, fmt.Errorf("claiming the key: %w", err)
	}
	return b.fresh(claim), false, nil
}

// fresh is the decision about a new key.
func (b *beginning) fresh(claim receipt.Claim) receipt.Decision {
	decision, _ := receipt.Decide(nil, b.kept, b.terms.Repeated, false, b.terms.Now)
	decision.Claim = claim
	return decision
}

// run claims a new key at once, unless it is said to be known. Of a known one it
// takes the row, then, under the policy Run, that of the key with the MessageId in it:
// in this order two deliveries of one message meet at the first row, whatever is there
// of the second.
func (b *beginning) run(ctx context.Context, tx receipt.Tx, known bool) (receipt.Decision, error) {
	key := b.delivery.Key
	if !known {
		if claim, inserted, err := b.claimNew(ctx, tx, key); err != nil || inserted {
			return b.fresh(claim), err
		}
	}
	base, err := b.take(ctx, tx, key)
	if err != nil || base == nil {
		return b.putOff(ctx, tx, err)
	}
	if err := b.delivered(ctx, tx, base); err != nil {
		return receipt.Decision{}, err
	}
	if b.terms.Repeated != receipt.Run {
		return b.decide(ctx, tx, key, base)
	}
	own := key
	own.Message = b.delivery.Identity()
	switch known, err := b.known(ctx, tx, own); {
	case err != nil:
		return receipt.Decision{}, err
	case known:
		return b.repeated(ctx, tx, own, base)
	default:
		return b.decide(ctx, tx, key, base)
	}
}

// repeated decides by the key that has the MessageId in it.
func (b *beginning) repeated(ctx context.Context, tx receipt.Tx, own receipt.Key, base *row) (receipt.Decision, error) {
	its, err := b.take(ctx, tx, own)
	if err != nil || its == nil {
		return b.putOff(ctx, tx, err)
	}
	if err := b.delivered(ctx, tx, its); err != nil {
		return receipt.Decision{}, err
	}
	decision, err := b.decide(ctx, tx, own, its)
	if decision.Kind == receipt.Fresh {
		decision.Repeats, decision.First = true, first(base)
	}
	return decision, err
}

// decide asks what the delivery is, given its key's row, and writes that down.
func (b *beginning) decide(ctx context.Context, tx receipt.Tx, key receipt.Key, r *row) (receipt.Decision, error) {
	seen := false
	if r.entry.State == receipt.Completed && r.entry.MessageID != b.kept.Identity() {
		err := tx.QueryRowContext(ctx, b.store.sql.seen, b.kept.Identity(), r.id, b.id).Scan(&seen)
		if err != nil {
			return receipt.Decision{}, fmt.Errorf("looking for the message's earlier deliveries: %w", err)
		}
	}
	decision, again := receipt.Decide(&r.entry, b.kept, b.terms.Repeated, seen, r.now)
	if again {
		key.Message = b.delivery.Identity()
		claim, inserted, err := b.claimNew(ctx, tx, key)
		if err == nil && !inserted {
			err = errMoved
		}
		decision.Kind, decision.Claim = receipt.Fresh, claim
		return decision, err
	}
	switch decision.Kind {
	case receipt.Fresh:
		claim, err := b.claimKnown(ctx, tx, key, r)
		decision.Claim = claim
		return decision, err
	case receipt.Pending:
		decision.Until = b.terms.Now.Add(decision.Until.Sub(r.now))
	default:
	}
	return decision, b.settle(ctx, tx, decision, key, sql.NullInt64{Int64: r.id, Valid: true})
}

// putOff is what becomes of a delivery whose key's row is taken by an open
// transaction. It never waits for that to end: it may take as long as an effect.
func (b *beginning) putOff(ctx context.Context, tx receipt.Tx, err error) (receipt.Decision, error) {
	if err != nil {
		return receipt.Decision{}, err
	}
	decision := receipt.Decision{
		Kind: receipt.Pending, Until: b.terms.Now.Add(moment), Reason: "in flight: the key is being written at this moment",
	}
	return decision, b.settle(ctx, tx, decision, b.delivery.Key, sql.NullInt64{})
}

// claimNew claims a key that is not there. inserted is false where it is.
func (b *beginning) claimNew(ctx context.Context, tx receipt.Tx, key receipt.Key) (claim receipt.Claim, inserted bool, err error) {
	claim = b.claim(key)
	inbox, err := b.store.insert(ctx, tx, b.store.sql.claimNew, b.claimed(claim)...)
	if err != nil {
		return receipt.Claim{}, false, fmt.Errorf("claiming the key: %w", err)
	}
	if inbox == 0 {
		return receipt.Claim{}, false, nil
	}
	claim.Attempt, err = b.start(ctx, tx, key, inbox)
	return claim, true, err
}

// claimed are the values of a claimed key.
func (b *beginning) claimed(claim receipt.Claim) []any {
	d := b.store.kept(claim.Delivery)
	return []any{
		[]byte(claim.Key), d.Key.Consumer, d.Key.Space, d.Key.Group, d.Key.Value, d.Key.Message,
		claim.Token, b.store.now(b.terms.Now), int64(min(b.terms.Lease, longest)), b.store.driver.Text(b.terms.Worker), d.Fingerprint,
		b.id, d.Identity(), nanos(d.ReceivedAt),
	}
}

// claimKnown claims a key whose row is taken.
func (b *beginning) claimKnown(ctx context.Context, tx receipt.Tx, key receipt.Key, r *row) (receipt.Claim, error) {
	claim := b.claim(key)
	_, err := tx.ExecContext(ctx, b.store.sql.claimKnown, r.id,
		claim.Token, b.store.now(b.terms.Now), int64(min(b.terms.Lease, longest)), b.store.driver.Text(b.terms.Worker), b.kept.Fingerprint,
		b.id, b.kept.Identity(), nanos(b.kept.ReceivedAt))
	if err != nil {
		return receipt.Claim{}, fmt.Errorf("claiming the key: %w", err)
	}
	claim.Attempt, err = b.start(ctx, tx, key, r.id)
	return claim, err
}

// claim makes a claim with a token that nobody has had. It is random: a counter
// would begin anew when the key was forgotten, and a worker that slept all the while
// would hold a valid one.
func (b *beginning) claim(key receipt.Key) receipt.Claim {
	d := b.delivery
	d.Key = key
	return receipt.Claim{ID: b.id, Delivery: d, Token: rand.Text(), Key: key.Encode()}
}

// start notes the attempt on the receipt, and answers its number.
func (b *beginning) start(ctx context.Context, tx receipt.Tx, key receipt.Key, inbox int64) (int, error) {
	var last int
	err := tx.QueryRowContext(ctx, b.store.sql.attempts, b.kept.Identity(), b.kept.Key.Consumer).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("counting the attempts: %w", err)
	}
	return last + 1, b.store.note(one(ctx, tx, receipt.ErrSettled, b.store.sql.start,
		b.id, inbox, b.store.driver.Text(key.Message), b.store.driver.Text(b.terms.Worker), nanos(b.terms.Now), last+1))
}

// take takes the row of a known key; nil where somebody else has taken it.
func (b *beginning) take(ctx context.Context, tx receipt.Tx, key receipt.Key) (*row, error) {
	var r row
	var received, until, now sql.NullInt64
	err := tx.QueryRowContext(ctx, b.store.sql.entry, []byte(key.Encode()), b.store.now(b.terms.Now)).Scan(
		&r.id, &r.entry.State, &r.entry.Fingerprint, &r.entry.MessageID, &received, &until, &r.entry.Worker, &r.entry.Result, &now)
	switch {
	case absent(err):
		known, err := b.known(ctx, tx, key)
		if err == nil && !known {
			err = errMoved
		}
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	r.entry.ReceivedAt, r.entry.LeaseUntil, r.now = instant(received), instant(until), instant(now)
	return &r, nil
}

func (b *beginning) known(ctx context.Context, tx receipt.Tx, key receipt.Key) (known bool, err error) {
	if err := tx.QueryRowContext(ctx, b.store.sql.known, []byte(key.Encode())).Scan(&known); err != nil {
		return false, fmt.Errorf("looking for the key: %w", err)
	}
	return known, nil
}

// delivered notes when a key was delivered, which is what retention counts from.
func (b *beginning) delivered(ctx context.Context, tx receipt.Tx, r *row) error {
	if _, err := tx.ExecContext(ctx, b.store.sql.delivered, r.id, nanos(b.kept.ReceivedAt)); err != nil {
		return fmt.Errorf("noting the delivery: %w", err)
	}
	return nil
}

// settle notes on the receipt what its delivery is, or why it was put off.
func (b *beginning) settle(ctx context.Context, tx receipt.Tx, decision receipt.Decision, key receipt.Key, inbox sql.NullInt64) error {
	var first receipt.Origin
	if decision.Kind.Done() {
		first = decision.First
	}
	return b.store.note(one(ctx, tx, receipt.ErrSettled, b.store.sql.settle, b.id,
		string(decision.Kind), reason(decision.Reason), first.MessageID, nanos(first.ReceivedAt), inbox, b.store.driver.Text(key.Message)))
}

func first(r *row) receipt.Origin {
	return receipt.Origin{MessageID: r.entry.MessageID, ReceivedAt: r.entry.ReceivedAt}
}
