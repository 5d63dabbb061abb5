package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"fifoproof/internal/cli"
	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt/driver"
	"fifoproof/internal/target"
)

func run(ctx context.Context, args []string, stdio cli.Stdio, env cli.Env) int {
	if len(args) > 0 {
		switch args[0] {
		case receiptsCommand:
			return printReceipts(ctx, args[1:], stdio)
		case dlqCommand:
			return runDLQ(ctx, args[1:], stdio, env)
		}
	}
	var f consumeFlags
	if kctx, code := cli.Parse(&f, consume, args, stdio); kctx == nil {
		return code
	}
	cfg, err := f.config()
	if err == nil {
		cfg.Handler, err = f.handler(stdio)
	}
	if err != nil {
		cli.Report(stdio.Err, name, withHelp(err, name))
		return cli.Usage
	}
	talk := newTalk(stdio.Err, cli.IsTerminal(stdio.Err, env), f.Log)
	around, err := connect(ctx, f, &cfg, talk)
	if err != nil {
		if ctx.Err() != nil {
			talk.sayf("stopped before it began")
			return cli.OK
		}
		cli.Report(stdio.Err, name, err)
		return cli.Harness
	}
	store, err := openPatiently(ctx, f.DB, talk)
	if err != nil {
		cli.Report(stdio.Err, name, cli.Hint(err, "name another database with --db, or mend this one"))
		return cli.Harness
	}
	defer func() { _ = store.Close() }() // every commit is on disk already

	if closing, closes := cfg.Handler.(interface{ Close() error }); closes {
		defer func() { _ = closing.Close() }() // its calls have ended
	}
	watch, err := startWatch(ctx, f, around, store, talk, env)
	if err != nil {
		cli.Report(stdio.Err, name, err)
		return cli.Harness
	}
	defer watch.stop()
	cfg.Observer = watch.observer
	cfg.Logger, cfg.Progress = slog.New(talk), talk.progress
	c, err := consumer.New(cfg, around.client, store)
	if err != nil {
		cli.Report(stdio.Err, name, withHelp(err, name))
		return cli.Usage
	}
	if cfg.Handler != nil { // what the default does is said by its name
		talk.sayf("handler %s, %s", handler.Name(cfg.Handler), handler.Describe(cfg.Handler))
	}
	if f.Retention > 0 {
		stop := reaping(ctx, store, f.Retention, talk)
		defer stop()
	}
	talk.progress(consumer.Summary{})
	begun := time.Now()
	summary, err := c.Run(ctx)
	talk.clear()
	return report(result{
		Queue: target.QueueName(cfg.Queue), DB: driver.Shown(f.DB), Summary: summary,
		elapsed: time.Since(begun), interrupted: ctx.Err() != nil, err: err,
	}, f.JSON, stdio, talk)
}

// result is how a run ended.
type result struct {
	Queue   string
	DB      string
	Summary consumer.Summary

	elapsed     time.Duration
	interrupted bool
	err         error
}

// report prints the result and gives its exit code.
func report(r result, asJSON bool, stdio cli.Stdio, talk *talk) int {
	if asJSON {
		if err := writeSummary(r, stdio); err != nil {
			talk.sayf("writing to standard output: %v", err)
			return cli.Harness
		}
	} else {
		talk.sayf("%s · %s", sentence(r.Summary), r.DB)
	}
	switch {
	case r.err != nil:
		cli.Report(stdio.Err, name, hinted(r.err))
		return cli.Harness
	case r.Summary.Rejected+r.Summary.Dead > 0 && !r.interrupted:
		return cli.Failed
	default:
		return cli.OK
	}
}

// summaryLine is what --json prints; docs/receipts.md describes it.
type summaryLine struct {
	Queue       string  `json:"queue"`
	DB          string  `json:"db"`
	Deliveries  int64   `json:"deliveries"`
	Effects     int64   `json:"effects"`
	Redelivered int64   `json:"redelivered"`
	Repeated    int64   `json:"repeated"`
	Rejected    int64   `json:"rejected"`
	Failed      int64   `json:"failed"`
	Dead        int64   `json:"dead"`
	HeldBack    int64   `json:"held_back"`
	ElapsedMS   float64 `json:"elapsed_ms"`
	Interrupted bool    `json:"interrupted"`
	Error       string  `json:"error,omitempty"`
}

func writeSummary(r result, stdio cli.Stdio) error {
	s := r.Summary
	line := summaryLine{
		Queue: r.Queue, DB: r.DB, Deliveries: s.Deliveries, Effects: s.Effects, Redelivered: s.Redelivered,
		Repeated: s.Repeated, Rejected: s.Rejected, Failed: s.Failed, Dead: s.Dead, HeldBack: s.HeldBack,
		ElapsedMS: float64(r.elapsed) / float64(time.Millisecond), Interrupted: r.interrupted,
	}
	if r.err != nil {
		line.Error = r.err.Error()
	}
	return json.NewEncoder(stdio.Out).Encode(line)
}

// hinted says what to do about the end of a run.
func hinted(err error) error {
	var missing *types.QueueDoesNotExist
	var answered smithy.APIError
	switch {
	case errors.As(err, &missing):
		return cli.Hint(err, "make it with 'producer --create', or name another with --queue")
	case errors.As(err, &answered):
		return cli.Hint(err, "check the credentials, the region and the permissions sqs:ReceiveMessage, sqs:DeleteMessage and sqs:ChangeMessageVisibility")
	default:
		return cli.Hint(err, "run it again when this is mended: what was received stays on the queue, and no effect happens twice")
	}
}

func withHelp(err error, program string) error {
	if cli.HintOf(err) != "" {
		return err
	}
	return cli.Hint(err, "'%s --help' lists what there is", program)
}

// sentence is a summary on one line.
func sentence(s consumer.Summary) string {
	text := fmt.Sprintf("%s · %s · %s redelivered · %s repeated · %s rejected",
		plural(s.Deliveries, "delivery", "deliveries"), plural(s.Effects, "effect", "effects"),
		thousands(s.Redelivered), thousands(s.Repeated), thousands(s.Rejected))
	if s.Failed > 0 {
		text += " · " + thousands(s.Failed) + " failed"
	}
	if s.Dead > 0 {
		text += " · " + thousands(s.Dead) + " to the dead-letter queue"
	}
	if s.HeldBack > 0 {
		text += " · " + thousands(s.HeldBack) + " held back"
	}
	return text
}
