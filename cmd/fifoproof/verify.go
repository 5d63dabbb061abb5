package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/conformance"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
	"fifoproof/internal/report"
	"fifoproof/internal/target"
)

type verifyCmd struct {
	Target string   `default:"embedded" placeholder:"embedded|URL" help:"Endpoint to test: 'embedded' (no set-up, virtual clock) or a URL, in real time. Default: embedded."`
	Case   []string `placeholder:"GLOB" sep:"none" help:"Run only the cases whose id matches, such as 'window', 'window/resend' or '*/*/after-delete'. Can be repeated."`
	Out    string   `placeholder:"DIR" type:"path" help:"Write results.json and report.txt into this folder, which is made if need be."`
	JSON   bool     `name:"json" help:"Print one JSON object (docs/results.md) instead of text."`
}

func (c *verifyCmd) run(ctx context.Context, stdio cli.Stdio, env cli.Env) int {
	cases, err := conformance.Select(conformance.Catalogue(), c.Case)
	if err != nil {
		cli.Report(stdio.Err, program, cli.Hint(err, "'fifoproof cases' lists the ids"))
		return cli.Usage
	}
	if c.Out != "" {
		// Before anything runs: a full run in real time takes six minutes.
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			cli.Report(stdio.Err, program, fmt.Errorf("making the folder for the results: %w", err))
			return cli.Harness
		}
	}
	setup, described, code := connect(ctx, c.Target, stdio)
	if code != cli.OK {
		return code
	}
	progress := newProgress(described, cases, setup, stdio, env)
	results, err := conformance.Run(ctx, cases, setup, progress.event)
	progress.stop()
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("running the cases: %w", err))
		return cli.Harness
	}
	if err := c.write(results, described, stdio, env); err != nil {
		cli.Report(stdio.Err, program, err)
		return max(results.Summary.Exit, cli.Failed) // a lost report is no success; a failed MUST stays one
	}
	return results.Summary.Exit
}

// write prints the results and keeps them in the folder, if there is one.
func (c *verifyCmd) write(results *conformance.Results, described string, stdio cli.Stdio, env cli.Env) error {
	style := report.Style{Target: described, Colour: cli.IsTerminal(stdio.Out, env) && env.Get("NO_COLOR") == ""}
	var shown error
	if c.JSON {
		shown = report.JSON(stdio.Out, results)
	} else {
		shown = report.Text(stdio.Out, results, style)
	}
	if shown != nil {
		return fmt.Errorf("printing the results: %w", shown)
	}
	if c.Out == "" {
		return nil
	}
	style.Colour = false
	var asJSON, asText bytes.Buffer
	err := errors.Join(
		report.JSON(&asJSON, results),
		report.Text(&asText, results, style),
		os.WriteFile(filepath.Join(c.Out, "results.json"), asJSON.Bytes(), 0o644),
		os.WriteFile(filepath.Join(c.Out, "report.txt"), asText.Bytes(), 0o644),
	)
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	fmt.Fprintf(stdio.Err, "results: %s\n", filepath.Join(c.Out, "results.json"))
	return nil
}

// connect opens the target for the suite. The code is OK, or what to exit with.
func connect(ctx context.Context, spec string, stdio cli.Stdio) (setup conformance.Setup, described string, code int) {
	opened, notes, err := target.Open(ctx, spec)
	for _, note := range notes {
		fmt.Fprintln(stdio.Err, "note: "+note)
	}
	if err != nil {
		cli.Report(stdio.Err, program, err)
		if errors.Is(err, target.ErrSpec) {
			return setup, "", cli.Usage
		}
		return setup, "", cli.Harness
	}
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("naming the run: %w", err))
		return setup, "", cli.Harness
	}
	return conformance.Setup{
		Target: conformance.Target{Name: opened.Name, Product: opened.Product, Version: opened.Version, Clock: opened.Clock},
		Run:    conformance.Slug(random),
		Connect: func(wrap func(sqs.HTTPClient) sqs.HTTPClient) (*sqs.Client, clock.Clock, error) {
			return opened.Connect(wrap, "")
		},
		Store:  func(ctx context.Context) (receipt.Store, error) { return sqlite.Open(ctx, sqlite.Memory()) },
		Own:    opened.Own(),
		Exact:  opened.Clock == "virtual",
		Serial: opened.Shared(),
	}, opened.String(), cli.OK
}
