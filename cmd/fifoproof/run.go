package main

import (
	"context"

	"github.com/alecthomas/kong"

	"fifoproof/internal/cli"
)

const program = "fifoproof"

// grammar is the command line.
type grammar struct {
	Verify verifyCmd `cmd:"" help:"Run the conformance suite against an endpoint and print a verdict for each case."`
	Cases  casesCmd  `cmd:"" help:"List the cases: id, level, source and what each expects."`
	Fields fieldsCmd `cmd:"" help:"Show for each field of a JSON body whether a change makes a new message."`
	Hash   hashCmd   `cmd:"" help:"Print the deduplication ID of JSON bodies, as sha256sum prints hashes."`
	Report reportCmd `cmd:"" help:"Merge saved results of several targets into one matrix."`
	Serve  serveCmd  `cmd:"" help:"Serve an SQS endpoint for FIFO queues to other programs."`

	Version kong.VersionFlag `help:"Print the version and stop."`
}

// command is what every entry of the grammar can do.
type command interface {
	run(ctx context.Context, stdio cli.Stdio, env cli.Env) int
}

func run(ctx context.Context, args []string, stdio cli.Stdio, env cli.Env) int {
	var g grammar
	parsed, code := cli.Parse(&g, cli.Program{
		Name:  program,
		About: "Proves what an Amazon SQS FIFO queue does with duplicates.",
		Examples: `
			fifoproof verify
			fifoproof verify --target http://127.0.0.1:9324 --case 'window/*' --out report
			fifoproof fields examples/order.json --exclude /sent_at
			fifoproof hash order.json
			fifoproof serve --queue orders.fifo

			Exit codes: 0 all well, 1 a MUST failed, 2 inconclusive, 3 the harness failed, 64 usage.
			'go run' and 'make' do not pass exit codes on; use the built binary where they matter.`,
	}, args, stdio)
	if parsed == nil {
		return code
	}
	return parsed.Selected().Target.Addr().Interface().(command).run(ctx, stdio, env)
}
