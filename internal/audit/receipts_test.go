package audit_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/audit"
	"fifoproof/internal/audit/audittest"
	"fifoproof/internal/cli"
	"fifoproof/internal/producer"
	"fifoproof/internal/receipt"
)

func consumer(name string) func(*receipt.Receipt) {
	return func(r *receipt.Receipt) { r.Key.Consumer = name }
}

func inKey(id string) func(*receipt.Receipt) { return func(r *receipt.Receipt) { r.Key.Message = id } }

func failed(r *receipt.Receipt) { r.Kind, r.Attempt.Number = receipt.Failed, r.ReceiveCount }

// copyOf makes a receipt one of a copy that 'consumer dlq redrive' sent: the first
// message's id in its attribute, and a deduplication id that is a SHA-256.
func copyOf(message string) func(*receipt.Receipt) {
	return func(r *receipt.Receipt) { r.OriginID, r.DedupID = message, copyID }
}

const (
	original = "6f1c2a34-8c1e-4a4e-9a53-0f1c7f3b5d21"
	copyID   = "0d5f2d3c8f64a0a0b7e4a1d9c1f3b0a95e6c7d8e9f00112233445566778899aa"
)

// TestReceiptsOfAttempts judges what receipts with attempts, consumers and redriven
// copies tell.
func TestReceiptsOfAttempts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		make  func(h *history)
		found []string
	}{
		// An attempt that failed is one that comes again.
		{name: "failed, and done the second time", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", failed)
			h.deliver(0, 31, "a", "m1", count(2))
		}, found: []string{"redelivered note 1@2"}},
		{name: "failed for good", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", failed)
		}, found: []string{"unfinished note 1@1"}},
		{name: "behind a failed attempt a message waits", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(0, 0.1, "a", "m1", failed)
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@2", "unfinished note 1@1"}},
		{name: "behind a done one it is lost", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(0, 0.1, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered fail 1@2"}},

		// An effect is one consumer's.
		{name: "two consumers have two effects", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", consumer("bookkeeper"))
			h.deliver(0, 31, "a", "m1", count(2), consumer("mailer"))
		}, found: []string{"redelivered note 1@2"}},
		{name: "one consumer has one", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", consumer("mailer"))
			h.deliver(0, 31, "a", "m1", count(2), consumer("mailer"))
		}, found: []string{"effect-twice fail 1@2", "redelivered note 1@2"}},
		{name: "who is not told is called as the queue is", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(0, 31, "a", "m1", count(2), consumer("orders.fifo"))
		}, found: []string{"effect-twice fail 1@2", "redelivered note 1@2"}},
		{name: "one consumer of two queues has one effect of a key", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", consumer("mailer"))
			h.deliver(0, 31, "a", "m2", onQueue("others.fifo"), consumer("mailer"))
		}, found: []string{"effect-twice fail 1@2"}},
		{name: "two queues without a consumer's name have two", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(0, 31, "a", "m2", onQueue("others.fifo"))
		}},
		{name: "with --repeated run each message has its own", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(400, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(400, 400.1, "a", "m2", inKey("m2"))
			h.deliver(400, 431, "a", "m2", inKey("m2"), count(2), kind(receipt.Redelivered))
		}, found: []string{"doubled-outside note 1@2", "redelivered note 1@3"}},
		{name: "and no second one", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(400, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(400, 400.1, "a", "m2", inKey("m2"))
			h.deliver(400, 431, "a", "m2", inKey("m2"), count(2))
		}, found: []string{"effect-twice fail 1@3", "doubled-outside note 1@2", "redelivered note 1@3"}},

		// Redriven copies.
		{name: "a redriven copy inside the window", make: func(h *history) {
			h.send(0, "a", original)
			h.send(1, "b", "m2")
			h.deliver(0, 0.1, "a", original, failed)
			h.deliver(1, 20, "b", "m2")
			h.deliver(60, 60.1, "a", "m9", copyOf(original))
		}},
		{name: "without its first MessageId it would be a copy", make: func(h *history) {
			h.send(0, "a", original)
			h.deliver(0, 0.1, "a", original, failed)
			h.deliver(60, 60.1, "a", "m9")
		}, found: []string{"doubled-inside fail 1@2", "unfinished note 1@1"}},
		{name: "a redriven copy keyed by something else", make: func(h *history) {
			h.send(0, "a", original)
			h.send(61, "b", "m2")
			h.deliver(0, 0.1, "a", original, failed, rule("pointer:/id"))
			h.deliver(60, 60.1, "a", "m9", copyOf(original), rule("pointer:/id"))
			h.deliver(61, 61.1, "b", "m2", rule("pointer:/id"))
		}},
		{name: "without its first MessageId it would be a stray", make: func(h *history) {
			h.send(0, "a", original)
			h.send(70, "b", "m2")
			h.deliver(0, 0.1, "a", original, rule("pointer:/id"))
			h.deliver(60, 60.1, "a", "m9", dedup(copyID), rule("pointer:/id"), kind(receipt.Repeated))
			h.deliver(70, 70.1, "b", "m2", rule("pointer:/id"))
		}, found: []string{"stray fail 1@2"}},
		{name: "a copy is proof that the first message was delivered", make: func(h *history) {
			h.send(0, "a", original)
			h.deliver(60, 60.1, "a", "m9", copyOf(original), rule("content"))
			elsewhere(h)
		}},
		{name: "redriven twice", make: func(h *history) {
			h.send(0, "a", original)
			h.deliver(0, 0.1, "a", original, failed)
			h.deliver(60, 60.1, "a", "m8", copyOf(original), failed)
			h.deliver(60, 90.1, "a", "m8", copyOf(original), failed, count(2))
			h.deliver(120, 120.1, "a", "m9", copyOf(original))
		}, found: []string{"redelivered note 1@3"}},
		{name: "redriven, and still not done", make: func(h *history) {
			h.send(0, "a", original)
			h.deliver(0, 0.1, "a", original, failed)
			h.deliver(60, 60.1, "a", "m9", copyOf(original), failed)
		}, found: []string{"unfinished note 2@1"}},
		{name: "a copy of what nobody sent", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(60, 60.1, "x", "m9", copyOf(original))
			h.send(120, "b", "m2")
			h.deliver(120, 120.1, "b", "m2")
		}, found: []string{"stray inconclusive 1@2"}},
		{name: "a copy has its place in the order, by its own number", make: func(h *history) {
			h.send(0, "a", original)
			h.send(70, "b", "m2")
			h.deliver(70, 70.1, "b", "m2")
			h.deliver(60, 70.2, "a", "m9", copyOf(original))
		}, found: []string{"out-of-order fail 1@2"}},
		{name: "and its effect is one", make: func(h *history) {
			h.send(0, "a", original)
			h.deliver(0, 0.1, "a", original)
			h.deliver(60, 60.1, "a", "m9", copyOf(original))
		}, found: []string{"effect-twice fail 1@2"}},

		// Messages with two ids.
		{name: "one message under two ids", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2", sendGroup("h"))
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(1, 1.1, "b", "m2", group("h"))
			// Under its second id it would be a copy of m2, with another body and the same
			// receive count.
			h.deliver(0, 1.2, "b", "m1", digest("a"), kind(receipt.Redelivered))
		}, found: []string{"changed-id inconclusive 1@3"}},
		{name: "one message under two ids, of which nobody sent the second", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(0, 31, "x", "m1", count(2), kind(receipt.Redelivered))
			h.send(60, "b", "m2")
			h.deliver(60, 60.1, "b", "m2")
		}, found: []string{"changed-id inconclusive 1@2"}},
		{name: "two rules may each take a message for another's", make: func(h *history) {
			// A program's own UUID as deduplication id is what a move leaves behind, to a
			// consumer that knows the message by its attribute; not to one that does not.
			h.send(0, original, "m1")
			h.deliver(0, 0.1, "a", "m1", dedup(original), digest(original), consumer("mailer"))
			h.deliver(0, 31, "b", "m1", dedup(original), digest(original), rule("pointer:/id"), count(2))
		}},
		{name: "two queues may each give a message an id", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", failed)
			h.deliver(0, 31, "x", "m1", onQueue("dead.fifo"))
		}, found: []string{"unfinished note 1@1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var h history
			tt.make(&h)
			if tt.found == nil {
				tt.found = []string{}
			}
			require.Equal(t, tt.found, h.found(t, audit.Options{}))
			require.Equal(t, tt.found, h.found(t, audit.Options{}.InParts(64)), "partitions make no difference")
		})
	}
}

// TestForgotten judges receipts of which some were forgotten. A send from before the
// horizon without a receipt is never lost and never fine.
func TestForgotten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		horizon float64
		make    func(h *history)
		found   []string
	}{
		{name: "sent before the horizon, with a later message of the group", horizon: 3000, make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(4000, "b", "m2")
			h.deliver(4000, 4000.1, "b", "m2")
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "sent before the horizon, with later messages of other groups", horizon: 3000, make: func(h *history) {
			h.send(0, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "sent after it", horizon: -1000, make: func(h *history) {
			h.send(0, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered fail 1@1"}},
		// A window, the minute beyond it in which a queue may suppress, and one for clocks.
		{name: "sent just after it, it may be a duplicate of what was sent before", horizon: -419, make: func(h *history) {
			h.send(0, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "sent long enough after it", horizon: -421, make: func(h *history) {
			h.send(0, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered fail 1@1"}},
		{name: "a send whose time is not told", horizon: -1e6, make: func(h *history) {
			h.send(0, "a", "m1", func(e *producer.Entry) { e.Attempts = []producer.EntryAttempt{} })
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "what is still on record is judged", horizon: 3000, make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.send(10, "a", "m2")
			h.deliver(10, 10.1, "a", "m2")
		}, found: []string{"doubled-inside fail 1@3", "effect-twice fail 1@3"}}, // behind the horizon's line
		{name: "and may be fine", horizon: 3000, make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := history{horizon: at(tt.horizon)}
			tt.make(&h)
			sends, receipts := h.write(t)
			report, err := audit.Run(context.Background(), sends, receipts, audit.Options{})
			require.NoError(t, err)
			found := brief(report)
			if tt.found == nil {
				tt.found = []string{}
			}
			require.Equal(t, tt.found, found)
			require.Equal(t, at(tt.horizon), report.Horizon)
			require.Len(t, report.Notes, 1)
			require.Contains(t, report.Notes[0], "forgotten")
			for _, f := range report.Findings {
				if f.Kind == audit.NeverDelivered && f.Verdict == audit.Inconclusive {
					require.Contains(t, f.First.Reason, "forgotten")
					require.Equal(t, cli.Inconclusive, report.Exit)
				}
			}
		})
	}
}

// TestLatestHorizon: of several files together, the latest horizon holds for all,
// wherever its line stands.
func TestLatestHorizon(t *testing.T) {
	t.Parallel()
	h := history{horizon: at(-5000)}
	h.send(0, "a", "m1")
	elsewhere(&h)
	sends, receipts := h.write(t)
	file, err := os.OpenFile(receipts, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString("{\"horizon\":\"" + at(3000).Format(time.RFC3339Nano) + "\"}\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	report, err := audit.Run(context.Background(), sends, receipts, audit.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"never-delivered inconclusive 1@1"}, brief(report))
	require.Equal(t, at(3000), report.Horizon)
}

// TestPartitionsMakeNoDifference audits the same files in one part and in many.
func TestPartitionsMakeNoDifference(t *testing.T) {
	t.Parallel()
	sends, receipts, _ := writePair(t, t.TempDir(), audittest.Pair{Messages: 10_000, Groups: 5, Each: 5, Seed: 3})
	var first *audit.Report
	for _, parts := range []int{1, 2, 64} {
		report, err := audit.Run(context.Background(), sends, receipts, audit.Options{}.InParts(parts))
		require.NoError(t, err)
		if first == nil {
			first = report
		}
		require.Equal(t, first, report, "%d partitions", parts)
	}
}
