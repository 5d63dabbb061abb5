package main

import (
	"context"
	"fmt"

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
	opened, code := openAny(ctx, c.Target, c.EndpointOverride, stdio, env) // asks who is there, and makes no queue
	if code != cli.OK {
		return code
	}
	setup, err := setUp(opened, cases)
	if err == nil {
		err = take(ctx, opened, c.Queue, &setup)
	}
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Harness
	}
	setup.Profile, setup.Premises = c.Profile, premises
	if c.Target == target.AWS {
		tellWho(stdio.Err, opened)
	}
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
