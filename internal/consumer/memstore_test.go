package consumer_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"fifoproof/internal/receipt"
)

// memStore is a store in memory, by the rules of receipt.Decide, for tests that ask what
// the consumer does when a store fails, and in which order it calls it. What stores must
// do themselves is in receipttest.
type memStore struct {
	mu       sync.Mutex
	diary    *diary
	receipts []receipt.Receipt
	inbox    map[string]*receipt.Entry
	holders  map[string]string // token by key
	tokens   int
	effects  int64
	open     int // transactions

	// before is called with the name of a call, and its message where it has one; its
	// error is the call's.
	before func(call, message string) error
}

func newMemStore(d *diary) *memStore {
	return &memStore{diary: d, inbox: map[string]*receipt.Entry{}, holders: map[string]string{}}
}

func (s *memStore) enter(ctx context.Context, call, message string) error {
	s.diary.notef("%s", strings.TrimSpace(call+" "+message))
	if s.before != nil {
		if err := s.before(call, message); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *memStore) Record(ctx context.Context, deliveries []receipt.Delivery) ([]int64, error) {
	if err := s.enter(ctx, "record", fmt.Sprint(len(deliveries))); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []int64
	for _, d := range deliveries {
		id := int64(len(s.receipts) + 1)
		ids = append(ids, id)
		s.receipts = append(s.receipts, receipt.Receipt{ID: id, Delivery: d, Kind: receipt.Pending})
	}
	return ids, nil
}

func (s *memStore) Begin(ctx context.Context, id int64, d receipt.Delivery, terms receipt.Terms) (receipt.Decision, error) {
	if err := s.enter(ctx, "begin", d.MessageID); err != nil {
		return receipt.Decision{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.receipts[id-1]
	if d.Key == (receipt.Key{}) {
		return receipt.Decision{}, receipt.ErrNoKey
	}
	key := d.Key.Encode()
	if terms.Repeated == receipt.Run {
		own := d.Key
		own.Message = d.Identity()
		if s.inbox[own.Encode()] != nil {
			key = own.Encode()
		}
	}
	decision, again := receipt.Decide(s.inbox[key], d, terms.Repeated, s.seen(key, d), terms.Now)
	if again {
		own := d.Key
		own.Message = d.Identity()
		key = own.Encode()
		decision.Kind = receipt.Fresh
	}
	switch decision.Kind {
	case receipt.Fresh:
		s.tokens++
		attempt := 1
		for _, other := range s.receipts {
			if other.Identity() == d.Identity() && other.Attempt.Number >= attempt {
				attempt = other.Attempt.Number + 1
			}
		}
		token := fmt.Sprint(s.tokens)
		s.holders[key] = token
		s.inbox[key] = &receipt.Entry{
			State: receipt.Leased, Fingerprint: d.Fingerprint, MessageID: d.Identity(), ReceivedAt: d.ReceivedAt,
			LeaseUntil: terms.Now.Add(terms.Lease), Worker: terms.Worker,
		}
		r.Attempt = receipt.Attempt{Number: attempt, Worker: terms.Worker, Started: terms.Now}
		decision.Claim = receipt.Claim{ID: id, Delivery: d, Attempt: attempt, Token: token, Key: key}
	case receipt.Pending:
		r.Reason = decision.Reason
	default:
		r.Kind, r.Reason, r.First = decision.Kind, decision.Reason, decision.First
	}
	return decision, nil
}

func (s *memStore) seen(key string, d receipt.Delivery) bool {
	return slices.ContainsFunc(s.receipts, func(r receipt.Receipt) bool {
		return r.Identity() == d.Identity() && r.Key.Encode() == key && (r.Kind == receipt.Fresh || r.Kind == receipt.Repeated)
	})
}

// lost is called under the lock.
func (s *memStore) lost(claim receipt.Claim) bool { return s.holders[claim.Key] != claim.Token }

func (s *memStore) Renew(ctx context.Context, claim receipt.Claim, now time.Time, lease time.Duration) error {
	if err := s.enter(ctx, "renew", claim.Delivery.MessageID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost(claim) {
		return receipt.ErrLost
	}
	s.inbox[claim.Key].LeaseUntil = now.Add(lease)
	return nil
}

func (s *memStore) Complete(ctx context.Context, claim receipt.Claim, now time.Time, result string, effect receipt.Effect) error {
	if err := s.enter(ctx, "complete", claim.Delivery.MessageID); err != nil {
		return err
	}
	s.mu.Lock()
	if s.lost(claim) {
		s.mu.Unlock()
		return receipt.ErrLost
	}
	s.open++
	s.mu.Unlock()
	var err error
	if effect != nil {
		err = effect(ctx, nil, claim)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if err != nil {
		return fmt.Errorf("the effect: %w", err)
	}
	if effect == nil {
		s.effects++
	}
	entry := s.inbox[claim.Key]
	entry.State, entry.Result = receipt.Completed, result
	delete(s.holders, claim.Key)
	r := &s.receipts[claim.ID-1]
	r.Kind, r.Attempt.Ended = receipt.Fresh, now
	return nil
}

func (s *memStore) Release(ctx context.Context, claim receipt.Claim, end receipt.Ending) error {
	if err := s.enter(ctx, "release "+string(end.Kind), claim.Delivery.MessageID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost(claim) {
		return receipt.ErrLost
	}
	delete(s.holders, claim.Key)
	delete(s.inbox, claim.Key)
	r := &s.receipts[claim.ID-1]
	r.Kind, r.Reason, r.Attempt.Ended = end.Kind, end.Reason, end.At
	return nil
}

func (s *memStore) Settle(ctx context.Context, id int64, end receipt.Ending) error {
	s.mu.Lock()
	message := s.receipts[id-1].MessageID
	s.mu.Unlock()
	if err := s.enter(ctx, "settle "+string(end.Kind), message); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.receipts[id-1]
	if r.Kind != receipt.Pending {
		return receipt.ErrSettled
	}
	r.Kind, r.Reason = end.Kind, end.Reason
	return nil
}

func (s *memStore) Message(ctx context.Context, identity string) ([]receipt.Receipt, error) {
	return receipt.Collect(s.Receipts(ctx, receipt.Filter{Message: identity}))
}

func (s *memStore) Receipts(_ context.Context, filter receipt.Filter) iter.Seq2[receipt.Receipt, error] {
	s.mu.Lock()
	all := slices.Clone(s.receipts)
	s.mu.Unlock()
	return func(yield func(receipt.Receipt, error) bool) {
		for _, r := range all {
			if filter.Message != "" && r.MessageID != filter.Message && r.OriginID != filter.Message {
				continue
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s *memStore) Counts(context.Context) (receipt.Counts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := receipt.Counts{Effects: s.effects}
	for _, r := range s.receipts {
		counts.Add(r.Kind, 1)
	}
	return counts, nil
}

func (s *memStore) Reap(context.Context, time.Time) (keys, receipts int64, err error) {
	return 0, 0, nil
}

func (s *memStore) Horizon(context.Context) (time.Time, error) { return time.Time{}, nil }

func (s *memStore) Close() error { return nil }

// transactions is how many are open.
func (s *memStore) transactions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}
