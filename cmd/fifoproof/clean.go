package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/target"
)

type cleanCmd struct {
	Target           string `required:"" placeholder:"localstack|aws|URL" help:"Endpoint to clean." completion-predictor:"target"`
	EndpointOverride bool   `help:"With --target aws: clean the endpoint that AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_SQS or the profile puts in AWS's place."`
	Yes              bool   `help:"With --target aws: do not ask before queues are deleted. Off a terminal none is deleted there without it."`
	Run              string `name:"run" placeholder:"RUN" help:"Only the queues of this run, and even if it may be alive."`
	DryRun           bool   `name:"dry-run" help:"Say what would be deleted, and delete nothing."`
}

func (c *cleanCmd) run(ctx context.Context, stdio cli.Stdio, env cli.Env) int {
	opened, code := openAny(ctx, c.Target, c.EndpointOverride, stdio, env)
	if code != cli.OK {
		return code
	}
	if opened.SQS() == nil {
		cli.Report(stdio.Err, program, cli.Hint(errors.New("the embedded endpoint is gone with its run and leaves nothing"), "name an endpoint with --target"))
		return cli.Usage
	}
	if c.Target == target.AWS {
		tellWho(stdio.Err, opened)
	}
	// The tags tell the time of the machine that ran the suite.
	found, err := conformance.Leftovers(ctx, opened.SQS(), time.Now(), c.Run)
	if err != nil {
		if c.Target == target.AWS {
			err = cli.Hint(err, "docs/policies/verifier.json has the permissions: sqs:ListQueues, sqs:ListQueueTags and sqs:DeleteQueue")
		}
		cli.Report(stdio.Err, program, err)
		return cli.Harness
	}
	dead := 0
	for _, l := range found {
		if l.Dead {
			dead++
		}
	}
	if c.Target == target.AWS && dead > 0 && !c.DryRun {
		tellDead(stdio.Err, found)
		if err := confirm(ctx, fmt.Sprintf("delete %d queues?", dead), c.Yes, stdio, env); err != nil {
			return refuse(stdio, err)
		}
	}
	for _, l := range found {
		word := "kept: " + l.Why
		if l.Dead {
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

// tellDead tells which queues would be deleted.
func tellDead(w io.Writer, found []conformance.Leftover) {
	for _, l := range found {
		if l.Dead {
			fmt.Fprintf(w, "  dead  %s, of run %s, over since %s\n", l.Name, l.Run, l.Ends.UTC().Format(time.RFC3339))
		}
	}
}
