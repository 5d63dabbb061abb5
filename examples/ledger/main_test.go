package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/pgtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// servers are the databases that books can be kept in: "" is SQLite.
func servers(t *testing.T, test func(t *testing.T, server string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, pgtest.Start(t))
	})
}

// Exercise 1. One message comes three times, because its deletes are lost and its
// visibility timeout expires. The naive ledger ends with three times the amount, 3 *
// 12.34 = 37.02; every idempotent form ends with 12.34.
func TestOneMessageThreeTimes(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, server string) {
		for _, c := range []struct {
			form  handler.Form
			inbox bool
			want  string
		}{
			{handler.Naive, false, "37.02"},
			{handler.Inbox, true, "12.34"},
			{handler.Version, true, "12.34"},
			{handler.Upsert, true, "12.34"},
			{handler.Naive, true, "12.34"}, // the inbox alone does it

			{handler.Inbox, false, "37.02"}, // and nothing else does it here
			{handler.Version, false, "12.34"},
			{handler.Upsert, false, "12.34"},
		} {
			got, err := try(t.Context(), server, c.form, c.inbox)
			require.NoError(t, err, c.form)
			require.Equal(t, 3, got.deliveries, c.form)
			require.Equal(t, c.want, got.balance, "%s, inbox: %v", c.form, c.inbox)
			if c.inbox {
				require.Equal(t, receipt.Counts{Fresh: 1, Redelivered: 2}, got.counts, c.form)
				require.True(t, got.unique, "the database itself refuses a second inbox row for the key")
			}
		}
	})
}

// What each form stands on is a constraint of the database.
func TestConstraints(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, server string) {
		for form, tables := range map[handler.Form][]string{
			handler.Inbox:   {"inbox", "ledger_balances"},
			handler.Version: {"inbox", "ledger_balances", "ledger_places"},
			handler.Upsert:  {"inbox", "ledger_balances", "ledger_entries"},
		} {
			b, err := openBooks(t.Context(), server)
			require.NoError(t, err)
			ledger, err := handler.NewLedger(form, handler.Booking{})
			require.NoError(t, err)
			q, err := newQueue(t.Context())
			require.NoError(t, err)
			require.NoError(t, q.send(t.Context(), body))
			_, err = withInbox(t.Context(), q, b, ledger)
			require.NoError(t, err)
			for _, table := range tables {
				unique, err := b.unique(t.Context(), table)
				require.NoError(t, err)
				require.True(t, unique, table)
			}
			unique, err := b.unique(t.Context(), "receipts")
			require.NoError(t, err)
			require.False(t, unique, "a table that has none: deliveries may repeat")
			require.NoError(t, b.close())
		}
	})
}

// What is printed is the same on both databases, and kept in testdata.
func TestPrinted(t *testing.T) {
	t.Parallel()
	const file = "testdata/printed.txt"
	servers(t, func(t *testing.T, server string) {
		var args []string
		if server != "" {
			args = []string{"--postgres", server}
		}
		var out, errs bytes.Buffer
		code, err := run(t.Context(), args, &out, &errs)
		require.NoError(t, err)
		require.Equal(t, 0, code)
		require.Empty(t, errs.String())
		if *update && server == "" {
			require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), strings.Replace(out.String(), "PostgreSQL", "SQLite", 1))
	})
}

// The program notices what is not as it says.
func TestWrong(t *testing.T) {
	t.Parallel()
	naive := outcome{deliveries: 3, balance: "37.02"}
	require.Empty(t, naive.wrong(handler.Naive, false))
	require.Equal(t, "  WRONG", naive.wrong(handler.Upsert, false))
	booked := outcome{deliveries: 3, balance: "12.34", counts: receipt.Counts{Fresh: 1, Redelivered: 2}, unique: true}
	require.Empty(t, booked.wrong(handler.Upsert, true))
	require.Equal(t, "  WRONG", booked.wrong(handler.Naive, false))
	for want, change := range map[string]func(*outcome){
		"  WRONG: not that many deliveries":                  func(o *outcome) { o.deliveries = 2 },
		"  WRONG: the database takes a second row for a key": func(o *outcome) { o.unique = false },
		"  WRONG: the receipts are {Fresh:3 Redelivered:0 Repeated:0 Rejected:0 Failed:0 Pending:0 Effects:0}": func(o *outcome) {
			o.counts = receipt.Counts{Fresh: 3}
		},
	} {
		o := booked
		change(&o)
		require.Equal(t, want, o.wrong(handler.Upsert, true))
	}
}

func TestCannotBeDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--help"}, 0, "PostgreSQL URL"},
		{[]string{"--mysql"}, 2, "flag provided but not defined: -mysql"},
		{[]string{"more"}, 2, `there is nothing to do with "more"`},
		{[]string{"--postgres", "user:geheim@host"}, 2, "is not named by a URL that begins with postgres://"},
		{[]string{"--postgres", "postgres://me:geheim@127.0.0.1:1/db"}, 2, "making a schema: "},
	} {
		var out, errs bytes.Buffer
		code, err := run(t.Context(), c.args, &out, &errs)
		require.Equal(t, c.code, code, c.args)
		said := fmt.Sprint(errs.String(), err)
		require.Contains(t, said, c.want)
		require.NotContains(t, said, "geheim")
	}
}
