package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"fifoproof/internal/receipt"
)

// most is how many operations share a commit.
const most = 64

// commits lets operations that would wait for each other share one transaction, and
// so one flush of the disk. They run in turn, all but the first in a savepoint.
// Whoever ends its turn commits, unless somebody is already waiting who can still
// join in: nobody waits for company.
type commits struct {
	db *sql.DB

	mu      sync.Mutex
	taken   bool            // somebody has the turn
	waiting []chan struct{} // who has it next; closed when it comes

	// These belong to whoever has the turn.
	conn *connection
	open *batch
}

// batch is a transaction that operations share.
type batch struct {
	size   int
	broken error // SQLite has undone the whole transaction

	done chan struct{} // closed when it is committed, or undone
	err  error         // why it was not committed; read after done
}

func newCommits(ctx context.Context, db *sql.DB) (*commits, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &commits{db: db, conn: newConnection(conn)}, nil
}

// transact runs body, and returns when what it did is committed or undone. What
// others do in the same transaction stays, whatever becomes of body. A panic of body
// is its caller's.
func (c *commits) transact(ctx context.Context, body func(receipt.Tx) error) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	b, err := c.join(ctx, body)
	if err != nil {
		return err
	}
	<-b.done
	return b.err
}

// direct runs body between two transactions.
func (c *commits) direct(ctx context.Context, body func(receipt.Tx) error) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.pass()
	if c.open != nil {
		c.commit()
	}
	return body(c.conn)
}

// close ends everything, after whatever has the turn.
func (c *commits) close() error {
	if err := c.take(context.Background()); err != nil {
		return err
	}
	defer c.pass()
	if c.open != nil {
		c.commit()
	}
	err := c.conn.Close()
	if errors.Is(err, sql.ErrConnDone) { // closed before
		err = nil
	}
	return errors.Join(err, c.db.Close())
}

// join is one turn: body in a transaction that others may have begun.
func (c *commits) join(ctx context.Context, body func(receipt.Tx) error) (*batch, error) {
	defer c.pass()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	undo, err := c.enter(ctx)
	if err != nil {
		return nil, err
	}
	b, kept := c.open, false
	defer func() {
		if !kept {
			undo()
		}
	}()
	if err := body(c.conn); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if b.size > 0 {
		if err := c.conn.do("RELEASE operation"); err != nil {
			return nil, err
		}
	}
	kept = true
	b.size++
	return b, nil
}

// enter begins a transaction, or a savepoint in the one that is open, and returns
// what undoes it. ctx cuts off the wait for another process, and no more: the
// transaction is not only its own.
func (c *commits) enter(ctx context.Context) (undo func(), err error) {
	if b := c.open; b != nil {
		if err := c.conn.do("SAVEPOINT operation"); err != nil {
			b.broken = err
			return nil, err
		}
		return func() {
			if b.broken = c.conn.do("ROLLBACK TO operation"); b.broken == nil {
				b.broken = c.conn.do("RELEASE operation")
			}
		}, nil
	}
	rollback := func() {
		_ = c.conn.do("ROLLBACK") // SQLite may have done it already
		c.open = nil
	}
	if err := c.conn.begin(ctx); err != nil {
		rollback() // the wait may have been cut off when it was over
		return nil, err
	}
	c.open = &batch{done: make(chan struct{})}
	return rollback, nil
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
		c.commit()
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

// commit ends the open batch, and tells everybody in it.
func (c *commits) commit() {
	b := c.open
	c.open = nil
	defer close(b.done)
	if b.broken != nil {
		b.err = fmt.Errorf("another operation broke the transaction: %w", b.broken)
	} else {
		b.err = c.conn.do("COMMIT")
	}
	if b.err != nil {
		_ = c.conn.do("ROLLBACK") // SQLite may have done it already
	}
}
