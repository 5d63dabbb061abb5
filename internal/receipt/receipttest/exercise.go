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
	// Pass lets time go by for the leases on record, where the database's clock judges
	// them. Nil: Terms.Now does, to the nanosecond.
	Pass func(d time.Duration) error
	// Kept is the nearest to a text that the place can keep. Nil: every text is kept.
	Kept func(string) string
	// Transactions counts the transactions that are open in the database. Nil: it
	// cannot tell.
	Transactions func() (int, error)
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
		{"two consumers, one key, two effects", false, consumers},
		{"two groups, one body, two effects", false, groups},
		{"odd strings", false, oddStrings},
		{"the result is told to repeats", false, results},
		{"rejected", false, rejected},
		{"no key, no claim", false, noKey},
		{"a receipt is settled once", false, settledOnce},
		{"put off", false, putOff},
		{"long and odd reasons", false, reasons},
		{"an effect of the caller's own", false, ownEffect},

		{"leases end in time", false, leasesEnd},
		{"a lease of nothing is over", false, leaseOfNothing},
		{"a very long lease", false, longLease},
		{"a lease that is renewed", false, renewed},
		{"a lease may end before it is asked for", false, renewedIntoThePast},
		{"who lost the lease has no effect", false, fenced},
		{"a lease that ended but was not taken over completes", false, lateCompletion},
		{"nothing to renew while completing", false, renewWhileCompleting},
		{"another fingerprint is told first", false, mismatch},
		{"no fingerprint, no mismatch", false, noFingerprint},
		{"complete and release twice", false, twice},
		{"no transaction is open between calls", false, noOpenTransaction},

		{"attempts are numbered over deliveries and copies", false, attempts},
		{"given back counts as none", false, givenBack},
		{"one delivery begun twice", false, beganTwice},
		{"rejected by its handler", false, rejectedByHandler},
		{"a message's record", false, messages},

		{"repeats are skipped", false, skip},
		{"repeats are run", false, runRepeats},
		{"a repeat that fails is run again", false, runFailing},
		{"repeats run beside each other", false, runBeside},
		{"a run message delivered twice at once", false, runOnce},
		{"repeats are refused", false, refuse},

		{"a failing effect leaves nothing behind", false, failingEffect},
		{"a panicking effect leaves nothing behind", false, panickingEffect},
		{"cut off by its context", false, cutOff},
		{"cut off between record and begin", true, crashBeforeBegin},
		{"cut off between begin and complete", true, crashBeforeComplete},
		{"cut off between complete and delete", true, crashBeforeDelete},
		{"cut off between release and return", true, crashAfterRelease},
		{"a failed record leaves no receipt", false, failedRecord},

		{"order, pages and filters", false, order},
		{"every filter", false, filters},
		{"the store may be used while it is read", false, usedWhileRead},
		{"reading stops when asked to", false, stopReading},

		{"16 at once, one key", false, race},
		{"16 at once until all are settled", false, raceToTheEnd},
		{"16 at once, one message", false, raceOfOneMessage},
		{"16 at once, many keys", false, manyKeys},
		{"two stores, one key", true, twoStores},

		{"reaping exactly", false, reaping},
		{"retention counts from the last delivery", false, retention},
		{"what is in work is not reaped", false, reapingWork},
		{"never two effects of a key", false, property},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			place := fresh(t)
			if c.lasting && !place.Lasting {
				t.Skip("this place does not outlive its store")
			}
			b := &bench{place: place, now: start}
			b.store = b.open(t)
			c.run(t, b)
		})
	}
}

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	require.TestingT
	Helper()
}

type bench struct {
	place Place
	store receipt.Store
	now   time.Time // by the consumers' clock
	n     int       // deliveries so far
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

// pass lets time go by.
func (b *bench) pass(t tb, d time.Duration) {
	t.Helper()
	b.now = b.now.Add(d)
	if b.place.Pass != nil {
		require.NoError(t, b.place.Pass(d))
	}
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

const (
	queue      = "orders.fifo"
	otherQueue = "payments.fifo"
	group      = "customer-7"
	another    = "another" // key, fingerprint or digest
)

// hour is the lease of most tests: longer than any of them takes, since a database's
// clock runs on by itself.
const hour = time.Hour

// delivery is the n-th delivery of the test, of a message with a key.
func delivery(n int, message, key string) receipt.Delivery {
	return receipt.Delivery{
		Queue:          queue,
		MessageID:      message,
		Group:          group,
		DedupID:        "dedup-" + message,
		SequenceNumber: fmt.Sprintf("340282366920938463463374607431768%06d", n),
		ReceiveCount:   1,
		BodyDigest:     "digest-" + key,
		Fingerprint:    "digest-" + key,
		SentAt:         start.Add(-time.Second),
		ReceivedAt:     start.Add(time.Duration(n) * time.Millisecond),
		Key:            receipt.Key{Rule: "attribute:idempotency-key", Consumer: queue, Space: "event", Value: key},
	}
}

func (b *bench) terms(worker string) receipt.Terms {
	return receipt.Terms{Worker: worker, Lease: hour, Now: b.now}
}

func record(t tb, s receipt.Store, deliveries ...receipt.Delivery) []int64 {
	t.Helper()
	ids, err := s.Record(context.Background(), deliveries)
	require.NoError(t, err)
	require.Len(t, ids, len(deliveries))
	return ids
}

// begin records a delivery and begins it.
func (b *bench) begin(t tb, d receipt.Delivery, terms receipt.Terms) receipt.Decision {
	t.Helper()
	decision, err := b.store.Begin(context.Background(), record(t, b.store, d)[0], d, terms)
	require.NoError(t, err)
	return decision
}

// claim begins a delivery that has to be fresh.
func (b *bench) claim(t tb, d receipt.Delivery) receipt.Claim {
	t.Helper()
	decision := b.begin(t, d, b.terms("w"))
	require.Equal(t, receipt.Fresh, decision.Kind)
	require.Equal(t, d, decision.Claim.Delivery)
	require.Equal(t, d.Key.Encode(), decision.Claim.Key)
	return decision.Claim
}

func (b *bench) complete(t tb, claim receipt.Claim) {
	t.Helper()
	require.NoError(t, b.store.Complete(context.Background(), claim, b.now, "", nil))
}

// handle begins a delivery, and completes it where it is fresh.
func (b *bench) handle(t tb, d receipt.Delivery) receipt.Decision {
	t.Helper()
	return b.handleUnder(t, d, b.terms("w"))
}

func (b *bench) handleUnder(t tb, d receipt.Delivery, terms receipt.Terms) receipt.Decision {
	t.Helper()
	decision := b.begin(t, d, terms)
	if decision.Kind == receipt.Fresh {
		b.complete(t, decision.Claim)
	}
	return decision
}

func all(t tb, s receipt.Store, only ...receipt.Kind) []receipt.Receipt {
	t.Helper()
	return some(t, s, receipt.Filter{Kinds: only})
}

func some(t tb, s receipt.Store, filter receipt.Filter) []receipt.Receipt {
	t.Helper()
	found, err := receipt.Collect(s.Receipts(context.Background(), filter))
	require.NoError(t, err)
	return found
}

func requireCounts(t tb, s receipt.Store, want receipt.Counts) {
	t.Helper()
	got, err := s.Counts(context.Background())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func origin(d receipt.Delivery) receipt.Origin {
	return receipt.Origin{MessageID: d.Identity(), ReceivedAt: d.ReceivedAt}
}

// redelivered is the decision about a message whose key first completed.
func redelivered(first receipt.Delivery) receipt.Decision {
	return receipt.Decision{Kind: receipt.Redelivered, First: origin(first)}
}

// repeated is the decision about another message with a key that first completed.
func repeated(first receipt.Delivery) receipt.Decision {
	return receipt.Decision{Kind: receipt.Repeated, First: origin(first), Repeats: true}
}
