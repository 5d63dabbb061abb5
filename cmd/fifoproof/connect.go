package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
	"fifoproof/internal/target"
)

// aliveFor is how long after its longest wait a run may still be at work, as its
// queues' tags say. A run ends within seconds of its longest wait; 'fifoproof clean'
// must never meet a living one.
const aliveFor = 15 * time.Minute

// open finds out who answers at spec. The code is OK, or what to exit with.
func open(ctx context.Context, spec string, stdio cli.Stdio, env cli.Env) (*target.Target, int) {
	opened, notes, err := target.Open(ctx, spec, env)
	return opened, opening(notes, err, stdio)
}

// openAny is open for the commands that run on AWS too.
func openAny(ctx context.Context, spec string, override bool, stdio cli.Stdio, env cli.Env) (*target.Target, int) {
	switch {
	case spec == target.AWS:
		opened, err := target.OpenAWS(ctx, override, env)
		return opened, opening(nil, err, stdio)
	case override:
		err := cli.Hint(fmt.Errorf("--endpoint-override goes with --target aws, and the target is %s", spec), "a URL can be tested by --target URL as well")
		cli.Report(stdio.Err, program, err)
		return nil, cli.Usage
	}
	return open(ctx, spec, stdio, env)
}

// opening reports what came of opening a target, and is OK or what to exit with.
func opening(notes []string, err error, stdio cli.Stdio) int {
	for _, note := range notes {
		fmt.Fprintln(stdio.Err, "note: "+note)
	}
	switch {
	case err == nil:
		return cli.OK
	case errors.Is(err, target.ErrSpec):
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	default:
		cli.Report(stdio.Err, program, err)
		return cli.Harness
	}
}

// connect opens the target for cases. The code is OK, or what to exit with.
func connect(ctx context.Context, spec string, cases []conformance.Case, stdio cli.Stdio, env cli.Env) (setup conformance.Setup, described string, code int) {
	opened, code := open(ctx, spec, stdio, env)
	if code != cli.OK {
		return setup, "", code
	}
	setup, err := setUp(opened, cases)
	if err == nil {
		err = probe(ctx, opened, &setup)
	}
	if err != nil {
		cli.Report(stdio.Err, program, err)
		return setup, "", cli.Harness
	}
	return setup, opened.String(), cli.OK
}

// setUp is the setup of a run on an opened target whose capabilities are not known yet.
func setUp(opened *target.Target, cases []conformance.Case) (conformance.Setup, error) {
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return conformance.Setup{}, fmt.Errorf("naming the run: %w", err)
	}
	var longest time.Duration
	for _, c := range cases {
		longest = max(longest, c.Wait)
	}
	return conformance.Setup{
		Target:  conformance.Target{Name: opened.Name, Product: opened.Product, Version: opened.Version, Server: opened.Server, Region: opened.Region, Clock: opened.Clock},
		Run:     conformance.Slug(random),
		Connect: opened.Connect,
		Store:   func(ctx context.Context) (receipt.Store, error) { return sqlite.Open(ctx, sqlite.Memory()) },
		Own:     opened.Own(),
		Virtual: opened.Name == target.Embedded,
		Exact:   opened.Clock == "virtual",
		Serial:  opened.Shared(),
		Charged: opened.Charged(),
		Expires: time.Now().Add(longest + aliveFor),
	}, nil
}

// take gives the run a queue that exists, if it may have it.
func take(ctx context.Context, opened *target.Target, nameOrURL *string, setup *conformance.Setup) error {
	if nameOrURL == nil {
		return nil
	}
	if err := opened.Within(*nameOrURL); err != nil {
		return err
	}
	url, err := target.QueueURL(ctx, opened.SQS(), *nameOrURL, false)
	if err != nil {
		return cli.Hint(err, "--queue names a FIFO queue that exists there")
	}
	setup.Given, err = conformance.Admit(ctx, opened.SQS(), url)
	if err == nil {
		setup.Target.Queue = url
	}
	return err
}

// probe asks the target for its capabilities. Without FIFO queues there is nothing to
// be tested.
func probe(ctx context.Context, opened *target.Target, setup *conformance.Setup) error {
	lacks, err := opened.Probe(ctx, conformance.QueuePrefix+setup.Run, setup.Tags())
	if err != nil {
		return err
	}
	if how, none := lacks[string(conformance.FIFO)]; none {
		return cli.Hint(fmt.Errorf("%s has no FIFO queues: %s", opened.Name, how), "deduplication is a feature of FIFO queues; 'fifoproof serve' starts an endpoint that has them")
	}
	for capability, how := range lacks {
		if setup.Target.Missing == nil {
			setup.Target.Missing = map[conformance.Capability]string{}
		}
		setup.Target.Missing[conformance.Capability(capability)] = how
	}
	return nil
}
