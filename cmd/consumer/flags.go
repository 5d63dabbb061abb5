package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"fifoproof/internal/backoff"
	"fifoproof/internal/cli"
	"fifoproof/internal/consumer"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
	"fifoproof/internal/target"
)

const name = "consumer"

// receiptsCommand is the subcommand that prints receipts. It has a command line of its own, so that
// 'consumer --help' can show the flags that people look for there.
const receiptsCommand = "receipts"

var consume = cli.Program{
	Name: name,
	About: "Receive from an Amazon SQS FIFO queue and carry out each event once. Every delivery is recorded first; then its " +
		"key is claimed under a lease, the handler runs, and key and effect are committed in one transaction. Only after that " +
		"commit is the message deleted. A key seen before has no second effect for as long as its receipt is kept: its " +
		"delivery is redelivered (the same message again) or repeated (another message with an equal key). Equal bodies are " +
		"one event unless --key says otherwise. Message groups are worked on side by side, each in its order, and a failure " +
		"holds back only its own group: it is tried again after a growing, random back-off until the queue's redrive policy " +
		"moves it aside. A message that can never be carried out is rejected and stays on the queue likewise.\n\n" +
		"Handlers: record (a row in the table effects) and ledger (a balance in the same database) happen exactly once. " +
		"print, exec and http reach outside, so they happen at least once: a process may die after the call. They are given " +
		"an idempotency key that stays the same, for whoever is called to recognise it by.\n\n" +
		"'consumer receipts' prints what was recorded, 'consumer dlq' looks after dead letters.\n\n" +
		"A signal stops it: what runs may finish within --drain, what has not begun is given back. A second signal ends it " +
		"at once.\n\n" +
		"Exit codes: 0 all well, or stopped by a signal; 1 messages were rejected, or left to the dead-letter queue, when --until-empty " +
		"ended; " +
		"3 the queue, the endpoint or the database failed; 64 usage.",
	Examples: `
		consumer --queue orders.fifo
		consumer --queue orders.fifo --until-empty 5s --db orders.db
		consumer --queue orders.fifo --db postgres://app@db.internal/orders --concurrency 64
		consumer --queue orders.fifo --key pointer:/event_id --handler ledger
		consumer --queue orders.fifo --handler "exec ./pay.sh --account main"
		consumer --queue orders.fifo --handler "http https://pay.internal/events" --metrics-addr 127.0.0.1:9090
		consumer --queue https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo --exclude /sent_at
		consumer receipts --db orders.db --kind repeated
		consumer dlq list --queue orders-dlq.fifo --db orders.db`,
	Words: map[string]func() []string{"policy": policies, "grouping": groupings, "format": formats},
	Also: []cli.Also{
		{Word: receiptsCommand, Grammar: &receiptsFlags{}, Program: receipts},
		{Word: dlqCommand, Grammar: &dlqFlags{}, Program: dlq},
	},
}

type consumeFlags struct {
	Queue    string `help:"The queue, by name or URL. Its name ends in .fifo." placeholder:"URL|NAME"`
	DB       string `help:"Where the receipts are: a SQLite file, made if it is not there, or a PostgreSQL database that many consumers share, as postgres://USER@HOST/DATABASE (default: ${default})." name:"db" default:"receipts.db" placeholder:"FILE|URL"`
	Endpoint string `help:"Endpoint to talk to, instead of the one that the AWS environment or profile names." placeholder:"URL"`

	UntilEmpty time.Duration `help:"Stop when nothing new has come for so long, as 5s. Without it the consumer runs until it is stopped." placeholder:"TIME"`

	Name     string   `help:"Who the effects are for: part of every key. Consumers with different names each have their own effects of one queue (default: the queue's name)." placeholder:"NAME"`
	Key      string   `help:"What makes two messages one event: content (the hash of the body), pointer:/FIELD (a value in the body), attribute:NAME, or message (its MessageId: each message is an event). Default: the attribute idempotency-key, which producer sets, and where it is absent the content." placeholder:"RULE"`
	KeyGroup string   `help:"Whether the message group is part of the key: auto (where the queue's deduplication scope is the message group), always or never (default: ${default})." default:"auto" placeholder:"WHEN" completion-predictor:"grouping"`
	Exclude  []string `help:"Hash the body without this field (JSON pointer; ~* stands for every array element). Repeatable." placeholder:"PTR" sep:"none"`
	Include  []string `help:"Hash only this field of the body (JSON pointer). Repeatable." placeholder:"PTR" sep:"none"`
	Strict   bool     `help:"Hash the body, and reject numbers that a double would change."`
	Repeated string   `help:"What to do with a known key under another MessageId: skip (no second effect), run (carry it out again, once) or reject (default: ${default})." default:"skip" placeholder:"POLICY" completion-predictor:"policy"`

	Handler string        `help:"What carries an event out: record, ledger (ledger:version, ledger:upsert), print, 'exec COMMAND', or 'http URL' (default: ${default}). exec: body on standard input, exit 0 done, 75 try again, 65 reject. http: POST with Idempotency-Key." default:"record" placeholder:"HANDLER"`
	Account string        `help:"Where ledger finds the account in the body (JSON pointer; default: ${default})." default:"/account" placeholder:"PTR"`
	Amount  string        `help:"Where ledger finds the amount in the body (JSON pointer; default: ${default})." default:"/amount" placeholder:"PTR"`
	Natural string        `help:"Where ledger:upsert finds what makes a booking unique (JSON pointer; default: the event's idempotency key)." placeholder:"PTR"`
	Timeout time.Duration `help:"How long one call of exec or http may take; then it has failed (default: ${default})." default:"30s" placeholder:"TIME"`

	Concurrency int           `help:"How many message groups are worked on at once (default: ${default})." default:"10" placeholder:"N"`
	Visibility  time.Duration `help:"For how long a received message is hidden, renewed while it is in hand (default: ${default})." default:"30s" placeholder:"TIME"`
	Lease       time.Duration `help:"For how long a claim holds when its consumer dies (default: as --visibility)." placeholder:"TIME"`
	BackoffBase time.Duration `help:"The most that the first wait after a failure may be; it doubles with every attempt, and each wait is a random part of it (default: ${default})." default:"2s" placeholder:"TIME"`
	BackoffCap  time.Duration `help:"The most that any wait may be (default: ${default})." default:"5m" placeholder:"TIME"`
	Drain       time.Duration `help:"How long messages at work may still take after a signal (default: ${default})." default:"30s" placeholder:"TIME"`

	Retention      time.Duration `help:"Forget keys that were last delivered so long ago, as 720h. It must cover the retention of queue and dead-letter queue, and a day more. Without it nothing is forgotten." placeholder:"TIME"`
	ShortRetention bool          `help:"Take a --retention that is shorter than that, though an old message may then have a second effect."`

	MetricsAddr string `help:"Serve /metrics (Prometheus), /livez and /readyz there, as 127.0.0.1:9090. Port 0 picks a free one." placeholder:"HOST:PORT"`
	Log         string `help:"How warnings are written: text or json (default: ${default})." default:"text" placeholder:"FORMAT" completion-predictor:"format"`

	JSON bool `help:"Print the summary as a JSON object on standard output." name:"json"`

	Version kong.VersionFlag `help:"Print the version."`
}

// config is the consumer's configuration as far as the flags tell it.
func (f *consumeFlags) config() (consumer.Config, error) {
	cfg := consumer.Config{
		Name: f.Name, UntilEmpty: f.UntilEmpty, Concurrency: f.Concurrency, Visibility: f.Visibility,
		Lease: f.Lease, Drain: f.Drain, Backoff: backoff.Policy{Base: f.BackoffBase, Cap: f.BackoffCap},
		Repeated: receipt.Policy(f.Repeated),
	}
	if err := f.check(); err != nil {
		return cfg, err
	}
	var err error
	if f.Key != "" {
		if cfg.Key, err = consumer.ParseKeyRule(f.Key); err != nil {
			return cfg, cli.Hint(fmt.Errorf("reading --key: %w", err), "a rule is content, pointer:/FIELD, attribute:NAME or message")
		}
	}
	cfg.Hash, err = contenthash.New(contenthash.Options{Strict: f.Strict, Exclude: f.Exclude, Include: f.Include})
	if err != nil {
		return cfg, fmt.Errorf("reading the selection of fields: %w", err)
	}
	if cfg.Hash.Selective() && f.Key == "message" {
		return cfg, cli.Hint(fmt.Errorf("--key %s and %s exclude each other: a message is an event whatever is in it", f.Key, f.selection()),
			"leave out --key to hash the selected fields, or leave out %s to take the key as it stands", f.selection())
	}
	return cfg, nil
}

// handler is what carries events out; nil for record.
func (f *consumeFlags) handler(stdio cli.Stdio) (handler.Handler, error) {
	h, err := handler.Parse(f.Handler, handler.Options{
		Output: stdio.Out, Timeout: f.Timeout, Ledger: handler.Booking{Account: f.Account, Amount: f.Amount, Natural: f.Natural},
	})
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("reading --handler: %w", err), "a handler is record, ledger, print, 'exec COMMAND' or 'http URL'")
	}
	if _, prints := h.(*handler.Print); prints && f.JSON {
		return nil, cli.Hint(errors.New("--handler print and --json both write to standard output"), "leave out one of them")
	}
	return h, nil
}

// check says of the flags that stand alone what cannot be used.
func (f *consumeFlags) check() error {
	switch {
	case f.Queue == "":
		return cli.Hint(errors.New("no queue is named"), "name one with --queue")
	case !strings.HasSuffix(target.QueueName(f.Queue), ".fifo"):
		return cli.Hint(fmt.Errorf("the queue %q is no FIFO queue: the name of one ends in .fifo", f.Queue), "did you mean %s.fifo?", f.Queue)
	case f.Concurrency < 1 || f.Concurrency > maxConcurrency:
		return cli.Hint(fmt.Errorf("--concurrency %d cannot be used", f.Concurrency), "name a number from 1 to %d", maxConcurrency)
	case f.Visibility < minVisibility || f.Visibility > maxVisibility || f.Visibility%time.Second != 0:
		return cli.Hint(fmt.Errorf("--visibility %v cannot be used", f.Visibility), "name whole seconds from %v to %v, as SQS counts them", minVisibility, maxVisibility)
	case f.ShortRetention && f.Retention == 0:
		return cli.Hint(errors.New("--short-retention says nothing without --retention"), "name a time with --retention")
	case !slices.Contains(policies(), f.Repeated):
		return cli.Hint(fmt.Errorf("there is no policy %q for --repeated", f.Repeated), "policies are %s", strings.Join(policies(), ", "))
	case !slices.Contains(groupings(), f.KeyGroup):
		return cli.Hint(fmt.Errorf("--key-group %q cannot be used", f.KeyGroup), "it is one of %s", strings.Join(groupings(), ", "))
	case !slices.Contains(formats(), f.Log):
		return cli.Hint(fmt.Errorf("--log %q cannot be used", f.Log), "it is one of %s", strings.Join(formats(), ", "))
	}
	for _, t := range []struct {
		flag    string
		value   time.Duration
		minimum time.Duration
	}{
		{"--until-empty", f.UntilEmpty, 0},
		{"--lease", f.Lease, 0},
		{"--drain", f.Drain, 0},
		{"--retention", f.Retention, 0},
		{"--timeout", f.Timeout, 1},
		{"--backoff-base", f.BackoffBase, 1},
		{"--backoff-cap", f.BackoffCap, f.BackoffBase},
	} {
		if t.value < t.minimum {
			return cli.Hint(fmt.Errorf("%s %v cannot be waited for", t.flag, t.value), "name a time as 30s; --backoff-cap is no less than --backoff-base")
		}
	}
	return nil
}

const (
	minVisibility  = 2 * time.Second // a heartbeat every third of it has to arrive in time
	maxVisibility  = 12 * time.Hour  // SQS's longest visibility timeout
	maxConcurrency = 2000            // ten times as many messages may be in hand, and SQS gives out 20,000
)

func policies() []string {
	return []string{string(receipt.Skip), string(receipt.Run), string(receipt.Refuse)}
}

const (
	groupAuto   = "auto"
	groupAlways = "always"
	groupNever  = "never"

	logText = "text"
	logJSON = "json"
)

func groupings() []string { return []string{groupAuto, groupAlways, groupNever} }

func formats() []string { return []string{logText, logJSON} }

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
