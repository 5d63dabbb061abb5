package deadletter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
)

// Each message once, in the order in which they came, and afterwards the queue gives out
// all of them in the same order again. Groups of three and eight share replies of ten
// (SQS, ReceiveMessage: at most ten), so a group may be cut in two by one.
func TestListLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	var buried []string
	for g := range 12 {
		for n := range 3 + g%2*5 {
			buried = append(buried, w.bury("a.fifo", fmt.Sprintf("g%02d", g), fmt.Sprintf(`{"g":%d,"n":%d}`, g, n)))
			w.pass(time.Second)
		}
	}
	listing := w.list(w.letters(), Filter{})
	require.Equal(t, buried, idsOf(listing.Messages))
	require.Equal(t, len(buried), listing.Seen)
	require.Equal(t, len(buried), listing.Count())
	require.Zero(t, listing.Behind)
	require.Zero(t, listing.Unseen)

	again := w.list(w.letters(), Filter{})
	require.Equal(t, buried, idsOf(again.Messages), "the same in a second look")
	require.NotContains(t, w.calls, "DeleteMessage")
	require.ElementsMatch(t, buried, idsOfRaw(w.drain("dead.fifo")))
}

func idsOfRaw(messages []types.Message) []string {
	var ids []string
	for _, m := range messages {
		ids = append(ids, aws.ToString(m.MessageId))
	}
	return ids
}

// A locked group gives out no more than what one receive took (developer guide, FIFO
// delivery logic), so of 25 messages of a group ten are seen, and 15 counted.
func TestListTellsWhatLiesBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for n := range 25 {
		w.bury("a.fifo", "g", fmt.Sprint(n))
	}
	w.bury("a.fifo", "h", "other")
	listing := w.list(w.letters(), Filter{})
	require.Equal(t, 11, listing.Seen)
	require.Equal(t, 15, listing.Behind)
	require.Equal(t, 26, listing.Count())
	require.Zero(t, listing.Unseen)
}

// What somebody else has in flight is counted and not seen.
func TestListTellsWhatOthersHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	w.bury("a.fifo", "g", "1")
	_, err := w.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &w.dead, VisibilityTimeout: 600})
	require.NoError(t, err)
	w.bury("a.fifo", "h", "2")
	listing, err := w.letters().List(t.Context(), Filter{})
	require.NoError(t, err)
	require.Equal(t, 1, listing.Seen)
	require.Zero(t, listing.Behind)
	require.Equal(t, 1, listing.Unseen)
}

// Whatever ends a look, nothing stays hidden.
func TestListGivesBack(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection reset by peer")
	for name, disturb := range map[string]func(w *world, cancel context.CancelFunc) (*records, error){
		"the queue fails": func(w *world, _ context.CancelFunc) (*records, error) {
			receives := 0
			w.before = func(action string) error {
				if action == "ReceiveMessage" {
					if receives++; receives == 2 {
						return lost
					}
				}
				return nil
			}
			return nil, lost
		},
		"the caller goes": func(w *world, cancel context.CancelFunc) (*records, error) {
			w.seen = func(action string, _ *http.Request) {
				if action == "ReceiveMessage" {
					cancel()
				}
			}
			return nil, context.Canceled
		},
		"the store fails": func(*world, context.CancelFunc) (*records, error) {
			return &records{err: lost}, lost
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "a.fifo")
			for g := range 15 {
				w.bury("a.fifo", fmt.Sprint(g), "{}")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			store, want := disturb(w, cancel)
			l := w.letters(func(cfg *Config) {
				if store != nil {
					cfg.Receipts = store
				}
			})
			_, err := l.List(ctx, Filter{})
			require.ErrorIs(t, err, want)
			w.before, w.seen = nil, nil
			require.Equal(t, Depth{Visible: 15}, w.depth("dead.fifo"))
		})
	}
}

// The store is so slow that a look at 100 messages lasts 100 s, and they are hidden for
// 30: what is held is renewed, so that nothing is seen twice and nobody else gets it.
func TestListRenewsWhatItHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for g := range 100 {
		w.send("a.fifo", fmt.Sprint(g), fmt.Sprint(g), "{}", nil)
	}
	w.die("a.fifo")
	looks := w.depth("dead.fifo").Visible
	store := &records{lag: func() { w.pass(time.Second) }}
	w.calls = nil
	listing := w.list(w.letters(with(store), func(cfg *Config) { cfg.Visibility = 30 * time.Second }), Filter{})
	require.Equal(t, looks, listing.Seen)
	require.Contains(t, w.calls, "ChangeMessageVisibilityBatch")
	for _, m := range listing.Messages {
		require.LessOrEqual(t, m.Receives, 3, "once in the source, once here, once more at the end of a reply")
	}
}

// On a slow endpoint fewer are held than may be: what cannot be renewed in time would
// come back in the middle of the look. A call takes 1 s, and a quarter of 60 s is 15
// calls of ten.
func TestListHoldsWhatCanBeRenewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for g := range 300 {
		w.send("a.fifo", fmt.Sprint(g), fmt.Sprint(g), "{}", nil)
	}
	w.die("a.fifo")
	w.lag = time.Second
	listing, err := w.letters(func(cfg *Config) { cfg.Visibility = time.Minute }).List(t.Context(), Filter{})
	require.NoError(t, err)
	require.True(t, listing.Full)
	require.LessOrEqual(t, listing.Seen, 150)
	require.Greater(t, listing.Seen, 130, "and not many fewer")
	w.lag = 0
	require.Equal(t, Depth{Visible: 300}, w.depth("dead.fifo"))
}

// No more are in flight than asked for.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	for g := range 60 {
		w.send("a.fifo", fmt.Sprint(g), fmt.Sprint(g), "{}", nil)
	}
	w.die("a.fifo")
	most := 0
	w.seen = func(action string, _ *http.Request) {
		if action == "ReceiveMessage" || action == "ChangeMessageVisibilityBatch" {
			seen := w.seen
			w.seen = nil
			most = max(most, w.depth("dead.fifo").InFlight)
			w.seen = seen
		}
	}
	listing, err := w.letters(func(cfg *Config) { cfg.MaxHeld = 35 }).List(t.Context(), Filter{})
	require.NoError(t, err)
	require.True(t, listing.Full)
	require.LessOrEqual(t, most, 35)
	require.Equal(t, 60, listing.Seen+listing.Unseen)
}

// A look counts as a receive, and with a redrive policy of its own the queue would move
// the message on.
func TestQueueThatMovesOnIsRefused(t *testing.T) {
	t.Parallel()
	_, err := New(Config{URL: "http://h/1/dead.fifo", ARN: arnPrefix + "dead.fifo", MaxReceives: 3}, nil)
	require.ErrorIs(t, err, ErrMovesOn)
	for _, cfg := range []Config{
		{URL: "http://h/1/dead.fifo"},
		{URL: "u", ARN: "a", Visibility: 3 * time.Minute},
		{URL: "u", ARN: "a", Visibility: 1500 * time.Millisecond},
		{URL: "u", ARN: "a", MaxHeld: 9},
	} {
		_, err := New(cfg, nil)
		require.Error(t, err)
	}
}

// Everything that is to be told of one message.
func TestMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("a.fifo", 3)
	id := w.send("a.fifo", "g", "x", `{ "order": 1.0 }`, attributes{"k": stringValue("v")})
	store := &records{}
	for n := range 3 {
		out, err := w.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(w.url("a.fifo")), VisibilityTimeout: 10, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
		})
		require.NoError(t, err)
		require.Len(t, out.Messages, 1)
		now := w.clock.Now()
		store.add(receipt.Receipt{
			Delivery: receipt.Delivery{Queue: "a.fifo", MessageID: id, ReceivedAt: now, ReceiveCount: n + 1, SequenceNumber: out.Messages[0].Attributes["SequenceNumber"]},
			Kind:     receipt.Failed, Reason: fmt.Sprintf("no stock %d", n+1),
			Attempt: receipt.Attempt{Number: n + 1, Worker: "w1", Started: now, Ended: now.Add(time.Second)},
		})
		w.pass(10 * time.Second)
	}
	w.die("a.fifo")
	died := w.clock.Now()
	w.pass(time.Minute)
	got := w.list(w.letters(with(store)), Filter{Bodies: true}).Messages
	require.Len(t, got, 1)
	m := got[0]
	require.Equal(t, id, m.ID)
	require.Equal(t, id, m.Identity)
	require.Equal(t, "g", m.Group)
	require.Equal(t, died, m.SentAt, "a dead-letter move sets it anew on FIFO queues")
	require.Equal(t, 4, m.Receives, "the count goes on: three in the source, one look")
	require.Equal(t, Source{Name: "a.fifo", ARN: arnPrefix + "a.fifo", By: ByQueue}, m.Source)
	hash, err := contenthash.New(contenthash.Options{})
	require.NoError(t, err)
	digest, err := hash.ID([]byte(`{"order":1}`), "")
	require.NoError(t, err)
	require.Equal(t, Digest{digest, DigestCanonical}, m.Digest)
	require.Equal(t, []string{"k"}, m.Names)
	require.Equal(t, 16, m.Size)
	require.Equal(t, `{ "order": 1.0 }`, m.Body)
	h := m.History
	require.True(t, h.Known)
	require.Equal(t, start, h.First)
	require.Equal(t, start.Add(20*time.Second), h.Last)
	require.Equal(t, "no stock 3", h.Reason, "that of the last attempt")
	require.Equal(t, Open, h.State)
	require.Len(t, h.Attempts, 3)
	require.Equal(t, Attempt{
		Number: 2, MessageID: id, Queue: "a.fifo", Receives: 2, Received: start.Add(10 * time.Second), Started: start.Add(10 * time.Second),
		Ended: start.Add(11 * time.Second), Worker: "w1", Kind: receipt.Failed, Reason: "no stock 2",
	}, h.Attempts[1])

	bare := w.list(w.letters(), Filter{}).Messages[0]
	require.Equal(t, History{State: Open}, bare.History, "without receipts nothing is known")
	require.Empty(t, bare.Body, "nobody asked for it")
}

func TestDigests(t *testing.T) {
	t.Parallel()
	l := newWorld(t).letters()
	require.Equal(t, Digest{"told", DigestAttribute}, l.digest(types.Message{
		Body: aws.String("{}"), MessageAttributes: attributes{"body-digest": stringValue("told")},
	}))
	// printf 'no json' | sha256sum
	require.Equal(t, Digest{"5ad3040044b6d872316bf4312926c3b9eac7faf4eca2966e8ac41dfdf9c803f5", DigestBytes}, l.digest(types.Message{Body: aws.String("no json")}))
}

// The source is what the queue tells; where it does not, what the receipts tell; else
// the one queue that names this one; else it is not known.
func TestSource(t *testing.T) {
	t.Parallel()
	seen := []receipt.Receipt{{Delivery: receipt.Delivery{Queue: "b.fifo"}}}
	w := newWorld(t, "a.fifo")
	s := w.letters().sources
	require.Equal(t, Source{"x.fifo", "arn:aws:sqs:eu-west-1:111111111111:x.fifo", ByQueue}, s.of(t.Context(), "arn:aws:sqs:eu-west-1:111111111111:x.fifo", seen))
	require.Equal(t, Source{"b.fifo", arnPrefix + "b.fifo", ByReceipts}, s.of(t.Context(), "", seen))
	require.Equal(t, Source{"a.fifo", arnPrefix + "a.fifo", ByPolicy}, s.of(t.Context(), "", nil))

	w.source("b.fifo", 1)
	require.Equal(t, Source{}, w.letters().sources.of(t.Context(), "", nil), "two, so nobody knows")
	w.before = func(string) error { return errKilled }
	require.Equal(t, Source{}, w.letters().sources.of(t.Context(), "", nil))
}

func TestFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	one := w.bury("a.fifo", "tenant-7", `{"customer":{"id":42},"name":"anna"}`)
	w.pass(time.Hour)
	two := w.bury("a.fifo", "tenant-8", `{"customer":{"id":42.0},"name":"true"}`)
	w.pass(time.Second)
	three := w.bury("a.fifo", "tenant-7", `{"customer":{"id":"42"},"name":true}`)
	w.pass(time.Second)
	four := w.bury("a.fifo", "tenant-9", `no json`)
	store := &records{}
	store.add(receipt.Receipt{Delivery: receipt.Delivery{Queue: "a.fifo", MessageID: two}, Kind: receipt.Failed, Reason: "no stock of 7"})
	value := func(text string) Value {
		v, err := ParseValue(text)
		require.NoError(t, err)
		return v
	}
	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"all":          {Filter{}, []string{one, two, three, four}},
		"group":        {Filter{Group: "tenant-7"}, []string{one, three}},
		"id":           {Filter{Message: four}, []string{four}},
		"reason":       {Filter{Reason: "stock"}, []string{two}},
		"number":       {Filter{Value: value("/customer/id=42")}, []string{one, two}},
		"another form": {Filter{Value: value("/customer/id=4.2e1")}, []string{one, two}},
		"text":         {Filter{Value: value(`/customer/id="42"`)}, []string{three}},
		"bare text":    {Filter{Value: value("/name=anna")}, []string{one}},
		"bool":         {Filter{Value: value("/name=true")}, []string{three}},
		"whole object": {Filter{Value: value(`/customer={"id": 42}`)}, []string{one, two}},
		"older":        {Filter{Older: 59 * time.Minute}, []string{one}},
		"both":         {Filter{Group: "tenant-8", Value: value("/customer/id=42")}, []string{two}},
		"none":         {Filter{Message: "nobody"}, nil},
	} {
		listing := w.list(w.letters(with(store)), c.filter)
		require.Equal(t, c.want, idsOf(listing.Messages), name)
		require.Equal(t, 4, listing.Seen, name)
	}
	for _, bad := range []string{"", "/a", "a=1", "=1", "/a~2=1"} {
		_, err := ParseValue(bad)
		require.Error(t, err, bad)
	}
	require.Equal(t, "/customer/id=42", value("/customer/id=42.0").String())
}
