package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// program is the consumer in a process of its own.
type program struct {
	plan  plan
	store stores
}

// stores makes an empty database for a run.
type stores interface {
	kind() string
	// create returns what --db takes, and what takes the database away again.
	create(ctx context.Context) (db string, drop func() error, err error)
}

func (p program) name() string { return "consumer, " + p.store.kind() }

const (
	// silence is how long nothing must come before the consumer ends. It is no part of
	// what is measured.
	silence = 2 * time.Second
	glance  = 50 * time.Millisecond // between two looks at queue and process
)

func (p program) drain(ctx context.Context, e *endpoint, messages int) (r result, err error) {
	db, drop, err := p.store.create(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	args := append([]string{
		"--endpoint", e.url, "--queue", queue, "--db", db, "--until-empty", silence.String(), "--json",
	}, p.plan.extra...)
	process := exec.CommandContext(ctx, filepath.Join(p.plan.bin, "consumer"), args...) //nolint:gosec // the user named the folder
	process.Env = append(os.Environ(), region)
	var out, talk bytes.Buffer
	process.Stdout, process.Stderr = &out, &talk
	begun := time.Now()
	if err := process.Start(); err != nil {
		return result{}, fmt.Errorf("starting the consumer: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	ticks := time.NewTicker(glance)
	defer ticks.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return result{}, fmt.Errorf("the consumer ended: %w: %s", err, talk.String())
			}
			r.cpu = process.ProcessState.UserTime() + process.ProcessState.SystemTime()
			return r, checkSummary(out.Bytes(), messages)
		case <-ticks.C:
			if peak, ok := highWater(process.Process.Pid); ok {
				r.peak = peak
			}
			if r.took > 0 {
				continue
			}
			left, err := e.left(ctx)
			if err != nil {
				return result{}, err
			}
			if left == 0 {
				r.took = time.Since(begun)
			}
		}
	}
}

// checkSummary demands that every message had its effect, and only one.
func checkSummary(line []byte, messages int) error {
	var summary struct {
		Deliveries, Effects int
	}
	if err := json.Unmarshal(line, &summary); err != nil {
		return fmt.Errorf("reading the consumer's summary: %w", err)
	}
	if summary.Effects != messages {
		return fmt.Errorf("the consumer had %d effects of %d messages in %d deliveries", summary.Effects, messages, summary.Deliveries)
	}
	return nil
}

// highWater is the most memory that a process had resident so far, in bytes, where
// Linux tells it (proc(5), VmHWM).
func highWater(pid int) (int64, bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(status)) {
		if size, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "kB")), 10, 64)
			return kilobytes << 10, err == nil
		}
	}
	return 0, false
}

// sqliteFiles are SQLite files in a folder.
type sqliteFiles struct{ folder string }

func (s sqliteFiles) kind() string { return "SQLite" }

func (s sqliteFiles) create(context.Context) (string, func() error, error) {
	folder, err := os.MkdirTemp(s.folder, "receipts-*")
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(folder, "receipts.db"), func() error { return os.RemoveAll(folder) }, nil
}

// databases are databases on a PostgreSQL server.
type databases struct {
	server string
	made   int
}

func (d *databases) kind() string { return "PostgreSQL" }

func (d *databases) create(ctx context.Context) (string, func() error, error) {
	u, err := url.Parse(d.server)
	if err != nil {
		return "", nil, errors.New("the URL of the PostgreSQL server cannot be read") // it may have a password in it
	}
	d.made++
	name := fmt.Sprintf("bench_%d_%d", os.Getpid(), d.made)
	if err := d.call(ctx, "createdb", name); err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error { return d.call(context.WithoutCancel(ctx), "dropdb", name) }, nil
}

func (d *databases) call(ctx context.Context, tool, name string) error {
	out, err := exec.CommandContext(ctx, tool, "--maintenance-db", d.server, name).CombinedOutput() //nolint:gosec // the user named the server
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", tool, name, err, bytes.TrimSpace(out))
	}
	return nil
}
