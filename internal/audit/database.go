package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"fifoproof/internal/receipt"
)

// Database is an open database of receipts.
type Database struct {
	Format string // what to call it: "SQLite", "PostgreSQL"
	Rows   int64  // about how many receipts there are; 0 where nobody knows

	// Receipts yields them in the order in which they were recorded, each time anew.
	Receipts iter.Seq2[receipt.Receipt, error]

	// Horizon is the moment before which receipts may have been forgotten, zero where
	// none was. It is asked when all receipts were read: what is forgotten meanwhile is
	// then before it.
	Horizon func(ctx context.Context) (time.Time, error)

	// Close ends the use of the database.
	Close func() error
}

// OpenReceipts opens a database of receipts for reading: an SQLite file, or what a URL
// names.
type OpenReceipts func(ctx context.Context, where string) (*Database, error)

// bytesOfRow is about what a receipt takes in a database, with its indexes.
const bytesOfRow = 500

// readDatabase makes records of all receipts of a database. Nothing but the progress
// depends on its size.
func (a *auditor) readDatabase(ctx context.Context, from *inbound) error {
	a.receiptFamilies()
	const batch = 2000
	p, out, rows := a.receiptParser(), newReceiptChunk(batch*bytesOfRow), int64(0)
	give := func() error {
		err := a.takeReceipts(&out)
		a.read(min(batch*bytesOfRow, from.size-min(from.size, rows*bytesOfRow)))
		out = receiptChunk{
			deliveries: out.deliveries[:0], orders: out.orders[:0], effects: out.effects[:0], names: out.names[:0],
			totals: map[uint16]deliveryTotals{}, cut: -1,
		}
		return err
	}
	for r, err := range a.database.Receipts {
		if err != nil {
			return fmt.Errorf("reading %s: %w", from.shown, err)
		}
		p.one.from(r)
		if err := p.add(&out, r.ID); err != nil {
			return err
		}
		if rows++; rows%batch == 0 {
			if err := errors.Join(ctx.Err(), give()); err != nil {
				return err
			}
		}
	}
	a.report.Receipts.Lines = rows
	if err := errors.Join(give(), a.flushReceipts()); err != nil {
		return err
	}
	horizon, err := a.database.Horizon(ctx)
	if err != nil {
		return fmt.Errorf("reading %s: %w", from.shown, err)
	}
	a.horizon, _ = nanoseconds(horizon)
	return nil
}

// fetch reads receipts of a database again, by their numbers. Those that were
// forgotten meanwhile keep nothing but those.
func (a *auditor) fetch(ctx context.Context, wanted []int64) error {
	if a.database == nil || len(wanted) == 0 {
		return nil
	}
	a.rows = map[int64]receipt.Receipt{}
	for _, n := range wanted {
		a.rows[n] = receipt.Receipt{ID: n}
	}
	missing := len(a.rows)
	for r, err := range a.database.Receipts {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, want := a.rows[r.ID]; want {
			a.rows[r.ID] = r
			if missing--; missing == 0 {
				return nil
			}
		}
	}
	return nil
}
