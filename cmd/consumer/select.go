package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/receipt"
)

var receipts = cli.Program{
	Name: name + " " + receiptsCommand,
	About: "Print the receipts that consumers wrote, in the order of deliveries: one row each, or one JSON object a line, or " +
		"as a page with a timeline of deliveries and attempts. Kinds: fresh (had the effect), redelivered, repeated, " +
		"rejected, failed (the attempt failed, and may be made again), and pending (no end on record: at work, a crash, or " +
		"put off). Selections must all hold. The database is only read, also while consumers are at work on it.",
	Examples: `
		consumer receipts
		consumer receipts --db orders.db --kind repeated --kind rejected
		consumer receipts --db postgres://app@db.internal/orders --group customer-17 --since 2h
		consumer receipts --message 0a53f1c2-8c1e-4a4e-9a53-0f1c7f3b5d21 --html timeline.html
		consumer receipts --json | jq -r .kind | sort | uniq -c`,
	Words: map[string]func() []string{"kind": kinds},
}

type receiptsFlags struct {
	DB string `help:"Where the receipts are: a SQLite file, or a PostgreSQL database as postgres://USER@HOST/DATABASE (default: ${default})." name:"db" default:"receipts.db" placeholder:"FILE|URL"`

	Kind    []string `help:"Only this kind. Repeatable." placeholder:"KIND" sep:"none" completion-predictor:"kind"`
	Queue   string   `help:"Only deliveries of the queue of this name." placeholder:"NAME"`
	Group   string   `help:"Only deliveries of this message group." placeholder:"TEXT"`
	Message string   `help:"Only deliveries of the message of this MessageId, redriven copies included." placeholder:"ID"`
	Key     string   `help:"Only deliveries of the key of this value, whole, as --json tells it." placeholder:"TEXT"`
	Since   string   `help:"Only what was received then or later: a time as 2026-03-02T09:00:00Z, or how long ago, as 2h." placeholder:"TIME"`
	Until   string   `help:"Only what was received before." placeholder:"TIME"`

	JSON bool   `help:"Print a JSON object a line." name:"json"`
	HTML string `help:"Write a page that shows the newest 2,000 messages as a timeline; - is standard output." name:"html" placeholder:"FILE"`
}

// filter is what the flags select, with times counted back from now.
func (f *receiptsFlags) filter(now time.Time) (receipt.Filter, error) {
	filter := receipt.Filter{Queue: f.Queue, Group: f.Group, Message: f.Message, Key: f.Key}
	if f.JSON && f.HTML != "" {
		return filter, cli.Hint(errors.New("--json and --html exclude each other"), "run it once for each")
	}
	for _, text := range f.Kind {
		kind := receipt.Kind(text)
		if !slices.Contains(receipt.Kinds(), kind) {
			return filter, cli.Hint(fmt.Errorf("there is no kind %q", text), "kinds are %s", strings.Join(kinds(), ", "))
		}
		filter.Kinds = append(filter.Kinds, kind)
	}
	var err error
	if filter.Since, err = instant("--since", f.Since, now); err != nil {
		return filter, err
	}
	if filter.Until, err = instant("--until", f.Until, now); err != nil {
		return filter, err
	}
	if !filter.Until.IsZero() && !filter.Since.Before(filter.Until) {
		return filter, cli.Hint(fmt.Errorf("nothing is since %s and before %s", f.Since, f.Until), "--since is the earlier one")
	}
	return filter, nil
}

// instant reads a time, or how long before now it is; "" is none.
func instant(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, cli.Hint(fmt.Errorf("%s %q is no time", flag, text), "name one as 2026-03-02T09:00:00Z or 2026-03-02T09:00:00+01:00, or how long ago it is, as 90m")
	}
	return at, nil
}

// kinds are the names of all kinds of receipts.
func kinds() []string {
	var names []string
	for _, kind := range receipt.Kinds() {
		names = append(names, string(kind))
	}
	return names
}
