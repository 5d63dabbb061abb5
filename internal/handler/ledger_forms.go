package handler

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"

	"fifoproof/internal/receipt"
)

// booker books an entry through a transaction.
type booker func(ctx context.Context, tx receipt.Tx, e Event, b entry) error

// apply is the ledger's form, nil where there is none of its name.
func (l *Ledger) apply() booker {
	return map[Form]booker{Inbox: add, Version: bookVersion, Upsert: bookUpsert, Naive: bookNaive}[l.form]
}

// add adds to a balance in one statement, which reads and writes under one lock. A
// sum that does not fit books nothing: SQLite would go on with a rounded one.
func add(ctx context.Context, tx receipt.Tx, _ Event, b entry) error {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if b.amount < 0 {
		low -= int64(b.amount)
	} else {
		high -= int64(b.amount)
	}
	changed, err := changes(ctx, tx, `INSERT INTO ledger_balances (account, balance, version) VALUES ($1, $2, 1)
		ON CONFLICT (account) DO UPDATE
		SET balance = ledger_balances.balance + excluded.balance, version = ledger_balances.version + 1
		WHERE ledger_balances.balance BETWEEN $3 AND $4`, b.account, int64(b.amount), low, high)
	if err == nil && !changed {
		return &RejectError{errors.New("the account's balance would not fit")}
	}
	return err
}

// bookVersion moves the group's place on the account forward, and adds only if it
// did: a redelivery has its first delivery's sequence number, so the condition
// fails. In a group that order is the queue's; between groups there is none, so each
// has a place of its own.
func bookVersion(ctx context.Context, tx receipt.Tx, e Event, b entry) error {
	place, err := pad(e.SequenceNumber)
	if err != nil {
		return &RejectError{err}
	}
	changed, err := changes(ctx, tx, `INSERT INTO ledger_places (account, queue, message_group, sequence_number) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account, queue, message_group) DO UPDATE
		SET sequence_number = excluded.sequence_number
		WHERE ledger_places.sequence_number < excluded.sequence_number`, b.account, e.Queue, e.Group, place)
	switch {
	case err != nil:
		return err
	case !changed:
		return &RejectError{errors.New("the account has booked this event, or a later one of its group, before")}
	}
	return add(ctx, tx, e, b)
}

// bookUpsert notes the entry under its natural key, and adds only if that was new.
// The same key for another account or amount is an error, not a repeat.
func bookUpsert(ctx context.Context, tx receipt.Tx, e Event, b entry) error {
	isNew, err := changes(ctx, tx, `INSERT INTO ledger_entries (natural_key, account, amount, message_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (natural_key) DO NOTHING`, b.natural, b.account, int64(b.amount), e.MessageID)
	switch {
	case err != nil:
		return err
	case isNew:
		return add(ctx, tx, e, b)
	}
	var first string
	err = tx.QueryRowContext(ctx, `SELECT message_id FROM ledger_entries WHERE natural_key = $1 AND account = $2 AND amount = $3`,
		b.natural, b.account, int64(b.amount)).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		return &RejectError{errors.New("the natural key is booked with another account or amount")}
	}
	return err
}

// bookNaive is what one writes first. Between its two statements anything can
// happen, and nothing in it knows what it has booked before.
func bookNaive(ctx context.Context, tx receipt.Tx, _ Event, b entry) error {
	balance, err := Balance(ctx, tx, b.account)
	if err != nil {
		return err
	}
	_, err = changes(ctx, tx, `INSERT INTO ledger_balances (account, balance, version) VALUES ($1, $2, 1)
		ON CONFLICT (account) DO UPDATE SET balance = excluded.balance, version = ledger_balances.version + 1`,
		b.account, int64(balance+b.amount))
	return err
}

// Balance is what an account holds; nothing was ever booked on one that is not
// there.
func Balance(ctx context.Context, tx interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, account string,
) (Amount, error) {
	var balance int64
	err := tx.QueryRowContext(ctx, `SELECT balance FROM ledger_balances WHERE account = $1`, account).Scan(&balance)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading a balance: %w", err)
	}
	return Amount(balance), nil
}

// changes reports whether a statement changed a row.
func changes(ctx context.Context, tx receipt.Tx, query string, args ...any) (changed bool, err error) {
	result, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// sequenceDigits are those of 2^128-1: SequenceNumber is of 128 bits (API reference,
// SendMessage), and the number of its digits is no promise.
const sequenceDigits = 39

// pad makes sequence numbers texts that sort as the numbers do, in any collation.
func pad(sequence string) (string, error) {
	if sequence == "" || len(sequence) > sequenceDigits || strings.Trim(sequence, "0123456789") != "" {
		return "", errors.New("the message has no sequence number to go by")
	}
	return strings.Repeat("0", sequenceDigits-len(sequence)) + sequence, nil
}
