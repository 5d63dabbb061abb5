package audit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/audit"
	"fifoproof/internal/producer"
	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

// Changes to an entry or a receipt.
func outcome(o producer.Outcome) func(*producer.Entry) {
	return func(e *producer.Entry) { e.Outcome = o }
}
func sendGroup(g string) func(*producer.Entry)   { return func(e *producer.Entry) { e.Group = g } }
func sendDigest(d string) func(*producer.Entry)  { return func(e *producer.Entry) { e.BodyDigest = d } }
func group(g string) func(*receipt.Receipt)      { return func(r *receipt.Receipt) { r.Group = g } }
func kind(k receipt.Kind) func(*receipt.Receipt) { return func(r *receipt.Receipt) { r.Kind = k } }
func count(n int) func(*receipt.Receipt)         { return func(r *receipt.Receipt) { r.ReceiveCount = n } }

func digest(d string) func(*receipt.Receipt) { return func(r *receipt.Receipt) { r.BodyDigest = d } }

func rule(text string) func(*receipt.Receipt) { return func(r *receipt.Receipt) { r.Key.Rule = text } }

func onQueue(name string) func(*receipt.Receipt) { return func(r *receipt.Receipt) { r.Queue = name } }

func dedup(id string) func(*receipt.Receipt) { return func(r *receipt.Receipt) { r.DedupID = id } }
func noTime(r *receipt.Receipt)              { r.SentAt = time.Time{} }
func sequence(seconds float64) func(*receipt.Receipt) {
	return func(r *receipt.Receipt) { r.SequenceNumber = sequenceAt(seconds) }
}

// elsewhere keeps a history's queue alive: messages of another group, sent and delivered
// an hour later and half an hour after that, behind which the receipts prove something.
func elsewhere(h *history) {
	for i := range 12 {
		seconds := 3600.0
		if i > 0 {
			seconds = 5500 + float64(i)
		}
		id := fmt.Sprintf("later-%d", i)
		h.send(seconds, id, "m-"+id, sendGroup("other"))
		h.deliver(seconds, seconds+0.1, id, "m-"+id, group("other"))
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		make  func(h *history)
		opts  audit.Options
		found []string
	}{
		{name: "nothing was sent", make: func(*history) {}},
		{name: "all well", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0.002, 0.1, "a", "m1")
		}},

		// Losses.
		{name: "a loss is proved by a later message of the group", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(1, 1.1, "b", "m2")
		}, found: []string{"never-delivered fail 1@1"}},
		{name: "a loss is proved by the queue's later messages, after the grace time", make: func(h *history) {
			h.send(0, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered fail 1@1"}},
		{name: "nothing is proved while the consumer works off a backlog", make: func(h *history) {
			h.send(0, "a", "m1", sendGroup("h"))
			elsewhere(h)
			h.send(4000, "b", "m2")
			h.deliver(4000, 5512, "b", "m2")
		}, found: []string{"never-delivered inconclusive 1@1", "late note 1@13"}},
		{name: "nor by one reply at the end", make: func(h *history) {
			h.send(0, "a", "m1")
			elsewhere(h)
			h.sends, h.receipts = h.sends[:12], h.receipts[:11]
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "nor while a message of the group may not be deleted", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			elsewhere(h)
			h.deliver(0, 5400, "a", "m1", count(180), kind(receipt.Redelivered))
		}, found: []string{"never-delivered inconclusive 1@2", "late note 1@13"}},
		{name: "the grace time is the caller's", make: func(h *history) {
			h.send(0, "a", "m1")
			elsewhere(h)
		}, opts: audit.Options{Grace: 2 * time.Hour}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "near the end of the receipts it may still be in the queue", make: func(h *history) {
			h.send(0, "a", "m1", sendGroup("other"))
			h.send(60, "b", "m2")
			h.deliver(60, 60.1, "b", "m2")
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "without any receipt of the queue nothing is proved", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(3600, 3600, "b", "m2", onQueue("others.fifo"))
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "behind a message that is not done it waits", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(0, 0.1, "a", "m1", kind(receipt.Rejected))
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@2", "unfinished note 1@1"}},
		{name: "a queue that was made anew counts from the beginning", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", sequence(5000))
			h.send(1000, "b", "m2")
		}, found: []string{"never-delivered inconclusive 1@2"}},
		{name: "refused and unsent messages are not missed", make: func(h *history) {
			h.send(0, "a", "", outcome(producer.Failed))
			h.send(1, "b", "", outcome(producer.Unsent))
			elsewhere(h)
		}},
		{name: "one message that was answered five times is lost once", make: func(h *history) {
			h.send(0, "a", "m1")
			for i := range 4 {
				h.send(float64(i+1), "a", "m1", outcome(producer.Duplicate))
			}
			elsewhere(h)
		}, found: []string{"never-delivered fail 1@1"}},

		// Sends that are duplicates of what was delivered.
		{name: "a duplicate is no loss", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(299, "a", "m1", outcome(producer.Duplicate))
			h.deliver(0, 0.1, "a", "m1")
			elsewhere(h)
		}},
		{name: "a duplicate with a MessageId of its own is no loss", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(200, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			elsewhere(h)
		}},
		{name: "it is one when the window was over", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(302, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered fail 1@2"}},
		{name: "at the end of the window nobody knows", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(300, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@2"}},
		{name: "the first of two, of which the second came", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(100, "a", "m2")
			h.deliver(100, 100.1, "a", "m2")
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "a copy whose time is not told may cover it", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(400, "a", "m2")
			h.deliver(0, 0.1, "a", "m1", noTime)
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@2"}},
		{name: "suppressed too long, or a clock that is ahead", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(400, "a", "m1", outcome(producer.Duplicate))
			h.deliver(0, 0.1, "a", "m1")
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@2"}},
		{name: "a little beyond the window a queue may suppress", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(330, "a", "m1", outcome(producer.Duplicate))
			h.deliver(0, 0.1, "a", "m1")
			elsewhere(h)
		}},

		// Replies that were lost.
		{name: "an unanswered send that was delivered is fine", make: func(h *history) {
			h.send(0, "a", "")
			h.deliver(20, 20.1, "a", "m1")
		}},
		{name: "one that was not is open", make: func(h *history) {
			h.send(0, "a", "")
			elsewhere(h)
		}, found: []string{"never-delivered inconclusive 1@1"}},
		{name: "one whose id was delivered just before is fine", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(100, "a", "")
			h.deliver(0, 0.1, "a", "m1")
		}},
		{name: "one whose id was delivered long before is open", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1000, "a", "")
			h.deliver(0, 0.1, "a", "m1")
		}, found: []string{"never-delivered inconclusive 1@2"}},

		// Two messages of one id.
		{name: "doubled inside the window", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(298.9, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(298.9, 299, "a", "m2", kind(receipt.Repeated))
		}, found: []string{"doubled-inside fail 1@2"}},
		{name: "doubled outside", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(301, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(301, 301.1, "a", "m2", kind(receipt.Repeated))
		}, found: []string{"doubled-outside note 1@2"}},
		{name: "within a second of the window", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(299.5, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(299.5, 299.6, "a", "m2", kind(receipt.Repeated))
		}, found: []string{"doubled-inside inconclusive 1@2"}},
		{name: "each copy is held against the one before it", make: func(h *history) {
			for i := range 4 {
				h.send(float64(i)*310, "a", "m"+string(rune('1'+i)))
				h.deliver(float64(i)*310, float64(i)*310+1, "a", "m"+string(rune('1'+i)), kind(receipt.Repeated))
			}
		}, found: []string{"doubled-outside note 3@2"}},
		{name: "doubled without times", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(10, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(10, 10.1, "a", "m2", noTime, kind(receipt.Repeated))
		}, found: []string{"doubled-inside inconclusive 1@2"}},
		{name: "one id in two groups is one id", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "a", "m2", sendGroup("h"))
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(1, 1.1, "a", "m2", group("h"), kind(receipt.Repeated))
		}, found: []string{"doubled-inside fail 1@2"}},
		{name: "with scope messageGroup it is two", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "a", "m2", sendGroup("h"))
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(1, 1.1, "a", "m2", group("h"), kind(receipt.Repeated))
		}, opts: audit.Options{Scope: window.ScopeGroup}},
		{name: "a second copy under the same MessageId", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(0, 0.2, "a", "m1", kind(receipt.Redelivered))
		}, found: []string{"doubled-inside inconclusive 1@2", "redelivered note 1@2"}},

		// What is allowed.
		{name: "redelivered", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", kind(receipt.Pending))
			h.deliver(0, 30.1, "a", "m1", count(2))
		}, found: []string{"redelivered note 1@2"}},
		{name: "late", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 60.5, "a", "m1")
			h.send(100, "b", "m2")
			h.deliver(100, 160, "b", "m2")
		}, found: []string{"late note 1@1"}},

		// Effects.
		{name: "an effect twice", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(400, "a", "m2")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(400, 400.1, "a", "m2")
		}, found: []string{"effect-twice fail 1@2", "doubled-outside note 1@2"}},

		// Order.
		{name: "out of order", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(1, 1.1, "b", "m2")
			h.deliver(0, 1.2, "a", "m1")
		}, found: []string{"out-of-order fail 1@2"}},
		{name: "other groups have an order of their own", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2", sendGroup("h"))
			h.deliver(1, 1.1, "b", "m2", group("h"))
			h.deliver(0, 1.2, "a", "m1")
		}},
		{name: "a message that comes back is not out of order", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(0, 1.1, "a", "m1", kind(receipt.Pending))
			h.deliver(1, 1.1, "b", "m2", kind(receipt.Pending))
			h.deliver(0, 31, "a", "m1", count(2))
			h.deliver(1, 31, "b", "m2", count(2))
		}, found: []string{"redelivered note 2@3"}},
		{name: "numbers are compared as numbers", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(0, 1.1, "a", "m1", func(r *receipt.Receipt) { r.SequenceNumber = "9" })
			h.deliver(1, 1.2, "b", "m2", func(r *receipt.Receipt) { r.SequenceNumber = "10" })
		}},
		{name: "numbers are compared to the last of 128 bits", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(1, 1.1, "b", "m2", func(r *receipt.Receipt) { r.SequenceNumber = "340282366920938463463374607431768211455" })
			h.deliver(0, 1.2, "a", "m1", func(r *receipt.Receipt) { r.SequenceNumber = "340282366920938463463374607431768211454" })
		}, found: []string{"out-of-order fail 1@2"}},
		{name: "two consumers, one of whom writes late", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(1, 40, "b", "m2")
			h.deliver(0, 1.2, "a", "m1")
		}, found: []string{"out-of-order inconclusive 1@2"}},
		{name: "two files, one behind the other", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "b", "m2")
			h.deliver(1, 1.1, "b", "m2")
			h.deliver(0, 0.1, "a", "m1", func(r *receipt.Receipt) { r.ID = 1 })
		}},
		{name: "no number", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", func(r *receipt.Receipt) { r.SequenceNumber = "" })
		}, found: []string{"out-of-order inconclusive 1@1"}},
		{name: "numbers that begin again", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1000, "b", "m2")
			h.deliver(0, 0.1, "a", "m1", sequence(5000))
			h.deliver(1000, 1000.1, "b", "m2", sequence(1))
		}, found: []string{"out-of-order inconclusive 1@2"}},

		// Bodies.
		{name: "the body was replaced", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", digest("b"))
		}, found: []string{"changed-body fail 1@1"}},
		{name: "one id was sent with two bodies", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(1, "a", "m1", outcome(producer.Duplicate), sendDigest("b"))
			h.deliver(0, 0.1, "a", "m1")
		}, found: []string{"changed-body fail 1@2"}},
		{name: "a consumer with a selection of its own has other digests", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", digest("b"), rule("content"))
			h.deliver(0, 31, "a", "m1", digest("b"), rule("content"), count(2), kind(receipt.Redelivered))
		}, found: []string{"redelivered note 1@2"}},
		{name: "and proves nothing when they change", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1", digest("b"), rule("content"))
			h.deliver(0, 31, "a", "m1", digest("c"), rule("content"), count(2), kind(receipt.Redelivered))
		}, found: []string{"changed-body inconclusive 1@2", "redelivered note 1@2"}},

		// Strays.
		{name: "nobody sent it", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(2, 2.2, "x", "m9")
			h.deliver(2, 40, "x", "m9", count(2), kind(receipt.Redelivered))
			h.send(4, "b", "m2", sendGroup("h"))
			h.deliver(4, 40, "b", "m2", group("h"))
		}, found: []string{"stray fail 1@2", "redelivered note 1@3"}},
		{name: "what was refused was not sent", make: func(h *history) {
			h.send(0, "a", "", outcome(producer.Failed))
			h.deliver(2, 2.1, "a", "m1")
			elsewhere(h)
		}, found: []string{"stray fail 1@1"}},
		{name: "the clocks do not tell what was sent just before the log ends", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(10, "b", "m2")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(9.5, 9.6, "x", "m9", group("h"))
			h.deliver(10, 10.1, "b", "m2")
		}, found: []string{"stray inconclusive 1@2"}},
		{name: "the log begins later", make: func(h *history) {
			h.send(100, "a", "m1")
			h.deliver(0, 0.1, "x", "m0")
			h.deliver(100, 100.1, "a", "m1")
		}, found: []string{"stray inconclusive 1@1"}},
		{name: "the log ends earlier", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(100, 100.1, "x", "m9")
		}, found: []string{"stray inconclusive 1@2"}},
		{name: "another queue's receipts are not judged", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(0, 0.1, "a", "m1")
			h.deliver(0.001, 99, "x", "m8", onQueue("others.fifo"))
			h.deliver(0, 99, "x", "m9", onQueue("others.fifo"), kind(receipt.Repeated))
		}},

		// Dead-letter queues.
		{name: "dead-lettered before any receipt", make: func(h *history) {
			h.send(0, "a", "m1")
			h.deliver(90, 91, "a", "m1", onQueue("dead.fifo"), dedup("m1"))
			elsewhere(h)
		}},
		{name: "two of one id in the dead-letter queue, as SQS means it", make: func(h *history) {
			h.send(0, "a", "m1")
			h.send(305, "a", "m2")
			h.deliver(400, 401, "a", "m1", onQueue("dead.fifo"), dedup("m1"))
			h.deliver(400, 401, "a", "m2", onQueue("dead.fifo"), dedup("m2"), kind(receipt.Repeated))
			elsewhere(h)
		}},
		{name: "redriven: a new MessageId, the old one as its id, no attribute", make: func(h *history) {
			h.send(0, "a", "6f1c2a34-8c1e-4a4e-9a53-0f1c7f3b5d21")
			h.deliver(90, 91, "6f1c2a34-8c1e-4a4e-9a53-0f1c7f3b5d21", "m9", rule("content"))
			elsewhere(h)
		}},
		{name: "redriven, and known by its attribute", make: func(h *history) {
			h.send(0, "a", "6f1c2a34-8c1e-4a4e-9a53-0f1c7f3b5d21")
			h.deliver(0, 1, "a", "6f1c2a34-8c1e-4a4e-9a53-0f1c7f3b5d21", kind(receipt.Rejected))
			h.deliver(90, 91, "a", "m9", dedup("6f1c2a34-8c1e-4a4e-9a53-0f1c7f3b5d21"))
			elsewhere(h)
		}, found: []string{"unfinished note 1@1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var h history
			tt.make(&h)
			if tt.found == nil {
				tt.found = []string{}
			}
			require.Equal(t, tt.found, h.found(t, tt.opts))
		})
	}
}
