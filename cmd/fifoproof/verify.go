package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

type verifyCmd struct {
	selection
	policy
	Name          string `placeholder:"NAME" help:"What the endpoint is called in the results, where it does not tell itself."`
	TargetVersion string `placeholder:"VERSION" help:"The endpoint's version in the results, where it does not tell itself."`
	Out           string `placeholder:"DIR" type:"path" help:"Keep the history and all reports in this folder, which is made if need be: history.jsonl, results.json, report.html, report.txt, summary.md, junit.xml, badge.svg, badge.json, and the exit code in exit."`
	All           bool   `help:"Print a line for every case, not only for what did not pass."`
	JSON          bool   `name:"json" help:"Print one JSON object (docs/results.md) instead of text."`
}

func (c *verifyCmd) run(ctx context.Context, stdio cli.Stdio, env cli.Env) int {
	cases, premises, err := c.cases()
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	counts, known, err := c.rules()
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	setup, described, code := connect(ctx, c.Target, cases, stdio, env)
	if code != cli.OK {
		return code
	}
	if c.Name != "" {
		setup.Target.Product, setup.Target.Version = c.Name, c.TargetVersion
		described = strings.TrimSpace(c.Name+" "+c.TargetVersion) + " at " + setup.Target.Name
	}
	setup.Profile, setup.Policy, setup.Known, setup.Premises = c.Profile, counts, known, premises
	results, err := c.prove(ctx, cases, setup, described, stdio, env)
	if err != nil {
		cli.Report(stdio.Err, program, err)
		if results == nil {
			return cli.Harness
		}
		return max(results.Summary.Exit, cli.Failed) // a lost report is no success; a failed MUST stays one
	}
	return results.Summary.Exit
}

// prove runs the cases, prints the results and keeps them. Results come with an error
// where only the reports of them are lost.
func (c *verifyCmd) prove(ctx context.Context, cases []conformance.Case, setup conformance.Setup, described string, stdio cli.Stdio, env cli.Env) (*conformance.Results, error) {
	closeHistory := func() error { return nil }
	if c.Out != "" {
		file, err := newHistory(c.Out)
		if err != nil {
			return nil, err
		}
		setup.History = file // a line at a time, so that a killed run leaves what it came to
		closeHistory = file.Close
	}
	total, err := foretell(ctx, cases, setup)
	if err != nil {
		return nil, errors.Join(err, closeHistory())
	}
	progress := newProgress(described, cases, setup, total, stdio, env)
	results, err := conformance.Run(ctx, cases, setup, progress.event)
	progress.stop()
	if lost := closeHistory(); lost != nil {
		err = errors.Join(err, fmt.Errorf("writing the history: %w", lost))
	}
	if results == nil {
		return nil, fmt.Errorf("running the cases: %w", err)
	}
	style := report.Style{Target: described, All: c.All, Colour: cli.IsTerminal(stdio.Out, env) && env.Get("NO_COLOR") == ""}
	show := func() error { return report.Text(stdio.Out, results, style) }
	if c.JSON {
		show = func() error { return report.JSON(stdio.Out, results) }
	}
	if lost := show(); lost != nil {
		err = errors.Join(err, fmt.Errorf("printing the results: %w", lost))
	}
	if err != nil {
		return results, err
	}
	if c.Out == "" {
		return results, nil
	}
	if err := keep(c.Out, artifacts(results, style)); err != nil {
		return results, err
	}
	fmt.Fprintf(stdio.Err, "report: %s\n", filepath.Join(c.Out, "report.html"))
	return results, nil
}

// readKnown reads a known-failing list; there is none without a file.
func readKnown(file string) ([]conformance.Known, error) {
	if file == "" {
		return nil, nil
	}
	opened, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading the known-failing list: %w", err)
	}
	defer opened.Close()
	list, err := conformance.ReadKnown(opened)
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("reading the known-failing list %s: %w", file, err), "an entry is a case id, and below it, indented, seen, link and note")
	}
	return list, nil
}
