// Command bench measures the consumer against a bare loop of the AWS SDK that receives
// and deletes, each on an endpoint of its own that answers every request 5 ms late.
//
//	make build && go run ./examples/bench
//	go run ./examples/bench --postgres postgres://postgres@127.0.0.1/postgres --large 1000000 -- --concurrency 64
//
// What stands behind -- goes to the consumer. Every consumer must have one effect of
// every message, or the run fails.
//
// docs/performance.md has the figures and what they were measured on. It exits with 1
// where the consumer misses a bar: half of the bare loop's rate or 3,000 messages a
// second, the quota of a FIFO queue; and with --large no more than 1.2 times the memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// plan is what to measure.
type plan struct {
	bin      string        // folder of the programs
	postgres string        // URL of a server on which databases may be made; "": none
	messages int           // of every run but the large ones
	large    int           // of the runs that show memory; 0: none
	groups   int           // message groups, taken in turn
	body     int           // bytes of a body
	late     time.Duration // after which every request is answered
	scratch  string        // folder for SQLite files: on the disk that is meant
	extra    []string      // more flags for the consumer
	progress io.Writer
}

func main() {
	if !measured() {
		os.Exit(1)
	}
}

// measured does what the command line says, and reports whether every bar was reached.
func measured() bool {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p := plan{progress: os.Stderr}
	flag.StringVar(&p.bin, "bin", "bin", "`DIR` of fifoproof, producer and consumer")
	flag.StringVar(&p.postgres, "postgres", "", "`URL` of a PostgreSQL server on which databases can be made; needs createdb and dropdb")
	flag.IntVar(&p.messages, "messages", 100_000, "messages of each run")
	flag.IntVar(&p.large, "large", 0, "messages of the runs that show what memory does; 0: none")
	flag.IntVar(&p.groups, "groups", 64, "message groups")
	flag.IntVar(&p.body, "body", 256, "bytes of a body")
	flag.DurationVar(&p.late, "late", 5*time.Millisecond, "by how much every reply is late")
	flag.StringVar(&p.scratch, "scratch", "", "`DIR` for the SQLite files (default: the system's for temporary files)")
	flag.Parse()
	p.extra = flag.Args()
	passed, err := p.run(ctx, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return false
	}
	return passed
}

// run measures everything and writes the tables.
func (p plan) run(ctx context.Context, out io.Writer) (passed bool, err error) {
	folder, err := os.MkdirTemp(p.scratch, "bench-*")
	if err != nil {
		return false, fmt.Errorf("making a folder for SQLite files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()

	contenders := []contender{bare{loops: 1}, bare{loops: 16}}
	consumers := []contender{program{p, sqliteFiles{folder}}}
	if p.postgres != "" {
		consumers = append(consumers, program{p, &databases{server: p.postgres}})
	}
	var results []result
	for _, c := range append(contenders, consumers...) {
		r, err := p.measure(ctx, c, p.messages)
		if err != nil {
			return false, err
		}
		results = append(results, r)
	}
	if p.large > 0 {
		for _, c := range consumers {
			r, err := p.measure(ctx, c, p.large)
			if err != nil {
				return false, err
			}
			results = append(results, r)
		}
	}
	return writeTables(out, p, results)
}

// result is one run.
type result struct {
	name     string
	messages int
	took     time.Duration // from the start of the contender until the queue was empty
	cpu      time.Duration // of the contender's process; zero for a bare loop
	peak     int64         // bytes of resident memory of that process at most
}

// consumer tells a process from a bare loop in this one.
func (r result) consumer() bool { return r.cpu > 0 }

func (r result) rate() float64 { return float64(r.messages) / r.took.Seconds() }

// contender empties a queue.
type contender interface {
	name() string
	// drain takes all messages off the queue and tells how long that took.
	drain(ctx context.Context, e *endpoint, messages int) (result, error)
}

// measure runs one contender on a queue that was filled before.
func (p plan) measure(ctx context.Context, c contender, messages int) (r result, err error) {
	e, err := startEndpoint(ctx, filepath.Join(p.bin, "fifoproof"))
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, e.stop()) }()
	fmt.Fprintf(p.progress, "bench: %s: filling the queue with %d messages\n", c.name(), messages)
	if err := p.fill(ctx, e, messages); err != nil {
		return result{}, err
	}
	if err := e.answerLate(ctx, p.late); err != nil {
		return result{}, err
	}
	if r, err = c.drain(ctx, e, messages); err != nil {
		return result{}, fmt.Errorf("%s with %d messages: %w", c.name(), messages, err)
	}
	r.name, r.messages = c.name(), messages
	fmt.Fprintf(p.progress, "bench: %s: %d messages in %s, %.0f a second\n", r.name, messages, r.took.Round(time.Millisecond), r.rate())
	return r, nil
}
