package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/deadletter"
)

type dlqWatch struct {
	dlqPlace

	AlertOver *int          `help:"Alert when there are more than so many, once each time that the number rises above it." placeholder:"N"`
	AlertRun  string        `help:"The alert: a command for the shell, which gets FIFOPROOF_QUEUE, FIFOPROOF_DEPTH and FIFOPROOF_LIMIT in its environment and the reading as JSON on standard input. One that fails is run again with the next reading." placeholder:"COMMAND"`
	AlertURL  string        `help:"The alert: POST the reading as JSON there. Any answer but 2xx has failed." name:"alert-url" placeholder:"URL"`
	Interval  time.Duration `help:"How often to count (default: ${default})." default:"1m" placeholder:"TIME"`
	Once      bool          `help:"Count once, alert if need be, and end with exit code 1 if there are more than --alert-over."`
	JSON      bool          `help:"Print a JSON object a reading." name:"json"`
}

// Help is the end of 'consumer dlq watch --help'.
func (*dlqWatch) Help() string {
	return "It receives nothing, and so changes nothing. SQS's own counters are read, messages in flight included; they settle within about a minute. " +
		"A number that falls to --alert-over and rises again alerts again."
}

func (c *dlqWatch) check() error {
	switch {
	case c.AlertOver != nil && *c.AlertOver < 0:
		return cli.Hint(fmt.Errorf("--alert-over %d is no number of messages", *c.AlertOver), "name a number from 0")
	case c.AlertOver == nil && (c.AlertRun != "" || c.AlertURL != "" || c.Once):
		return cli.Hint(errors.New("an alert needs to know when"), "name a number with --alert-over")
	case c.Interval < time.Second:
		return cli.Hint(fmt.Errorf("--interval %v is too short", c.Interval), "name a second or more")
	}
	if c.AlertURL != "" {
		if u, err := url.Parse(c.AlertURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return cli.Hint(errors.New("--alert-url is no URL of http or https"), "name one as https://alerts.internal/hook")
		}
	}
	return c.dlqPlace.check()
}

func (c *dlqWatch) run(ctx context.Context, d *dlqDesk) int {
	if err := c.check(); err != nil {
		return d.refuse(err, cli.Usage)
	}
	if err := d.find(ctx, c.dlqPlace); err != nil {
		return d.refuse(err, cli.Harness)
	}
	watch := deadletter.Watch{
		Read: func(ctx context.Context) (deadletter.Depth, error) {
			return deadletter.ReadDepth(ctx, d.client, d.settings.URL)
		},
		Limit: -1, Interval: c.Interval, Clock: clock.Real{}, Told: func(r deadletter.Reading) { d.tell(c, r) },
	}
	if c.AlertOver != nil {
		watch.Limit = *c.AlertOver
	}
	if c.AlertRun != "" || c.AlertURL != "" {
		watch.Alert = func(ctx context.Context, r deadletter.Reading) error { return d.alert(ctx, c, r) }
	}
	if !c.Once {
		watch.Run(ctx)
		return cli.OK
	}
	r := watch.Once(ctx)
	watch.Told(r)
	switch {
	case r.Err != nil:
		return cli.Harness
	case r.Over:
		return cli.Failed
	default:
		return cli.OK
	}
}

// dlqReading is a line of --json, and what an alert is given; docs/dead-letters.md
// describes it.
type dlqReading struct {
	Queue    string    `json:"queue"`
	At       time.Time `json:"at"`
	Depth    int       `json:"depth"`
	Visible  int       `json:"visible"`
	InFlight int       `json:"in_flight"`
	Delayed  int       `json:"delayed"`
	Limit    *int      `json:"limit,omitempty"`
	Over     bool      `json:"over"`
	Alerted  bool      `json:"alerted"`
}

func (d *dlqDesk) reading(c *dlqWatch, r deadletter.Reading) dlqReading {
	return dlqReading{
		Queue: d.settings.Name, At: r.At.UTC(), Depth: r.Depth.Total(), Visible: r.Depth.Visible, InFlight: r.Depth.InFlight,
		Delayed: r.Depth.Delayed, Limit: c.AlertOver, Over: r.Over, Alerted: r.Alerted,
	}
}

// tell prints a reading.
func (d *dlqDesk) tell(c *dlqWatch, r deadletter.Reading) {
	switch {
	case r.Err != nil:
		cli.Report(d.stdio.Err, name, dlqHint(r.Err))
		return
	case c.JSON:
		_ = plainJSON(d.stdio.Out, d.reading(c, r))
	default:
		note := ""
		if r.Over {
			note = " · more than " + thousands(int64(*c.AlertOver))
		}
		if r.Alerted {
			note += " · alert given"
		}
		_, _ = fmt.Fprintf(d.stdio.Out, "%s  %s in %s · %s in flight%s\n", local(r.At), plural(int64(r.Depth.Total()), "message", "messages"),
			d.settings.Name, thousands(int64(r.Depth.InFlight)), note)
	}
	if r.AlertErr != nil {
		d.talk.sayf(warningPrefix+"the alert was not given: %v; it is tried again with the next reading", r.AlertErr)
	}
}
