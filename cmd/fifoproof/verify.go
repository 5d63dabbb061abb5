package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

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
	Target        string   `default:"embedded" placeholder:"embedded|localstack|URL" help:"Endpoint to test: 'embedded' (no set-up, virtual clock), 'localstack' (at FIFOPROOF_LOCALSTACK_URL, else 127.0.0.1:4566) or a URL, in real time. Default: embedded."`
	Case          []string `placeholder:"GLOB" sep:"none" help:"Run only the cases whose id matches, such as 'window', 'window/resend' or '*/*/after-delete'. Can be repeated."`
	Quick         bool     `help:"Leave out the cases that wait."`
	KnownFailing  string   `placeholder:"FILE" type:"existingfile" help:"List of verdicts that are no surprise on this target. They do not count; a list that does not fit any more does."`
	Name          string   `placeholder:"NAME" help:"What the endpoint is called in the results, where it does not tell itself."`
	TargetVersion string   `placeholder:"VERSION" help:"The endpoint's version in the results, where it does not tell itself."`
	Out           string   `placeholder:"DIR" type:"path" help:"Write results.json, report.txt, junit.xml and the exit code into this folder, which is made if need be."`
	JSON          bool     `name:"json" help:"Print one JSON object (docs/results.md) instead of text."`
}

func (c *verifyCmd) run(ctx context.Context, stdio cli.Stdio, env cli.Env) int {
	cases, err := conformance.Select(conformance.Catalogue(), c.Case)
	if err != nil {
		cli.Report(stdio.Err, program, cli.Hint(err, "'fifoproof cases' lists the ids"))
		return cli.Usage
	}
	known, err := readKnown(c.KnownFailing)
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	if c.Out != "" {
		// Before anything runs: a full run in real time takes six minutes.
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			cli.Report(stdio.Err, program, fmt.Errorf("making the folder for the results: %w", err))
			return cli.Harness
		}
	}
	setup, described, code := connect(ctx, c.Target, stdio, env)
	if code != cli.OK {
		return code
	}
	if c.Name != "" {
		setup.Target.Product, setup.Target.Version = c.Name, c.TargetVersion
		described = strings.TrimSpace(c.Name+" "+c.TargetVersion) + " at " + setup.Target.Name
	}
	setup.Known = known
	progress := newProgress(described, cases, setup, stdio, env)
	results, err := conformance.Run(ctx, cases, setup, progress.event)
	progress.stop()
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("running the cases: %w", err))
		return cli.Harness
	}
	wrong := results.Stale
	if err := c.write(results, described, stdio, env); err != nil {
		cli.Report(stdio.Err, program, err)
		return max(results.Summary.Exit, cli.Failed) // a lost report is no success; a failed MUST stays one
	}
	for _, sentence := range wrong {
		cli.Report(stdio.Err, program, cli.Hint(errors.New(sentence), "bring %s up to date", c.KnownFailing))
	}
	return results.Summary.Exit
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
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"results.json", func(w io.Writer) error { return report.JSON(w, results) }},
		{"report.txt", func(w io.Writer) error { return report.Text(w, results, style) }},
		{"junit.xml", func(w io.Writer) error { return report.JUnit(w, results) }},
		{"exit", func(w io.Writer) error { _, err := fmt.Fprintln(w, results.Summary.Exit); return err }},
	} {
		var content bytes.Buffer
		if err := errors.Join(f.write(&content), os.WriteFile(filepath.Join(c.Out, f.name), content.Bytes(), 0o644)); err != nil {
			return fmt.Errorf("writing the results: %w", err)
		}
	}
	fmt.Fprintf(stdio.Err, "results: %s\n", filepath.Join(c.Out, "results.json"))
	return nil
}

// connect opens the target for the suite. The code is OK, or what to exit with.
func connect(ctx context.Context, spec string, stdio cli.Stdio, env cli.Env) (setup conformance.Setup, described string, code int) {
	opened, notes, err := target.Open(ctx, spec, env)
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
	run := conformance.Slug(random)
	lacks, err := opened.Probe(ctx, "fifoproof-"+run)
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return setup, "", cli.Harness
	}
	tested := conformance.Target{Name: opened.Name, Product: opened.Product, Version: opened.Version, Server: opened.Server, Clock: opened.Clock}
	for capability, how := range lacks {
		if tested.Missing == nil {
			tested.Missing = map[conformance.Capability]string{}
		}
		tested.Missing[conformance.Capability(capability)] = how
	}
	return conformance.Setup{
		Target: tested,
		Run:    run,
		Connect: func(wrap func(sqs.HTTPClient) sqs.HTTPClient) (*sqs.Client, clock.Clock, error) {
			return opened.Connect(wrap, "")
		},
		Store:  func(ctx context.Context) (receipt.Store, error) { return sqlite.Open(ctx, sqlite.Memory()) },
		Own:    opened.Own(),
		Exact:  opened.Clock == "virtual",
		Serial: opened.Shared(),
	}, opened.String(), cli.OK
}
