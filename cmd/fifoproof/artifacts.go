package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

// Names in a folder of results.
const (
	historyFile = "history.jsonl"
	resultsFile = "results.json"
)

// artifacts is everything that a run leaves in a folder beside its history.
func artifacts(results *conformance.Results, style report.Style) []artifact {
	style.Colour, style.All = false, true
	return []artifact{
		{resultsFile, func(w io.Writer) error { return report.JSON(w, results) }},
		{"report.html", func(w io.Writer) error { return report.HTML(w, []*conformance.Results{results}) }},
		{"report.txt", func(w io.Writer) error { return report.Text(w, results, style) }},
		{"summary.md", func(w io.Writer) error { return report.Markdown(w, results) }},
		{"junit.xml", func(w io.Writer) error { return report.JUnit(w, results) }},
		{"badge.svg", func(w io.Writer) error { return report.BadgeSVG(w, results) }},
		{"badge.json", func(w io.Writer) error { return report.BadgeJSON(w, results) }},
		{"exit", func(w io.Writer) error { _, err := fmt.Fprintln(w, results.Summary.Exit); return err }},
	}
}

type artifact struct {
	name  string
	write func(io.Writer) error
}

// keep writes the artifacts into a folder.
func keep(dir string, all []artifact) error {
	for _, a := range all {
		var content bytes.Buffer
		if err := errors.Join(a.write(&content), os.WriteFile(filepath.Join(dir, a.name), content.Bytes(), 0o644)); err != nil {
			return fmt.Errorf("writing the results: %w", err)
		}
	}
	return nil
}

// newHistory makes the history of a run in a folder, which is made if need be.
func newHistory(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder for the results: %w", err)
	}
	file, err := os.Create(filepath.Join(dir, historyFile))
	if err != nil {
		return nil, fmt.Errorf("making the history: %w", err)
	}
	return file, nil
}

// readHistory reads the history in a folder.
func readHistory(dir string) ([]conformance.Record, error) {
	path := filepath.Join(dir, historyFile)
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	defer file.Close()
	history, err := conformance.ReadHistory(file)
	if err != nil {
		return nil, fmt.Errorf("reading the history %s: %w", path, err)
	}
	return history, nil
}
