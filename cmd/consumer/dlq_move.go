package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/cli"
	"fifoproof/internal/deadletter"
)

// dlqApproval says that somebody has seen how many messages are meant.
type dlqApproval struct {
	Approve *int `help:"Do it if exactly so many messages are meant, as list and this command count them. Without it a person is asked, where standard input is a terminal; elsewhere nothing is done." placeholder:"N"`
}

type dlqRedrive struct {
	dlqPlace
	dlqReceipts
	dlqChoice
	dlqApproval

	JSON bool `help:"Print a JSON object a message." name:"json"`
}

// Help is the end of 'consumer dlq redrive --help'.
func (*dlqRedrive) Help() string {
	return "Each message goes to its own source queue: a copy is sent, with body, group and attributes as they are, then the message is " +
		"deleted here. Its attribute first-message-id keeps the first message's MessageId, by which consumers and this program " +
		"know it again: for --key message, for attempts, and for repeats. Copies that SQS's own StartMessageMoveTask makes lack it, so to a " +
		"consumer with --key message they are new events.\n\n" +
		"Groups keep their order among what is put back, but all of it comes after what the group has done meanwhile: a warning says " +
		"where. A message whose effect happened stays, to be dropped; one that a consumer is at work on stays; one that fails holds " +
		"back those behind it in its group.\n\n" +
		"It may be interrupted or killed at any time, and run again: within five minutes SQS itself sees that a copy was sent before, later the " +
		"receipts show it. Later and without receipts a second copy may be sent, which a consumer takes for what it is."
}

func (c *dlqRedrive) run(ctx context.Context, d *dlqDesk) int {
	defer d.close()
	listing, code := d.look(ctx, c.dlqPlace, c.dlqReceipts, c.dlqChoice, false)
	if listing == nil {
		return code
	}
	d.talk.sayf("%s", dlqSeen(d.settings.Name, *listing))
	d.talk.sayf("%s", dlqPlan(*listing))
	if err := d.warnOfOrder(ctx, listing.Messages); err != nil {
		return d.refuse(err, cli.Harness)
	}
	if code, ok := d.approved(ctx, c.dlqApproval, listing.Count(), "put back"); !ok {
		return code
	}
	return d.move(ctx, *listing, d.letters.Redrive, c.JSON)
}

// dlqPlan says what a redrive would do.
func dlqPlan(l deadletter.Listing) string {
	count := map[string]int{}
	for _, m := range l.Messages {
		switch m.History.State {
		case deadletter.Done:
			count["done already, to stay"]++
		case deadletter.Running:
			count["running, to stay"]++
		case deadletter.Copied:
			count["back already, to be deleted"]++
		case deadletter.Open:
			if m.Source.Name == "" {
				count["of an unknown source, to stay"]++
			} else {
				count["to send to "+clean(m.Source.Name)]++
			}
		}
	}
	var parts []string
	for what, n := range count {
		parts = append(parts, thousands(int64(n))+" "+what)
	}
	slices.Sort(parts)
	if l.Behind > 0 {
		parts = append(parts, "up to "+thousands(int64(l.Behind))+" from behind")
	}
	if len(parts) == 0 {
		return "nothing to put back"
	}
	return "meant: " + strings.Join(parts, " · ") + ", by sends and deletes, no move task"
}

// warnOfOrder names the groups in which later messages were received already.
func (d *dlqDesk) warnOfOrder(ctx context.Context, messages []deadletter.Message) error {
	asked := map[[2]string]bool{}
	for _, m := range messages {
		line := [2]string{m.Source.Name, m.Group}
		if asked[line] || m.History.State != deadletter.Open {
			continue
		}
		asked[line] = true
		by, found, err := d.letters.Overtaken(ctx, m)
		if err != nil {
			return err
		}
		if found {
			d.talk.sayf(warningPrefix+"group %s of %s has gone on: message %s was received at %s, and what is put back comes after it",
				clean(m.Group), clean(m.Source.Name), clean(by.MessageID), local(by.ReceivedAt))
		}
	}
	return nil
}

type dlqDrop struct {
	dlqPlace
	dlqReceipts
	dlqChoice
	dlqApproval

	JSON bool `help:"Print a JSON object a message." name:"json"`
}

// Help is the end of 'consumer dlq drop --help'.
func (*dlqDrop) Help() string {
	return "What is deleted is gone: neither SQS nor this program keeps it. Only messages that were seen are deleted, never those behind " +
		"the first ten of a group. 'consumer dlq list --json' beforehand keeps what is known of them, but for the bodies."
}

func (c *dlqDrop) run(ctx context.Context, d *dlqDesk) int {
	defer d.close()
	listing, code := d.look(ctx, c.dlqPlace, c.dlqReceipts, c.dlqChoice, false)
	if listing == nil {
		return code
	}
	d.talk.sayf("%s", dlqSeen(d.settings.Name, *listing))
	// A slip of the pen must not empty a queue that is at work.
	sources, err := d.client.ListDeadLetterSourceQueues(ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &d.settings.URL, MaxResults: aws.Int32(1)})
	if err == nil && len(sources.QueueUrls) == 0 {
		d.talk.sayf(warningPrefix+"no queue names %s as its dead-letter queue: is it one?", d.settings.Name)
	}
	if code, ok := d.approved(ctx, c.dlqApproval, len(listing.Messages), "delete"); !ok {
		return code
	}
	return d.move(ctx, *listing, d.letters.Drop, c.JSON)
}

// approved asks for leave to do something to count messages.
func (d *dlqDesk) approved(ctx context.Context, a dlqApproval, count int, what string) (code int, ok bool) {
	meant := plural(int64(count), "message", "messages")
	switch {
	case a.Approve != nil && *a.Approve != count:
		return d.refuse(cli.Hint(fmt.Errorf("%d were approved, and %s are meant now: nothing was done", *a.Approve, meant),
			"look again with '%s list', then approve with --approve %d", dlq.Name, count), cli.Failed), false
	case count == 0:
		d.talk.sayf("there is nothing to %s", what)
		return cli.OK, false
	case a.Approve != nil:
		return cli.OK, true
	}
	in, isFile := d.stdio.In.(*os.File)
	if !isFile || !cli.IsTerminal(in, d.env) {
		return d.refuse(cli.Hint(fmt.Errorf("nobody approved to %s %s: nothing was done", what, meant), "approve it with --approve %d", count), cli.Failed), false
	}
	fmt.Fprintf(d.stdio.Err, "Type %d to %s %s: ", count, what, meant)
	if answer := ask(ctx, in); answer != strconv.Itoa(count) {
		return d.refuse(errors.New("not approved: nothing was done"), cli.Failed), false
	}
	return cli.OK, true
}

// ask reads a line that a person types; "" where ctx ends first.
func ask(ctx context.Context, in io.Reader) string {
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // the end of the input says no
		said <- strings.TrimSpace(line)
	}()
	select {
	case line := <-said:
		return line
	case <-ctx.Done():
		return ""
	}
}

// dlqOutcome is a line of --json; docs/dead-letters.md describes it.
type dlqOutcome struct {
	MessageID      string            `json:"message_id"`
	FirstMessageID string            `json:"first_message_id"`
	Group          string            `json:"group"`
	Source         string            `json:"source,omitempty"`
	Result         deadletter.Result `json:"result"`
	Reason         string            `json:"reason,omitempty"`
	CopyID         string            `json:"copy_id,omitempty"`
}

type mover func(ctx context.Context, listing deadletter.Listing, told func(deadletter.Outcome)) (deadletter.Tally, error)

// move does what was approved, tells of every message, and gives the exit code.
func (d *dlqDesk) move(ctx context.Context, listing deadletter.Listing, do mover, asJSON bool) int {
	var broken error
	tally, err := do(ctx, listing, func(o deadletter.Outcome) {
		if asJSON {
			broken = errors.Join(broken, plainJSON(d.stdio.Out, dlqOutcome{
				MessageID: o.Message.ID, FirstMessageID: o.Message.Identity, Group: o.Message.Group, Source: o.Message.Source.Name,
				Result: o.Result, Reason: o.Reason, CopyID: o.CopyID,
			}))
			return
		}
		_, failed := fmt.Fprintf(d.stdio.Out, "%-13s  %s%s\n", o.Result, clean(o.Message.ID), dlqNote(o))
		broken = errors.Join(broken, failed)
	})
	d.talk.sayf("%s", dlqTally(tally))
	switch {
	case ctx.Err() != nil:
		d.talk.sayf("stopped: what is not named above stays where it was")
		return cli.Failed
	case err != nil:
		return d.refuse(dlqHint(err), cli.Harness)
	case broken != nil:
		return d.refuse(fmt.Errorf("writing to standard output: %w", broken), cli.Harness)
	case tally.Stayed() > 0:
		return cli.Failed
	default:
		return cli.OK
	}
}

func dlqNote(o deadletter.Outcome) string {
	switch {
	case o.Reason != "" && o.CopyID != "":
		return "  " + clean(o.Reason) + " (copy " + clean(o.CopyID) + ")"
	case o.Reason != "":
		return "  " + clean(o.Reason)
	case o.CopyID != "":
		return "  to " + clean(o.Message.Source.Name) + " as " + clean(o.CopyID)
	default:
		return ""
	}
}

// dlqTally is a tally in one sentence.
func dlqTally(t deadletter.Tally) string {
	var parts []string
	for _, result := range deadletter.Results() {
		if n := t.By[result]; n > 0 {
			parts = append(parts, thousands(int64(n))+" "+string(result))
		}
	}
	if t.Unasked > 0 {
		parts = append(parts, thousands(int64(t.Unasked))+" came meanwhile and stay")
	}
	if len(parts) == 0 {
		return "nothing was done"
	}
	return strings.Join(parts, " · ")
}
