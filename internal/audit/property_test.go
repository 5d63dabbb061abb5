package audit_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/audit"
	"fifoproof/internal/cli"
	"fifoproof/internal/fifo"
	"fifoproof/internal/producer"
	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

const visibility = 30 * time.Second

// world is a queue that does right, a producer that loses replies and a consumer that
// dies, and what both leave on record.
type world struct {
	t       *rapid.T
	now     time.Time
	skew    time.Duration // of the producer's clock, up to half a minute
	scope   window.Scope
	queue   *fifo.Queue
	record  history
	known   map[string]bool // MessageIds that the producer has seen
	effects map[string]string
	held    []fifo.Delivery // received and not deleted
	crashes int
}

func newWorld(t *rapid.T, variant fifo.Variant) *world {
	w := &world{
		t: t, now: zero, scope: window.ScopeQueue, known: map[string]bool{}, effects: map[string]string{},
		skew: time.Duration(rapid.Int64Range(-30_000, 30_000).Draw(t, "skew in ms")) * time.Millisecond,
	}
	if rapid.Bool().Draw(t, "by group") {
		w.scope = window.ScopeGroup
	}
	n := 0
	w.queue = fifo.New(fifo.Config{
		Settings: fifo.Settings{Visibility: visibility, Retention: 14 * 24 * time.Hour},
		Scope:    w.scope, Variant: variant,
		NewID: func() string {
			n++
			return fmt.Sprintf("6f1c2a34-8c1e-4a4e-9a53-%012d", n)
		},
	})
	return w
}

// send makes one send: some get no answer, and some of those never arrive.
func (w *world) send() {
	group := rapid.SampledFrom([]string{"g", "h"}).Draw(w.t, "group")
	id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(w.t, "id")
	lost := rapid.SampledFrom([]string{"", "", "", "", "reply", "request"}).Draw(w.t, "lost")
	start := w.now
	w.now = w.now.Add(time.Millisecond)
	var sent fifo.Sent
	if lost != "request" {
		var err error
		sent, err = w.queue.Send(w.now, fifo.Letter{Group: group, DedupID: id, Body: "body of " + id})
		require.NoError(w.t, err)
	}
	w.now = w.now.Add(time.Millisecond)
	message := sent.MessageID
	if lost != "" {
		message = ""
	}
	w.record.send(0, id, message, func(e *producer.Entry) {
		e.Group = group
		e.Attempts[0].Start = start.Add(w.skew)
		if message != "" {
			end := w.now.Add(w.skew)
			e.Attempts[0].End = &end
			e.SequenceNumber = sent.SequenceNumber()
			if w.known[message] {
				e.Outcome = producer.Duplicate
			}
			w.known[message] = true
		}
	})
}

// receive works on one reply. A consumer that crashes at once leaves no receipt.
func (w *world) receive(crash bool) {
	taken, _, err := w.queue.Receive(w.now, fifo.Ask{Max: rapid.IntRange(1, 10).Draw(w.t, "max"), Visibility: -1})
	require.NoError(w.t, err)
	if crash {
		return
	}
	done := rapid.IntRange(0, len(taken)).Draw(w.t, "done")
	for i, d := range taken {
		kind := rapid.SampledFrom([]receipt.Kind{receipt.Pending, receipt.Failed}).Draw(w.t, "not done")
		if i < done {
			kind = w.complete(d)
			w.held = append(w.held, d)
		}
		w.record.deliver(0, 0, d.DedupID, d.MessageID, func(r *receipt.Receipt) {
			r.Kind, r.Group, r.ReceiveCount, r.SequenceNumber = kind, d.Group, d.Count, d.SequenceNumber()
			r.SentAt, r.ReceivedAt = d.SentAt.Truncate(time.Millisecond), w.now
			if w.scope == window.ScopeGroup {
				r.Key.Group = d.Group
			}
		})
	}
}

// key is the consumer's.
func (w *world) key(id, group string) string {
	if w.scope == window.ScopeGroup {
		return group + "/" + id
	}
	return id
}

func (w *world) complete(d fifo.Delivery) receipt.Kind {
	key := w.key(d.DedupID, d.Group)
	switch first, again := w.effects[key]; {
	case !again:
		w.effects[key] = d.MessageID
		return receipt.Fresh
	case first == d.MessageID:
		return receipt.Redelivered
	default:
		return receipt.Repeated
	}
}

// remove deletes some of what was received, if it is not too late.
func (w *world) remove() {
	for _, d := range w.held {
		if rapid.IntRange(0, 4).Draw(w.t, "delete fails") > 0 {
			_ = w.queue.Delete(w.now, d.Receipt)
		}
	}
	w.held = nil
}

func (w *world) pass() {
	w.now = w.now.Add(rapid.SampledFrom([]time.Duration{
		time.Millisecond, time.Second, visibility, 150 * time.Second, 298 * time.Second, 300 * time.Second,
		300*time.Second - time.Millisecond, 302 * time.Second, 16 * time.Minute,
	}).Draw(w.t, "time"))
}

// live lets things happen.
func (w *world) live() {
	for range rapid.IntRange(1, 60).Draw(w.t, "steps") {
		switch rapid.IntRange(0, 6).Draw(w.t, "step") {
		case 0, 1, 2:
			w.send()
		case 3, 4:
			w.receive(false)
			w.remove()
		case 5:
			if w.crashes++; w.crashes > 2 {
				continue
			}
			// Somebody restarts it before long: what was received comes again.
			w.receive(true)
			w.now = w.now.Add(visibility)
			w.receive(false)
			w.remove()
		default:
			w.pass()
		}
	}
}

// forget does what a consumer's retention does, up to some moment, and returns the
// messages of which nothing is left.
func (w *world) forget() (gone []receipt.Receipt) {
	w.record.horizon = zero.Add(time.Duration(rapid.Int64Range(1, int64(w.now.Sub(zero))+1).Draw(w.t, "horizon")))
	last := map[string]time.Time{}
	for _, r := range w.record.receipts {
		last[w.key(r.DedupID, r.Group)] = r.ReceivedAt
	}
	left, messages := []receipt.Receipt{}, map[string]bool{}
	for _, r := range w.record.receipts {
		key := w.key(r.DedupID, r.Group)
		if _, done := w.effects[key]; done && last[key].Before(w.record.horizon) && r.Kind != receipt.Pending {
			gone = append(gone, r)
			continue
		}
		left, messages[r.MessageID] = append(left, r), true
	}
	w.record.receipts = left
	return slices.DeleteFunc(gone, func(r receipt.Receipt) bool { return messages[r.MessageID] })
}

func (w *world) audit(folder *folder) *audit.Report {
	sends, receipts := w.record.write(folder)
	report, err := audit.Run(context.Background(), sends, receipts, audit.Options{Scope: w.scope})
	require.NoError(w.t, err)
	return report
}

// folder is one that all runs of a property share.
type folder struct{ path string }

// TempDir is the folder.
func (f *folder) TempDir() string { return f.path }

// TestNoFalseAlarm lets a right queue and a right consumer live through lost replies,
// crashes, failed deletes and all sorts of gaps: an audit never finds a promise broken.
func TestNoFalseAlarm(t *testing.T) {
	t.Parallel()
	shared := &folder{t.TempDir()}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, fifo.Variant{})
		w.live()
		report := w.audit(shared)
		for _, f := range report.Findings {
			if f.Verdict == audit.Fail {
				t.Fatalf("%s: %s\n%+v", f.Kind, f.First.Reason, f.First)
			}
		}
	})
}

// TestForgottenIsNoPass forgets some receipts of such a life: nothing is taken for lost,
// and where nothing is left of a message that the producer knows of, that is said.
func TestForgottenIsNoPass(t *testing.T) {
	t.Parallel()
	shared := &folder{t.TempDir()}
	forgotten := 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, fifo.Variant{})
		w.live()
		want := false
		for _, r := range w.forget() {
			want = want || w.known[r.MessageID]
		}
		report := w.audit(shared)
		require.Zero(t, report.Count(audit.Fail), "%+v", report.Findings)
		if want {
			require.Equal(t, cli.Inconclusive, report.Exit)
			forgotten++
		}
	})
	require.Positive(t, forgotten, "some of the histories lost a message")
}

// TestForgetfulQueueIsCaught is the control: the same world on a queue that forgets an
// id with its message. Whenever two copies were delivered, sent less than 299 s apart,
// the audit says so.
func TestForgetfulQueueIsCaught(t *testing.T) {
	t.Parallel()
	shared := &folder{t.TempDir()}
	caught := 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, fifo.Variant{Forgets: fifo.OnDelete})
		w.live()
		want := false
		for _, first := range w.record.receipts {
			for _, second := range w.record.receipts {
				gap := second.SentAt.Sub(first.SentAt)
				want = want || first.MessageID != second.MessageID && first.DedupID == second.DedupID && gap >= 0 && gap < 299*time.Second &&
					(w.scope == window.ScopeQueue || first.Group == second.Group)
			}
		}
		got := false
		for _, f := range w.audit(shared).Findings {
			got = got || f.Kind == audit.DoubledInside && f.Verdict == audit.Fail
		}
		require.Equal(t, want, got)
		if got {
			caught++
		}
	})
	require.Positive(t, caught, "some of the histories had copies")
}
