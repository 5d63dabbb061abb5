package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/emulator"
	"fifoproof/internal/target"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish. In its start file: source <(fifoproof completion bash), or fifoproof completion fish | source."`
}

// run prints the script. Its programs are those beside this one.
func (c *completionCmd) run(_ context.Context, stdio cli.Stdio, _ cli.Env) int {
	self, err := os.Executable()
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("finding this program's folder: %w", err))
		return cli.Harness
	}
	script, err := cli.Completion(c.Shell, filepath.Dir(self), []string{program, "producer", "consumer"})
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	if _, err := fmt.Fprint(stdio.Out, script); err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("printing the script: %w", err))
		return cli.Harness
	}
	return cli.OK
}

// words are what a shell completes where the grammar alone does not tell.
var words = map[string]func() []string{
	"case": func() []string {
		var ids []string
		for _, c := range conformance.Catalogue() {
			ids = append(ids, c.ID)
		}
		return ids
	},
	"target": func() []string { return []string{target.Embedded, "localstack", target.AWS} },
	"variant": func() []string {
		var names []string
		for _, v := range emulator.Variants() {
			names = append(names, v.Name)
		}
		return names
	},
}
