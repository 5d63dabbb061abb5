package fifo_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/fifo"
	"fifoproof/internal/window"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bench drives one queue along a time that the test moves.
type bench struct {
	t     *testing.T
	now   time.Time
	queue *fifo.Queue
}

func defaults() fifo.Config {
	ids := 0
	return fifo.Config{
		Settings: fifo.Settings{Visibility: 30 * time.Second, Retention: 4 * 24 * time.Hour},
		NewID:    func() string { ids++; return "m" + strconv.Itoa(ids) },
	}
}

func newBench(t *testing.T, change ...func(*fifo.Config)) *bench {
	t.Helper()
	cfg := defaults()
	for _, c := range change {
		c(&cfg)
	}
	return &bench{t: t, now: start, queue: fifo.New(cfg)}
}

func (b *bench) pass(d time.Duration) { b.now = b.now.Add(d) }

// send sends a body under the deduplication id "id:" + body.
func (b *bench) send(group string, bodies ...string) {
	b.t.Helper()
	for _, body := range bodies {
		b.sendID(group, "id:"+body, body)
	}
}

func (b *bench) sendID(group, id, body string) fifo.Sent {
	b.t.Helper()
	sent, err := b.queue.Send(b.now, fifo.Letter{Group: group, DedupID: id, Body: body})
	require.NoError(b.t, err)
	return sent
}

func (b *bench) receive(most int) []fifo.Delivery {
	b.t.Helper()
	got, _, err := b.queue.Receive(b.now, fifo.Ask{Max: most, Visibility: -1})
	require.NoError(b.t, err)
	return got
}

func (b *bench) change(d fifo.Delivery, visibility time.Duration) {
	b.t.Helper()
	require.NoError(b.t, b.queue.ChangeVisibility(b.now, d.Receipt, visibility))
}

func (b *bench) delete(d fifo.Delivery) {
	b.t.Helper()
	require.NoError(b.t, b.queue.Delete(b.now, d.Receipt))
}

func bodies(deliveries []fifo.Delivery) []string {
	out := []string{}
	for _, d := range deliveries {
		out = append(out, d.Body)
	}
	return out
}

// API reference, SendMessage: a duplicate is accepted and not delivered. What it
// is answered with (the identity of the first copy) is what users report of AWS.
func TestDuplicateIsAnsweredWithTheFirstCopy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.sendID("g", "x", "one")
	require.False(t, first.Duplicate)

	again := b.sendID("g", "x", "two")
	require.True(t, again.Duplicate)
	require.Equal(t, first.MessageID, again.MessageID)
	require.Equal(t, first.Sequence, again.Sequence)

	require.Equal(t, []string{"one"}, bodies(b.receive(10)), "the first body stays")
	require.Equal(t, fifo.Counts{InFlight: 1}, b.queue.Counts(b.now))
}

func TestWindowEndsFiveMinutesAfterTheFirstSend(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sendID("g", "x", "one")
	b.delete(b.receive(1)[0])
	b.pass(window.Length - 1)
	require.True(t, b.sendID("g", "x", "two").Duplicate)
	b.pass(1)
	require.False(t, b.sendID("g", "x", "three").Duplicate)
	require.Equal(t, []string{"three"}, bodies(b.receive(10)))
}

// A recorded run on AWS: a first copy that is still unreceived when its id expires
// and a later send of the same id are both delivered, in order.
func TestTwoLiveMessagesWithOneID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sendID("g", "x", "one")
	b.pass(window.Length)
	b.sendID("g", "x", "two")
	require.Equal(t, []string{"one", "two"}, bodies(b.receive(10)))
}

func TestScope(t *testing.T) {
	t.Parallel()
	for scope, want := range map[window.Scope][]string{
		window.ScopeQueue: {"in a"},
		window.ScopeGroup: {"in a", "in b"},
	} {
		b := newBench(t, func(cfg *fifo.Config) { cfg.Scope = scope })
		b.sendID("a", "x", "in a")
		b.sendID("b", "x", "in b")
		require.Equal(t, want, bodies(b.receive(10)), "scope %v", scope)
	}
}

func TestContentBasedID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.queue.Send(b.now, fifo.Letter{Group: "g", Body: "Test"})
	require.ErrorIs(t, err, fifo.ErrNoDeduplicationID)

	b = newBench(t, func(cfg *fifo.Config) { cfg.ContentBased = true })
	b.sendID("g", "", "Test")
	// printf Test | sha256sum; the prefix is recorded of SNS FIFO to SQS.
	const sum = "532eaabd9574880dbf76b9b8cc00832c20a6ec113d682299550d7a6e0f345e25"
	require.True(t, b.sendID("g", sum, "other").Duplicate, "the explicit id equals the hash")
	require.False(t, b.sendID("g", "explicit", "Test").Duplicate, "an explicit id wins over the content")
	got := b.receive(10)
	require.Equal(t, []string{"Test", "Test"}, bodies(got))
	require.Equal(t, sum, got[0].DedupID)
}

func TestSequenceNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	last := ""
	for i := range 100 {
		number := b.sendID("g", strconv.Itoa(i), "x").SequenceNumber()
		require.Regexp(t, `^[0-9]{20}$`, number)
		require.Greater(t, number, last)
		last = number
	}
	got := b.receive(1)
	require.Less(t, got[0].SequenceNumber(), last)
}

func TestReceiveFillsFromOneGroupThenTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "a1")
	b.send("b", "b1")
	b.send("a", "a2", "a3")
	b.send("b", "b2")
	b.send("c", "c1")
	require.Equal(t, []string{"a1", "a2"}, bodies(b.receive(2)))
	require.Equal(t, []string{"b1", "b2", "c1"}, bodies(b.receive(10)), "a is locked with a3 in it")
	require.Empty(t, b.receive(10))
	require.Equal(t, fifo.Counts{Visible: 1, InFlight: 5}, b.queue.Counts(b.now))
}

func TestGroupStaysLockedUntilTheWholeBatchIsDone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "1", "2", "3")
	got := b.receive(2)
	b.delete(got[0])
	b.send("a", "4")
	require.Empty(t, b.receive(10))
	b.delete(got[1])
	require.Equal(t, []string{"3", "4"}, bodies(b.receive(10)))
}

func TestRedelivery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "1")
	first := b.receive(1)[0]
	require.Equal(t, 1, first.Count)
	b.pass(30*time.Second - 1)
	require.Empty(t, b.receive(1))
	b.pass(1)
	second := b.receive(1)[0]
	require.Equal(t, first.MessageID, second.MessageID)
	require.Equal(t, first.Sequence, second.Sequence)
	require.Equal(t, 2, second.Count)
	require.Equal(t, first.FirstReceivedAt, second.FirstReceivedAt)
	require.NotEqual(t, first.Receipt, second.Receipt)

	require.ErrorIs(t, b.queue.Delete(b.now, first.Receipt), fifo.ErrReceiptExpired, "an old receipt after a redelivery")
	require.ErrorIs(t, b.queue.ChangeVisibility(b.now, first.Receipt, 0), fifo.ErrNotAvailable)
	b.delete(second)
	b.delete(second) // a repeated delete is no error
	require.ErrorIs(t, b.queue.ChangeVisibility(b.now, second.Receipt, 0), fifo.ErrNotAvailable)
	require.Equal(t, fifo.Counts{}, b.queue.Counts(b.now))
}

func TestReceiptEndsWithItsVisibility(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "1")
	d := b.receive(1)[0]
	b.pass(10 * time.Second)
	b.change(d, 30*time.Second)
	b.pass(30*time.Second - 1)
	require.Empty(t, b.receive(1))
	b.pass(1)
	require.ErrorIs(t, b.queue.Delete(b.now, d.Receipt), fifo.ErrReceiptExpired)

	got, _, err := b.queue.Receive(b.now, fifo.Ask{Max: 1, Visibility: 0})
	require.NoError(t, err)
	require.ErrorIs(t, b.queue.Delete(b.now, got[0].Receipt), fifo.ErrReceiptExpired, "dead at once")
}

func TestVisibilityLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "1")
	d := b.receive(1)[0]
	b.change(d, fifo.VisibilityLimit)
	b.pass(time.Hour)
	require.ErrorIs(t, b.queue.ChangeVisibility(b.now, d.Receipt, 11*time.Hour+time.Second), fifo.ErrVisibilityLimit)
	b.change(d, 11*time.Hour)
}

// A recorded run on AWS (six cases): of a received batch with one message
// extended, those before it come back; it and all after it stay hidden.
func TestExtendingOneOfABatch(t *testing.T) {
	t.Parallel()
	all := []string{"0", "1", "2", "3", "4", "5"}
	for extended := range all {
		t.Run(fmt.Sprint(extended), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.send("a", all...)
			got := b.receive(10)
			b.change(got[extended], 2*time.Minute)
			b.pass(30 * time.Second)
			require.Equal(t, all[:extended], bodies(b.receive(10)))
			b.pass(90 * time.Second) // the rest is out of its time as well
			require.Equal(t, all, bodies(b.receive(10)))
		})
	}
}

// A recorded run on AWS: with the first released and the second in flight, the
// first is received again, alone.
func TestReleasingTheFirstOfABatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "1", "2", "3")
	got := b.receive(2)
	b.change(got[0], 0)
	require.Equal(t, []string{"1"}, bodies(b.receive(10)))
}

func TestDelay(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *fifo.Config) { cfg.Delay = time.Minute })
	b.send("a", "1")
	b.pass(10 * time.Second)
	b.send("a", "2")
	require.Equal(t, fifo.Counts{Delayed: 2}, b.queue.Counts(b.now))
	b.pass(50*time.Second - 1)
	require.Empty(t, b.receive(10))
	b.pass(1)
	require.Equal(t, []string{"1"}, bodies(b.receive(10)))

	// Retroactive on FIFO queues, for what was never received.
	settings := defaults().Settings
	settings.Delay = 15 * time.Minute
	b.queue.Set(b.now, settings)
	b.pass(30 * time.Second)
	got := b.receive(10)
	require.Equal(t, []string{"1"}, bodies(got))
	b.delete(got[0])
	require.Equal(t, fifo.Counts{Delayed: 1}, b.queue.Counts(b.now))
	settings.Delay = 0
	b.queue.Set(b.now, settings)
	require.Equal(t, []string{"2"}, bodies(b.receive(10)))
}

func TestRetention(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *fifo.Config) { cfg.Retention = time.Minute; cfg.Visibility = time.Hour })
	b.send("a", "1")
	b.pass(10 * time.Second)
	b.send("a", "2")
	require.Equal(t, []string{"1"}, bodies(b.receive(1)))
	b.pass(50 * time.Second)
	require.Equal(t, []string{"2"}, bodies(b.receive(10)), "the lock went with the message that held it")
	require.True(t, b.sendID("a", "id:1", "1").Duplicate, "the memory outlives the message")
}

func TestPurge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "1", "2")
	b.send("b", "3")
	b.receive(1)
	require.NoError(t, b.queue.Purge(b.now))
	require.Equal(t, fifo.Counts{}, b.queue.Counts(b.now))
	require.ErrorIs(t, b.queue.Purge(b.now.Add(fifo.PurgePause-1)), fifo.ErrPurging)
	require.NoError(t, b.queue.Purge(b.now.Add(fifo.PurgePause)))
	b.pass(fifo.PurgePause)
	require.True(t, b.sendID("a", "id:1", "1").Duplicate, "the memory is kept")
	b.send("a", "4")
	require.Equal(t, []string{"4"}, bodies(b.receive(10)))
}

func TestNextEvent(t *testing.T) {
	t.Parallel()
	next := func(b *bench) time.Duration {
		at, ok := b.queue.NextEvent(b.now)
		require.True(t, ok)
		return at.Sub(start)
	}
	b := newBench(t, func(cfg *fifo.Config) { cfg.Delay = 5 * time.Second; cfg.Retention = time.Minute })
	_, ok := b.queue.NextEvent(b.now)
	require.False(t, ok)
	b.send("a", "1")
	require.Equal(t, 5*time.Second, next(b))
	b.pass(5 * time.Second)
	require.Equal(t, time.Minute, next(b))
	b.receive(1)
	require.Equal(t, 35*time.Second, next(b))
}

func TestTimeNeverGoesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send("a", "1")
	b.receive(1)
	b.pass(30 * time.Second)
	require.Equal(t, 1, b.queue.Counts(b.now).Visible)
	b.pass(-time.Hour)
	require.Len(t, b.receive(1), 1)
}

func TestInFlightLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.queue.SetMostInFlight(12)
	b.send("a", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
	b.send("b", "11", "12", "13")
	require.Len(t, b.receive(10), 10)
	held := b.receive(10)
	require.Equal(t, []string{"11", "12"}, bodies(held), "not all that the group has")
	b.send("c", "14")
	require.Empty(t, b.receive(10), "and no error")
	b.delete(held[0])
	require.Equal(t, []string{"14"}, bodies(b.receive(10)))
}
