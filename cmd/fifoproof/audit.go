package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"fifoproof/internal/audit"
	"fifoproof/internal/cli"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/postgres"
	"fifoproof/internal/receipt/sqlite"
	"fifoproof/internal/report"
	"fifoproof/internal/window"
)

type auditCmd struct {
	SendLog  string `arg:"" name:"sendlog" help:"What 'producer --log' wrote."`
	Receipts string `arg:"" help:"The consumer's receipts: its SQLite file, its PostgreSQL database as postgres://USER@HOST/DATABASE, or a file of what 'consumer receipts --json' printed."`

	Scope        string        `default:"queue" placeholder:"queue|messageGroup" help:"The queue's DeduplicationScope. Default: queue."`
	Late         time.Duration `default:"1m" placeholder:"DURATION" help:"Note what was delivered more than this after it was sent. Default: 1m."`
	Grace        time.Duration `default:"15m" placeholder:"DURATION" help:"Count a message without a later delivery of its group as lost only where messages sent this much later were delivered; no less than the queue's visibility timeout. Default: 15m."`
	Inconclusive string        `default:"fail" enum:"fail,warn" placeholder:"fail|warn" help:"With 'warn', inconclusive findings leave the exit code alone. Default: fail."`
	Temp         string        `placeholder:"DIR" help:"Folder for the temporary file, which takes up to half the size of both files. Default: the system's."`
	JSON         bool          `name:"json" help:"Print one JSON object (docs/audit.md) instead of text."`
}

// auditMemory is what Go may use, so that the process with its code and file buffers
// stays below 512 MiB.
const auditMemory = 416 << 20

func (c *auditCmd) run(ctx context.Context, stdio cli.Stdio, env cli.Env) int {
	scope, err := window.ParseScope(c.Scope)
	if err == nil && (c.Late <= 0 || c.Grace <= 0) {
		err = errors.New("--late and --grace must be more than nothing")
	}
	if err != nil {
		cli.Report(stdio.Err, program, cli.Hint(err, "'%s audit --help' lists what there is", program))
		return cli.Usage
	}
	if limit := debug.SetMemoryLimit(-1); limit > auditMemory {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(auditMemory))
	}
	progress := newAuditProgress(c, stdio, env)
	result, err := audit.Run(ctx, c.SendLog, c.Receipts, audit.Options{
		Scope: scope, Late: c.Late, Grace: c.Grace, Tolerant: c.Inconclusive == "warn", Temp: c.Temp,
		Database: openReceipts, Progress: progress.event,
	})
	progress.stop()
	if err != nil {
		cli.Report(stdio.Err, program, auditError(ctx, err))
		return cli.Harness
	}
	if c.JSON {
		err = report.AuditJSON(stdio.Out, result)
	} else {
		_, plain := env("NO_COLOR")
		err = report.Audit(stdio.Out, result, !plain && cli.IsTerminal(stdio.Out, env))
	}
	if err != nil {
		cli.Report(stdio.Err, program, fmt.Errorf("printing the audit: %w", err))
		return max(result.Exit, cli.Failed) // a lost report is no success; a broken promise stays one
	}
	return result.Exit
}

// auditError says what to do about an error where it can be guessed.
func auditError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return errors.New("the audit was interrupted; nothing was judged")
	case cli.HintOf(err) != "":
		return err
	case errors.Is(err, receipt.ErrNotReceipts):
		return cli.Hint(err, "name what was given to 'consumer --db'")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return err
	default:
		return cli.Hint(err, "the arguments are SENDLOG RECEIPTS, in this order: 'producer --log' writes the first, 'consumer --db' or 'consumer receipts --json' the second")
	}
}

// openReceipts opens a consumer's database for reading: a SQLite file, or PostgreSQL by
// URL.
func openReceipts(ctx context.Context, where string) (*audit.Database, error) {
	if !strings.Contains(where, "://") {
		store, err := sqlite.Open(ctx, where, sqlite.ReadOnly())
		if err != nil {
			return nil, err
		}
		return database(ctx, "SQLite", store, 0), nil
	}
	if !strings.HasPrefix(where, "postgres://") && !strings.HasPrefix(where, "postgresql://") {
		scheme, _, _ := strings.Cut(where, "://")
		return nil, cli.Hint(fmt.Errorf("receipts are in no database of the sort %s://", scheme), "a URL looks like postgres://USER@HOST/DATABASE")
	}
	store, err := postgres.Open(ctx, where, postgres.ReadOnly())
	if err != nil {
		return nil, err
	}
	counts, err := store.Counts(ctx)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return database(ctx, "PostgreSQL", store, counts.Deliveries()), nil
}

func database(ctx context.Context, format string, store receipt.Store, rows int64) *audit.Database {
	return &audit.Database{
		Format: format, Rows: rows, Receipts: store.Receipts(ctx, receipt.Filter{}), Horizon: store.Horizon, Close: store.Close,
	}
}

const (
	// auditQuiet is the size of files below which an audit is over before anybody could
	// look.
	auditQuiet = 64 << 20
	// auditInterval is how often an audit says how far it is where nothing can be drawn.
	auditInterval = 30 * time.Second
)

// auditProgress tells how far an audit has come: drawn on a terminal, a line every
// half minute elsewhere.
type auditProgress struct {
	stdio cli.Stdio
	bar   *progressbar.ProgressBar // nil where nothing can be drawn
	began time.Time
	quit  chan struct{} // nil where nothing is shown
	ended sync.WaitGroup

	mu   sync.Mutex
	step string
	done float64
}

func newAuditProgress(c *auditCmd, stdio cli.Stdio, env cli.Env) *auditProgress {
	p := &auditProgress{stdio: stdio, began: time.Now()}
	sends, receipts := sizeOf(c.SendLog), sizeOf(c.Receipts)
	if sends+receipts < auditQuiet {
		return p
	}
	where := c.Temp
	if where == "" {
		where = os.TempDir()
	}
	fmt.Fprintf(stdio.Err, "%s: auditing %s, with up to %s of temporary space in %s\n",
		program, megabytes(sends+receipts), megabytes(audit.TempSpace(sends, receipts)), where)
	interval := auditInterval
	if cli.IsTerminal(stdio.Err, env) {
		interval = 500 * time.Millisecond
		p.bar = progressbar.NewOptions64(1000,
			progressbar.OptionSetWriter(stdio.Err), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetWidth(20),
			progressbar.OptionClearOnFinish())
	}
	p.quit = make(chan struct{})
	p.ended.Go(func() { p.tick(interval) })
	return p
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0 // opening it says what is wrong
	}
	return info.Size()
}

func megabytes(n int64) string {
	if n < 1e9 {
		return fmt.Sprintf("%d MB", (n+999_999)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// event takes note of how far the audit is.
func (p *auditProgress) event(step string, done float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.done = step, done
}

func (p *auditProgress) tick(interval time.Duration) {
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

func (p *auditProgress) show() {
	p.mu.Lock()
	step, done := p.step, p.done
	p.mu.Unlock()
	text := step
	if elapsed := time.Since(p.began); done > 0.01 {
		text += fmt.Sprintf(" · %s left", report.Duration(time.Duration(float64(elapsed)*(1-done)/done)))
	}
	if p.bar == nil {
		fmt.Fprintf(p.stdio.Err, "%s: %.0f %% · %s\n", program, 100*done, text)
		return
	}
	p.bar.Describe(text)
	_ = p.bar.Set64(min(int64(1000*done), 999)) // a bar that cannot be drawn stops no audit
}

// stop ends the display and takes it from the terminal.
func (p *auditProgress) stop() {
	if p.quit == nil {
		return
	}
	close(p.quit)
	p.ended.Wait()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	fmt.Fprintf(p.stdio.Err, "%s: audited in %s\n", program, report.Duration(time.Since(p.began)))
}
