package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"fifoproof/internal/cli"
	"fifoproof/internal/deadletter"
	"fifoproof/internal/receipt"
	"fifoproof/internal/target"
)

// dlqCommand is the subcommand that looks after dead letters.
const dlqCommand = "dlq"

// defaultDB is where consumers keep receipts that are told nothing else.
const defaultDB = "receipts.db"

var dlq = cli.Program{
	Name: name + " " + dlqCommand,
	About: "Look after what SQS moved to a dead-letter queue: see what lies there and why, put it back to the queues that it " +
		"came from, delete it, and be told when there is much of it. Why a message is there stands in the receipts of the " +
		"consumers that failed it; without them, or where another consumer failed it, that is unknown.\n\n" +
		"SQS shows a message only to who receives it. So everything is received, hidden from others for up to two minutes, and " +
		"given back. That raises receive counts and changes nothing else; of each message group the first ten can be seen.",
	Examples: `
		consumer dlq list --queue orders-dlq.fifo
		consumer dlq list --source orders.fifo --reason timeout --older-than 1h
		consumer dlq show 6c442661-82b5-4659-9586-42b38c6e71ce --queue orders-dlq.fifo
		consumer dlq redrive --queue orders-dlq.fifo --group tenant-7 --approve 3
		consumer dlq drop --queue orders-dlq.fifo --where /customer/id=42
		consumer dlq watch --queue orders-dlq.fifo --alert-over 10 --alert-run ./page.sh`,
	Notes: `
		Exit codes: 0 all well; 1 a message that was asked for stays, is not there or was not approved, or --once found
		more than --alert-over; 3 the queue, the endpoint or the receipts failed; 64 usage.`,
}

type dlqFlags struct {
	List    dlqList    `cmd:"" help:"Show what is there: a row a message."`
	Show    dlqShow    `cmd:"" help:"Show one message, with every attempt at it."`
	Watch   dlqWatch   `cmd:"" help:"Count, again and again, and alert when there is much."`
	Redrive dlqRedrive `cmd:"" help:"Put messages back to the queues that they came from."`
	Drop    dlqDrop    `cmd:"" help:"Delete messages for good."`
}

// dlqPlace says which queue.
type dlqPlace struct {
	Queue    string `help:"The dead-letter queue, by name or URL." placeholder:"URL|NAME" xor:"queue"`
	Source   string `help:"The queue whose redrive policy names the dead-letter queue, by name or URL." placeholder:"URL|NAME" xor:"queue"`
	Endpoint string `help:"Endpoint to talk to, instead of the one that the AWS environment or profile names." placeholder:"URL"`
}

// dlqReceipts says where the receipts are.
type dlqReceipts struct {
	DB string `help:"Where the receipts of the consumers are: a SQLite file or a PostgreSQL database, as postgres://USER@HOST/DATABASE. Only read. Default: receipts.db, if it is there." name:"db" placeholder:"FILE|URL"`
}

// dlqChoice says which messages.
type dlqChoice struct {
	Reason    string        `help:"Only messages whose last attempt failed for a reason that has this text in it." placeholder:"TEXT"`
	Group     string        `help:"Only messages of this message group." placeholder:"GROUP"`
	Message   string        `help:"Only the message with this MessageId, and its redriven copies." placeholder:"ID"`
	Where     string        `help:"Only messages whose body has this value at a JSON pointer, as /customer/id=42. Numbers are compared by value; a string that could be taken for something else is written in quotes." placeholder:"PTR=VALUE"`
	OlderThan time.Duration `help:"Only messages that have been in the dead-letter queue for longer, as 1h." placeholder:"TIME"`
}

func (c *dlqChoice) filter() (deadletter.Filter, error) {
	f := deadletter.Filter{Message: c.Message, Group: c.Group, Reason: c.Reason, Older: c.OlderThan}
	if c.OlderThan < 0 {
		return f, cli.Hint(fmt.Errorf("--older-than %v is no time", c.OlderThan), "name a time as 1h")
	}
	if c.Where != "" {
		var err error
		if f.Value, err = deadletter.ParseValue(c.Where); err != nil {
			return f, cli.Hint(fmt.Errorf("reading --where: %w", err), "name a pointer and a value, as /customer/id=42")
		}
	}
	return f, nil
}

func (p *dlqPlace) check() error {
	named := p.Queue + p.Source
	switch {
	case named == "":
		return cli.Hint(errors.New("no queue is named"), "name the dead-letter queue with --queue, or the one that it belongs to with --source")
	case !strings.HasSuffix(target.QueueName(named), ".fifo"):
		return cli.Hint(fmt.Errorf("the queue %q is no FIFO queue: the name of one ends in .fifo", named), "did you mean %s.fifo?", named)
	default:
		return nil
	}
}

// runDLQ is 'consumer dlq'.
func runDLQ(ctx context.Context, args []string, stdio cli.Stdio, env cli.Env) int {
	var f dlqFlags
	parsed, code := cli.Parse(&f, dlq, args, stdio)
	if parsed == nil {
		return code
	}
	word, _, _ := strings.Cut(parsed.Command(), " ")
	desk := &dlqDesk{stdio: stdio, env: env, talk: newTalk(stdio.Err, false, logText)}
	switch word {
	case "show":
		return f.Show.run(ctx, desk)
	case "watch":
		return f.Watch.run(ctx, desk)
	case "redrive":
		return f.Redrive.run(ctx, desk)
	case "drop":
		return f.Drop.run(ctx, desk)
	default:
		return f.List.run(ctx, desk)
	}
}

// dlqDesk is what the commands work at.
type dlqDesk struct {
	stdio cli.Stdio
	env   cli.Env
	talk  *talk

	client   *sqs.Client
	settings target.Settings // of the dead-letter queue
	letters  *deadletter.Letters
	store    receipt.Store
}

// refuse reports an error and gives the exit code.
func (d *dlqDesk) refuse(err error, code int) int {
	if code == cli.Usage {
		err = withHelp(err, dlq.Name)
	}
	cli.Report(d.stdio.Err, name, err)
	return code
}

// find opens a client and finds the dead-letter queue.
func (d *dlqDesk) find(ctx context.Context, p dlqPlace) error {
	named := p.Queue + p.Source // one of them is empty
	client, notes, err := target.Client(ctx, target.Options{Endpoint: p.Endpoint, Queue: named})
	for _, note := range notes {
		d.talk.sayf("%s", note)
	}
	if err != nil {
		return err
	}
	d.client = client
	url, err := target.QueueURL(ctx, client, named, false)
	if err != nil {
		return err
	}
	if d.settings, err = target.ReadSettings(ctx, client, url); err != nil || p.Source == "" {
		return err
	}
	d.settings, err = target.DeadLetters(ctx, client, d.settings)
	return err
}

// open finds the queue and opens the receipts.
func (d *dlqDesk) open(ctx context.Context, p dlqPlace, r dlqReceipts) error {
	if err := d.find(ctx, p); err != nil {
		return err
	}
	if err := d.openReceipts(ctx, r.DB); err != nil {
		return err
	}
	cfg := deadletter.Config{
		URL: d.settings.URL, ARN: d.settings.ARN, MaxReceives: d.settings.Redrive.MaxReceives, Logger: slog.New(d.talk),
	}
	if d.store != nil {
		cfg.Receipts = d.store
	}
	letters, err := deadletter.New(cfg, d.client)
	switch {
	case errors.Is(err, deadletter.ErrMovesOn):
		return cli.Hint(err, "is it a dead-letter queue at all? Take its redrive policy away for as long as you work on it, or name another queue")
	case err != nil:
		return err
	}
	d.letters = letters
	return nil
}

// openReceipts opens the receipts, or says what it means that there are none.
func (d *dlqDesk) openReceipts(ctx context.Context, db string) error {
	if db == "" {
		if _, err := os.Stat(defaultDB); errors.Is(err, fs.ErrNotExist) {
			d.talk.sayf("no receipts are named, so attempts and reasons are unknown: --db names those of the consumers")
			return nil
		}
		d.talk.sayf("reading the receipts in %s", defaultDB)
		db = defaultDB
	}
	store, err := openStore(ctx, db, true)
	if err != nil {
		return whereReceipts(err, shown(db))
	}
	d.store = store
	return nil
}

func (d *dlqDesk) close() {
	if d.store != nil {
		_ = d.store.Close() // it was only read
	}
}

// look is the way to a listing: flags, queue, receipts, messages. A nil listing means
// that all is said, and the exit code is code.
func (d *dlqDesk) look(ctx context.Context, p dlqPlace, r dlqReceipts, c dlqChoice, bodies bool) (listing *deadletter.Listing, code int) {
	filter, err := c.filter()
	if err = errors.Join(p.check(), err); err != nil {
		return nil, d.refuse(err, cli.Usage)
	}
	filter.Bodies = bodies
	if err := d.open(ctx, p, r); err != nil {
		return nil, d.refuse(err, cli.Harness)
	}
	found, err := d.letters.List(ctx, filter)
	if ctx.Err() != nil {
		d.talk.sayf("stopped: what was looked at was given back")
		return nil, cli.Failed
	}
	if err != nil {
		return nil, d.refuse(dlqHint(err), cli.Harness)
	}
	return &found, cli.OK
}

// dlqHint says what to do about a call that failed.
func dlqHint(err error) error {
	if _, answered := errors.AsType[smithy.APIError](err); answered {
		return cli.Hint(err, "check the credentials and the permissions sqs:ReceiveMessage, sqs:ChangeMessageVisibility, sqs:DeleteMessage and "+
			"sqs:GetQueueAttributes on the dead-letter queue, and sqs:SendMessage and sqs:GetQueueUrl on its sources")
	}
	return cli.Hint(err, "run it again when this is mended: nothing was lost, and what was looked at is visible again within two minutes")
}
