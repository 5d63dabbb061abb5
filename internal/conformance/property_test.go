package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/window"
)

// past is a history whose truth is known: what the exact model of the window made of
// every send, beside what a client could see of it.
type past struct {
	records []Record
	table   *window.Table[string]
	now     time.Duration // true time
	calls   int
	message int
	pending []carriedLater // requests that are still on their way
	reply   int
	sends   int
}

// carriedLater is a request without an answer that is carried out some time after.
type carriedLater struct {
	at     time.Duration
	id     string
	digest string
}

const pastQueue = "http://endpoint/000000000000/q.fifo"

func stampAt(d time.Duration) Stamp { return Stamp{Mono: int64(d), Wall: epoch.Add(d)} }

func (p *past) call(c Call) {
	p.calls++
	c.N, c.Queue = p.calls, pastQueue
	p.records = append(p.records, Record{Case: "c", Try: 1, Call: &c})
}

// accept is what the right queue does with a send at the true time at.
func (p *past) accept(at time.Duration, id string) (messageID string, fresh bool) {
	p.message++
	made := fmt.Sprintf("m%d", p.message)
	first, duplicate := p.table.Decide(epoch.Add(at), "g", id, made)
	if duplicate {
		return first, false
	}
	return made, true
}

// due carries out what is on its way up to the true time at.
func (p *past) due(at time.Duration) (fresh []GotMessage) {
	slices.SortStableFunc(p.pending, func(a, b carriedLater) int { return int(a.at - b.at) })
	for len(p.pending) > 0 && p.pending[0].at <= at {
		next := p.pending[0]
		p.pending = p.pending[1:]
		if id, isFresh := p.accept(next.at, next.id); isFresh {
			fresh = append(fresh, GotMessage{MessageID: id, Handle: "h" + id, Group: "g", ID: next.id, Digest: next.digest})
		}
	}
	return fresh
}

// send makes one send with what a client may see of it, and returns what arrives.
func (p *past) send(t *rapid.T, id string) (arrives []GotMessage) {
	millis := func(most int, what string) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, what)) * time.Millisecond
	}
	start := p.now
	truly := start + millis(800, "to the endpoint")
	end := truly + millis(800, "back")
	digest := "body-" + id
	c := Call{Action: "SendMessage", Start: stampAt(start), Sent: []SentMessage{{Group: "g", ID: id, Digest: digest}}}
	fate := rapid.SampledFrom([]string{"answered", "answered", "answered", "kept back", "lost", "late", "never", "failed", "throttled"}).Draw(t, "fate")
	got := func() {
		arrives = append(arrives, p.due(truly)...)
		messageID, fresh := p.accept(truly, id)
		c.Sent[0].MessageID = messageID
		if fresh {
			arrives = append(arrives, GotMessage{MessageID: messageID, Handle: "h" + messageID, Group: "g", ID: id, Digest: digest})
		}
	}
	answer := func(status int, code string) {
		at := stampAt(end)
		c.End, c.Status, c.Code = &at, status, code
	}
	switch fate {
	case "answered":
		got()
		answer(http.StatusOK, "")
	case "kept back":
		got()
		answer(http.StatusOK, "")
		c.KeptBack = true
	case "lost": // carried out, and no answer
		got()
		c.Sent[0].MessageID = ""
	case "late": // carried out when nobody thinks of it any more
		p.pending = append(p.pending, carriedLater{at: truly + millis(400_000, "late by"), id: id, digest: digest})
	case "never":
	case "failed": // a 500 that was carried out all the same
		got()
		c.Sent[0].MessageID = ""
		answer(http.StatusInternalServerError, "InternalFailure")
	case "throttled":
		answer(http.StatusForbidden, "RequestThrottled")
	}
	p.call(c)
	p.now = end
	if fate != "throttled" {
		p.sends++
	}
	return arrives
}

// receive is one reply with what arrives.
func (p *past) receive(arrives []GotMessage) {
	start := p.now
	p.now += 10 * time.Millisecond
	end := stampAt(p.now)
	p.call(Call{Action: "ReceiveMessage", Start: stampAt(start), End: &end, Status: http.StatusOK, Received: arrives})
	p.reply++
}

// drawPast makes a random history of claims. wrong, from 0, is a claim in which the
// queue does not do as the model says; -1 for none.
func drawPast(t *rapid.T, wrong int) (records []Record, claims int) {
	p := &past{table: window.NewTable[string](window.ScopeQueue, window.Length)}
	origin := stampAt(0)
	p.records = append(p.records, Record{Case: "c", Try: 1, Begin: &origin})
	claims = rapid.IntRange(max(1, wrong+1), 5).Draw(t, "claims")
	for i := range claims {
		p.now += rapid.OneOf(
			rapid.Just(time.Duration(0)),
			rapid.Map(rapid.IntRange(0, 700), func(s int) time.Duration { return time.Duration(s) * time.Second }),
			rapid.Map(rapid.IntRange(-3000, 3000), func(ms int) time.Duration { return window.Length + time.Duration(ms)*time.Millisecond }),
			rapid.Just(window.Length+mustPast),
		).Draw(t, "pause")
		c := Claim{
			What: fmt.Sprintf("claim %d", i), Queue: pastQueue, After: p.reply, First: p.sends,
			Past: rapid.SampledFrom([]time.Duration{0, mustPast}).Draw(t, "past"), Fenced: rapid.IntRange(0, 9).Draw(t, "fenced") > 0,
		}
		arrives := p.due(p.now)
		for range rapid.IntRange(1, 3).Draw(t, "sends") {
			arrives = append(arrives, p.send(t, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id"))...)
		}
		c.Last = p.sends
		c.Want = rapid.OneOf(rapid.Just(len(arrives)), rapid.IntRange(0, 3)).Draw(t, "want")
		if i == wrong {
			if len(arrives) > 0 && rapid.Bool().Draw(t, "swallow") {
				arrives = arrives[1:]
			} else {
				arrives = append(arrives, GotMessage{MessageID: "again", Handle: "again", Group: "g", ID: "a", Digest: "body-a"})
			}
			c.Fenced = true
		}
		if !c.Fenced && len(arrives) > 0 && rapid.Bool().Draw(t, "hidden") {
			arrives = arrives[:0] // without a fence, what is there may not have come
		}
		p.receive(arrives)
		p.records = append(p.records, Record{Case: "c", Try: 1, Claim: &c})
	}
	return p.records, claims
}

func judgePast(records []Record) finding {
	e := newEvidence()
	for _, r := range records {
		e.take(r)
	}
	return judge(e, window.ClientRule())
}

// TestNeverAFalseAlarm: whatever is lost on the way and however wide the intervals
// are, a queue that does as the exact model says never fails.
func TestNeverAFalseAlarm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, _ := drawPast(t, -1)
		f := judgePast(records)
		require.NotEqual(t, Fail, f.verdict, "%s", f.seen)
		require.NotEqual(t, Errored, f.verdict, "%s", f.seen)
	})
}

// TestNeverAFalsePass: a queue that once does otherwise than the exact model never
// passes.
func TestNeverAFalsePass(t *testing.T) {
	t.Parallel()
	failed := 0
	rapid.Check(t, func(t *rapid.T) {
		wrong := rapid.IntRange(0, 3).Draw(t, "wrong")
		records, _ := drawPast(t, wrong)
		f := judgePast(records)
		require.NotEqual(t, Pass, f.verdict, "%s", f.seen)
		if f.verdict == Fail {
			failed++
		}
	})
	require.NotZero(t, failed, "none of the histories was decided: they prove nothing")
}
