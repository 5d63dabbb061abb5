package deadletter

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
)

// MassTransit#4015 (C31): group, body and attributes are carried over as they are, of
// every type, and the first message's id stands beside them.
func TestRedriveKeepsTheMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	body := " {\"order\": 1.0, \"name\":\"\\u00e4 \u00e4\"}\n"
	with := attributes{
		"idempotency-key": stringValue("k"),
		"amount":          {DataType: aws.String("Number.eur"), StringValue: aws.String("1.50")},
		"bytes":           {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 255}},
	}
	id := w.bury("a.fifo", "tenant-7", body, with)
	tally, outcomes := w.redrive(w.letters(), Filter{})
	require.Equal(t, []string{id + " sent"}, outcomes)
	require.Equal(t, map[Result]int{Sent: 1}, tally.By)
	require.Zero(t, tally.Stayed())
	require.Equal(t, Depth{}, w.depth("dead.fifo"))

	copies := w.drain("a.fifo")
	require.Len(t, copies, 1)
	require.Equal(t, body, *copies[0].Body)
	require.Equal(t, "tenant-7", copies[0].Attributes["MessageGroupId"])
	with[AttributeFirst] = stringValue(id)
	require.Equal(t, with, copies[0].MessageAttributes)
	require.NotEqual(t, id, *copies[0].MessageId)
}

// The id is the SHA-256 of the parts behind their lengths. Its value was made with
//
//	printf '00000029arn:aws:sqs:us-east-1:000000000000:a.fifo00000001m0000000d1767225600000' | sha256sum
func TestDedupID(t *testing.T) {
	t.Parallel()
	m := Message{ID: "m", SentAt: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), Source: Source{ARN: "arn:aws:sqs:us-east-1:000000000000:a.fifo"}}
	want := "dc86096e8459996dc68a9eebf5b3611a60320c3cfabea288b0f87510f1d9ff61"
	require.Equal(t, want, dedupID(m))
	for _, change := range []func(*Message){
		func(m *Message) { m.ID = "n" },
		func(m *Message) { m.SentAt = m.SentAt.Add(time.Millisecond) },
		func(m *Message) { m.Source.ARN += "x" },
		func(m *Message) { m.Source.ARN, m.ID = m.Source.ARN+"m", "" },
	} {
		other := m
		change(&other)
		require.NotEqual(t, want, dedupID(other))
	}
}

// reddb#1805 (C85): put back within the five minutes of its first send, a message is
// delivered, and a late retry of that first send is still a duplicate.
func TestRedriveInsideTheWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	w.send("a.fifo", "g", "x", "{}", nil)
	w.die("a.fifo")
	w.redrive(w.letters(), Filter{})
	require.Less(t, w.clock.Now().Sub(start), 5*time.Minute)
	require.Len(t, w.drain("a.fifo"), 1)
	w.send("a.fifo", "g", "x", "{}", nil)
	require.Empty(t, w.drain("a.fifo"), "the producer's retry is a duplicate")
}

// A message that dies again within five minutes is put back again: each stay has an id
// of its own, and the first message's id stays its identity.
func TestRedriveTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	first := w.bury("a.fifo", "g", "{}")
	for range 3 {
		_, outcomes := w.redrive(w.letters(), Filter{Message: first})
		require.Len(t, outcomes, 1)
		require.Equal(t, 1, w.depth("a.fifo").Visible)
		w.die("a.fifo")
	}
	require.Less(t, w.clock.Now().Sub(start), 5*time.Minute)
	m := w.list(w.letters(), Filter{}).Messages[0]
	require.Equal(t, first, m.Identity)
	require.NotEqual(t, first, m.ID)
}

// floci#899 (C86): two sources, one dead-letter queue, one source deleted. Each goes to
// its own; what cannot be delivered stays, and the counts add up.
func TestRedriveEachToItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo", "b.fifo", "c.fifo")
	w.bury("a.fifo", "g", "from a")
	b := w.bury("b.fifo", "g", "from b")
	w.bury("c.fifo", "g", "from c")
	_, err := w.client.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: aws.String(w.url("b.fifo"))})
	require.NoError(t, err)
	tally, outcomes := w.redrive(w.letters(), Filter{})
	require.Equal(t, map[Result]int{Sent: 2, Failed: 1}, tally.By)
	require.Contains(t, outcomes, b+" failed: its source queue b.fifo does not exist")
	require.Equal(t, []string{"from a"}, bodiesOf(w.drain("a.fifo")))
	require.Equal(t, []string{"from c"}, bodiesOf(w.drain("c.fifo")))
	require.Equal(t, []string{"from b"}, bodiesOf(w.drain("dead.fifo")))
}

// Sent to the dead-letter queue by hand: nobody tells where it belongs, so it stays.
func TestRedriveOfUnknownSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo", "b.fifo")
	id := w.send("dead.fifo", "g", "x", "{}", nil)
	_, outcomes := w.redrive(w.letters(), Filter{})
	require.Equal(t, []string{id + " failed: its source queue is not known"}, outcomes)
	require.Equal(t, Depth{Visible: 1}, w.depth("dead.fifo"))
}

// floci#900 (C87): with maxReceiveCount 1 a copy can be received once: it is a new
// message, and its count starts again.
func TestRedriveWithOneReceive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	w.bury("a.fifo", "g", "{}")
	w.redrive(w.letters(), Filter{})
	got := w.drain("a.fifo")
	require.Len(t, got, 1)
	require.Equal(t, "1", got[0].Attributes["ApproximateReceiveCount"])
	require.Equal(t, Depth{}, w.depth("dead.fifo"))
}

// cloudemu#496 (C88): five more die while a hundred are put back. All 105 are accounted
// for: those that the listing showed are back, the others stay and are told of.
func TestRedriveWhileMoreDie(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo", "b.fifo")
	for n := range 100 {
		w.send("a.fifo", fmt.Sprint("g", n%20), fmt.Sprint(n), fmt.Sprint("old ", n), nil)
	}
	w.die("a.fifo")
	l := w.letters()
	listing := w.list(l, Filter{})
	require.Equal(t, 100, listing.Count())
	sends := 0
	w.seen = func(action string, _ *http.Request) {
		if action != "SendMessage" {
			return
		}
		if sends++; sends%20 == 10 {
			seen := w.seen
			w.seen = nil
			w.bury("b.fifo", fmt.Sprint("new", sends), fmt.Sprint("new ", sends))
			w.seen = seen
		}
	}
	tally, _ := w.redriveAs(l, listing)
	w.seen = nil
	require.Equal(t, map[Result]int{Sent: 100}, tally.By)
	back, left := w.drain("a.fifo"), w.drain("dead.fifo")
	require.Len(t, back, 100)
	require.Len(t, left, 5)
	require.LessOrEqual(t, tally.Unasked, 5)
	for _, m := range left {
		require.Contains(t, *m.Body, "new")
	}
}

// sqsmover#54 (C90): a thousand messages, a visibility of 30 s and 50 ms a call. Every
// one is sent and deleted before the next, few are in flight, and none moves twice.
func TestRedriveThousand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	var want []string
	for n := range 1000 {
		body := fmt.Sprint(n)
		w.send("a.fifo", fmt.Sprint("g", n%7), body, body, nil)
		want = append(want, body)
	}
	w.die("a.fifo")
	l := w.letters(func(cfg *Config) { cfg.Visibility = 30 * time.Second })
	listing := w.list(l, Filter{})
	require.Equal(t, 1000, listing.Count(), "70 seen, 930 behind them")
	require.Equal(t, 70, listing.Seen)
	w.lag = 50 * time.Millisecond
	began := w.clock.Now()
	tally, _ := w.redriveAs(l, listing)
	w.lag = 0
	require.Equal(t, map[Result]int{Sent: 1000}, tally.By)
	require.Greater(t, w.clock.Now().Sub(began), 30*time.Second, "longer than anything is hidden")
	got := w.drain("a.fifo")
	require.ElementsMatch(t, want, bodiesOf(got))
	inOrder(t, got)
	require.Equal(t, Depth{}, w.depth("dead.fifo"))
}

// inOrder checks that bodies, which are numbers, rise within each group.
func inOrder(t *testing.T, messages []types.Message) {
	t.Helper()
	last := map[string]int{}
	for _, m := range messages {
		var n int
		_, err := fmt.Sscan(*m.Body, &n)
		require.NoError(t, err)
		group := m.Attributes["MessageGroupId"]
		before, known := last[group]
		require.True(t, !known || before < n, "%d after %d in group %s", n, before, group)
		last[group] = n
	}
}

// sqs-grep#11, phoenix-letter#76 (C94): only one group.
func TestRedriveOneGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for n := range 24 {
		w.bury("a.fifo", fmt.Sprint("tenant-", n%8), fmt.Sprint(n))
	}
	tally, _ := w.redrive(w.letters(), Filter{Group: "tenant-7"})
	require.Equal(t, map[Result]int{Sent: 3}, tally.By)
	require.Zero(t, tally.Unasked)
	require.Equal(t, []string{"7", "15", "23"}, bodiesOf(w.drain("a.fifo")))
	require.Equal(t, Depth{Visible: 21}, w.depth("dead.fifo"))
}

// A filter holds for what comes up from behind, too.
func TestRedriveFromBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for n := range 14 {
		w.bury("a.fifo", "g", fmt.Sprintf(`{"n":%d,"sort":%d}`, n, n/13))
	}
	value, err := ParseValue("/sort=0")
	require.NoError(t, err)
	l := w.letters()
	listing := w.list(l, Filter{Value: value})
	require.Len(t, listing.Messages, 10)
	require.Equal(t, 4, listing.Behind)
	tally, _ := w.redriveAs(l, listing)
	require.Equal(t, map[Result]int{Sent: 13}, tally.By)
	require.Len(t, w.drain("dead.fifo"), 1)
}

// One that cannot be sent holds back those behind it in its group, from the same
// source; other groups go on.
func TestRedriveFailureHoldsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	one := w.bury("a.fifo", "g", "1")
	two := w.bury("a.fifo", "g", "2")
	three := w.bury("a.fifo", "g", "3")
	other := w.bury("a.fifo", "h", "4")
	sends := 0
	w.before = func(action string) error {
		if action == "SendMessage" {
			if sends++; sends == 2 {
				return errors.New("connection refused")
			}
		}
		return nil
	}
	tally, outcomes := w.redrive(w.letters(), Filter{})
	require.Equal(t, []string{
		one + " sent",
		two + " failed: sending its copy to the queue a.fifo: connection refused, so whether it was taken is not known; another run within five minutes cannot send it twice",
		three + " held back: message " + two + " of its group stays",
		other + " sent",
	}, outcomes)
	require.Equal(t, 2, tally.Stayed())
	w.redrive(w.letters(), Filter{})
	require.Equal(t, []string{"1", "2", "3", "4"}, bodiesOf(w.drain("a.fifo")))
}

// With ten attributes there is no room for one more (SQS's limit), and without the first
// message's id a copy would be another event to the consumer: it stays.
func TestRedriveWithoutRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	full := attributes{}
	for n := range 10 {
		full[fmt.Sprint("k", n)] = stringValue("v")
	}
	id := w.bury("a.fifo", "g", "{}", full)
	next := w.bury("a.fifo", "g", "{}")
	delete(full, "k9")
	full[AttributeFirst] = stringValue("first")
	w.bury("a.fifo", "h", "{}", full)
	_, outcomes := w.redrive(w.letters(), Filter{})
	require.Len(t, outcomes, 3)
	require.Equal(t, id+" failed: it has 10 message attributes, and SQS has no room for one more, which has to name the first message", outcomes[0])
	require.Equal(t, next+" held back: message "+id+" of its group stays", outcomes[1])
	require.Equal(t, "first", *w.drain("a.fifo")[0].MessageAttributes[AttributeFirst].StringValue, "one that has it goes, and keeps it")
}

// A source that is closed to the caller is asked once; messages of another one go.
func TestRedriveToClosedSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo", "b.fifo")
	for g := range 5 {
		w.bury("a.fifo", fmt.Sprint(g), "{}")
	}
	w.bury("b.fifo", "g", "{}")
	l := w.letters()
	listing := w.list(l, Filter{})
	closed := &closedQueue{Queue: l.queue, sends: w.url("a.fifo")}
	l.queue = closed
	tally, outcomes := w.redriveAs(l, listing)
	require.Equal(t, map[Result]int{Failed: 5, Sent: 1}, tally.By)
	require.Equal(t, 1, closed.asked)
	require.Contains(t, outcomes[4], "failed: sending its copy to the queue a.fifo: AccessDenied: no")
	require.Equal(t, Depth{Visible: 5}, w.depth("dead.fifo"))
}

// Who may send and not delete would leave a copy of every message: the run ends with the
// first, and nothing is hidden.
func TestRedriveWithoutLeaveToDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for g := range 5 {
		w.bury("a.fifo", fmt.Sprint(g), "{}")
	}
	l := w.letters()
	listing := w.list(l, Filter{})
	l.queue = &closedQueue{Queue: l.queue, deletes: true}
	var outcomes []string
	_, err := l.Redrive(t.Context(), listing, func(o Outcome) { outcomes = append(outcomes, told(o)) })
	require.ErrorContains(t, err, "deleting from the queue dead.fifo: AccessDenied: no")
	require.Len(t, outcomes, 1)
	require.Contains(t, outcomes[0], "its copy was sent, but it could not be deleted here")
	require.Equal(t, Depth{Visible: 5}, w.depth("dead.fifo"))
	require.Equal(t, Depth{Visible: 1}, w.depth("a.fifo"))
}

// An answer that does not say that the copy was taken is none.
func TestRedriveWithoutProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	w.bury("a.fifo", "g", "{}")
	l := w.letters()
	listing := w.list(l, Filter{})
	l.queue = mute{l.queue}
	tally, outcomes := w.redriveAs(l, listing)
	require.Equal(t, map[Result]int{Failed: 1}, tally.By)
	require.True(t, strings.HasSuffix(outcomes[0], "its answer has no MessageId"))
	require.Equal(t, Depth{Visible: 1}, w.depth("dead.fifo"))
}

// Somebody else took it between the look and the move.
func TestRedriveOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	id := w.bury("a.fifo", "g", "{}")
	l := w.letters()
	listing := w.list(l, Filter{})
	w.drain("dead.fifo")
	_, outcomes := w.redriveAs(l, listing)
	require.Equal(t, []string{id + " not met again: the queue did not give it out again: somebody else has it, or it is gone"}, outcomes)
}
