package report_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/audit"
	"fifoproof/internal/report"
)

// audited has a finding of each verdict.
func audited() *audit.Report {
	at := func(seconds float64) time.Time {
		return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC).Add(time.Duration(seconds * 1e9))
	}
	const id = "fcc7bd9afa42ebfb627184c1e18807bacfe1418c3d2469948c9e0a3798f727af"
	receipt := audit.Place{
		File: "receipts.jsonl", Line: 901, Receipt: 901, Queue: "orders.fifo", Group: "cus_8801", ID: id,
		MessageID: "6f1c2a34-8c1e-4a4e-9a53-0f1c7f3b5d21", SequenceNumber: "18890000000000000017", BodyDigest: id,
		Kind: "fresh", Key: id, ReceiveCount: 1, SentAt: at(0), ReceivedAt: at(0.125),
	}
	second := receipt
	second.Line, second.Receipt, second.Kind, second.SentAt, second.ReceivedAt = 1203, 1203, "repeated", at(12.5), at(12.75)
	second.MessageID, second.SequenceNumber = "0b6d8e1f-2d0c-4c8e-8f0a-63c7f1a9b202", "18890000000000003217"
	again := receipt
	again.Consumer, again.RedrivenID = "mailer", "3d2f9f0e-4b44-4d53-9b0b-6a2a7d0c1e55"
	again.Line, again.Receipt, again.Kind, again.ReceiveCount, again.ReceivedAt = 950, 950, "redelivered", 2, at(30.5)
	return &audit.Report{
		SendLog:  audit.File{Path: "sends.jsonl", Format: "send log", Lines: 1_000_003},
		Receipts: audit.File{Path: "receipts.jsonl", Format: "receipts", Lines: 1204},
		Scope:    "queue", LateSeconds: 60, GraceSeconds: 900,
		Sends:      audit.Sends{Accepted: 1_000_001, Unknown: 2},
		Deliveries: audit.Deliveries{Messages: 1203, Fresh: 1202, Redelivered: 1, Repeated: 1, Failed: 3},
		Findings: []audit.Finding{
			{Kind: audit.DoubledInside, Verdict: audit.Fail, Count: 1, First: audit.Offender{
				Place: second, Reason: "two messages of one id were sent less than the window apart, by the queue's clock", GapSeconds: new(12.5), Other: &receipt,
			}},
			{Kind: audit.NeverDelivered, Verdict: audit.Inconclusive, Count: 2, First: audit.Offender{
				Place: audit.Place{
					File: "sends.jsonl", Line: 17, Run: "5f0c9a3e", Source: "orders\x1b[31m.ndjson", SourceLine: 17, Queue: "orders.fifo", Group: "cus_8801",
					ID: "0c1d", BodyDigest: "77aa", Outcome: "unknown", Start: at(60.010412),
				},
				Reason: "its outcome is unknown, and nothing of its id was delivered: it may never have reached the queue",
			}},
			{Kind: audit.Redelivered, Verdict: audit.Note, Count: 1, First: audit.Offender{
				Place: again, Reason: "the same message again: its delete was late or lost, or its consumer died", GapSeconds: new(30.375), Other: &receipt,
			}},
		},
		Notes: []string{"line 4 of sends.jsonl was cut off, probably when its run was killed: that send is not known"},
		Exit:  1,
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Audit(&b, audited(), false))
	require.NotContains(t, b.String(), "\x1b", "neither colour nor what others wrote")
	golden(t, "audit.txt", b.Bytes())

	b.Reset()
	require.NoError(t, report.Audit(&b, audited(), true))
	require.Contains(t, b.String(), "\x1b[31mfail        \x1b[0m", "colour stands beside the word, never for it")
}

func TestAuditOfNothing(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Audit(&b, &audit.Report{SendLog: audit.File{Path: "s"}, Receipts: audit.File{Path: "r"}, Scope: "queue"}, false))
	require.Equal(t, "audit of s and r · deduplication scope queue\n  0 sends · 0 receipts of 0 messages\nthere was nothing to judge · exit 0\n", b.String())
}

func TestAuditJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.AuditJSON(&b, audited()))
	golden(t, "audit.json", b.Bytes())
	require.Error(t, report.Audit(failing{}, audited(), false))
}

// failing is a standard output that was closed.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("closed") }
