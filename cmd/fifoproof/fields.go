package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/report"
)

type fieldsCmd struct {
	File    string   `arg:"" help:"A JSON body, or '-' for standard input."`
	Target  string   `default:"embedded" placeholder:"embedded|localstack|URL" help:"Endpoint to send the changes to. Default: embedded." completion-predictor:"target"`
	Exclude []string `placeholder:"PTR" sep:"none" help:"Leave the field at this JSON pointer out of the hash. Can be repeated."`
	Include []string `placeholder:"PTR" sep:"none" help:"Hash only the fields at these JSON pointers. Can be repeated."`
	Strict  bool     `help:"Refuse numbers that a double would change, as RFC 8785 demands."`
	JSON    bool     `name:"json" help:"Print one JSON object instead of a table."`
}

func (c *fieldsCmd) run(ctx context.Context, stdio cli.Stdio, env cli.Env) int {
	options := contenthash.Options{Strict: c.Strict, Exclude: c.Exclude, Include: c.Include}
	if _, err := contenthash.New(options); err != nil {
		cli.Report(stdio.Err, program, cli.Hint(err, "a JSON pointer looks like /order/sent_at (RFC 6901)"))
		return cli.Usage
	}
	body, err := c.read(stdio.In)
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("reading the body: %w", err))
		return cli.Failed
	}
	setup, described, code := connect(ctx, c.Target, nil, stdio, env)
	if code != cli.OK {
		return code
	}
	matrix, err := conformance.Fields(ctx, setup, body, options)
	var bad *contenthash.Error
	switch {
	case errors.As(err, &bad):
		cli.Report(stdio.Err, program, fmt.Errorf("%s: %w", c.File, err))
		return cli.Failed
	case errors.Is(err, conformance.ErrNoFence):
		cli.Report(stdio.Err, program, fmt.Errorf("testing the fields of %s on %s: %w", c.File, described, err))
		return cli.Inconclusive
	case err != nil:
		cli.Report(stdio.Err, program, fmt.Errorf("testing the fields of %s on %s: %w", c.File, described, err))
		return cli.Harness
	}
	if c.JSON {
		err = report.FieldsJSON(stdio.Out, matrix)
	} else {
		err = report.Fields(stdio.Out, matrix, described)
	}
	switch {
	case err != nil:
		cli.Report(stdio.Err, program, fmt.Errorf("printing the fields: %w", err))
		return cli.Harness
	case len(matrix.Wrong) > 0:
		return cli.Failed
	}
	return cli.OK
}

func (c *fieldsCmd) read(in io.Reader) ([]byte, error) {
	if c.File == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(c.File)
}
