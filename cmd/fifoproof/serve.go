package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

const (
	// patience is how long an empty long poll waits on a clock that stands still.
	patience = 50 * time.Millisecond

	// farewell is how long requests under way may take at the end. Long polls end
	// at once.
	farewell = 2 * time.Second

	headerTimeout = 10 * time.Second

	virtualClock = "virtual"
)

type serveCmd struct {
	Addr         string   `default:"127.0.0.1:9324" placeholder:"HOST:PORT" help:"Listen here. Port 0 picks a free one. Default: ${default}."`
	Clock        string   `default:"real" enum:"real,virtual" placeholder:"real|virtual" help:"The machine's clock, or one that stands still until it is moved by POST /_fifoproof/clock/advance. Default: ${default}."`
	Queue        []string `placeholder:"NAME.fifo" sep:"none" help:"Make this queue. Can be repeated."`
	Variant      []string `placeholder:"NAME" sep:"none" help:"Do otherwise than SQS in one way, to see whether your own tests notice; 'fifoproof mutants' lists the names. Can be repeated." completion-predictor:"variant"`
	Scope        string   `default:"queue" enum:"queue,messageGroup" placeholder:"queue|messageGroup" help:"Deduplication scope of the queues made. Default: ${default}."`
	ContentBased bool     `help:"Let the queues made hash bodies that come without a deduplication ID."`
	Public       bool     `help:"Allow an address that other machines can reach. Nobody is asked for credentials."`
	Verbose      bool     `help:"Write a line for each request to standard error."`
}

func (c *serveCmd) run(ctx context.Context, stdio cli.Stdio, _ cli.Env) int {
	if err := c.checkAddr(); err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	if err := checkVariants(c.Variant); err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	options := emulator.Options{Clock: clock.Real{}, Variants: c.Variant}
	if c.Clock == virtualClock {
		// The present, in whole seconds, so that timestamps look like any other day's.
		options.Clock = clock.NewManual(clock.Real{}.Now().UTC().Truncate(time.Second), patience)
	}
	if c.Verbose {
		options.Logger = slog.New(slog.NewTextHandler(stdio.Err, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	server := emulator.New(options)
	if len(c.Queue) == 0 && (c.Scope != "queue" || c.ContentBased) {
		cli.Report(stdio.Err, program, cli.Hint(errors.New("--scope and --content-based describe the queues made, and none is made"),
			"add --queue NAME.fifo"))
		return cli.Usage
	}
	if err := c.makeQueues(server); err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Usage
	}
	if err := c.serve(ctx, server, c.describeClock(options.Clock), stdio); err != nil {
		cli.Report(stdio.Err, program, err)
		return cli.Harness
	}
	return cli.OK
}

// checkAddr keeps an endpoint that trusts everybody on this machine, unless the
// user wants it otherwise.
func (c *serveCmd) checkAddr() error {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return cli.Hint(fmt.Errorf("the address %q cannot be used: %w", c.Addr, err), "an address looks like 127.0.0.1:9324")
	}
	if c.Public || host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return nil
	}
	return cli.Hint(fmt.Errorf("%s can be reached from other machines, and the endpoint asks nobody for credentials", c.Addr),
		"use a loopback address such as 127.0.0.1:9324, or add --public if you mean it")
}

func (c *serveCmd) makeQueues(server *emulator.Server) error {
	for _, name := range c.Queue {
		err := server.CreateQueue(name,
			emulator.Attribute{Name: "DeduplicationScope", Value: c.Scope},
			emulator.Attribute{Name: "ContentBasedDeduplication", Value: strconv.FormatBool(c.ContentBased)})
		switch {
		case err == nil:
		case !strings.HasSuffix(name, ".fifo"):
			return cli.Hint(fmt.Errorf("--queue %q: the name of a FIFO queue ends in .fifo", name), "perhaps --queue %s.fifo", name)
		default:
			return cli.Hint(fmt.Errorf("--queue %q is no name of a FIFO queue", name),
				"a name is 1 to 75 letters, digits, hyphens and underscores, followed by .fifo")
		}
	}
	return nil
}

// serve listens until ctx ends.
func (c *serveCmd) serve(ctx context.Context, server *emulator.Server, clockNow string, stdio cli.Stdio) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return cli.Hint(fmt.Errorf("%s is in use by another program, perhaps by another fifoproof serve", c.Addr),
			"stop it, or listen elsewhere: --addr 127.0.0.1:0 picks a free port")
	case err != nil:
		return fmt.Errorf("listening at %s: %w", c.Addr, err)
	}
	endpoint := "http://" + reachable(listener.Addr())
	if err := c.announce(stdio.Out, endpoint); err != nil {
		return errors.Join(fmt.Errorf("printing the exports: %w", err), listener.Close())
	}
	fmt.Fprintf(stdio.Err, "fifoproof %s · SQS FIFO queues at %s · %s · Ctrl-C stops it, and nothing is kept\n",
		cli.Version, endpoint, clockNow)

	// The context of every request ends with ctx, and with it its long poll.
	web := &http.Server{
		Handler:           server,
		ReadHeaderTimeout: headerTimeout,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          log.New(stdio.Err, program+": ", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving at %s: %w", endpoint, err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := web.Shutdown(last); err != nil {
		_ = web.Close() // who still sends or reads after that is cut off
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving at %s: %w", endpoint, err)
	}
	fmt.Fprintln(stdio.Err, "fifoproof: stopped")
	return nil
}

func (c *serveCmd) describeClock(its clock.Clock) string {
	if c.Clock == virtualClock {
		return "virtual clock, standing at " + its.Now().Format(time.RFC3339)
	}
	return "real clock"
}

// announce prints what a shell needs. Whatever is no export is a comment, so that
// all of it can be given to eval.
func (c *serveCmd) announce(out io.Writer, endpoint string) error {
	var text strings.Builder
	for _, export := range [][2]string{
		{"AWS_ENDPOINT_URL", endpoint},
		{"AWS_REGION", emulator.Region},
		{"AWS_DEFAULT_REGION", emulator.Region}, // Python's SDK reads this one
		{"AWS_ACCESS_KEY_ID", "test"},
		{"AWS_SECRET_ACCESS_KEY", "test"},
	} {
		value := export[1]
		if strings.ContainsAny(value, "[]") { // an IPv6 address is a pattern to a shell
			value = "'" + value + "'"
		}
		fmt.Fprintf(&text, "export %s=%s\n", export[0], value)
	}
	for _, name := range c.Queue {
		fmt.Fprintf(&text, "# queue: %s/%s/%s\n", endpoint, emulator.Account, name)
	}
	if c.Clock == virtualClock {
		fmt.Fprintf(&text, "# move the clock: curl -X POST '%s%s' -d '{\"by\":\"5m\"}'\n", endpoint, emulator.AdvancePath)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// reachable is addr as this machine can call it.
func reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	loopback := netip.IPv6Loopback()
	if at.Addr().Is4() {
		loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(loopback, at.Port()).String()
}
