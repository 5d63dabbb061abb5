package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

const (
	// aroundWaits is what a run takes beside its longest wait, for the estimate.
	aroundWaits = 10 * time.Second
	// plainInterval is how often a run that waits says so where nothing can be drawn.
	plainInterval = time.Minute
)

// progress tells how far a run in real time has come: drawn on a terminal, a line
// a minute elsewhere. A run on virtual time is over before anybody could look.
type progress struct {
	out     io.Writer
	bar     *progressbar.ProgressBar // nil where nothing can be drawn
	began   time.Time
	total   time.Duration
	cases   int
	quit    chan struct{}
	stopped sync.WaitGroup

	mu    sync.Mutex
	done  int
	waits map[string]time.Time
}

func newProgress(target string, cases []conformance.Case, setup conformance.Setup, stdio cli.Stdio, env cli.Env) *progress {
	p := &progress{out: stdio.Err, began: time.Now(), cases: len(cases), quit: make(chan struct{}), waits: map[string]time.Time{}}
	if setup.Exact {
		return p
	}
	for _, c := range cases {
		p.total = max(p.total, c.Wait)
	}
	p.total += aroundWaits
	interval := plainInterval
	if cli.IsTerminal(stdio.Err, env) {
		interval = time.Second
		p.bar = progressbar.NewOptions64(int64(p.total/time.Second),
			progressbar.OptionSetWriter(stdio.Err), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetWidth(20),
			progressbar.OptionClearOnFinish())
	} else {
		fmt.Fprintf(p.out, "%s: %d cases on %s, about %s\n", program, len(cases), target, report.Duration(p.total))
	}
	p.stopped.Go(func() { p.tick(interval) })
	return p
}

// event takes note of what a case does.
func (p *progress) event(e conformance.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waits, e.Case)
	switch e.Step {
	case conformance.Waiting:
		p.waits[e.Case] = e.Until
	case conformance.Finished:
		p.done++
	case conformance.Started:
	}
}

func (p *progress) tick(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-ticker.C:
			p.show()
		}
	}
}

func (p *progress) show() {
	elapsed := time.Since(p.began)
	text := fmt.Sprintf("%d of %d cases done%s", p.count(), p.cases, p.next())
	if p.bar == nil {
		fmt.Fprintf(p.out, "%s: %s of about %s · %s\n", program, report.Duration(elapsed), report.Duration(p.total), text)
		return
	}
	p.bar.Describe(fmt.Sprintf("%s · %s left", text, report.Duration(max(p.total-elapsed, 0))))
	_ = p.bar.Set64(min(int64(elapsed/time.Second), int64(p.total/time.Second)-1)) // a bar that cannot be drawn stops no run
}

func (p *progress) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// next is the wait that ends first.
func (p *progress) next() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var first string
	for id, until := range p.waits {
		if first == "" || until.Before(p.waits[first]) {
			first = id
		}
	}
	if first == "" {
		return ""
	}
	return fmt.Sprintf(" · next: %s in %s", first, report.Duration(max(time.Until(p.waits[first]), 0)))
}

// stop ends the display and takes it from the terminal.
func (p *progress) stop() {
	close(p.quit)
	p.stopped.Wait()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
