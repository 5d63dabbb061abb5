package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fifoproof/internal/budget"
	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
	"fifoproof/internal/target"
)

type verifyCmd struct {
	selection
	policy
	guard
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
	if err := c.check(c.Target); err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	opened, code := openAny(ctx, c.Target, c.EndpointOverride, stdio, env)
	if code != cli.OK {
		return code
	}
	setup, err := setUp(opened, cases)
	if err == nil {
		setup.Profile, setup.Policy, setup.Known, setup.Premises = c.Profile, counts, known, premises
		err = take(ctx, opened, c.Queue, &setup)
	}
	if err != nil {
		return refuse(stdio, err)
	}
	runCtx, end := context.WithCancelCause(ctx)
	defer end(nil)
	setup.Foreign = func(err error) { end(err) }
	plan, err := c.admit(ctx, opened, cases, &setup, end, stdio, env)
	if err != nil {
		return refuse(stdio, err)
	}
	described := opened.String()
	if c.Name != "" {
		setup.Target.Product, setup.Target.Version = c.Name, c.TargetVersion
		described = strings.TrimSpace(c.Name+" "+c.TargetVersion) + " at " + setup.Target.Name
	}
	if setup.Given != nil {
		described = "the queue " + target.QueueName(setup.Given.URL) + ", " + described
	}
	results, err := c.prove(runCtx, cases, setup, plan, described, stdio, env)
	if err != nil {
		cli.Report(stdio.Err, program, err)
		if results == nil {
			return cli.Harness
		}
		return max(results.Summary.Exit, cli.Failed) // a lost report is no success; a failed MUST stays one
	}
	return ended(runCtx, stdio, results.Summary.Exit)
}

// admit plans the run, shows and confirms it where it costs money, sets its cap, and
// asks the endpoint what it can do. The plan is nil where nobody needs one.
func (c *verifyCmd) admit(ctx context.Context, opened *target.Target, cases []conformance.Case, setup *conformance.Setup, end context.CancelCauseFunc, stdio cli.Stdio, env cli.Env) (plan *conformance.Plan, err error) {
	onAWS := c.Target == target.AWS
	if onAWS || !setup.Virtual && !setup.Serial {
		if plan, err = rehearse(ctx, cases, *setup); err != nil {
			return nil, fmt.Errorf("planning the run: %w", err)
		}
	}
	limit := c.limit(c.Target, plan)
	if onAWS {
		show(stdio.Err, opened, *setup, plan, limit)
		if err := confirm(ctx, "run it?", c.Yes, stdio, env); err != nil {
			return nil, err
		}
	}
	if limit > 0 {
		opened.Limit(budget.New(limit, func(err error) { end(err) }))
		setup.Connect = opened.Connect
	}
	if setup.Given != nil {
		return plan, nil // it makes no queue, not even to ask
	}
	return plan, probe(ctx, opened, setup)
}

// prove runs the cases, prints the results and keeps them. Results come with an error
// where only the reports of them are lost.
func (c *verifyCmd) prove(ctx context.Context, cases []conformance.Case, setup conformance.Setup, plan *conformance.Plan, described string, stdio cli.Stdio, env cli.Env) (*conformance.Results, error) {
	closeHistory := func() error { return nil }
	if c.Out != "" {
		file, err := newHistory(c.Out)
		if err != nil {
			return nil, err
		}
		setup.History = file // a line at a time, so that a killed run leaves what it came to
		closeHistory = file.Close
	}
	var total time.Duration // 0 where nothing is waited for
	if plan != nil {
		total = plan.Duration()
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
