package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/deadletter"
	"fifoproof/internal/receipt"
)

type dlqList struct {
	dlqPlace
	dlqReceipts
	dlqChoice

	JSON bool `help:"Print a JSON object a line." name:"json"`
}

func (c *dlqList) run(ctx context.Context, d *dlqDesk) int {
	defer d.close()
	listing, code := d.look(ctx, c.dlqPlace, c.dlqReceipts, c.dlqChoice, false)
	if listing == nil {
		return code
	}
	if err := d.print(listing, c.JSON); err != nil {
		return d.refuse(err, cli.Harness)
	}
	d.talk.sayf("%s", dlqSeen(d.settings.Name, *listing))
	return cli.OK
}

// print writes the messages of a listing to standard output.
func (d *dlqDesk) print(listing *deadletter.Listing, asJSON bool) error {
	out := bufio.NewWriter(d.stdio.Out)
	var err error
	if asJSON {
		for _, m := range listing.Messages {
			err = errors.Join(err, writeDLQJSON(out, m))
		}
	} else {
		err = writeDLQRows(out, listing.Messages)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing to standard output: %w", err)
	}
	return nil
}

// dlqSeen is one sentence about a look.
func dlqSeen(queue string, l deadletter.Listing) string {
	text := fmt.Sprintf("%s in %s", plural(int64(l.Seen), "message", "messages"), queue)
	if len(l.Messages) != l.Seen {
		text += fmt.Sprintf(" · %s chosen", thousands(int64(len(l.Messages))))
	}
	if l.Behind > 0 {
		text += fmt.Sprintf(" · about %s more behind the first ten of their groups, not to be seen before those are gone", thousands(int64(l.Behind)))
	}
	if l.Unseen > 0 {
		why := "others have them in flight, or the queue's counters lag"
		if l.Full {
			why = "no more can be held at once"
		}
		text += fmt.Sprintf(" · about %s more not seen: %s", thousands(int64(l.Unseen)), why)
	}
	return text
}

const dlqLayout = "%-23s  %8s  %-16s  %-36s  %-16s  %s\n"

// writeDLQRows writes a row a message, for a person.
func writeDLQRows(w io.Writer, messages []deadletter.Message) error {
	if len(messages) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, dlqLayout, "died", "attempts", "group", "message", "source", "reason")
	for _, m := range messages {
		_, failed := fmt.Fprintf(w, dlqLayout, local(m.SentAt), dlqAttempts(m.History), dash(m.Group), dash(m.ID), dlqSource(m), dlqReason(m))
		err = errors.Join(err, failed)
	}
	return err
}

const unknown = "unknown"

func dlqAttempts(h deadletter.History) string {
	if !h.Known {
		return unknown
	}
	n := 0
	for _, a := range h.Attempts {
		n = max(n, a.Number)
	}
	return thousands(int64(n))
}

func dlqSource(m deadletter.Message) string { return clean(cmp.Or(m.Source.Name, unknown)) }

func dlqReason(m deadletter.Message) string {
	text := clean(cmp.Or(m.History.Reason, unknown))
	switch m.History.State {
	case deadletter.Done:
		text = "its effect happened: " + text
	case deadletter.Copied:
		text = "its copy is back already: " + text
	case deadletter.Running, deadletter.Open:
	}
	if m.Identity != m.ID {
		text += " (copy of " + clean(m.Identity) + ")"
	}
	return text
}

type dlqShow struct {
	ID string `arg:"" help:"MessageId, in the dead-letter queue or of the first message."`

	dlqPlace
	dlqReceipts

	Body bool `help:"Show the body, too."`
	JSON bool `help:"Print JSON." name:"json"`
}

func (c *dlqShow) run(ctx context.Context, d *dlqDesk) int {
	defer d.close()
	listing, code := d.look(ctx, c.dlqPlace, c.dlqReceipts, dlqChoice{Message: c.ID}, c.Body)
	if listing == nil {
		return code
	}
	if len(listing.Messages) == 0 {
		return d.refuse(cli.Hint(fmt.Errorf("there is no message %s among %s", clean(c.ID), dlqSeen(d.settings.Name, *listing)), "'%s list' shows all", dlq.Name), cli.Failed)
	}
	if c.JSON {
		if err := d.print(listing, true); err != nil {
			return d.refuse(err, cli.Harness)
		}
		return cli.OK
	}
	out := bufio.NewWriter(d.stdio.Out)
	var err error
	for i, m := range listing.Messages {
		if i > 0 {
			_, err = fmt.Fprintln(out)
		}
		err = errors.Join(err, writeDLQPage(out, m, d.settings.Name, d.settings.Retention, c.Body))
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return d.refuse(fmt.Errorf("writing to standard output: %w", err), cli.Harness)
	}
	return cli.OK
}

// writeDLQPage writes all that is known of a message, for a person.
func writeDLQPage(w io.Writer, m deadletter.Message, queue string, retention time.Duration, body bool) error {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s"+format+"\n", append([]any{label}, args...)...)
	}
	line("message", "%s", dash(m.ID))
	if m.Identity != m.ID {
		line("first", "%s, of which this is a copy that was put back", clean(m.Identity))
	}
	line("queue", "%s", queue)
	if m.Source.Name == "" {
		line("source", unknown)
	} else {
		line("source", "%s, as told by %s", clean(m.Source.Name), m.Source.By)
	}
	line("group", "%s", dash(m.Group))
	kept := ""
	if retention > 0 && !m.SentAt.IsZero() {
		kept = ", kept until " + local(m.SentAt.Add(retention))
	}
	line("died", "%s%s", local(m.SentAt), kept)
	line("looked at", "first %s", local(m.Looked))
	line("receives", "%s in all queues, looks at it here included", thousands(int64(m.Receives)))
	line("body", "%s, SHA-256 %s (%s)", plural(int64(m.Size), "byte", "bytes"), clean(m.Digest.Value), m.Digest.Of)
	line("attributes", "%s", dash(strings.Join(m.Names, ", ")))
	writeDLQHistory(line, &b, m.History)
	if body {
		b.WriteString("\n")
		for text := range strings.SplitSeq(m.Body, "\n") {
			b.WriteString(clean(text) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeDLQHistory(line func(label, format string, args ...any), b *strings.Builder, h deadletter.History) {
	if !h.Known {
		line("attempts", unknown+": no receipt tells of it")
		return
	}
	line("received", "first %s, last %s", local(h.First), local(h.Last))
	switch h.State {
	case deadletter.Done:
		line("state", "its effect happened: redrive leaves it here, drop takes it away")
	case deadletter.Running:
		line("state", "a consumer is at work on it: redrive leaves it here")
	case deadletter.Copied:
		line("state", "its copy %s is back already: redrive only takes it away here", clean(h.CopyID))
	case deadletter.Open:
	}
	line("reason", "%s", cmp.Or(clean(h.Reason), unknown))
	b.WriteString("\n")
	fmt.Fprintf(b, dlqAttemptLayout, "attempt", "received", "took", "kind", "worker", "reason")
	for _, a := range h.Attempts {
		number := "-"
		if a.Number > 0 {
			number = thousands(int64(a.Number))
		}
		fmt.Fprintf(b, dlqAttemptLayout, number, local(a.Received), took(a), a.Kind, dash(a.Worker), dash(a.Reason))
	}
}

const dlqAttemptLayout = "%7s  %-23s  %-9s  %-11s  %-24s  %s\n"

// took is how long an attempt lasted.
func took(a deadletter.Attempt) string {
	switch {
	case a.Started.IsZero():
		return "-"
	case a.Ended.IsZero():
		return "no end"
	default:
		return a.Ended.Sub(a.Started).Round(time.Millisecond).String()
	}
}

// dlqLine is a line of --json; docs/dead-letters.md describes it.
type dlqLine struct {
	MessageID      string           `json:"message_id"`
	FirstMessageID string           `json:"first_message_id"`
	Group          string           `json:"group"`
	SequenceNumber string           `json:"sequence_number"`
	Source         string           `json:"source,omitempty"`
	SourceBy       string           `json:"source_by,omitempty"`
	DiedAt         *time.Time       `json:"died_at,omitempty"`
	LookedAt       *time.Time       `json:"looked_at,omitempty"`
	Receives       int              `json:"receives"`
	BodyBytes      int              `json:"body_bytes"`
	BodyDigest     string           `json:"body_digest"`
	BodyDigestOf   string           `json:"body_digest_of"`
	Attributes     []string         `json:"attributes"`
	Known          bool             `json:"known"`
	State          deadletter.State `json:"state"`
	Reason         string           `json:"reason"`
	FirstReceived  *time.Time       `json:"first_received_at,omitempty"`
	LastReceived   *time.Time       `json:"last_received_at,omitempty"`
	Attempts       []dlqAttemptLine `json:"attempts"`
	Body           *string          `json:"body,omitempty"`
}

type dlqAttemptLine struct {
	Number       int          `json:"number"`
	MessageID    string       `json:"message_id"`
	ReceiveCount int          `json:"receive_count"`
	ReceivedAt   time.Time    `json:"received_at"`
	StartedAt    *time.Time   `json:"started_at,omitempty"`
	EndedAt      *time.Time   `json:"ended_at,omitempty"`
	Worker       string       `json:"worker,omitempty"`
	Kind         receipt.Kind `json:"kind"`
	Reason       string       `json:"reason,omitempty"`
}

func writeDLQJSON(w io.Writer, m deadletter.Message) error {
	h := m.History
	l := dlqLine{
		MessageID: m.ID, FirstMessageID: m.Identity, Group: m.Group, SequenceNumber: m.Sequence, Source: m.Source.Name, SourceBy: m.Source.By,
		DiedAt: moment(m.SentAt), LookedAt: moment(m.Looked), Receives: m.Receives, BodyBytes: m.Size, BodyDigest: m.Digest.Value,
		BodyDigestOf: m.Digest.Of, Attributes: append([]string{}, m.Names...), Known: h.Known, State: h.State, Reason: cmp.Or(h.Reason, unknown),
		FirstReceived: moment(h.First), LastReceived: moment(h.Last), Attempts: []dlqAttemptLine{},
	}
	for _, a := range h.Attempts {
		l.Attempts = append(l.Attempts, dlqAttemptLine{
			Number: a.Number, MessageID: a.MessageID, ReceiveCount: a.Receives, ReceivedAt: a.Received,
			StartedAt: moment(a.Started), EndedAt: moment(a.Ended), Worker: a.Worker, Kind: a.Kind, Reason: a.Reason,
		})
	}
	if m.Body != "" {
		l.Body = &m.Body
	}
	return plainJSON(w, l)
}

func plainJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // it is no web page
	return encoder.Encode(value)
}

// moment is a time for JSON; nil where there is none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
