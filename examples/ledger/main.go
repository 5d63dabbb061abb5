// Command ledger delivers one payment three times and shows what ledgers make of it: a
// naive one counts it three times, the others once.
//
//	go run ./examples/ledger
//	go run ./examples/ledger --postgres postgres://user@host/database
//
// The queue is the endpoint in this process, on a clock that does not keep anybody
// waiting: deletes are lost, the message's visibility timeout expires, and it comes
// again. Receipts and balances are in SQLite files that are removed at the end, or in
// schemas of their own on PostgreSQL, which are dropped.
//
// The exit code is 1 where a balance is not as expected, and 2 where the exercise
// could not be done.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, errs io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("ledger", flag.ContinueOnError)
	flags.SetOutput(errs)
	server := flags.String("postgres", "", "keep the books on this PostgreSQL `URL`")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case err != nil:
		return 2, nil // flags has said why
	case flags.NArg() > 0:
		return 2, fmt.Errorf("there is nothing to do with %q", flags.Arg(0))
	}
	right, err := exercise(ctx, *server, out)
	switch {
	case err != nil:
		return 2, err
	case !right:
		return 1, nil
	}
	return 0, nil
}
