package main

import (
	"errors"

	"github.com/alecthomas/kong"

	"fifoproof/internal/cli"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/producer"
)

const name = "producer"

var program = cli.Program{
	Name: name,
	About: "Send newline-delimited JSON to an Amazon SQS FIFO queue. Every line becomes a message whose " +
		"deduplication ID is the SHA-256 of its canonical JSON, so that the same content sent again within " +
		"five minutes is one message, however it is spelled. Standard output has a row per message: line, group, ID, " +
		"MessageId, SequenceNumber, outcome. Outcomes are accepted (not known to be a duplicate), duplicate, failed, " +
		"unknown and unsent. Where the environment has a TRACEPARENT (W3C Trace Context), every message carries it as an attribute, " +
		"for consumers to link their spans to. Exit codes: 0 all well, 1 a line was bad or failed, 3 the queue or endpoint failed, 64 usage.",
	Examples: `
		producer --queue orders.fifo --create examples/orders.ndjson
		producer --queue orders.fifo --group-pointer /customer/id --log sends.jsonl orders.ndjson
		tail -f events.ndjson | producer --queue https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo
		producer --dry-run --explain --exclude /sent_at --exclude /items/~*/seen orders.ndjson
		producer --queue orders.fifo --endpoint http://127.0.0.1:9324 --json orders.ndjson | jq .outcome`,
}

type flags struct {
	Queue    string `help:"The queue, by name or URL. Its name ends in .fifo." placeholder:"URL|NAME"`
	Create   bool   `help:"Make the queue if it does not exist. One that exists is never changed."`
	Endpoint string `help:"Endpoint to talk to, instead of the one that the AWS environment or profile names." placeholder:"URL"`

	Group        string `help:"Message group of all lines (default: default)." placeholder:"TEXT"`
	GroupPointer string `help:"Take the group from each body: a JSON pointer to a string, number, true or false." placeholder:"PTR"`

	Exclude   []string `help:"Leave this field out of the ID (JSON pointer; ~* stands for every array element). Repeatable." placeholder:"PTR" sep:"none"`
	Include   []string `help:"Make the ID of this field only (JSON pointer). Repeatable." placeholder:"PTR" sep:"none"`
	Strict    bool     `help:"Refuse numbers that a double would change, so that the ID is that of RFC 8785."`
	HashGroup bool     `help:"Put the group into the ID: equal bodies in two groups are then two messages on every queue."`

	Repeat  int    `help:"Send every line N times in a row." default:"1" placeholder:"N"`
	DryRun  bool   `help:"Send nothing, print the IDs. Needs no queue and no network."`
	Explain bool   `help:"Print the canonical form of each body, and what was left out."`
	Log     string `help:"Append a JSON line a send to FILE, and know the messages in it as duplicates." placeholder:"FILE"`
	JSON    bool   `help:"Print JSON lines: one a message, then the summary." name:"json"`
	Quiet   bool   `help:"Print no row per message." short:"q"`

	Version kong.VersionFlag `help:"Print the version."`

	Files []string `arg:"" optional:"" name:"file" help:"Files to send, in this order; - is standard input (default)."`
}

// check says what kong cannot: flags that do not go together.
func (f *flags) check() error {
	stdins := 0
	for _, file := range f.Files {
		if file == stdinArgument {
			stdins++
		}
	}
	switch {
	case f.Queue == "" && !f.DryRun:
		return cli.Hint(errors.New("no queue is named"), "name one with --queue, or see the IDs only with --dry-run")
	case f.Repeat < 1:
		return errors.New("--repeat sends every line once or more")
	case f.Group != "" && f.GroupPointer != "":
		return cli.Hint(errors.New("--group and --group-pointer exclude each other"), "--group is one group for all lines, --group-pointer takes it from each body")
	case f.JSON && f.Quiet:
		return cli.Hint(errors.New("--json and --quiet exclude each other"), "the JSON summary is the last line: 'producer --json … | tail -n 1'")
	case stdins > 1:
		return errors.New("standard input can be read only once, but - is named more often")
	}
	return nil
}

// config is the part of the producer's configuration that the flags tell.
func (f *flags) config() (producer.Config, error) {
	hash, err := contenthash.New(contenthash.Options{
		Strict: f.Strict, Exclude: f.Exclude, Include: f.Include, WithGroup: f.HashGroup,
	})
	if err != nil {
		return producer.Config{}, err
	}
	return producer.Config{
		Hash: hash, Group: f.Group, GroupPointer: f.GroupPointer,
		Repeat: f.Repeat, DryRun: f.DryRun, Explain: f.Explain,
	}, nil
}
