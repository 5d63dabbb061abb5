package main

import (
	"context"

	"github.com/alecthomas/kong"

	"fifoproof/internal/cli"
)

const program = "fifoproof"

// grammar is the command line.
type grammar struct {
	Verify     verifyCmd     `cmd:"" help:"Run the conformance suite against an endpoint and print a verdict for each case."`
	Plan       planCmd       `cmd:"" help:"Print what a run would do: timeline, calls, queues, time and cost, before anything runs."`
	Judge      judgeCmd      `cmd:"" help:"Judge a saved history again, without a queue."`
	Report     reportCmd     `cmd:"" help:"Render saved results: HTML, Markdown, JUnit, a badge, or several targets in one matrix."`
	Cases      casesCmd      `cmd:"" help:"List the cases: id, level, source and what each expects."`
	Fields     fieldsCmd     `cmd:"" help:"Show for each field of a JSON body whether a change makes a new message."`
	Hash       hashCmd       `cmd:"" help:"Print the deduplication ID of JSON bodies, as sha256sum prints hashes."`
	Clean      cleanCmd      `cmd:"" help:"Delete the queues that dead runs left behind, and only those."`
	Mutants    mutantsCmd    `cmd:"" help:"Prove the suite: run it on faulty and legal variants of the embedded endpoint."`
	Audit      auditCmd      `cmd:"" help:"Judge what producer and consumer did in production, by their send log and receipts."`
	Serve      serveCmd      `cmd:"" help:"Serve an SQS endpoint for FIFO queues to other programs."`
	Completion completionCmd `cmd:"" help:"Print a script that has a shell complete the command lines of all three programs."`

	Version kong.VersionFlag `help:"Print the version and stop."`
}

// command is what every entry of the grammar can do.
type command interface {
	run(ctx context.Context, stdio cli.Stdio, env cli.Env) int
}

var commandLine = cli.Program{
	Name:  program,
	About: "Proves what an Amazon SQS FIFO queue does with duplicates.",
	Examples: `
		fifoproof verify
		fifoproof plan --target aws
		fifoproof verify --target http://127.0.0.1:9324 --case 'window/*' --out report
		fifoproof judge report
		fifoproof report out/localstack out/aws --format html > matrix.html
		fifoproof fields examples/order.json --exclude /sent_at
		fifoproof hash order.json
		fifoproof audit sends.jsonl receipts.db
		fifoproof serve --queue orders.fifo`,
	Notes: `
		Exit codes: 0 all well, 1 a MUST failed, 2 inconclusive, 3 the harness failed, 64 usage.
		'go run' and 'make' do not pass exit codes on; use the built binary where they matter.`,
	Words: words,
}

func run(ctx context.Context, args []string, stdio cli.Stdio, env cli.Env) int {
	var g grammar
	parsed, code := cli.Parse(&g, commandLine, args, stdio)
	if parsed == nil {
		return code
	}
	return parsed.Selected().Target.Addr().Interface().(command).run(ctx, stdio, env)
}
