package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/budget"
	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/window"
)

// TestAdmitted: a run starts only on an empty FIFO queue whose messages it can collect.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	const url = "http://endpoint/000000000000/q.fifo"
	empty := map[string]string{
		"FifoQueue": "true", "ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0", "ApproximateNumberOfMessagesDelayed": "0",
	}
	for _, tt := range []struct {
		name  string
		with  map[string]string
		scope window.Scope
		err   string
	}{
		{"an empty one", nil, window.ScopeQueue, ""},
		{"with group scope", map[string]string{"DeduplicationScope": "messageGroup"}, window.ScopeGroup, ""},
		{"with a short delay", map[string]string{"DelaySeconds": "15"}, window.ScopeQueue, ""},
		{"a longer one", map[string]string{"DelaySeconds": "16"}, 0, "delays every message by 16s"},
		{"with messages", map[string]string{"ApproximateNumberOfMessages": "3"}, 0, "is in use: 3 waiting"},
		{"with everything", map[string]string{
			"ApproximateNumberOfMessages": "3", "ApproximateNumberOfMessagesNotVisible": "1", "ApproximateNumberOfMessagesDelayed": "2",
		}, 0, "is in use: 3 waiting, 1 in flight, 2 delayed"},
		{"with a counter that is missing", map[string]string{"ApproximateNumberOfMessagesDelayed": ""}, 0, "does not tell its ApproximateNumberOfMessagesDelayed"},
		{"a standard queue", map[string]string{"FifoQueue": ""}, 0, "is no FIFO queue"},
		{"a scope of another kind", map[string]string{"DeduplicationScope": "planet"}, 0, "planet"},
	} {
		has := maps.Clone(empty)
		maps.Copy(has, tt.with)
		given, err := admitted(url, has)
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err, tt.name)
			require.ErrorContains(t, err, url, tt.name)
			continue
		}
		require.NoError(t, err, tt.name)
		require.Equal(t, &Given{URL: url, Scope: tt.scope}, given, tt.name)
	}
	_, err := admitted(url, map[string]string{"FifoQueue": "true", "ApproximateNumberOfMessages": "1", "ApproximateNumberOfMessagesNotVisible": "0", "ApproximateNumberOfMessagesDelayed": "0"})
	require.NotEmpty(t, cli.HintOf(err))
}

// TestAskable: the cases for a given queue exist, take no time, and need nothing of it;
// of all others it is said why not.
func TestAskable(t *testing.T) {
	t.Parallel()
	marked := 0
	for _, c := range Catalogue() {
		if !c.OnQueue {
			require.NotEmpty(t, c.offQueue(), c.ID)
			continue
		}
		marked++
		require.Zero(t, c.Wait, c.ID)
		require.Empty(t, c.Needs, c.ID)
		require.False(t, c.Costly, c.ID)
	}
	require.Len(t, askable, marked, "every id of the list is a case")
}

// TestShared: on a queue that others may read an absence is open, and open to the exit
// code only where something was missed. What was answered, and a copy too many, stands.
func TestShared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		f      finding
		want   Verdict
		shares bool
	}{
		{"an answer as wanted", finding{verdict: Pass}, Pass, false},
		{"another answer", finding{verdict: Fail}, Fail, false},
		{"a copy too many", finding{verdict: Fail, reason: "2 copies, not 1"}, Fail, false},
		{"no copy, as wanted", finding{verdict: Pass, byAbsence: true}, Inconclusive, true},
		{"a copy that did not come", finding{verdict: Fail, byAbsence: true, reason: "no copy, not 1"}, Inconclusive, false},
		{"no fence", finding{verdict: Inconclusive, reason: noFence}, Inconclusive, false},
	} {
		got := tt.f.shared()
		require.Equal(t, tt.want, got.verdict, tt.name)
		require.Equal(t, tt.shares, got.shares, tt.name)
		require.False(t, got.byAbsence, "%s: no premise is asked for", tt.name)
	}
}

// TestOthersAreNoEvidence: what others receive and send on a given queue says nothing
// of the case, and its own messages are known by the prefix of their group.
func TestOthersAreNoEvidence(t *testing.T) {
	t.Parallel()
	const url = "http://endpoint/000000000000/q.fifo"
	e := newEvidence()
	e.take(Record{On: &OnQueue{Queue: url, Scope: "messageGroup", Hidden: 120, Prefix: "fifoproof-run-001-a-"}})
	end := stampAt(time.Second)
	e.note(Call{Action: "ReceiveMessage", Queue: url, Start: stampAt(0), End: &end, Status: http.StatusOK, Received: []GotMessage{
		{MessageID: "theirs", Group: "g"}, {MessageID: "earlier", Group: "fifoproof-run-000-b-g"}, {MessageID: "own", Group: "fifoproof-run-001-a-g"},
	}})
	require.Len(t, e.Deliveries, 1)
	require.Equal(t, "own", e.Deliveries[0].MessageID)
	require.Equal(t, 120*time.Second, e.Deliveries[0].Hidden)
	require.Equal(t, []string{url}, e.Queues)
	require.Equal(t, window.ScopeGroup, e.scopes[url])
}

// recorder is an endpoint that counts what reaches it and answers nothing.
type recorder struct{ came []string }

func (r *recorder) Do(request *http.Request) (*http.Response, error) {
	r.came = append(r.came, request.Header.Get("X-Amz-Target"))
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func asking1(t *testing.T, action string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://endpoint", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	return request
}

// TestKeeper: nothing that would harm a given queue leaves, whatever a case may try.
func TestKeeper(t *testing.T) {
	t.Parallel()
	behind := &recorder{}
	k := keeper{behind}
	for _, action := range []string{
		"DeleteQueue", "PurgeQueue", "SetQueueAttributes", "TagQueue", "UntagQueue", "AddPermission", "RemovePermission", "CreateQueue",
		"StartMessageMoveTask", "CancelMessageMoveTask", "",
	} {
		_, err := k.Do(asking1(t, action))
		require.ErrorContains(t, err, "never calls", action)
	}
	require.Empty(t, behind.came)
	for _, action := range harmless {
		_, err := k.Do(asking1(t, action))
		require.NoError(t, err, action)
	}
	require.Len(t, behind.came, len(harmless))
}

// TestDeniedSend: a send for which the caller has no permission, or no credentials any
// more, was not carried out and shows nothing of the endpoint.
func TestDeniedSend(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"AccessDenied", "AccessDeniedException", "ExpiredToken", "InvalidClientTokenId"} {
		e := newEvidence()
		end := stampAt(time.Second)
		call := Call{Action: "SendMessage", Start: stampAt(0), End: &end, Status: http.StatusForbidden, Code: code, Sent: []SentMessage{{Group: "g", ID: "id"}}}
		e.note(call)
		require.Empty(t, e.Sends, code)
		call.Code = "InvalidMessageContents"
		e.note(call)
		require.Len(t, e.Sends, 1, "another refusal is evidence")
	}
}

// TestSpentIsNoCall: a request that the cap held back never left, so none is noted.
func TestSpentIsNoCall(t *testing.T) {
	t.Parallel()
	var noted []Record
	behind := &recorder{}
	w := &wire{next: budget.New(1, nil).Client(behind), clock: clock.Real{}, record: func(r Record) { noted = append(noted, r) }}
	w.reset()
	_, err := w.Do(asking1(t, "GetQueueUrl"))
	require.NoError(t, err)
	_, err = w.Do(asking1(t, "GetQueueUrl"))
	require.EqualError(t, err, "the cap of 1 calls is reached")
	require.Len(t, noted, 1)
	require.False(t, w.evidence.Doubtful, "nothing was left open, so nothing is tried again")
}

// TestStopReasons: what ended a run is told by its cause.
func TestStopReasons(t *testing.T) {
	t.Parallel()
	spent := &budget.SpentError{Cap: 9}
	foreign := &foreignError{queue: "q.fifo", message: "m"}
	over := func(cause error) error {
		ctx, end := context.WithCancelCause(t.Context())
		end(cause)
		return because(ctx, fmt.Errorf("waiting: %w", ctx.Err()))
	}
	for _, tt := range []struct {
		err    error
		want   Verdict
		reason string
		cut    bool
	}{
		{fmt.Errorf("sending: %w", spent), Inconclusive, "the cap of 9 calls is reached", true},
		{over(spent), Inconclusive, "the run was ended: the cap of 9 calls is reached", true},
		{over(nil), Inconclusive, Interrupted, true},
		{fmt.Errorf("receiving: %w", foreign), Errored, foreign.Error(), false},
		{over(foreign), Inconclusive, "the run was ended: " + foreign.Error(), true},
	} {
		got := stopped(tt.err)
		require.Equal(t, tt.want, got.Verdict, tt.err)
		require.Equal(t, tt.reason, got.Reason)
		require.Equal(t, tt.cut, CutShort(got.Reason), got.Reason)
	}
	require.True(t, Foreign(errors.Join(errors.New("other"), foreign)))
	require.False(t, Foreign(spent))
	require.Contains(t, (&foreignError{queue: "q.fifo", message: "m", back: spent}).Error(), "could not be given back: the cap of 9 calls is reached")
}

// TestErroredStopOutranks: that somebody else's message came is not hidden by an earlier
// open question.
func TestErroredStopOutranks(t *testing.T) {
	t.Parallel()
	e := newEvidence()
	e.take(Record{Stop: &Stop{Verdict: Inconclusive, Reason: "a premise"}})
	e.take(Record{Stop: &Stop{Verdict: Errored, Reason: "somebody else"}})
	e.take(Record{Stop: &Stop{Verdict: Inconclusive, Reason: "later"}})
	require.Equal(t, "somebody else", e.Stop.Reason)
}

// TestPrice: AWS counts a request for each 64 KB, begun ones too.
func TestPrice(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]int{0: 1, 1: 1, 65_536: 1, 65_537: 2, 1_048_576: 16} {
		require.Equal(t, want, chunks(bytes), bytes)
	}
	require.InDelta(t, 0.5, dollars(1_000_000), 1e-12)
	p := &Plan{Requests: 4444, Dollars: dollars(4444)}
	require.Equal(t, "nothing", p.cost(Setup{}))
	require.Contains(t, p.cost(Setup{Charged: true}), "at most $0.0022: 4444 requests of up to 64 KB × $0.50 per million")
}

// TestPermissions: an IAM policy names single calls, and what AWS asks for beside.
func TestPermissions(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"sqs:SendMessage"}, Permissions("SendMessageBatch", "SendMessage"))
	require.Equal(t, []string{"sqs:CreateQueue", "sqs:TagQueue"}, Permissions("CreateQueue"))
	require.True(t, slices.Contains(Permissions("StartMessageMoveTask"), "sqs:SendMessage"))
	require.Empty(t, Permissions())
}
