package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"fifoproof/internal/cli"
	"fifoproof/internal/consumer"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
	"fifoproof/internal/target"
)

const name = "consumer"

// receiptsCommand is the one subcommand. It has a command line of its own, so that
// 'consumer --help' can show the flags that people look for there.
const receiptsCommand = "receipts"

var consume = cli.Program{
	Name: name,
	About: "Receive from an Amazon SQS FIFO queue and carry out each event once. Every delivery is recorded first; then, " +
		"in one transaction, its key and, where the key is new, one effect: a row in the table effects. Only after that " +
		"commit is the message deleted. A key seen before has no second effect for as long as the file is kept: its delivery " +
		"is redelivered (the same message again) or repeated (another message with an equal key). Equal bodies are one event " +
		"unless --key says otherwise. A message that no key can be made for is rejected and stays on the queue.\n\n" +
		"'consumer receipts' prints what was recorded.\n\n" +
		"Exit codes: 0 all well, or stopped by a signal; 1 messages were rejected when --until-empty ended; " +
		"3 the queue, the endpoint or the file failed; 64 usage.",
	Examples: `
		consumer --queue orders.fifo
		consumer --queue orders.fifo --until-empty 5s --db orders.db
		consumer --queue orders.fifo --key pointer:/event_id
		consumer --queue https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo --exclude /sent_at
		consumer receipts --db orders.db --kind repeated`,
	Also: []cli.Also{{Word: receiptsCommand, Grammar: &receiptsFlags{}, Program: receipts}},
}

var receipts = cli.Program{
	Name: name + " " + receiptsCommand,
	About: "Print the receipts that consumers wrote to a file, in the order of deliveries: one row each, or one JSON object " +
		"a line. Kinds: fresh (had the effect), redelivered, repeated, rejected, and pending (not completed: a crash, or put " +
		"off). The file is only read, also while a consumer is at work on it.",
	Examples: `
		consumer receipts
		consumer receipts --db orders.db --kind repeated --kind rejected
		consumer receipts --json | jq -r .kind | sort | uniq -c`,
	Words: map[string]func() []string{"kind": kinds},
}

type consumeFlags struct {
	Queue    string `help:"The queue, by name or URL. Its name ends in .fifo." placeholder:"URL|NAME"`
	DB       string `help:"SQLite file of the receipts, made if it is not there (default: ${default})." name:"db" default:"receipts.db" placeholder:"FILE"`
	Endpoint string `help:"Endpoint to talk to, instead of the one that the AWS environment or profile names." placeholder:"URL"`

	UntilEmpty time.Duration `help:"Stop when nothing new has come for so long, as 5s. Without it the consumer runs until it is stopped." placeholder:"TIME"`

	Key     string   `help:"What makes two messages one event: content (the hash of the body), pointer:/FIELD (a value in the body), attribute:NAME, or message (its MessageId: each message is an event). Default: the attribute idempotency-key, which producer sets, and where it is absent the content." placeholder:"RULE"`
	Exclude []string `help:"Hash the body without this field (JSON pointer; ~* stands for every array element). Repeatable." placeholder:"PTR" sep:"none"`
	Include []string `help:"Hash only this field of the body (JSON pointer). Repeatable." placeholder:"PTR" sep:"none"`
	Strict  bool     `help:"Hash the body, and reject numbers that a double would change."`

	JSON bool `help:"Print the summary as a JSON object on standard output." name:"json"`

	Version kong.VersionFlag `help:"Print the version."`
}

type receiptsFlags struct {
	DB   string   `help:"SQLite file of the receipts (default: ${default})." name:"db" default:"receipts.db" placeholder:"FILE"`
	Kind []string `help:"Print only this kind. Repeatable." placeholder:"KIND" sep:"none" completion-predictor:"kind"`
	JSON bool     `help:"Print a JSON object a line." name:"json"`
}

// config is the consumer's configuration as far as the flags tell it.
func (f *consumeFlags) config() (consumer.Config, error) {
	var cfg consumer.Config
	switch {
	case f.Queue == "":
		return cfg, cli.Hint(errors.New("no queue is named"), "name one with --queue")
	case !strings.HasSuffix(target.QueueName(f.Queue), ".fifo"):
		return cfg, cli.Hint(fmt.Errorf("the queue %q is no FIFO queue: the name of one ends in .fifo", f.Queue), "did you mean %s.fifo?", f.Queue)
	case f.UntilEmpty < 0:
		return cfg, cli.Hint(fmt.Errorf("--until-empty %v cannot be waited for", f.UntilEmpty), "name a time as 5s")
	}
	if f.Key != "" {
		var err error
		if cfg.Key, err = consumer.ParseKeyRule(f.Key); err != nil {
			return cfg, cli.Hint(fmt.Errorf("reading --key: %w", err), "a rule is content, pointer:/FIELD, attribute:NAME or message")
		}
	}
	hash, err := contenthash.New(contenthash.Options{Strict: f.Strict, Exclude: f.Exclude, Include: f.Include})
	if err != nil {
		return cfg, fmt.Errorf("reading the selection of fields: %w", err)
	}
	if hash.Selective() && f.Key != "" && f.Key != "content" {
		return cfg, cli.Hint(fmt.Errorf("--key %s and %s exclude each other: fields are selected for a content key", f.Key, f.selection()),
			"leave out --key to hash the selected fields, or leave out %s to take the key as it stands", f.selection())
	}
	cfg.Hash, cfg.UntilEmpty = hash, f.UntilEmpty
	return cfg, nil
}

// selection names the first flag that selects fields.
func (f *consumeFlags) selection() string {
	switch {
	case len(f.Exclude) > 0:
		return "--exclude"
	case len(f.Include) > 0:
		return "--include"
	default:
		return "--strict"
	}
}

// filter is what --kind selects.
func (f *receiptsFlags) filter() (receipt.Filter, error) {
	var filter receipt.Filter
	for _, text := range f.Kind {
		kind := receipt.Kind(text)
		if !slices.Contains(receipt.Kinds(), kind) {
			return filter, cli.Hint(fmt.Errorf("there is no kind %q", text), "kinds are %s", strings.Join(kinds(), ", "))
		}
		filter.Kinds = append(filter.Kinds, kind)
	}
	return filter, nil
}

// kinds are the names of all kinds of receipts.
func kinds() []string {
	var names []string
	for _, kind := range receipt.Kinds() {
		names = append(names, string(kind))
	}
	return names
}
