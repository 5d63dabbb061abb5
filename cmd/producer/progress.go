package main

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"fifoproof/internal/cli"
)

// barInterval is how often the bar may be drawn.
const barInterval = 100 * time.Millisecond

// progress is a bar on standard error; a nil one shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress shows a bar on a terminal, unless rows run down it already.
func newProgress(f flags, in *inputs, stdio cli.Stdio, env cli.Env) *progress {
	rows := !f.Quiet && cli.IsTerminal(stdio.Out, env)
	if rows || !cli.IsTerminal(stdio.Err, env) {
		return nil
	}
	p := &progress{progressbar.NewOptions64(in.bytes,
		progressbar.OptionSetWriter(stdio.Err),
		progressbar.OptionSetDescription("sending"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(barInterval),
	)}
	in.count(func(n int) { _ = p.bar.Add(n) })
	return p
}

func (p *progress) clear() {
	if p != nil {
		_ = p.bar.Clear()
	}
}

func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}
