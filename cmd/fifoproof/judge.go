package main

import (
	"context"
	"fmt"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

type judgeCmd struct {
	Dir  string `arg:"" type:"path" help:"Folder that 'verify --out' wrote."`
	Keep bool   `help:"Write the reports in the folder anew."`
	All  bool   `help:"Print a line for every case, not only for what did not pass."`
	JSON bool   `name:"json" help:"Print the results as 'verify --json' does."`
}

func (c *judgeCmd) run(_ context.Context, stdio cli.Stdio, env cli.Env) int {
	results, err := judged(c.Dir)
	if err != nil {
		cli.Report(stdio.Err, program, cli.Hint(err, "'fifoproof verify --out %s' writes one", c.Dir))
		return cli.Harness
	}
	style := report.Style{Target: results.Target.Name, All: c.All, Colour: cli.IsTerminal(stdio.Out, env) && env.Get("NO_COLOR") == ""}
	if c.JSON {
		err = report.JSON(stdio.Out, results)
	} else {
		err = report.Text(stdio.Out, results, style)
	}
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("printing the results: %w", err))
		return cli.Harness
	}
	if c.Keep {
		if err := keep(c.Dir, artifacts(results, style)); err != nil {
			cli.Report(stdio.Err, program, err)
			return max(results.Summary.Exit, cli.Failed)
		}
	}
	return results.Summary.Exit
}

// judged judges the history in a folder.
func judged(dir string) (*conformance.Results, error) {
	history, err := readHistory(dir)
	if err != nil {
		return nil, err
	}
	return conformance.Judge(history)
}
