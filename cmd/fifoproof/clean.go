package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
)

type cleanCmd struct {
	Target string `required:"" placeholder:"localstack|URL" help:"Endpoint to clean." completion-predictor:"target"`
	Run    string `name:"run" placeholder:"RUN" help:"Only the queues of this run, and even if it may be alive."`
	DryRun bool   `name:"dry-run" help:"Say what would be deleted, and delete nothing."`
}

func (c *cleanCmd) run(ctx context.Context, stdio cli.Stdio, env cli.Env) int {
	opened, code := open(ctx, c.Target, stdio, env)
	if code != cli.OK {
		return code
	}
	if opened.SQS() == nil {
		cli.Report(stdio.Err, program, cli.Hint(errors.New("the embedded endpoint is gone with its run and leaves nothing"), "name an endpoint with --target"))
		return cli.Usage
	}
	// The tags tell the time of the machine that ran the suite.
	found, err := conformance.Leftovers(ctx, opened.SQS(), time.Now(), c.Run)
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Harness
	}
	dead := 0
	for _, l := range found {
		word := "kept: " + l.Why
		if l.Dead {
			dead++
			word = "deleted"
			if c.DryRun {
				word = "would be deleted"
			}
		}
		fmt.Fprintf(stdio.Out, "%s  %s\n", l.Name, word)
	}
	deleted := 0
	if !c.DryRun {
		deleted, err = conformance.Sweep(ctx, opened.SQS(), found)
	}
	fmt.Fprintf(stdio.Out, "%d queues of runs found, %d of dead ones, %d deleted\n", len(found), dead, deleted)
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Harness
	}
	return cli.OK
}
