package main

import (
	"context"
	"fmt"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
	"fifoproof/internal/target"
)

type planCmd struct {
	selection
	JSON bool `name:"json" help:"Print one JSON object instead of text."`
}

func (c *planCmd) run(ctx context.Context, stdio cli.Stdio, env cli.Env) int {
	cases, premises, err := c.cases()
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	opened, code := open(ctx, c.Target, stdio, env) // asks who is there, and makes no queue
	if code != cli.OK {
		return code
	}
	setup, err := setUp(opened, cases)
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Harness
	}
	setup.Profile, setup.Premises = c.Profile, premises
	plan, err := rehearse(ctx, cases, setup)
	if err == nil && c.JSON {
		err = report.PlanJSON(stdio.Out, plan)
	} else if err == nil {
		err = report.PlanText(stdio.Out, plan)
	}
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("planning: %w", err))
		return cli.Harness
	}
	return cli.OK
}

// rehearse plans a run by rehearsing it on the embedded endpoint.
func rehearse(ctx context.Context, cases []conformance.Case, setup conformance.Setup) (*conformance.Plan, error) {
	stage, err := setUp(target.Variant(0), cases)
	if err != nil {
		return nil, err
	}
	return conformance.Rehearse(ctx, cases, stage, setup)
}

// foretell is how long a run will take; 0 where nothing is waited for.
func foretell(ctx context.Context, cases []conformance.Case, setup conformance.Setup) (time.Duration, error) {
	if setup.Virtual || setup.Serial {
		return 0, nil
	}
	plan, err := rehearse(ctx, cases, setup)
	if err != nil {
		return 0, err
	}
	return plan.Duration(), nil
}
