package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

type reportCmd struct {
	Dir      []string `arg:"" help:"Folders that 'verify --out' wrote."`
	Markdown bool     `help:"Print a Markdown document with what was seen of each deviation."`
}

func (c *reportCmd) run(_ context.Context, stdio cli.Stdio, _ cli.Env) int {
	var all []*conformance.Results
	for _, dir := range c.Dir {
		file := filepath.Join(dir, "results.json")
		content, err := os.ReadFile(file)
		if err != nil {
			cli.Report(stdio.Err, program, cli.Hint(fmt.Errorf("reading results: %w", err), "'fifoproof verify --out %s' writes them", dir))
			return cli.Harness
		}
		var results conformance.Results
		if err := json.Unmarshal(content, &results); err != nil {
			cli.Report(stdio.Err, program, fmt.Errorf("reading the results in %s: %w", file, err))
			return cli.Harness
		}
		all = append(all, &results)
	}
	show := report.Matrix
	if c.Markdown {
		show = report.MatrixMarkdown
	}
	if err := show(stdio.Out, all); err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("printing the matrix: %w", err))
		return cli.Harness
	}
	return cli.OK
}
