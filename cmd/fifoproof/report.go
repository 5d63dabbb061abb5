package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

type reportCmd struct {
	Dir    []string `arg:"" help:"Folders that 'verify --out' wrote, one for each target."`
	Format string   `default:"text" enum:"text,markdown,html,summary,junit,badge,badge-json" placeholder:"FORMAT" help:"text: the matrix of all targets. markdown: the matrix as a document, with what was seen of each deviation. html: everything in one file. Of a single folder: summary (Markdown for a CI job's page), junit, badge (SVG), badge-json (for shields.io). Default: ${default}."`
}

func (c *reportCmd) run(_ context.Context, stdio cli.Stdio, _ cli.Env) int {
	single := map[string]func(io.Writer, *conformance.Results) error{
		"summary": report.Markdown, "junit": report.JUnit, "badge": report.BadgeSVG, "badge-json": report.BadgeJSON,
	}
	several := map[string]func(io.Writer, []*conformance.Results) error{
		"text": report.Matrix, "markdown": report.MatrixMarkdown, "html": report.HTML,
	}
	one := single[c.Format]
	if one != nil && len(c.Dir) != 1 {
		cli.Report(stdio.Err, program, cli.Hint(fmt.Errorf("the format %s is of a single run, and %d folders are named", c.Format, len(c.Dir)),
			"text, markdown and html merge several"))
		return cli.Usage
	}
	var all []*conformance.Results
	for _, dir := range c.Dir {
		results, err := readResults(dir)
		if err != nil {
			cli.Report(stdio.Err, program, cli.Hint(err, "'fifoproof verify --out %s' writes them", dir))
			return cli.Harness
		}
		all = append(all, results)
	}
	var err error
	if one != nil {
		err = one(stdio.Out, all[0])
	} else {
		err = several[c.Format](stdio.Out, all)
	}
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("printing the report: %w", err))
		return cli.Harness
	}
	return cli.OK
}

// readResults reads the results in a folder.
func readResults(dir string) (*conformance.Results, error) {
	file := filepath.Join(dir, resultsFile)
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	results := &conformance.Results{}
	if err := json.Unmarshal(content, results); err != nil {
		return nil, fmt.Errorf("reading the results in %s: %w", file, err)
	}
	if len(results.Cases) == 0 {
		return nil, fmt.Errorf("reading the results in %s: they are of no case, so nothing was proved", file)
	}
	return results, nil
}
