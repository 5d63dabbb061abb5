package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"fifoproof/internal/cli"
	"fifoproof/internal/producer"
	"fifoproof/internal/target"
)

// run is the program but for its process.
func run(ctx context.Context, args []string, stdio cli.Stdio, env cli.Env) int {
	var f flags
	if kctx, code := cli.Parse(&f, program, args, stdio); kctx == nil {
		return code
	}
	cfg, err := f.config()
	if err := errors.Join(f.check(), err); err != nil {
		return refuse(stdio, err)
	}
	if err := queueName(&f); err != nil {
		return refuse(stdio, err)
	}
	in, err := openInputs(f.Files, stdio)
	if err != nil {
		cli.Report(stdio.Err, name, err)
		return cli.Harness
	}
	defer in.close()
	cfg.Traceparent = traceparent(env, stdio)

	if f.Log != "" && f.DryRun {
		sayf(stdio, "the dry run sends nothing, so %s is left as it is", f.Log)
	} else if f.Log != "" {
		log, err := producer.OpenLog(f.Log)
		if err != nil {
			cli.Report(stdio.Err, name, cli.Hint(err, "mend the file, or start another with --log"))
			return cli.Harness
		}
		defer func() { _ = log.Close() }() // Run has synced it
		for _, note := range log.Notes() {
			sayf(stdio, "%s: %s", f.Log, note)
		}
		cfg.Log = log
	}
	if code := validate(f, cfg, stdio); code != cli.OK {
		return code
	}
	var sender producer.Sender
	if !f.DryRun {
		if sender, err = connect(ctx, f, &cfg, stdio); err != nil {
			cli.Report(stdio.Err, name, err)
			return cli.Harness
		}
	}
	p, err := producer.New(cfg, sender)
	if err != nil {
		return refuse(stdio, err)
	}
	if len(f.Files) == 0 && isTerminal(stdio.In) {
		sayf(stdio, "reading standard input: one JSON body a line, Ctrl-D ends it")
	}
	return send(ctx, p, f, in, stdio, env)
}

// traceparent is the trace that whoever started the program works in, as the
// environment tells it (OpenTelemetry, "Environment Variables as Context Propagation
// Carriers"). One that cannot be read is no reason to send nothing.
func traceparent(env cli.Env, stdio cli.Stdio) string {
	text := env.Get("TRACEPARENT")
	if text == "" {
		return ""
	}
	trace, err := producer.ParseTraceparent(text)
	if err != nil {
		sayf(stdio, "warning: TRACEPARENT is ignored: %v", err)
	}
	return trace
}

// send runs the producer and reports.
func send(ctx context.Context, p *producer.Producer, f flags, in *inputs, stdio cli.Stdio, env cli.Env) int {
	bar := newProgress(f, in, stdio, env)
	out := newPrinter(f, len(in.list), stdio, bar)
	summary, err := p.Run(ctx, in.list, out.record)
	bar.finish()
	out.summary(summary, err)
	out.flush()

	if err != nil {
		cli.Report(stdio.Err, name, hinted(err, summary))
	}
	switch {
	case summary.Failed > 0 || out.refused > 0:
		return cli.Failed
	case err != nil || out.broken != nil:
		return cli.Harness
	case summary.Unknown > 0:
		return cli.Failed
	default:
		return cli.OK
	}
}

// connect opens the client and finds the queue.
func connect(ctx context.Context, f flags, cfg *producer.Config, stdio cli.Stdio) (producer.Sender, error) {
	client, notes, err := target.Client(ctx, target.Options{Endpoint: f.Endpoint, Queue: f.Queue})
	for _, note := range notes {
		sayf(stdio, "%s", note)
	}
	if err != nil {
		return nil, err
	}
	if cfg.Queue, err = target.QueueURL(ctx, client, f.Queue, f.Create); err != nil {
		return nil, err
	}
	if cfg.Scope, err = target.Scope(ctx, client, cfg.Queue); err != nil {
		return nil, err
	}
	return client, nil
}

// validate finds what is wrong with the flags before anybody is asked over a network.
func validate(f flags, cfg producer.Config, stdio cli.Stdio) int {
	cfg.DryRun = true // the queue is found later
	if strings.Contains(f.Queue, "://") {
		cfg.Queue = f.Queue
	}
	if err := cfg.Validate(); err != nil {
		return refuse(stdio, err)
	}
	return cli.OK
}

func queueName(f *flags) error {
	if f.Queue == "" || strings.HasSuffix(target.QueueName(f.Queue), ".fifo") {
		return nil
	}
	return cli.Hint(fmt.Errorf("the queue %q is no FIFO queue: the name of one ends in .fifo", f.Queue),
		"only FIFO queues deduplicate; did you mean %s.fifo?", f.Queue)
}

// hinted says what to do about the end of a run.
func hinted(err error, summary producer.Summary) error {
	const again = "the IDs stay the same, so within 5 minutes nothing is enqueued twice"
	if summary.Interrupted {
		return cli.Hint(errors.New("interrupted"), "send the input again to go on: %s", again)
	}
	var stop *producer.StopError
	if !errors.As(err, &stop) {
		return err
	}
	switch stop.Cause {
	case producer.CauseQueueGone:
		return cli.Hint(err, "make it with 'producer --create', or name another with --queue")
	case producer.CauseAccess:
		return cli.Hint(err, "check the credentials, the region and the permission sqs:SendMessage")
	case producer.CauseUnreachable:
		return cli.Hint(err, "send the input again when the endpoint is up: %s", again)
	case producer.CauseBusy:
		return cli.Hint(err, "send the input again later: %s", again)
	case producer.CauseRefused:
		return cli.Hint(err, "is an SQS endpoint behind this URL, and the queue in order?")
	}
	return err
}

func refuse(stdio cli.Stdio, err error) int {
	cli.Report(stdio.Err, name, withHelp(err))
	return cli.Usage
}

func withHelp(err error) error {
	if cli.HintOf(err) != "" {
		return err
	}
	return cli.Hint(err, "'%s --help' lists what there is", name)
}

func sayf(stdio cli.Stdio, format string, args ...any) {
	_, _ = fmt.Fprintf(stdio.Err, name+": "+format+"\n", args...)
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
