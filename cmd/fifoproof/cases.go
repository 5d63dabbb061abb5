package main

import (
	"context"
	"fmt"
	"math"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
	"fifoproof/internal/target"
)

type casesCmd struct {
	Case     []string `placeholder:"GLOB" sep:"none" help:"List only the cases whose id matches. Can be repeated." completion-predictor:"case"`
	JSON     bool     `name:"json" xor:"form" help:"Print a JSON array."`
	Markdown bool     `xor:"form" help:"Print a document with what each case takes (docs/CATALOGUE.md)."`
}

func (c *casesCmd) run(ctx context.Context, stdio cli.Stdio, _ cli.Env) int {
	cases, err := conformance.Select(conformance.Catalogue(), c.Case)
	if err != nil {
		cli.Report(stdio.Err, program, cli.Hint(err, "'fifoproof cases' without --case lists all ids"))
		return cli.Usage
	}
	switch {
	case c.JSON:
		err = report.CasesJSON(stdio.Out, cases)
	case c.Markdown:
		var demands map[string]conformance.Demand
		if demands, err = demand(ctx, cases); err == nil {
			err = report.CasesMarkdown(stdio.Out, cases, demands)
		}
	default:
		err = report.Cases(stdio.Out, cases)
	}
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("printing the cases: %w", err))
		return cli.Harness
	}
	return cli.OK
}

// demand is what each case takes, as a rehearsal shows.
func demand(ctx context.Context, cases []conformance.Case) (map[string]conformance.Demand, error) {
	stranger, err := setUp(target.Variant(0), cases)
	if err != nil {
		return nil, err
	}
	stranger.Own = false // a stranger's queue is given a second before it is used
	plan, err := rehearse(ctx, cases, stranger)
	if err != nil {
		return nil, err
	}
	demands := map[string]conformance.Demand{}
	for _, planned := range plan.Cases {
		// The producer's pauses are random: whole seconds are what is the same every time.
		planned.Seconds = math.Round(planned.Seconds)
		demands[planned.ID] = planned.Demand
	}
	return demands, nil
}
