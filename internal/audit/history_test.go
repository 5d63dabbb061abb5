package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/audit"
	"fifoproof/internal/producer"
	"fifoproof/internal/receipt"
)

// zero is the moment from which the histories of these tests count.
var zero = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return zero.Add(time.Duration(seconds * float64(time.Second)))
}

// history is a send log and receipts, built up by hand.
type history struct {
	sends    []producer.Entry
	receipts []receipt.Receipt
	horizon  time.Time // before which receipts may have been forgotten
}

const queueURL = "http://127.0.0.1:9324/000000000000/orders.fifo"

// send adds an entry: id at a moment, answered with message (which may be "").
func (h *history) send(seconds float64, id, message string, change ...func(*producer.Entry)) {
	start, end := at(seconds), at(seconds+0.005)
	e := producer.Entry{
		Version: 1, Run: "5f0c9a3e", Queue: queueURL, Source: "orders.ndjson", Line: len(h.sends) + 1, Copy: 1,
		Group: "g", ID: id, BodyDigest: id, MessageID: message, Outcome: producer.Accepted,
		SequenceNumber: sequenceAt(seconds),
		Attempts:       []producer.EntryAttempt{{Start: start, EndNS: new(int64), End: &end}},
	}
	if message == "" {
		e.Outcome, e.SequenceNumber = producer.Unknown, ""
		e.Attempts[0].End, e.Attempts[0].EndNS = nil, nil
	}
	for _, c := range change {
		c(&e)
	}
	h.sends = append(h.sends, e)
}

// deliver adds a receipt of a message that was sent at one moment and received at
// another.
func (h *history) deliver(sent, received float64, id, message string, change ...func(*receipt.Receipt)) {
	r := receipt.Receipt{
		ID: int64(len(h.receipts) + 1), Kind: receipt.Fresh,
		Delivery: receipt.Delivery{
			Queue: "orders.fifo", MessageID: message, Group: "g", DedupID: id, SequenceNumber: sequenceAt(sent),
			ReceiveCount: 1, BodyDigest: id, SentAt: at(sent).Truncate(time.Millisecond), ReceivedAt: at(received),
			Key: receipt.Key{Rule: "attribute:idempotency-key", Space: "event", Value: id},
		},
	}
	for _, c := range change {
		c(&r)
	}
	h.receipts = append(h.receipts, r)
}

// sequenceAt rises with time and has more than 64 bits.
func sequenceAt(seconds float64) string {
	return fmt.Sprintf("1%025d", int64(seconds*1000)+1_000_000)
}

// write writes both files and returns their paths.
func (h *history) write(t interface{ TempDir() string }) (sends, receipts string) {
	folder := t.TempDir()
	sends, receipts = filepath.Join(folder, "sends.jsonl"), filepath.Join(folder, "receipts.jsonl")
	var s, r bytes.Buffer
	encoder := json.NewEncoder(&s)
	for _, e := range h.sends {
		must(encoder.Encode(e))
	}
	if !h.horizon.IsZero() {
		fmt.Fprintf(&r, "{\"horizon\":%q}\n", h.horizon.Format(time.RFC3339Nano))
	}
	for _, one := range h.receipts {
		r.Write(receiptJSON(one))
	}
	must(os.WriteFile(sends, s.Bytes(), 0o600))
	must(os.WriteFile(receipts, r.Bytes(), 0o600))
	return sends, receipts
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// receiptJSON is a line of 'consumer receipts --json' (docs/receipts.md).
func receiptJSON(r receipt.Receipt) []byte {
	line := map[string]any{
		"receipt": r.ID, "kind": r.Kind, "queue": r.Queue, "message_id": r.MessageID, "group": r.Group, "dedup_id": r.DedupID,
		"sequence_number": r.SequenceNumber, "receive_count": r.ReceiveCount, "body_digest": r.BodyDigest, "received_at": r.ReceivedAt,
	}
	if r.Key.Value != "" {
		line["key"] = map[string]any{
			"rule": r.Key.Rule, "consumer": r.Key.Consumer, "space": r.Key.Space, "group": r.Key.Group,
			"value": r.Key.Value, "message": r.Key.Message,
		}
	}
	if r.OriginID != "" {
		line["redriven_id"] = r.OriginID
	}
	if r.Attempt.Number > 0 {
		line["attempt"] = map[string]any{"number": r.Attempt.Number, "worker": "w", "started": r.ReceivedAt, "ended": r.ReceivedAt}
	}
	if !r.SentAt.IsZero() {
		line["sent_at"] = r.SentAt
	}
	text, err := json.Marshal(line)
	must(err)
	return append(text, '\n')
}

// found audits the history and returns what was found: "kind verdict count@line".
func (h *history) found(t *testing.T, opts audit.Options) []string {
	t.Helper()
	sends, receipts := h.write(t)
	report, err := audit.Run(context.Background(), sends, receipts, opts)
	require.NoError(t, err)
	return brief(report)
}

func brief(report *audit.Report) []string {
	out := []string{}
	for _, f := range report.Findings {
		out = append(out, fmt.Sprintf("%s %s %d@%d", f.Kind, f.Verdict, f.Count, f.First.Line))
	}
	return out
}
