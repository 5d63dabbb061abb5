package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

const (
	amount     = "12.34"
	thrice     = "37.02" // 3 * 12.34
	body       = `{"account":"alice","amount":` + amount + `}`
	deliveries = 3
	visibility = 30 * time.Second
)

// outcome is what became of one message in one ledger.
type outcome struct {
	deliveries int
	balance    string
	counts     receipt.Counts // with the inbox
	unique     bool           // with the inbox: the database refuses a second row for a key
}

// exercise runs every form twice, prints what came of it, and reports whether all is
// as expected.
func exercise(ctx context.Context, server string, out io.Writer) (right bool, err error) {
	where := "SQLite"
	if server != "" {
		where = "PostgreSQL"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "One payment of %s on %s, delivered %d times: its deletes were lost, and its visibility timeout of %v expired.\n\n",
		amount, where, deliveries, visibility)
	fmt.Fprintln(&text, "form     inbox  deliveries  balance  expected")
	right = true
	for _, inbox := range []bool{false, true} {
		for _, form := range []handler.Form{handler.Naive, handler.Inbox, handler.Version, handler.Upsert} {
			got, err := try(ctx, server, form, inbox)
			if err != nil {
				return false, fmt.Errorf("the form %s: %w", form, err)
			}
			how := "no"
			if inbox {
				how = "yes"
			}
			remark := got.wrong(form, inbox)
			right = right && remark == ""
			fmt.Fprintf(&text, "%-7s  %-5s  %10d  %7s  %8s%s\n", form, how, got.deliveries, got.balance, expected(form, inbox), remark)
		}
	}
	text.WriteString(`
Without the inbox, adding counts every delivery. Two forms know by themselves what
they have booked: version by the sequence number, upsert by the natural key.
With it, every form books once: a key is in the inbox once, by a unique index, and is
committed together with the balance. That is how the consumer runs them.
`)
	if _, err := io.WriteString(out, text.String()); err != nil {
		return false, fmt.Errorf("printing: %w", err)
	}
	return right, nil
}

// expected is what the account must hold.
func expected(form handler.Form, inbox bool) string {
	if !inbox && (form == handler.Naive || form == handler.Inbox) {
		return thrice
	}
	return amount
}

// wrong says in how far an outcome is not as expected; "" where it is.
func (o outcome) wrong(form handler.Form, inbox bool) string {
	switch {
	case o.deliveries != deliveries:
		return "  WRONG: not that many deliveries"
	case o.balance != expected(form, inbox):
		return "  WRONG"
	case inbox && o.counts != (receipt.Counts{Fresh: 1, Redelivered: deliveries - 1}):
		return fmt.Sprintf("  WRONG: the receipts are %+v", o.counts)
	case inbox && !o.unique:
		return "  WRONG: the database takes a second row for a key"
	}
	return ""
}

// try delivers the message to a ledger of its own.
func try(ctx context.Context, server string, form handler.Form, inbox bool) (got outcome, err error) {
	books, err := openBooks(ctx, server)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, books.close()) }()
	ledger, err := handler.NewLedger(form, handler.Booking{})
	if err != nil {
		return outcome{}, err
	}
	queue, err := newQueue(ctx)
	if err != nil {
		return outcome{}, err
	}
	if err := queue.send(ctx, body); err != nil {
		return outcome{}, err
	}
	if inbox {
		got, err = withInbox(ctx, queue, books, ledger)
	} else {
		got, err = withoutInbox(ctx, queue, books, ledger)
	}
	if err != nil {
		return outcome{}, err
	}
	balance, err := handler.Balance(ctx, books.db, "alice")
	if err != nil {
		return outcome{}, err
	}
	got.balance = balance.String()
	return got, nil
}

// withoutInbox is the loop that one writes first: receive, book, delete.
func withoutInbox(ctx context.Context, q *queue, b *books, ledger *handler.Ledger) (got outcome, err error) {
	for got.deliveries < deliveries {
		q.loseDeletes = got.deliveries < deliveries-1
		message, err := q.receive(ctx)
		if err != nil {
			return outcome{}, err
		}
		got.deliveries++
		// A form that has booked the message before may say so; it is deleted then too.
		if err := b.book(ctx, ledger, message); err != nil && !handler.Rejected(err) {
			return outcome{}, err
		}
		q.delete(ctx, message)
	}
	return got, q.empty(ctx)
}

// withInbox is the consumer.
func withInbox(ctx context.Context, q *queue, b *books, ledger *handler.Ledger) (got outcome, err error) {
	c, err := consumer.New(consumer.Config{
		Queue: q.url, Handler: ledger, Clock: q.clock, Visibility: visibility,
	}, q.client, b.store)
	if err != nil {
		return outcome{}, err
	}
	for got.deliveries < deliveries {
		q.loseDeletes = got.deliveries < deliveries-1
		n, err := c.Poll(ctx)
		if err != nil {
			return outcome{}, err
		}
		got.deliveries += n
	}
	if got.counts, err = b.store.Counts(ctx); err != nil {
		return outcome{}, err
	}
	if got.unique, err = b.unique(ctx, "inbox"); err != nil {
		return outcome{}, err
	}
	return got, q.empty(ctx)
}
