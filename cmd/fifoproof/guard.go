package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"fifoproof/internal/budget"
	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
	"fifoproof/internal/target"
)

// guard is what stands before a run that costs money: the flags of verify.
type guard struct {
	Yes      bool `help:"With --target aws: do not ask before the run. Off a terminal nothing runs there without it."`
	MaxCalls int  `placeholder:"N" help:"Make no more than this many calls: a run stops there, and keeps enough of them back to delete its queues. Default with --target aws: what the plan has, half as many again, and 20."`
}

func (g *guard) check(spec string) error {
	switch {
	case g.MaxCalls < 0:
		return errors.New("--max-calls is a number of calls, and no less than 1")
	case g.MaxCalls > 0 && spec == target.Embedded:
		return cli.Hint(errors.New("--max-calls bounds the calls to an endpoint, and the embedded one is part of this process"), "name an endpoint with --target")
	}
	return nil
}

// probeCalls is how many calls a run makes beside those of its plan, at most: it asks
// who is there, and what the endpoint can do.
const probeCalls = 20

// limit is how many calls a run may make; 0 is any number.
func (g *guard) limit(spec string, plan *conformance.Plan) int {
	if g.MaxCalls > 0 || spec != target.AWS {
		return g.MaxCalls
	}
	return int(math.Ceil(1.5*float64(plan.Calls))) + probeCalls
}

// errDeclined says that a person said no.
var errDeclined = errors.New("not confirmed, so nothing was done")

// show tells what a run on AWS would do, and on whose behalf.
func show(w io.Writer, opened *target.Target, setup conformance.Setup, plan *conformance.Plan, limit int) {
	tellWho(w, opened)
	queues := fmt.Sprintf("%d queues of its own, named %s%s-…", plan.Queues, conformance.QueuePrefix, setup.Run)
	if setup.Given != nil {
		queues = "on the queue " + setup.Given.URL + ", which stays as it is"
	}
	fmt.Fprintf(w, "  plan  %d cases, profile %s · about %d calls · %s · about %s\n", len(plan.Cases), plan.Profile, plan.Calls, queues, report.Duration(plan.Duration()))
	fmt.Fprintf(w, "  cost  %s\n", plan.Cost)
	fmt.Fprintf(w, "  cap   %d calls\n", limit)
	if limit < plan.Calls {
		fmt.Fprintf(w, "note: the plan has more calls than the cap of %d, so the run will stop there\n", limit)
	}
}

// tellWho tells where calls would go, and on whose behalf.
func tellWho(w io.Writer, opened *target.Target) {
	who := opened.Identity()
	where := opened.String()
	if opened.Name != target.AWS {
		where += ", in AWS's place"
	}
	fmt.Fprintf(w, "%s: %s\n", program, where)
	fmt.Fprintf(w, "  who   account %s · region %s%s\n", orUnknown(who.Account), who.Region, as(who.Caller))
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

func as(caller string) string {
	if caller == "" {
		return ""
	}
	return " · as " + caller
}

// confirm asks a person, where one is there.
func confirm(ctx context.Context, question string, yes bool, stdio cli.Stdio, env cli.Env) error {
	if yes {
		return nil
	}
	in, isFile := stdio.In.(*os.File)
	if !isFile || !cli.IsTerminal(in, env) {
		return cli.Hint(fmt.Errorf("%w: standard input is no terminal, so nobody can confirm it", errUnattended), "--yes confirms it, for CI")
	}
	fmt.Fprintf(stdio.Err, "%s [y/N] ", question)
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // the end of the input says no
		said <- line
	}()
	select {
	case line := <-said:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
		return errDeclined
	case <-ctx.Done():
		return errDeclined
	}
}

// errUnattended says that --yes is missing where nobody can be asked.
var errUnattended = errors.New("--yes is missing")

// refuse reports why nothing was done, and is what to exit with.
func refuse(stdio cli.Stdio, err error) int {
	cli.Report(stdio.Err, program, err)
	switch {
	case errors.Is(err, errUnattended):
		return cli.Usage
	case errors.Is(err, errDeclined):
		return cli.Inconclusive
	}
	return cli.Harness
}

// ended reports what ended a run before its time, if anything did, and is what to exit
// with where the results alone say exit.
func ended(runCtx context.Context, stdio cli.Stdio, exit int) int {
	cause := context.Cause(runCtx)
	_, spent := errors.AsType[*budget.SpentError](cause)
	switch {
	case spent:
		cli.Report(stdio.Err, program, cli.Hint(fmt.Errorf("the run was stopped: %w", cause), "'fifoproof plan' tells how many calls a run takes; --max-calls sets the cap"))
		if exit == cli.OK {
			return cli.Inconclusive
		}
	case conformance.Foreign(cause):
		cli.Report(stdio.Err, program, cli.Hint(fmt.Errorf("the run was ended: %w", cause), "nobody else may send to the queue while a run is on it"))
		if exit != cli.Failed {
			return cli.Harness
		}
	}
	return exit
}
