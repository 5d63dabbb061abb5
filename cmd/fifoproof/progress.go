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

// progress tells how far a run in real time has come: drawn on a terminal, a line for
// each case elsewhere. A run on virtual time is over before anybody could look.
type progress struct {
	out     io.Writer
	bar     *progressbar.ProgressBar // nil where nothing can be drawn
	began   time.Time
	total   time.Duration // as foretold
	cases   int
	quit    chan struct{}
	stopped sync.WaitGroup

	mu    sync.Mutex
	done  int
	count map[conformance.Verdict]int
	waits map[string]time.Time
}

func newProgress(target string, cases []conformance.Case, setup conformance.Setup, total time.Duration, stdio cli.Stdio, env cli.Env) *progress {
	p := &progress{
		out: stdio.Err, began: time.Now(), total: total, cases: len(cases), quit: make(chan struct{}),
		count: map[conformance.Verdict]int{}, waits: map[string]time.Time{},
	}
	if setup.Virtual || setup.Serial {
		p.out = io.Discard
		return p
	}
	fmt.Fprintf(p.out, "%s: run %s · %d cases on %s, about %s\n", program, setup.Run, len(cases), target, report.Duration(p.total))
	if cli.IsTerminal(stdio.Err, env) {
		p.bar = progressbar.NewOptions64(max(int64(p.total/time.Second), 1),
			progressbar.OptionSetWriter(stdio.Err), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetWidth(20),
			progressbar.OptionClearOnFinish())
		p.stopped.Go(p.tick)
	}
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
		p.count[e.Verdict]++
		if p.bar == nil {
			fmt.Fprintf(p.out, "%s: %s of about %s · %d of %d · %s %s\n", program, report.Duration(time.Since(p.began)),
				report.Duration(p.total), p.done, p.cases, e.Verdict, e.Case)
		}
	case conformance.Started:
	}
}

// tick draws once a second.
func (p *progress) tick() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-ticker.C:
			p.draw()
		}
	}
}

func (p *progress) draw() {
	elapsed := time.Since(p.began)
	p.bar.Describe(fmt.Sprintf("%s · %s left%s", p.counts(), report.Duration(max(p.total-elapsed, 0)), p.next()))
	_ = p.bar.Set64(min(int64(elapsed/time.Second), max(int64(p.total/time.Second)-1, 0))) // a bar that cannot be drawn stops no run
}

// counts is how many cases came to what so far.
func (p *progress) counts() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf("%d pass · %d fail", p.count[conformance.Pass]+p.count[conformance.Noted], p.count[conformance.Fail])
	if other := p.done - p.count[conformance.Pass] - p.count[conformance.Noted] - p.count[conformance.Fail]; other > 0 {
		text += fmt.Sprintf(" · %d other", other)
	}
	return text + fmt.Sprintf(" · %d waiting", p.cases-p.done)
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
