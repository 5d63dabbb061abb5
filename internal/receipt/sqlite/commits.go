package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// most is how many operations share a commit.
const most = 64

// commits lets operations that would wait for each other share one transaction, and
// so one flush of the disk. Each runs in a savepoint, in turn. Whoever ends its turn
// commits, unless somebody is already waiting who can still join in: nobody waits for
// company.
type commits struct {
	db               *sql.DB
	save, keep, undo *sql.Stmt // of a savepoint

	mu      sync.Mutex
	taken   bool            // somebody has the turn
	waiting []chan struct{} // who has it next; closed when it comes

	open *batch // belongs to whoever has the turn
}

// batch is a transaction that operations share.
type batch struct {
	tx     *sql.Tx
	end    context.CancelFunc
	size   int
	broken error // SQLite undid the whole transaction

	done chan struct{} // closed when it is committed, or undone
	err  error         // why it was not committed; read after done
}

func newCommits(ctx context.Context, db *sql.DB) (*commits, error) {
	c := &commits{db: db}
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{{&c.save, "SAVEPOINT operation"}, {&c.keep, "RELEASE operation"}, {&c.undo, "ROLLBACK TO operation"}} {
		var err error
		if *p.into, err = db.PrepareContext(ctx, p.text); err != nil { //nolint:sqlclosecheck // closed with the database
			return nil, fmt.Errorf("preparing a statement: %w", err)
		}
	}
	return c, nil
}

// transact runs body, and returns when what it did is committed or undone. What
// others do in the same transaction stays, whatever becomes of body. A panic of body
// is its caller's.
func (c *commits) transact(ctx context.Context, body func(*sql.Tx) error) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	b, err := c.run(ctx, body)
	if err != nil {
		return err
	}
	<-b.done
	return b.err
}

// run is one turn.
func (c *commits) run(ctx context.Context, body func(*sql.Tx) error) (*batch, error) {
	defer c.pass()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.open == nil {
		opened, err := c.begin(ctx)
		if err != nil {
			return nil, err
		}
		c.open = opened
	}
	b := c.open
	b.size++
	kept := false
	defer func() {
		if !kept && b.broken == nil {
			b.broken = c.exec(b.tx, c.undo, c.keep)
		}
	}()
	if err := c.exec(b.tx, c.save); err != nil {
		return nil, err
	}
	if err := body(b.tx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.exec(b.tx, c.keep); err != nil {
		return nil, err
	}
	kept = true
	return b, nil
}

// begin opens a transaction. ctx cuts off the wait for another process, and no more:
// the transaction is not only its own.
func (c *commits) begin(ctx context.Context) (*batch, error) {
	whole, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	tx, err := c.db.BeginTx(whole, nil)
	if !stop() || err != nil { // it may be about to end whole, and the transaction with it
		end()
		if err == nil {
			_ = tx.Rollback()
			err = ctx.Err()
		}
		return nil, err
	}
	return &batch{tx: tx, end: end, done: make(chan struct{})}, nil
}

func (c *commits) exec(tx *sql.Tx, statements ...*sql.Stmt) error {
	for _, statement := range statements {
		if _, err := tx.Stmt(statement).Exec(); err != nil { //nolint:noctx,sqlclosecheck // it must not be cut off, and is closed with tx
			return err
		}
	}
	return nil
}

// take waits for the turn.
func (c *commits) take(ctx context.Context) error {
	c.mu.Lock()
	if !c.taken {
		c.taken = true
		c.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	c.waiting = append(c.waiting, turn)
	c.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiting, turn); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		return ctx.Err()
	}
	return nil // the turn has come already, and must be passed on
}

// pass ends a turn.
func (c *commits) pass() {
	c.mu.Lock()
	company := len(c.waiting) > 0
	c.mu.Unlock()
	if b := c.open; b != nil && (!company || b.size >= most || b.broken != nil) {
		c.open = nil
		b.close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.taken = false
		return
	}
	close(c.waiting[0])
	c.waiting = c.waiting[1:]
}

// close commits the batch, or undoes it, and tells everybody.
func (b *batch) close() {
	defer close(b.done)
	defer b.end()
	if b.broken == nil {
		b.err = b.tx.Commit()
		return
	}
	b.err = fmt.Errorf("another operation broke the transaction: %w", b.broken)
	if err := b.tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		b.err = errors.Join(b.err, err)
	}
}
