package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
)

func printReceipts(ctx context.Context, args []string, stdio cli.Stdio) int {
	var f receiptsFlags
	if kctx, code := cli.Parse(&f, receipts, args, stdio); kctx == nil {
		return code
	}
	filter, err := f.filter()
	if err != nil {
		cli.Report(stdio.Err, name, err)
		return cli.Usage
	}
	store, err := sqlite.Open(ctx, f.DB, sqlite.ReadOnly())
	if err != nil {
		cli.Report(stdio.Err, name, whereReceipts(err, f.DB))
		return cli.Harness
	}
	defer func() { _ = store.Close() }() // it was only read

	out := bufio.NewWriter(stdio.Out)
	write := writeRow
	if f.JSON {
		write = writeJSON
	}
	err = writeAll(out, store.Receipts(ctx, filter), write, !f.JSON)
	err = errors.Join(err, out.Flush())
	if err == nil && !f.JSON {
		err = printCounts(ctx, store, stdio)
	}
	if err != nil {
		cli.Report(stdio.Err, name, err)
		return cli.Harness
	}
	return cli.OK
}

// whereReceipts says what to do where no receipts could be opened.
func whereReceipts(err error, path string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.Hint(fmt.Errorf("there are no receipts at %s", path), "name the file with --db; 'consumer --queue ...' writes it")
	case errors.Is(err, receipt.ErrNotReceipts):
		return cli.Hint(err, "name the file with --db that was given to the consumer")
	default:
		return err
	}
}

func writeAll(out *bufio.Writer, all func(yield func(receipt.Receipt, error) bool), write func(io.Writer, receipt.Receipt) error, header bool) error {
	for r, err := range all {
		if err != nil {
			return err
		}
		if header {
			header = false
			if _, err := fmt.Fprintf(out, layout, "received", "kind", "group", "message", "key", "\n"); err != nil {
				return fmt.Errorf("writing to standard output: %w", err)
			}
		}
		if err := write(out, r); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
	}
	return nil
}

const (
	layout   = "%-23s  %-11s  %-16s  %-36s  %-16s%s"
	shortKey = 16 // enough of a hash to tell two apart; --json has all of it
)

// writeRow writes a receipt for a person.
func writeRow(w io.Writer, r receipt.Receipt) error {
	note := "\n"
	switch {
	case r.Reason != "":
		note = "  " + clean(r.Reason) + "\n"
	case r.Kind == receipt.Repeated:
		note = fmt.Sprintf("  first %s at %s\n", clean(r.First.MessageID), local(r.First.ReceivedAt))
	case r.ReceiveCount > 1:
		note = fmt.Sprintf("  received %d times\n", r.ReceiveCount)
	}
	_, err := fmt.Fprintf(w, layout, local(r.ReceivedAt), r.Kind, dash(r.Group), dash(r.MessageID), short(dash(r.Key.Value)), note)
	return err
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return clean(text)
}

func short(text string) string {
	if runes := []rune(text); len(runes) > shortKey {
		return string(runes[:shortKey-1]) + "…"
	}
	return text
}

// printCounts says on standard error how much there is.
func printCounts(ctx context.Context, store receipt.Store, stdio cli.Stdio) error {
	c, err := store.Counts(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdio.Err, "%s: %s on record · %s fresh · %s redelivered · %s repeated · %s rejected · %s pending · %s\n",
		name, plural(c.Deliveries(), "receipt", "receipts"), thousands(c.Fresh), thousands(c.Redelivered), thousands(c.Repeated),
		thousands(c.Rejected), thousands(c.Pending), plural(c.Effects, "effect", "effects"))
	return err
}

// receiptLine is a line of --json; docs/receipts.md describes it.
type receiptLine struct {
	Receipt        int64        `json:"receipt"`
	Kind           receipt.Kind `json:"kind"`
	Reason         string       `json:"reason,omitempty"`
	Queue          string       `json:"queue"`
	MessageID      string       `json:"message_id"`
	Group          string       `json:"group"`
	DedupID        string       `json:"dedup_id"`
	SequenceNumber string       `json:"sequence_number"`
	ReceiveCount   int          `json:"receive_count"`
	BodyDigest     string       `json:"body_digest"`
	Key            *keyPart     `json:"key,omitempty"`
	SentAt         *time.Time   `json:"sent_at,omitempty"`
	ReceivedAt     time.Time    `json:"received_at"`
	First          *firstPart   `json:"first,omitempty"`
}

type keyPart struct {
	Rule  string `json:"rule"`
	Space string `json:"space"`
	Group string `json:"group,omitempty"`
	Value string `json:"value"`
}

type firstPart struct {
	MessageID  string    `json:"message_id"`
	ReceivedAt time.Time `json:"received_at"`
}

func writeJSON(w io.Writer, r receipt.Receipt) error {
	line := receiptLine{
		Receipt: r.ID, Kind: r.Kind, Reason: r.Reason, Queue: r.Queue, MessageID: r.MessageID, Group: r.Group,
		DedupID: r.DedupID, SequenceNumber: r.SequenceNumber, ReceiveCount: r.ReceiveCount, BodyDigest: r.BodyDigest,
		ReceivedAt: r.ReceivedAt,
	}
	if r.Key.Value != "" {
		line.Key = &keyPart{Rule: r.Key.Rule, Space: r.Key.Space, Group: r.Key.Group, Value: r.Key.Value}
	}
	if !r.SentAt.IsZero() {
		line.SentAt = &r.SentAt
	}
	if r.First != (receipt.Origin{}) {
		line.First = &firstPart{MessageID: r.First.MessageID, ReceivedAt: r.First.ReceivedAt}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // it is no web page
	return encoder.Encode(line)
}
