package sqlite

import (
	"context"
	"database/sql"

	"fifoproof/internal/receipt"
)

// keep is how many statements are kept prepared. A handler that writes values into
// its texts must not fill the memory.
const keep = 100

// connection is the one connection of a store. No statement is cut off when a
// context ends: SQLite would undo the whole transaction, with what others did in it.
// Statements are prepared once, since parsing them took 40 % of a message's CPU time.
type connection struct {
	*sql.Conn

	prepared map[string]*sql.Stmt
}

var _ receipt.Tx = (*connection)(nil)

func newConnection(conn *sql.Conn) *connection {
	return &connection{Conn: conn, prepared: map[string]*sql.Stmt{}}
}

// begin begins a transaction. The wait for another process ends with ctx.
func (c *connection) begin(ctx context.Context) error {
	_, err := c.Conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	return err
}

func (c *connection) do(statement string) error {
	_, err := c.ExecContext(context.Background(), statement)
	return err
}

// ExecContext runs a statement that answers no rows.
func (c *connection) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	if statement := c.statement(ctx, query); statement != nil { //nolint:sqlclosecheck // closed with the connection
		return statement.ExecContext(ctx, args...)
	}
	return c.Conn.ExecContext(ctx, query, args...)
}

// QueryContext runs a statement that answers rows. It is not kept prepared: the
// caller may run the same text again while it reads.
func (c *connection) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.Conn.QueryContext(context.WithoutCancel(ctx), query, args...)
}

// QueryRowContext runs a statement that answers one row.
func (c *connection) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	if statement := c.statement(ctx, query); statement != nil { //nolint:sqlclosecheck // closed with the connection
		return statement.QueryRowContext(ctx, args...)
	}
	return c.Conn.QueryRowContext(ctx, query, args...)
}

// statement is a prepared text; nil where it is not kept prepared, or cannot be,
// which running it will tell.
func (c *connection) statement(ctx context.Context, query string) *sql.Stmt {
	if statement, ok := c.prepared[query]; ok {
		return statement
	}
	if len(c.prepared) >= keep {
		return nil
	}
	statement, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil
	}
	c.prepared[query] = statement // closed with the connection
	return statement
}
