package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

func write(n int) receipt.Effect {
	return func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO done VALUES ($1)`, n)
		return err
	}
}

// company runs completions that all wait behind the first, whose effect returns when
// they do. So they share its commit.
func company(t *testing.T, s *sqlite.Store, effects ...receipt.Effect) []error {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, s.Complete(ctx, claim(t, s, arrival("m", "table")).Claim, terms.Now, "",
		func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			_, err := tx.ExecContext(ctx, `CREATE TABLE done (n INTEGER)`)
			return err
		}))
	first := claim(t, s, arrival("m", "first")).Claim
	claims := make([]receipt.Claim, len(effects))
	for n := range effects {
		claims[n] = claim(t, s, arrival("m", fmt.Sprint(n))).Claim
	}
	errs := make([]error, len(effects)+1)
	var wg sync.WaitGroup
	working, release := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		errs[len(effects)] = s.Complete(ctx, first, terms.Now, "", func(context.Context, receipt.Tx, receipt.Claim) error {
			close(working)
			<-release
			return nil
		})
	})
	<-working
	for n, effect := range effects {
		wg.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					errs[n] = fmt.Errorf("panic: %v", cause)
				}
			}()
			errs[n] = s.Complete(ctx, claims[n], terms.Now, "", effect)
		})
		synctest.Wait() // it has taken its place in the row
	}
	close(release)
	wg.Wait()
	return errs
}

func done(t *testing.T, s *sqlite.Store) (numbers []int) {
	t.Helper()
	require.NoError(t, s.Complete(t.Context(), claim(t, s, arrival("m", "look")).Claim, terms.Now, "",
		func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			rows, err := tx.QueryContext(ctx, `SELECT n FROM done ORDER BY n`)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var n int
				if err := rows.Scan(&n); err != nil {
					return err
				}
				numbers = append(numbers, n)
			}
			return rows.Err()
		}))
	return numbers
}

// Of those that share a commit, whoever fails or panics takes only its own work along.
func TestSharedCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.Memory())
		fails := func(n int, end func() error) receipt.Effect {
			return func(ctx context.Context, tx receipt.Tx, claim receipt.Claim) error {
				if err := write(n)(ctx, tx, claim); err != nil {
					return err
				}
				return end()
			}
		}
		errs := company(t, s, write(0),
			fails(1, func() error { return errors.New("no") }), write(2),
			fails(3, func() error { panic("oh") }), write(4))
		require.NoError(t, errors.Join(errs[0], errs[2], errs[4], errs[5]))
		require.ErrorContains(t, errs[1], "no")
		require.EqualError(t, errs[3], "panic: oh")
		require.Equal(t, []int{0, 2, 4}, done(t, s))
		require.NoError(t, s.Close())
	})
}

// An effect whose goroutine ends, as a test's does that fails, passes the turn on.
func TestGoexit(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Memory())
	claimed := claim(t, s, arrival("m", "k")).Claim
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.Complete(context.Background(), claimed, terms.Now, "", func(context.Context, receipt.Tx, receipt.Claim) error {
			runtime.Goexit()
			return nil
		})
	})
	wg.Wait()
	require.NoError(t, s.Complete(t.Context(), claimed, terms.Now, "", nil))
	require.NoError(t, s.Close())
}

// An effect can make SQLite undo everything, by RAISE(ROLLBACK). Those that shared its
// transaction are told that theirs failed, and nothing of them is left.
func TestBrokenCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.Memory())
		breaking := func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			for _, statement := range []string{
				`CREATE TEMP TABLE IF NOT EXISTS fuse (n INTEGER)`,
				`CREATE TEMP TRIGGER IF NOT EXISTS blow BEFORE INSERT ON fuse BEGIN SELECT RAISE(ROLLBACK, 'blown'); END`,
				`INSERT INTO fuse VALUES (1)`,
			} {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		}
		errs := company(t, s, write(0), breaking, write(2))
		require.ErrorContains(t, errs[0], "another operation broke the transaction")
		require.ErrorContains(t, errs[1], "blown")
		require.NoError(t, errs[2], "it came after")
		require.ErrorContains(t, errs[3], "another operation broke the transaction")
		require.Equal(t, []int{2}, done(t, s))
		require.NoError(t, s.Close())
	})
}

// More than can share one commit, and more than are worth keeping prepared.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.Memory())
		var effects []receipt.Effect
		for n := range 150 {
			effects = append(effects, func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
				_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO done VALUES (%d)`, n))
				return err
			})
		}
		require.NoError(t, errors.Join(company(t, s, effects...)...))
		require.Len(t, done(t, s), 150)
		require.NoError(t, s.Close())
	})
}

// Whoever gives up while it waits for another's effect has done nothing, and need not
// wait for its end.
func TestGivesUpWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, sqlite.Memory())
		long, other := claim(t, s, arrival("m", "k")).Claim, claim(t, s, arrival("m", "l")).Claim
		release := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			err := s.Complete(t.Context(), long, terms.Now, "", func(context.Context, receipt.Tx, receipt.Claim) error {
				<-release
				return nil
			})
			require.NoError(t, err)
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, s.Complete(ctx, other, terms.Now, "", nil), context.DeadlineExceeded)
		_, err := s.Counts(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(release)
		wg.Wait()
		counts, err := s.Counts(t.Context())
		require.NoError(t, err)
		require.Equal(t, receipt.Counts{Pending: 1, Fresh: 1}, counts)
		require.NoError(t, s.Complete(t.Context(), other, terms.Now, "", nil))
		require.NoError(t, s.Close())
		require.NoError(t, s.Close(), "closed again")
		require.Error(t, s.Complete(t.Context(), other, terms.Now, "", nil))
	})
}

// Another process's long effect is waited for; it is no error. Who gives up may.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "receipts.db")
	one, two := open(t, path), open(t, path)
	long := claim(t, one, arrival("m", "k")).Claim
	result := make(chan error, 1)
	require.NoError(t, one.Complete(t.Context(), long, terms.Now, "", func(context.Context, receipt.Tx, receipt.Claim) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := two.Record(ctx, []receipt.Delivery{arrival("m", "l")})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		counts, err := two.Counts(t.Context())
		require.NoError(t, err, "reading is not held up")
		require.Equal(t, receipt.Counts{Pending: 1}, counts)
		go func() {
			_, err := two.Record(t.Context(), []receipt.Delivery{arrival("m", "l")})
			result <- err
		}()
		return nil
	}))
	require.NoError(t, <-result)
	require.NoError(t, errors.Join(one.Close(), two.Close()))
}

// A handler may run a statement inside the reading of the same statement's rows.
func TestNestedStatements(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Memory())
	count := 0
	require.NoError(t, s.Complete(t.Context(), claim(t, s, arrival("m", "k")).Claim, terms.Now, "",
		func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			const query = `SELECT value FROM json_each('[1,2,3]')`
			outer, err := tx.QueryContext(ctx, query)
			if err != nil {
				return err
			}
			defer outer.Close()
			for outer.Next() {
				var first int
				if err := tx.QueryRowContext(ctx, query).Scan(&first); err != nil {
					return err
				}
				inner, err := tx.QueryContext(ctx, query)
				if err != nil {
					return err
				}
				for inner.Next() {
					count++
				}
				if err := errors.Join(inner.Err(), inner.Close()); err != nil { //nolint:sqlclosecheck // closed before the next round
					return err
				}
			}
			return outer.Err()
		}))
	require.Equal(t, 9, count)
	require.NoError(t, s.Close())
}
