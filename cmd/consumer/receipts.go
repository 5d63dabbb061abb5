package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/receipt"
	"fifoproof/internal/timeline"
)

func printReceipts(ctx context.Context, args []string, stdio cli.Stdio) int {
	var f receiptsFlags
	if kctx, code := cli.Parse(&f, receipts, args, stdio); kctx == nil {
		return code
	}
	filter, err := f.filter(time.Now())
	if err != nil {
		cli.Report(stdio.Err, name+" "+receiptsCommand, err)
		return cli.Usage
	}
	store, err := openStore(ctx, f.DB, true)
	if err != nil {
		cli.Report(stdio.Err, name, whereReceipts(err, f.DB))
		return cli.Harness
	}
	defer func() { _ = store.Close() }() // it was only read

	switch all := store.Receipts(ctx, filter); {
	case f.HTML != "":
		err = drawPage(all, f.HTML, stdio)
	case f.JSON:
		err = writeLines(ctx, stdio.Out, all, store.Horizon)
	default:
		err = errors.Join(writeAll(stdio.Out, all, writeRow()), printCounts(ctx, store, stdio))
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
		return cli.Hint(fmt.Errorf("there are no receipts at %s", shown(path)), "name the file with --db; 'consumer --queue ...' writes it")
	case errors.Is(err, receipt.ErrNotReceipts):
		return cli.Hint(err, "name the file with --db that was given to the consumer")
	default:
		return err
	}
}

// writeAll writes one receipt after the other, as they are read.
func writeAll(w io.Writer, all iter.Seq2[receipt.Receipt, error], write func(io.Writer, receipt.Receipt) error) error {
	out := bufio.NewWriter(w)
	for r, err := range all {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if err := write(out, r); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing to standard output: %w", err)
	}
	return nil
}

// writeLines writes receipts as JSON lines. How far back they go stands before them, so
// that it is told even where they are cut off, and again after them where some were
// forgotten meanwhile.
func writeLines(ctx context.Context, w io.Writer, all iter.Seq2[receipt.Receipt, error], horizon func(context.Context) (time.Time, error)) error {
	told := time.Time{}
	tell := func() error {
		before, err := horizon(ctx)
		if err != nil || !before.After(told) {
			return err
		}
		told = before
		if err := json.NewEncoder(w).Encode(map[string]time.Time{"horizon": before.UTC()}); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
		return nil
	}
	if err := tell(); err != nil {
		return err
	}
	if err := writeAll(w, all, writeJSON); err != nil {
		return err
	}
	return tell()
}

const (
	layout   = "%-23s  %-11s  %-16s  %-36s  %-16s  %7s  %-16s%s\n"
	shortKey = 16 // enough of a hash to tell two apart; --json has all of it
)

// writeRow writes receipts for a person, with a heading above the first.
func writeRow() func(io.Writer, receipt.Receipt) error {
	headed := false
	return func(w io.Writer, r receipt.Receipt) error {
		if !headed {
			headed = true
			if _, err := fmt.Fprintf(w, layout, "received", "kind", "group", "message", "key", "attempt", "worker", ""); err != nil {
				return err
			}
		}
		attempt := "-"
		if r.Attempt.Number > 0 {
			attempt = strconv.Itoa(r.Attempt.Number)
		}
		_, err := fmt.Fprintf(w, layout, local(r.ReceivedAt), dash(string(r.Kind)), dash(r.Group), dash(r.MessageID),
			short(dash(r.Key.Value)), attempt, short(dash(r.Attempt.Worker)), note(r))
		return err
	}
}

// note is what else there is to say of a receipt.
func note(r receipt.Receipt) string {
	var parts []string
	if r.Reason != "" {
		parts = append(parts, clean(r.Reason))
	}
	if r.Kind == receipt.Repeated {
		parts = append(parts, fmt.Sprintf("first %s at %s", clean(r.First.MessageID), local(r.First.ReceivedAt)))
	}
	if r.OriginID != "" {
		parts = append(parts, "a redriven copy of "+clean(r.OriginID))
	}
	if r.ReceiveCount > 1 && len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("received %d times", r.ReceiveCount))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, " · ")
}

// drawPage writes the timeline of the newest messages to a file, or "-".
func drawPage(all iter.Seq2[receipt.Receipt, error], file string, stdio cli.Stdio) error {
	kept, left, err := timeline.Newest(all, timeline.Limit)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := timeline.HTML(&page, kept, left); err != nil {
		return err
	}
	if file == "-" {
		_, err = page.WriteTo(stdio.Out)
	} else {
		err = os.WriteFile(file, page.Bytes(), 0o600)
	}
	if err != nil {
		return cli.Hint(fmt.Errorf("writing the timeline: %w", err), "name a file that can be written with --html")
	}
	if file != "-" {
		_, err = fmt.Fprintf(stdio.Err, "%s: timeline of %s in %s\n", name, plural(int64(len(kept)), "delivery", "deliveries"), file)
	}
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
	_, err = fmt.Fprintf(stdio.Err, "%s: %s on record · %s fresh · %s redelivered · %s repeated · %s rejected · %s failed · %s pending · %s\n",
		name, plural(c.Deliveries(), "receipt", "receipts"), thousands(c.Fresh), thousands(c.Redelivered), thousands(c.Repeated),
		thousands(c.Rejected), thousands(c.Failed), thousands(c.Pending), plural(c.Effects, "effect", "effects"))
	return err
}

// receiptLine is a line of --json; docs/receipts.md describes it.
type receiptLine struct {
	Receipt        int64        `json:"receipt"`
	Kind           receipt.Kind `json:"kind"`
	Reason         string       `json:"reason,omitempty"`
	Queue          string       `json:"queue"`
	MessageID      string       `json:"message_id"`
	RedrivenID     string       `json:"redriven_id,omitempty"`
	Group          string       `json:"group"`
	DedupID        string       `json:"dedup_id"`
	SequenceNumber string       `json:"sequence_number"`
	ReceiveCount   int          `json:"receive_count"`
	BodyDigest     string       `json:"body_digest"`
	Fingerprint    string       `json:"fingerprint,omitempty"`
	Consumer       string       `json:"consumer,omitempty"`
	Key            *keyPart     `json:"key,omitempty"`
	SentAt         *time.Time   `json:"sent_at,omitempty"`
	ReceivedAt     time.Time    `json:"received_at"`
	First          *firstPart   `json:"first,omitempty"`
	Attempt        *attemptPart `json:"attempt,omitempty"`
}

type keyPart struct {
	Rule     string `json:"rule"`
	Consumer string `json:"consumer,omitempty"`
	Space    string `json:"space"`
	Group    string `json:"group,omitempty"`
	Value    string `json:"value"`
	Message  string `json:"message,omitempty"`
}

type firstPart struct {
	MessageID  string    `json:"message_id"`
	ReceivedAt time.Time `json:"received_at"`
}

type attemptPart struct {
	Number  int        `json:"number"`
	Worker  string     `json:"worker"`
	Started *time.Time `json:"started,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
}

func writeJSON(w io.Writer, r receipt.Receipt) error {
	line := receiptLine{
		Receipt: r.ID, Kind: r.Kind, Reason: r.Reason, Queue: r.Queue, MessageID: r.MessageID, RedrivenID: r.OriginID, Group: r.Group,
		DedupID: r.DedupID, SequenceNumber: r.SequenceNumber, ReceiveCount: r.ReceiveCount, BodyDigest: r.BodyDigest,
		Fingerprint: r.Fingerprint, Consumer: r.Key.Consumer, SentAt: told(r.SentAt), ReceivedAt: r.ReceivedAt.UTC(),
	}
	if k := r.Key; k.Value != "" {
		line.Key = &keyPart{Rule: k.Rule, Consumer: k.Consumer, Space: k.Space, Group: k.Group, Value: k.Value, Message: k.Message}
	}
	if r.First != (receipt.Origin{}) {
		line.First = &firstPart{MessageID: r.First.MessageID, ReceivedAt: r.First.ReceivedAt.UTC()}
	}
	if a := r.Attempt; a.Number > 0 {
		line.Attempt = &attemptPart{Number: a.Number, Worker: a.Worker, Started: told(a.Started), Ended: told(a.Ended)}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // it is no web page
	return encoder.Encode(line)
}

// told is a time in UTC, or nil where there is none.
func told(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}
