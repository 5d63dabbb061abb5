package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/pgtest"
	"fifoproof/internal/receipt/postgres"
)

var terms = receipt.Terms{Worker: "w", Lease: time.Hour, Now: time.Unix(1_800_000_000, 0)}

func arrival(message, key string) receipt.Delivery {
	return receipt.Delivery{
		Queue: "orders.fifo", MessageID: message, ReceivedAt: time.Unix(1, 2000),
		Key: receipt.Key{Rule: "content", Consumer: "orders.fifo", Space: "event", Value: key},
	}
}

func begin(t testing.TB, s *postgres.Store, d receipt.Delivery, terms receipt.Terms) receipt.Decision {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // who waits for a lock, waits for ever
	defer cancel()
	ids, err := s.Record(ctx, []receipt.Delivery{d})
	require.NoError(t, err)
	decision, err := s.Begin(ctx, ids[0], d, terms)
	require.NoError(t, err)
	return decision
}

// An effect may take as long as it likes. Nobody waits for it: not a delivery of the
// same key, whoever has it, nor its own heartbeat, nor other keys.
func TestNobodyWaitsForAnEffect(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t)
	s, other := open(t, url), open(t, url)
	defer s.Close()
	defer other.Close()
	run := terms
	run.Repeated = receipt.Run
	claim := begin(t, s, arrival("m1", "k"), run).Claim
	second := begin(t, s, arrival("m2", "k"), run).Claim
	within := func(claim receipt.Claim, check func()) {
		t.Helper()
		require.NoError(t, s.Complete(t.Context(), claim, terms.Now, "", func(context.Context, receipt.Tx, receipt.Claim) error {
			check()
			return nil
		}))
	}
	putOff := func(d receipt.Delivery, terms receipt.Terms) {
		t.Helper()
		decision := begin(t, other, d, terms)
		require.Equal(t, receipt.Pending, decision.Kind)
		require.Equal(t, terms.Now.Add(time.Second), decision.Until)
		require.Contains(t, decision.Reason, "in flight")
	}
	within(claim, func() {
		putOff(arrival("m1", "k"), terms)
		putOff(arrival("m3", "k"), terms)
		putOff(arrival("m3", "k"), run)
		require.NoError(t, s.Renew(t.Context(), claim, terms.Now, time.Hour))
		require.Equal(t, receipt.Fresh, begin(t, other, arrival("m4", "l"), terms).Kind)
	})
	// The first key is done, and the second's row is locked.
	within(second, func() {
		putOff(arrival("m2", "k"), run)
		require.Equal(t, receipt.Redelivered, begin(t, other, arrival("m1", "k"), run).Kind)
	})
	require.Equal(t, receipt.Redelivered, begin(t, other, arrival("m2", "k"), run).Kind)
}

// The lease ends while the effect is being committed: the row's lock holds the key.
func TestLeaseEndsDuringTheEffect(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Start(t))
	defer s.Close()
	over := terms
	over.Lease = 0
	claim := begin(t, s, arrival("m1", "k"), over).Claim
	require.NoError(t, s.Complete(t.Context(), claim, terms.Now, "", func(context.Context, receipt.Tx, receipt.Claim) error {
		require.Equal(t, receipt.Pending, begin(t, s, arrival("m1", "k"), terms).Kind)
		return nil
	}))
	require.Equal(t, receipt.Redelivered, begin(t, s, arrival("m1", "k"), terms).Kind)
}

// Two ledgers that touch the same two accounts in opposite order. PostgreSQL ends one
// of the transactions; that is tried again, and counted.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t)
	s, db := open(t, url), look(t, url)
	defer s.Close()
	_, err := db.Exec(`CREATE TABLE accounts (id int PRIMARY KEY, amount int NOT NULL); INSERT INTO accounts VALUES (1, 0), (2, 0)`)
	require.NoError(t, err)
	claims := []receipt.Claim{begin(t, s, arrival("m0", "k0"), terms).Claim, begin(t, s, arrival("m1", "k1"), terms).Claim}

	var wg, first sync.WaitGroup
	first.Add(len(claims))
	errs := make([]error, len(claims))
	for n, claim := range claims {
		wg.Go(func() {
			var met sync.Once
			errs[n] = s.Complete(context.Background(), claim, terms.Now, "", func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
				if _, err := tx.ExecContext(ctx, `UPDATE accounts SET amount = amount + 1 WHERE id = $1`, 1+n); err != nil {
					return fmt.Errorf("the first account: %w", err)
				}
				met.Do(func() { // only on the first go: the loser meets nobody on its second
					first.Done()
					first.Wait()
				})
				_, err := tx.ExecContext(ctx, `UPDATE accounts SET amount = amount + 1 WHERE id = $1`, 2-n)
				return err
			})
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, int64(1), s.Retries())
	var sum int
	require.NoError(t, db.QueryRow(`SELECT sum(amount) FROM accounts`).Scan(&sum))
	require.Equal(t, 4, sum, "each effect once")
}

// What the database asks to be tried again is, up to a bound; what it says no to is
// not.
func TestRetries(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Start(t))
	defer s.Close()
	for code, goes := range map[string]int{"40001": 10, "40P01": 10, "23505": 1} {
		claim := begin(t, s, arrival("m"+code, "k"+code), terms).Claim
		n := 0
		raise := func(until int) receipt.Effect {
			return func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
				if n++; n > until {
					return nil
				}
				_, err := tx.ExecContext(ctx, `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '`+code+`'; END $$`)
				return err
			}
		}
		err := s.Complete(t.Context(), claim, terms.Now, "", raise(100))
		var answer *pgconn.PgError
		require.ErrorAs(t, err, &answer)
		require.Equal(t, code, answer.Code)
		require.Equal(t, goes, n)
		before := s.Retries()
		n = 0
		if goes > 1 {
			require.NoError(t, s.Complete(t.Context(), claim, terms.Now, "", raise(3)))
			require.Equal(t, before+3, s.Retries())
		}
	}
}

// An effect that swallows an error has spoilt its transaction; PostgreSQL turns the
// commit into a rollback, and that must not be taken for a commit.
func TestSwallowedError(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Start(t))
	defer s.Close()
	claim := begin(t, s, arrival("m1", "k"), terms).Claim
	err := s.Complete(t.Context(), claim, terms.Now, "", func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
		_, _ = tx.ExecContext(ctx, `SELECT 1 / 0`)
		return nil
	})
	require.Error(t, err)
	require.NoError(t, s.Complete(t.Context(), claim, terms.Now, "", nil), "nothing was done")
}

// Three processes start at once on an empty schema.
func TestOpenedByManyAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for n := range errs {
		wg.Go(func() {
			s, err := postgres.Open(context.Background(), url, postgres.MaxConnections(2))
			if err == nil {
				err = s.Close()
			}
			errs[n] = err
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
}
