package receipttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// Place is somewhere that receipts are kept.
type Place struct {
	// Open opens a store on the place. The suite closes it.
	Open func(t *testing.T) receipt.Store
	// Lasting says that stores opened one after another, or side by side, see the
	// same receipts. A database in memory is not lasting.
	Lasting bool
}

// Exercise runs the suite. Each call of fresh makes an empty place.
func Exercise(t *testing.T, fresh func(t *testing.T) Place) {
	t.Helper()
	for _, c := range []struct {
		name    string
		lasting bool // needs a lasting place
		run     func(t *testing.T, b *bench)
	}{
		{"an empty store", false, empty},
		{"every field comes back", false, fields},
		{"zero times come back as zero", false, zeroTimes},
		{"the kinds of a key's deliveries", false, kinds},
		{"a repeated message that comes again is a redelivery", false, repeatedAgain},
		{"what keys are equal", false, equality},
		{"odd strings", false, oddStrings},
		{"rejected", false, rejected},
		{"no key, no completion", false, noKey},
		{"a claim is settled once", false, settledOnce},
		{"an effect of the caller's own", false, ownEffect},
		{"a failing effect leaves nothing behind", false, failingEffect},
		{"a panicking effect leaves nothing behind", false, panickingEffect},
		{"cut off by its context", false, cutOff},
		{"cut off between begin and complete", true, crashBeforeComplete},
		{"cut off between complete and delete", true, crashBeforeDelete},
		{"a failed begin leaves no receipt", false, failedBegin},
		{"order, pages and filters", false, order},
		{"the store may be used while it is read", false, usedWhileRead},
		{"reading stops when asked to", false, stopReading},
		{"16 at once, one key", false, race},
		{"16 at once, many keys", false, manyKeys},
		{"two stores, one key", true, twoStores},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			place := fresh(t)
			if c.lasting && !place.Lasting {
				t.Skip("this place does not outlive its store")
			}
			b := &bench{place: place}
			b.store = b.open(t)
			c.run(t, b)
		})
	}
}

type bench struct {
	place Place
	store receipt.Store
}

// open opens a store that is closed when the test ends, if not before.
func (b *bench) open(t *testing.T) receipt.Store {
	t.Helper()
	s := &closing{Store: b.place.Open(t)}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// reopen closes the store, as the end of a process does, and opens another.
func (b *bench) reopen(t *testing.T) {
	t.Helper()
	require.NoError(t, b.store.Close())
	b.store = b.open(t)
}

// closing lets a store be closed by the test and by its cleanup.
type closing struct {
	receipt.Store
	closed bool
}

func (c *closing) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	return c.Store.Close()
}

var start = time.Date(2026, time.November, 29, 12, 0, 0, 123456789, time.UTC)

// delivery is the n-th delivery of the test, of a message with a key.
func delivery(n int, message, key string) receipt.Delivery {
	return receipt.Delivery{
		Queue:          "orders.fifo",
		MessageID:      message,
		Group:          "customer-7",
		DedupID:        "dedup-" + message,
		SequenceNumber: fmt.Sprintf("340282366920938463463374607431768%06d", n),
		ReceiveCount:   1,
		BodyDigest:     "digest-" + key,
		SentAt:         start.Add(-time.Second),
		ReceivedAt:     start.Add(time.Duration(n) * time.Millisecond),
		Key:            receipt.Key{Rule: "attribute:idempotency-key", Space: "content", Value: key},
	}
}

func begin(t *testing.T, s receipt.Store, deliveries ...receipt.Delivery) []receipt.Claim {
	t.Helper()
	claims, err := s.Begin(context.Background(), deliveries)
	require.NoError(t, err)
	require.Len(t, claims, len(deliveries))
	for i, d := range deliveries {
		require.Equal(t, d, claims[i].Delivery)
	}
	return claims
}

// handle begins and completes one delivery.
func handle(t *testing.T, s receipt.Store, d receipt.Delivery) receipt.Outcome {
	t.Helper()
	outcome, err := s.Complete(context.Background(), begin(t, s, d)[0], nil)
	require.NoError(t, err)
	return outcome
}

func all(t *testing.T, s receipt.Store, only ...receipt.Kind) []receipt.Receipt {
	t.Helper()
	found, err := receipt.Collect(s.Receipts(context.Background(), receipt.Filter{Kinds: only}))
	require.NoError(t, err)
	return found
}

func requireCounts(t *testing.T, s receipt.Store, want receipt.Counts) {
	t.Helper()
	got, err := s.Counts(context.Background())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func origin(d receipt.Delivery) receipt.Origin {
	return receipt.Origin{MessageID: d.MessageID, ReceivedAt: d.ReceivedAt}
}
