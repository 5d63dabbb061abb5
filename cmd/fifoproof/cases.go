package main

import (
	"context"
	"fmt"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

type casesCmd struct {
	Case []string `placeholder:"GLOB" sep:"none" help:"List only the cases whose id matches. Can be repeated."`
	JSON bool     `name:"json" help:"Print a JSON array."`
}

func (c *casesCmd) run(_ context.Context, stdio cli.Stdio, _ cli.Env) int {
	cases, err := conformance.Select(conformance.Catalogue(), c.Case)
	if err != nil {
		cli.Report(stdio.Err, program, cli.Hint(err, "'fifoproof cases' without --case lists all ids"))
		return cli.Usage
	}
	show := report.Cases
	if c.JSON {
		show = report.CasesJSON
	}
	if err := show(stdio.Out, cases); err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("printing the cases: %w", err))
		return cli.Harness
	}
	return cli.OK
}
