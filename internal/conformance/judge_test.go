package conformance

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/window"
)

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// at is the interval from a to b seconds after the epoch.
func at(a, b float64) window.Interval {
	from, to := time.Duration(a*float64(time.Second)), time.Duration(b*float64(time.Second))
	return window.Interval{
		Start: epoch.Add(from), End: epoch.Add(to),
		Mono: window.Mono{Start: from, End: to, Kept: true},
	}
}

func delivery(message, handle string, reply int, from, to float64) Delivery {
	return Delivery{Queue: "q", MessageID: message, Handle: handle, Reply: reply, At: at(from, to), Hidden: time.Duration((from + 30) * float64(time.Second))}
}

func TestCopies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		deliveries []Delivery
		deletions  []Deletion
		want       int
	}{
		{"nothing", nil, nil, 0},
		{"two messages", []Delivery{delivery("m1", "h1", 1, 0, 0.1), delivery("m2", "h2", 1, 0, 0.1)}, nil, 2},
		{
			"redelivered when the visibility timeout had run out",
			[]Delivery{delivery("m", "h1", 1, 0, 0.1), delivery("m", "h2", 2, 30, 30.1)},
			nil, 1,
		},
		{
			"perhaps redelivered: the reply came when the timeout can just have run out",
			[]Delivery{delivery("m", "h1", 1, 0, 0.1), delivery("m", "h2", 2, 29, 30)},
			nil, 1,
		},
		{
			"again before the visibility timeout can have run out",
			[]Delivery{delivery("m", "h1", 1, 0, 0.1), delivery("m", "h2", 2, 29, 29.9)},
			nil, 2,
		},
		{
			"again after an answered delete, under the same MessageId",
			[]Delivery{delivery("m", "h1", 1, 0, 0.1), delivery("m", "h2", 2, 40, 40.1)},
			[]Deletion{{Handle: "h1", At: at(0.2, 0.3)}},
			2,
		},
		{
			"the delete was answered while the second poll was under way: no proof",
			[]Delivery{delivery("m", "h1", 1, 0, 0.1), delivery("m", "h2", 2, 40, 41)},
			[]Deletion{{Handle: "h1", At: at(39, 40.5)}},
			1,
		},
		{
			"redelivered, deleted, and again",
			[]Delivery{delivery("m", "h1", 1, 0, 0.1), delivery("m", "h2", 2, 31, 31.1), delivery("m", "h3", 3, 70, 70.1)},
			[]Deletion{{Handle: "h2", At: at(32, 32.1)}},
			2,
		},
		{
			"the same MessageId twice in one reply",
			[]Delivery{delivery("m", "h1", 1, 0, 0.1), delivery("m", "h2", 1, 0, 0.1)},
			nil, 2,
		},
		{
			"fences and other queues do not count",
			[]Delivery{{Queue: "q", MessageID: "f", Fence: true}, {Queue: "other", MessageID: "m"}},
			nil, 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := Evidence{Deliveries: tt.deliveries, Deletions: tt.deletions}
			require.Len(t, e.copies("q"), tt.want)
		})
	}
}

// history is a first send at 0 s and a resend at gap seconds, each claimed on its
// own, with as many copies of each as given. The resend is meant to be want copies.
func history(gap float64, first, resent, want int, past time.Duration) *Evidence {
	e := &Evidence{
		Sends: []Send{{Queue: "q", ID: "id", At: at(0, 0.1)}, {Queue: "q", ID: "id", At: at(gap, gap+0.1)}},
		Claims: []Claim{
			{What: "the first", Queue: "q", After: 0, First: 0, Last: 1, Want: 1, Fenced: true},
			{What: "the resend", Queue: "q", After: 10, First: 1, Last: 2, Want: want, Past: past, Fenced: true},
		},
	}
	for i := range first {
		e.Deliveries = append(e.Deliveries, delivery("first"+string(rune('a'+i)), "h", 1+i, 0.2, 0.3))
	}
	for i := range resent {
		e.Deliveries = append(e.Deliveries, delivery("again"+string(rune('a'+i)), "h", 11+i, gap+0.2, gap+0.3))
	}
	return e
}

func TestJudge(t *testing.T) {
	t.Parallel()
	unfenced := func(e *Evidence, claim int) *Evidence {
		e.Claims[claim].Fenced = false
		return e
	}
	refusedFirst := history(10, 0, 0, 0, 0)
	refusedFirst.Sends[0].Refused = "InvalidParameterValue"
	disagreeing := history(10, 1, 1, 0, 0)
	disagreeing.Flaw = "the wire saw 2 deliveries, the consumer has 1 receipts"
	late := history(10, 1, 0, 0, 0)
	late.Deliveries = append(late.Deliveries, delivery("late", "h", 99, 500, 501))

	// As the SDK tells a 500 whose body is plain text: a response, and no API error.
	brokenDown := &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusInternalServerError}},
		Err:      errors.New("deserialization failed"),
	}}

	for _, tt := range []struct {
		name    string
		level   Level
		e       *Evidence
		stepErr error
		own     bool
		want    Verdict
	}{
		{"suppressed inside", Must, history(299, 1, 0, 0, 0), nil, true, Pass},
		{"delivered inside", Must, history(299, 1, 1, 0, 0), nil, true, Fail},
		{"lost at first", Must, history(10, 0, 0, 0, 0), nil, true, Fail},
		{"two at first", Must, history(10, 2, 0, 0, 0), nil, true, Fail},
		{"delivered outside", Must, history(361, 1, 1, 1, mustPast), nil, true, Pass},
		{"suppressed outside, MUST", Must, history(361, 1, 0, 1, mustPast), nil, true, Fail},
		{"suppressed outside, SHOULD", Should, history(301, 1, 0, 1, 0), nil, true, NonStrict},
		{"delivered outside, not yet a minute", Must, history(301, 1, 1, 1, mustPast), nil, true, Inconclusive},
		{"across the edge, suppressed", Must, history(299.95, 1, 0, 0, 0), nil, true, Inconclusive},
		{"across the edge, delivered", Must, history(299.95, 1, 1, 0, 0), nil, true, Inconclusive},
		{"meant inside, fell outside", Must, history(400, 1, 1, 0, 0), nil, true, Inconclusive},
		{"no fence and nothing seen", Must, unfenced(history(10, 1, 0, 0, 0), 1), nil, true, Inconclusive},
		{"no fence, yet a copy too many", Must, unfenced(history(10, 1, 1, 0, 0), 1), nil, true, Fail},
		{"a copy behind an unfenced claim may be late", Must, unfenced(history(10, 1, 1, 0, 0), 0), nil, true, Inconclusive},
		{"a copy in the last receive", Must, late, nil, true, Fail},
		{"refused", Must, refusedFirst, nil, true, Fail},
		{"receipts disagree, whatever was seen", Must, disagreeing, nil, true, Errored},
		{"interrupted", Must, history(10, 1, 0, 0, 0), context.Canceled, true, Inconclusive},
		{"interrupted after a failure", Must, history(10, 1, 1, 0, 0), context.Canceled, true, Fail},
		{"attribute refused", Must, &Evidence{}, errUnable, true, Inconclusive},
		{"network gone", Must, &Evidence{}, errors.New("connection refused"), true, Errored},
		{"a page that is no answer of SQS", Must, &Evidence{}, brokenDown, true, Inconclusive},
		{"a case that claims nothing", Must, &Evidence{}, nil, true, Errored},
		{"INFO as the reference", Info, history(10, 1, 0, 0, 0), nil, true, Noted},
		{"INFO otherwise, ours", Info, history(10, 1, 1, 0, 0), nil, true, Fail},
		{"INFO otherwise, foreign", Info, history(10, 1, 1, 0, 0), nil, false, Noted},
		{"INFO without an answer, foreign", Info, unfenced(history(10, 1, 0, 0, 0), 1), nil, false, Noted},
		{"INFO without an answer, ours", Info, unfenced(history(10, 1, 0, 0, 0), 1), nil, true, Inconclusive},
		{"INFO with a broken harness", Info, disagreeing, nil, false, Errored},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := *tt.e
			if tt.stepErr != nil {
				e.Stop = stopped(tt.stepErr)
			}
			f := Case{Level: tt.level}.weigh(judge(&e, window.ClientRule()), tt.own)
			require.Equal(t, tt.want, f.verdict, "seen: %s, reason: %s", f.seen, f.reason)
			require.NotEmpty(t, f.seen)
			if tt.want != Pass && tt.want != Noted {
				require.NotEmpty(t, f.reason)
			}
		})
	}
}

// TestJudgeOnStandingClock: on a served virtual clock everything may happen at one
// instant, and what came first is told by order alone.
func TestJudgeOnStandingClock(t *testing.T) {
	t.Parallel()
	e := history(0, 1, 0, 0, 0)
	for i := range e.Sends {
		e.Sends[i].At = at(0, 0)
	}
	for i := range e.Deliveries {
		e.Deliveries[i].At = at(0, 0)
	}
	f := judge(e, window.Rule{Length: window.Length})
	require.Equal(t, Pass, f.verdict, f.reason)
	e.Deliveries = append(e.Deliveries, Delivery{Queue: "q", MessageID: "again", Reply: 11, At: at(0, 0)})
	f = judge(e, window.Rule{Length: window.Length})
	require.Equal(t, Fail, f.verdict)
}

// TestRank: 1 outranks 3, which outranks 2.
func TestRank(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		verdicts []Verdict
		exit     int
	}{
		{[]Verdict{Pass, Noted, NonStrict}, 0},
		{[]Verdict{Pass, Inconclusive}, 2},
		{[]Verdict{Inconclusive, Errored}, 3},
		{[]Verdict{Inconclusive, Errored, Fail}, 1},
		{[]Verdict{Fail}, 1},
	} {
		var cases []Result
		for _, v := range tt.verdicts {
			cases = append(cases, Result{Verdict: v})
		}
		require.Equal(t, tt.exit, Policy{}.summarise(cases).Exit, "%v", tt.verdicts)
	}
}

// TestBrokenHistory: a history that was tampered with is an error of the harness, and no
// crash.
func TestBrokenHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []Claim{{First: -1, Last: 0}, {First: 0, Last: 1}, {First: 2, Last: 1}} {
		e := newEvidence()
		e.take(Record{Claim: &c})
		require.Equal(t, Errored, judge(e, window.ClientRule()).verdict)
	}
}
