package main

import (
	"context"
	"fmt"
	"slices"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/emulator"
	"fifoproof/internal/report"
	"fifoproof/internal/target"
)

// pairedWith is the fault that every legal variant is combined with: a legal whim must
// not excuse it.
const pairedWith = "forgets-on-delete"

type mutantsCmd struct {
	Variant  []string `placeholder:"NAME" sep:"none" help:"Only this variant of the embedded endpoint. Can be repeated." completion-predictor:"variant"`
	Seed     uint64   `default:"1" placeholder:"N" help:"Seed of what variants do by chance. Default: ${default}."`
	Markdown bool     `xor:"form" help:"Print a document (docs/MUTANTS.md)."`
	JSON     bool     `name:"json" xor:"form" help:"Print a JSON array."`
}

func (c *mutantsCmd) run(ctx context.Context, stdio cli.Stdio, _ cli.Env) int {
	if err := checkVariants(c.Variant); err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	var mutants []conformance.Mutant
	wrong := false
	for _, v := range emulator.Variants() {
		if len(c.Variant) > 0 && !slices.Contains(c.Variant, v.Name) {
			continue
		}
		fmt.Fprintf(stdio.Err, "%s: %s\n", program, v.Name)
		some, err := c.prove(ctx, v)
		if err != nil {
			cli.Report(stdio.Err, program, fmt.Errorf("running the suite on %s: %w", v.Name, err))
			return cli.Harness
		}
		mutants = append(mutants, some...)
		for _, m := range some {
			wrong = wrong || !m.Sound()
		}
	}
	show := report.Mutants
	switch {
	case c.Markdown:
		show = report.MutantsMarkdown
	case c.JSON:
		show = report.MutantsJSON
	}
	if err := show(stdio.Out, mutants); err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("printing the mutants: %w", err))
		return cli.Harness
	}
	if wrong {
		return cli.Failed
	}
	return cli.OK
}

// checkVariants is an error where a name is no variant of the embedded endpoint.
func checkVariants(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(emulator.Variants(), func(v emulator.Variant) bool { return v.Name == name }) {
			return cli.Hint(fmt.Errorf("no variant is called %q", name), "docs/MUTANTS.md lists them, and so does 'fifoproof mutants'")
		}
	}
	return nil
}

// prove runs the whole suite on a variant; on a legal one also with a fault beside it.
func (c *mutantsCmd) prove(ctx context.Context, v emulator.Variant) ([]conformance.Mutant, error) {
	legal := v.Kind == emulator.Legal
	alone, err := c.mutant(ctx, legal, v.Name)
	if err != nil {
		return nil, err
	}
	alone.Name, alone.Text, alone.Legal = v.Name, v.Text, legal
	if !legal {
		return []conformance.Mutant{alone}, nil
	}
	paired, err := c.mutant(ctx, legal, v.Name, pairedWith)
	if err != nil {
		return nil, err
	}
	paired.Name, paired.Text, paired.Legal, paired.With = v.Name, v.Text, true, pairedWith
	return []conformance.Mutant{alone, paired}, nil
}

// mutant runs the suite on an endpoint with variants. A legal one is judged as a
// foreign endpoint is, and its replies take their time.
func (c *mutantsCmd) mutant(ctx context.Context, legal bool, names ...string) (conformance.Mutant, error) {
	cases := conformance.Catalogue()
	setup, err := setUp(target.Variant(c.Seed, names...), cases)
	if err != nil {
		return conformance.Mutant{}, err
	}
	setup.Profile = conformance.Experiments
	if legal {
		setup.Own, setup.Exact = false, false
	}
	results, err := conformance.Run(ctx, cases, setup, func(conformance.Event) {})
	if err != nil {
		return conformance.Mutant{}, err
	}
	return conformance.NewMutant(results), ctx.Err()
}
