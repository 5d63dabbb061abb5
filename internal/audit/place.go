package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"fifoproof/internal/producer"
	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

// lineAt is the line that begins at an offset, without its line feed.
func lineAt(file io.ReaderAt, at int64) ([]byte, error) {
	for size := 4 << 10; ; size *= 4 {
		text := make([]byte, size)
		n, err := file.ReadAt(text, at)
		line, _, whole := bytes.Cut(text[:n], []byte("\n"))
		switch {
		case whole, errors.Is(err, io.EOF):
			return line, nil
		case err != nil:
			return nil, err
		case size > longestLine:
			return nil, fmt.Errorf("longer than %d bytes", longestLine)
		}
	}
}

// show turns the tally into findings, with the text of each first offender.
func (a *auditor) show(ctx context.Context) error {
	var wanted []int64 // receipts in a database
	keys := a.found.keys()
	for _, k := range keys {
		h := a.found[k].first
		if !h.send {
			wanted = append(wanted, h.at)
		}
		if h.other >= 0 && !h.otherSend {
			wanted = append(wanted, h.other)
		}
	}
	if err := a.fetch(ctx, wanted); err != nil {
		return err
	}
	a.report.Findings = make([]Finding, 0, len(keys))
	for _, k := range keys {
		t := a.found[k]
		f := Finding{Kind: k.kind, Verdict: k.verdict, Count: t.count}
		f.First.Reason = t.first.reason
		if t.first.hasGap {
			f.First.GapSeconds = new(float64(t.first.gap) / 1e9)
		}
		var err error
		if f.First.Place, err = a.place(t.first.at, t.first.send); err != nil {
			return err
		}
		if t.first.other >= 0 {
			other, err := a.place(t.first.other, t.first.otherSend)
			if err != nil {
				return err
			}
			f.First.Other = &other
		}
		if k.kind == DoubledInside && a.opts.Scope == window.ScopeQueue && f.First.Other != nil && f.First.Other.Group != f.First.Group {
			f.First.Reason += "; they are in two groups: if the queue's DeduplicationScope is messageGroup, give --scope messageGroup"
		}
		a.report.Findings = append(a.report.Findings, f)
	}
	return nil
}

// place is what stands at an offset, or under a number.
func (a *auditor) place(at int64, send bool) (Place, error) {
	switch {
	case send:
		return a.sendPlace(at)
	case a.database != nil:
		return receiptPlace(a.report.Receipts.Path, a.rows[at]), nil
	}
	path := a.report.Receipts.Path
	number, err := a.receiptLines.number(at)
	if err != nil {
		return Place{}, fmt.Errorf("reading %s again: %w", path, err)
	}
	line, err := lineAt(a.receiptLines.file, at)
	if err != nil {
		return Place{}, fmt.Errorf("reading %s line %d again: %w", path, number, err)
	}
	var d delivered
	if err := d.parse(line); err != nil {
		return Place{}, fmt.Errorf("reading %s line %d again: %w", path, number, err)
	}
	p := receiptPlace(path, d.receipt())
	p.Line = number
	return p, nil
}

func (a *auditor) sendPlace(at int64) (Place, error) {
	path := a.report.SendLog.Path
	number, err := a.sendLines.number(at)
	if err != nil {
		return Place{}, fmt.Errorf("reading %s again: %w", path, err)
	}
	line, err := lineAt(a.sendLines.file, at)
	if err != nil {
		return Place{}, fmt.Errorf("reading %s line %d again: %w", path, number, err)
	}
	p := Place{File: path, Line: number}
	_, err = producer.ReadLog(bytes.NewReader(line), func(e producer.Entry) error {
		p.Run, p.Source, p.SourceLine = e.Run, e.Source, e.Line
		p.Queue, p.Group, p.ID = queueName(e.Queue), e.Group, e.ID
		p.MessageID, p.SequenceNumber, p.BodyDigest = e.MessageID, e.SequenceNumber, e.BodyDigest
		p.Outcome = string(e.Outcome)
		if len(e.Attempts) > 0 {
			p.Start = e.Attempts[0].Start.UTC()
			if end := e.Attempts[len(e.Attempts)-1].End; end != nil {
				p.End = end.UTC()
			}
		}
		return nil
	})
	if err != nil {
		return Place{}, fmt.Errorf("reading %s line %d again: %w", path, number, err)
	}
	return p, nil
}

// receipt is the receipt that was read from a line.
func (d *delivered) receipt() receipt.Receipt {
	r := receipt.Receipt{ID: d.number, Delivery: receipt.Delivery{
		Queue: string(d.queue), MessageID: string(d.message), OriginID: string(d.first), Group: string(d.group), DedupID: string(d.id),
		SequenceNumber: string(d.sequence), ReceiveCount: int(d.count), BodyDigest: string(d.digest),
		SentAt: fromNano(d.sent), ReceivedAt: fromNano(d.received),
		Key: receipt.Key{
			Rule: string(d.rule), Consumer: string(d.consumer), Space: string(d.space), Group: string(d.keyGroup),
			Value: string(d.value), Message: string(d.keyMessage),
		},
	}}
	for word, kind := range kinds {
		if kind == d.kind {
			r.Kind = receipt.Kind(word)
		}
	}
	return r
}

func receiptPlace(path string, r receipt.Receipt) Place {
	return Place{
		File: path, Receipt: r.ID, Queue: r.Queue, Group: r.Group, ID: r.DedupID, MessageID: r.MessageID, RedrivenID: r.OriginID,
		SequenceNumber: r.SequenceNumber, BodyDigest: r.BodyDigest, Kind: string(r.Kind), Key: r.Key.Value, Consumer: r.Key.Consumer,
		ReceiveCount: r.ReceiveCount, SentAt: r.SentAt, ReceivedAt: r.ReceivedAt,
	}
}
