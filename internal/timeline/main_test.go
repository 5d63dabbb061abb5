package timeline

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"fifoproof/internal/receipt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files anew")

var start = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// after is so many milliseconds after the start.
func after(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

// book writes receipts down, one after the other.
type book struct{ receipts []receipt.Receipt }

// add notes a delivery: of a message of a group, at an instant, with an attempt unless
// its number is 0. ended 0: its end is not on record.
func (b *book) add(message, group string, at int, kind receipt.Kind, attempt, started, ended int, change func(*receipt.Receipt)) {
	r := receipt.Receipt{
		ID: int64(len(b.receipts) + 1), Kind: kind,
		Delivery: receipt.Delivery{
			Queue: "orders.fifo", MessageID: message, Group: group, DedupID: "d-" + message, ReceiveCount: 1,
			SentAt: after(at - 250), ReceivedAt: after(at),
			Key: receipt.Key{Rule: "content", Consumer: "orders.fifo", Space: "content", Value: "k-" + message},
		},
	}
	if attempt > 0 {
		r.Attempt = receipt.Attempt{Number: attempt, Worker: "host-1/7", Started: after(started)}
		if ended > 0 {
			r.Attempt.Ended = after(ended)
		}
	}
	if change != nil {
		change(&r)
	}
	b.receipts = append(b.receipts, r)
}

// day is one of each: an effect, a redelivery of it, a repeat, a message that fails
// twice and comes through, one whose worker died, a rejected one and its redriven copy,
// and one that is at work.
func day() []receipt.Receipt {
	const first, second, third, fourth, fifth = "0a53f1c2-1111", "0b53f1c2-2222", "0c53f1c2-3333", "0d53f1c2-4444", "0e53f1c2-5555"
	var b book
	b.add(first, "customer-17", 0, receipt.Fresh, 1, 20, 180, nil)
	b.add(second, "customer-17", 0, receipt.Failed, 1, 200, 900, func(r *receipt.Receipt) { r.Reason = "the bank answered 503" })
	b.add(third, "customer-18", 10, receipt.Pending, 1, 30, 0, nil)
	b.add(second, "customer-17", 5000, receipt.Failed, 2, 5010, 5800, func(r *receipt.Receipt) { r.ReceiveCount, r.Reason = 2, "the bank answered 503" })
	b.add(first, "customer-17", 9000, receipt.Redelivered, 0, 0, 0, func(r *receipt.Receipt) {
		r.ReceiveCount, r.First = 2, receipt.Origin{MessageID: first, ReceivedAt: start}
	})
	b.add(third, "customer-18", 30010, receipt.Fresh, 2, 30020, 30320, func(r *receipt.Receipt) { r.ReceiveCount, r.Attempt.Worker = 2, "host-2/9" })
	b.add(fourth, "customer-18", 31000, receipt.Repeated, 0, 0, 0, func(r *receipt.Receipt) {
		r.First = receipt.Origin{MessageID: third, ReceivedAt: after(30010)}
	})
	b.add(second, "customer-17", 33000, receipt.Fresh, 3, 33010, 33400, func(r *receipt.Receipt) { r.ReceiveCount = 3 })
	b.add(fifth, "customer-19", 40000, receipt.Rejected, 1, 40010, 40015, func(r *receipt.Receipt) { r.Reason = `no account "A&B <test>"` })
	b.add("0f53f1c2-6666", "customer-19", 50000, receipt.Pending, 2, 50020, 0, func(r *receipt.Receipt) { r.OriginID = fifth })
	return b.receipts
}

// draw is the page of receipts.
func draw(t *testing.T, receipts []receipt.Receipt, left int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, HTML(&b, receipts, left))
	return b.String()
}

// golden compares with a file; -update writes it anew.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if string(want) != got {
		t.Errorf("%s is not what is written now: go test ./internal/timeline -update writes it anew", path)
	}
}

// many is n messages of one delivery each, in groups of so many.
func many(n, perGroup int) []receipt.Receipt {
	var b book
	for i := range n {
		b.add(fmt.Sprintf("m%07d", i), fmt.Sprintf("g%d", i/perGroup), i*10, receipt.Fresh, 1, i*10+1, i*10+5, nil)
	}
	return b.receipts
}
