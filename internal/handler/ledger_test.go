package handler_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the database of the default store

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt/pgtest"
)

// eachForm runs a test for some forms on every sort of database.
func eachForm(t *testing.T, forms []handler.Form, test func(t *testing.T, form handler.Form, db *sql.DB)) {
	for _, form := range forms {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			eachDatabase(t, func(t *testing.T, db *sql.DB) { test(t, form, db) })
		})
	}
}

// idempotent are the forms that one would use.
var idempotent = []handler.Form{handler.Inbox, handler.Version, handler.Upsert}

// eachDatabase runs a test on a new, empty database of every sort that a store can
// have.
func eachDatabase(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "ledger.db")+"?_txlock=immediate&_pragma=busy_timeout(10000)")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		test(t, db)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db, err := sql.Open("pgx", pgtest.Start(t))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		test(t, db)
	})
}

func ledger(t *testing.T, form handler.Form, b handler.Booking) *handler.Ledger {
	t.Helper()
	h, err := handler.NewLedger(form, b)
	require.NoError(t, err)
	return h
}

// apply books e in a transaction of its own, without an inbox: what a form does by
// itself.
func apply(ctx context.Context, db *sql.DB, h *handler.Ledger, e handler.Event) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := h.Apply(ctx, tx, e); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

func balance(t *testing.T, db *sql.DB, account string) string {
	t.Helper()
	amount, err := handler.Balance(t.Context(), db, account)
	require.NoError(t, err)
	return amount.String()
}

// payment is the n-th message of a group, an event of its own.
func payment(n int, body string) handler.Event {
	e := event()
	e.MessageID = fmt.Sprintf("m-%d", n)
	e.SequenceNumber = strconv.Itoa(n)
	e.IdempotencyKey = fmt.Sprintf("%064x", n)
	e.Body = body
	return e
}

// Three deliveries of one message, and then another message. Without an inbox, two
// forms know by themselves what they have booked; 12.34 three times is 37.02.
func TestLedgerForms(t *testing.T) {
	t.Parallel()
	eachForm(t, handler.Forms(), func(t *testing.T, form handler.Form, db *sql.DB) {
		h := ledger(t, form, handler.Booking{})
		one, two := payment(9, `{"account":"alice","amount":12.34}`), payment(10, `{"account":"alice","amount":"-0.34"}`)
		want := map[handler.Form][2]string{
			handler.Inbox: {"37.02", "36.68"}, handler.Naive: {"37.02", "36.68"},
			handler.Version: {"12.34", "12"}, handler.Upsert: {"12.34", "12"},
		}[form]
		require.NoError(t, apply(t.Context(), db, h, one))
		for range 2 {
			err := apply(t.Context(), db, h, one)
			if form == handler.Version { // refused, as is whatever comes behind what came later
				require.EqualError(t, err, "booking message m-9: the account has booked this event, or a later one of its group, before")
				require.True(t, handler.Rejected(err))
			} else {
				require.NoError(t, err)
			}
		}
		require.Equal(t, want[0], balance(t, db, "alice"), form)
		require.NoError(t, apply(t.Context(), db, h, two), "10 comes after 9, though not as text")
		require.Equal(t, want[1], balance(t, db, "alice"), form)
		require.Equal(t, "0", balance(t, db, "bob"), form)
	})
}

// Groups have no order between them: the lower number of another group is no
// earlier event.
func TestLedgerVersionByGroup(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *sql.DB) {
		h := ledger(t, handler.Version, handler.Booking{})
		late, early := payment(100, `{"account":"alice","amount":1}`), payment(99, `{"account":"alice","amount":2}`)
		early.Group = "g-2"
		require.NoError(t, apply(t.Context(), db, h, late))
		require.NoError(t, apply(t.Context(), db, h, early))
		require.Equal(t, "3", balance(t, db, "alice"))
		for _, odd := range []string{"", "1a", "-1", strings.Repeat("9", 40)} {
			e := payment(1, `{"account":"alice","amount":2}`)
			e.SequenceNumber = odd
			err := apply(t.Context(), db, h, e)
			require.ErrorContains(t, err, "the message has no sequence number to go by", odd)
			require.True(t, handler.Rejected(err))
		}
	})
}

// The uniqueness is the database's: it holds against whoever writes to it.
func TestLedgerUniqueness(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *sql.DB) {
		h := ledger(t, handler.Upsert, handler.Booking{Natural: "/payment"})
		first := payment(1, `{"account":"alice","amount":5,"payment":"p-1"}`)
		require.NoError(t, apply(t.Context(), db, h, first))
		_, err := db.ExecContext(t.Context(), `INSERT INTO ledger_entries (natural_key, account, amount, message_id) VALUES ('p-1', 'alice', 5, 'm-2')`)
		require.ErrorContains(t, err, "ledger_entries", "a constraint that names its table")

		// Another message, key and spelling, the same payment.
		require.NoError(t, apply(t.Context(), db, h, payment(2, `{"payment":"p-1","amount":"5.00","account":"alice"}`)))
		require.Equal(t, "5", balance(t, db, "alice"))
		for _, other := range []string{
			`{"account":"alice","amount":6,"payment":"p-1"}`, `{"account":"bob","amount":5,"payment":"p-1"}`,
		} {
			err := apply(t.Context(), db, h, payment(3, other))
			require.EqualError(t, err, "booking message m-3: the natural key is booked with another account or amount")
			require.True(t, handler.Rejected(err))
		}
		require.Equal(t, "5", balance(t, db, "alice"))
		require.Equal(t, "0", balance(t, db, "bob"))
	})
}

// SQLite would turn a sum that does not fit into a double and go on.
func TestLedgerOverflow(t *testing.T) {
	t.Parallel()
	eachForm(t, idempotent, func(t *testing.T, form handler.Form, db *sql.DB) {
		h := ledger(t, form, handler.Booking{})
		n := 0
		book := func(amount handler.Amount) error {
			n++
			return apply(t.Context(), db, h, payment(n, fmt.Sprintf(`{"account":"alice","amount":%s}`, amount)))
		}
		const most, least = handler.Amount(math.MaxInt64), handler.Amount(math.MinInt64)
		require.NoError(t, book(most-1))
		require.NoError(t, book(1))
		err := book(1)
		require.ErrorContains(t, err, "the account's balance would not fit")
		require.True(t, handler.Rejected(err))
		require.Equal(t, most.String(), balance(t, db, "alice"))
		require.NoError(t, book(least), "-1 in all")
		require.NoError(t, book(least+1))
		require.Equal(t, least.String(), balance(t, db, "alice"))
		require.ErrorContains(t, book(-1), "the account's balance would not fit")
		require.Equal(t, least.String(), balance(t, db, "alice"))
	})
}

func TestLedgerRejects(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *sql.DB) {
		h := ledger(t, handler.Upsert, handler.Booking{Account: "/to/0/iban", Amount: "/sum", Natural: "/id"})
		for body, want := range map[string]string{
			`not json`:                                                     "the body cannot be read: bad JSON",
			`{"to":[],"sum":1,"id":"p"}`:                                   "the body has no value at /to/0/iban",
			`{"to":[{"iban":null}],"sum":1}`:                               "the value at /to/0/iban is null",
			`{"to":[{"iban":""}],"sum":1}`:                                 "the value at /to/0/iban is empty",
			`{"to":[{"iban":7.0}],"sum":1}`:                                "the value at /to/0/iban is neither a text nor a whole number",
			`{"to":[{"iban":{}}],"sum":1}`:                                 "the value at /to/0/iban is neither a text nor a whole number",
			`{"to":[{"iban":"a\u0000"}],"sum":1}`:                          "the value at /to/0/iban has a NUL character",
			`{"to":[{"iban":"a"}],"id":"p"}`:                               "the body has no value at /sum",
			`{"to":[{"iban":"a"}],"sum":null}`:                             "the value at /sum is null",
			`{"to":[{"iban":"a"}],"sum":"12,34"}`:                          "the amount at /sum is no decimal number",
			`{"to":[{"iban":"a"}],"sum":true}`:                             "the amount at /sum is no decimal number",
			`{"to":[{"iban":"a"}],"sum":[1]}`:                              "the amount at /sum is no decimal number",
			`{"to":[{"iban":"a"}],"sum":1e-10}`:                            "the amount at /sum has more than 9 decimals",
			`{"to":[{"iban":"a"}],"sum":1e10}`:                             "the amount at /sum is too large",
			`{"to":[{"iban":"a"}],"sum":1}`:                                "the body has no value at /id",
			`{"to":[{"iban":"a"}],"sum":1,"id":""}`:                        "the value at /id is empty",
			`{"to":[{"iban":"` + strings.Repeat("a", 257) + `"}],"sum":1}`: "the value at /to/0/iban is 257 bytes long, and 256 is the limit",
		} {
			err := apply(t.Context(), db, h, payment(1, body))
			require.EqualError(t, err, want, body)
			require.True(t, handler.Rejected(err), body)
		}
		require.NoError(t, apply(t.Context(), db, h, payment(1, `{"to":[{"iban":4711}],"sum":"1.50","id":1}`)))
		require.Equal(t, "1.5", balance(t, db, "4711"))
	})
}

// Tables that were made in a transaction that came to nothing are made again.
func TestLedgerTablesAfterARollback(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *sql.DB) {
		h := ledger(t, handler.Inbox, handler.Booking{})
		e := payment(1, `{"account":"alice","amount":1}`)
		for range 2 {
			tx, err := db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			require.NoError(t, h.Apply(t.Context(), tx, e))
			require.NoError(t, tx.Rollback())
		}
		require.NoError(t, apply(t.Context(), db, h, e))
		require.NoError(t, apply(t.Context(), db, h, e))
		require.Equal(t, "2", balance(t, db, "alice"))
	})
}

// Several processes begin at the same time, each with its first event, on the same
// account.
func TestLedgerBegunByManyAtOnce(t *testing.T) {
	t.Parallel()
	eachForm(t, idempotent, func(t *testing.T, form handler.Form, db *sql.DB) {
		const processes = 16
		errs := make(chan error, processes)
		for n := range processes {
			h := ledger(t, form, handler.Booking{})
			e := payment(n+1, `{"account":"alice","amount":0.1}`)
			e.Group = fmt.Sprint(n)
			go func() { errs <- apply(t.Context(), db, h, e) }()
		}
		for range processes {
			require.NoError(t, <-errs)
		}
		require.Equal(t, "1.6", balance(t, db, "alice"))
	})
}
