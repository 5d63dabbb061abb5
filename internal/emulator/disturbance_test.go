package emulator_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

func (e *endpoint) disturb(d emulator.Disturbance) {
	e.t.Helper()
	require.NoError(e.t, e.server.Disturb(d))
}

// What each effect does to a send: what the caller sees, whether it was carried out, and
// what time it took.
func TestEffects(t *testing.T) {
	t.Parallel()
	for effect, c := range map[emulator.Effect]struct {
		code    string // of the error, "cut" for none at all
		status  int
		carried bool
		sentAt  time.Duration
		took    time.Duration
	}{
		emulator.DropRequest: {code: "cut"},
		emulator.DropReply:   {code: "cut", carried: true},
		emulator.Throttle:    {code: "RequestThrottled", status: 403},
		emulator.Fail:        {code: "InternalFailure", status: 500},
		emulator.FailReply:   {code: "InternalFailure", status: 500, carried: true},
		emulator.Delay:       {carried: true, sentAt: 3 * time.Second, took: 3 * time.Second},
		emulator.DelayReply:  {carried: true, took: 3 * time.Second},
	} {
		e := newEndpoint(t)
		queue := e.create("a.fifo")
		order := emulator.Disturbance{Action: "SendMessage", Effect: effect}
		if c.took > 0 {
			order.By = 3 * time.Second
		}
		e.disturb(order)
		e.receive(queue) // of another action
		_, err := e.sdk.SendMessage(t.Context(), letter(queue, "g", "x", "one"))
		switch {
		case c.code == "cut":
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, effect)
		case c.code == "":
			require.NoError(t, err, effect)
		case c.status == 403:
			requireError(t, err, c.code, c.status)
			var throttled *types.RequestThrottled
			require.ErrorAs(t, err, &throttled)
		default:
			require.ErrorContains(t, err, c.code)
		}
		require.Equal(t, c.took, e.clock.Now().Sub(start), effect)
		require.Empty(t, e.server.Disturbances(), "it struck once")
		got := e.receive(queue)
		require.Equal(t, c.carried, len(got) == 1, effect)
		if c.carried {
			require.Equal(t, fmt.Sprint(start.Add(c.sentAt).UnixMilli()), got[0].Attributes["SentTimestamp"], effect)
		}
		e.send(queue, "g", "y", "two")
	}
}

// The reply is lost on a socket too, and the SDK's own retry is answered as a duplicate.
func TestLostReplyOnASocket(t *testing.T) {
	t.Parallel()
	for _, effect := range []emulator.Effect{emulator.DropReply, emulator.DropRequest} {
		server := emulator.New(emulator.Options{Clock: clock.NewVirtual(start)})
		require.NoError(t, server.CreateQueue("a.fifo"))
		attempts := 0
		listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			attempts++
			server.ServeHTTP(w, r)
		}))
		sdk := client(server, func(o *sqs.Options) {
			o.BaseEndpoint, o.HTTPClient = &listener.URL, listener.Client()
			o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
		})
		resp, err := listener.Client().Post(listener.URL+emulator.DisturbPath, "application/json",
			strings.NewReader(fmt.Sprintf(`{"action":"SendMessage","effect":%q}`, effect)))
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		resp.Body.Close()
		attempts = 0
		_, err = sdk.SendMessage(t.Context(), letter(queueURL("a.fifo"), "g", "x", "one"))
		require.NoError(t, err)
		require.Equal(t, 2, attempts)
		listener.Close()

		e := &endpoint{t: t, sdk: client(server)}
		require.Len(t, e.receive(queueURL("a.fifo")), 1)
	}
}

func TestTimesAndProbability(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	failed := func(n int) (failures int) {
		for range n {
			if call(t, e.server, "ListQueues", "{}").status != 200 {
				failures++
			}
		}
		return failures
	}
	e.disturb(emulator.Disturbance{Effect: emulator.Fail, Times: 3})
	require.Equal(t, 3, failed(10))

	e.disturb(emulator.Disturbance{Action: "ListQueues", Effect: emulator.Throttle, Probability: 0.25})
	require.InDelta(t, 250, failed(1000), 60)
	require.Equal(t, []emulator.Disturbance{{Action: "ListQueues", Effect: emulator.Throttle, Probability: 0.25}}, e.server.Disturbances())
	e.server.Calm()
	require.Zero(t, failed(100))

	e.disturb(emulator.Disturbance{Effect: emulator.Fail, Probability: 0.5, Times: 5})
	require.Equal(t, 5, failed(100))

	// The first order that fits strikes.
	e.disturb(emulator.Disturbance{Action: "CreateQueue", Effect: emulator.Fail})
	e.disturb(emulator.Disturbance{Effect: emulator.Throttle})
	e.disturb(emulator.Disturbance{Effect: emulator.Fail})
	require.Equal(t, 403, call(t, e.server, "ListQueues", "{}").status)
	require.Equal(t, 500, call(t, e.server, "ListQueues", "{}").status)
	require.Equal(t, 200, call(t, e.server, "ListQueues", "{}").status)
	require.Equal(t, 500, call(t, e.server, "CreateQueue", "{}").status)
}

func TestDisturbOverHTTP(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	post := func(body string) reply { return do(t, e.server, "POST", emulator.DisturbPath, body) }
	require.JSONEq(t, `{"disturbances":[]}`, do(t, e.server, "GET", emulator.DisturbPath, "").body)
	r := post(`{"action":"SendMessage","effect":"delay","by":"1.5s","times":2}`)
	require.Equal(t, 200, r.status)
	require.JSONEq(t, `{"disturbances":[{"action":"SendMessage","effect":"delay","by":"1.5s","times":2}]}`, r.body)
	r = post(`{"effect":"drop-reply","probability":0.5}`)
	require.Contains(t, r.body, `{"effect":"drop-reply","probability":0.5}`)
	require.Equal(t, r.body, do(t, e.server, "GET", emulator.DisturbPath, "").body)
	require.JSONEq(t, `{"disturbances":[]}`, do(t, e.server, "DELETE", emulator.DisturbPath, "").body)

	for _, body := range []string{
		``, `{`, `[]`, `{"effect":"explode"}`, `{"effect":"fail","action":"SendMassage"}`, `{"effect":"fail","times":-1}`,
		`{"effect":"fail","probability":1.5}`, `{"effect":"fail","probability":-0.5}`, `{"effect":"fail","by":"1s"}`, `{"effect":"delay"}`,
		`{"effect":"delay","by":"soon"}`, `{"effect":"delay","by":"-1s"}`, `{"effect":"fail","tmies":2}`, `{"effect":"fail"}{}`,
	} {
		r := post(body)
		require.Equal(t, 400, r.status, body)
		require.Regexp(t, `^\{"error":"[^"].*"\}$`, r.body)
	}
	require.Empty(t, e.server.Disturbances())
	require.Equal(t, "DELETE, GET, POST", do(t, e.server, "PUT", emulator.DisturbPath, "").header.Get("Allow"))
}

// A delay ends with its caller's patience, and with that of a clock that stands still.
func TestDelayThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := emulator.New(emulator.Options{})
		e := &endpoint{t: t, server: server, sdk: client(server, func(o *sqs.Options) {
			o.HTTPClient = &http.Client{Transport: server.RoundTripper(), Timeout: time.Second}
		})}
		queue := e.create("a.fifo")
		e.disturb(emulator.Disturbance{Action: "SendMessage", Effect: emulator.Delay, By: time.Minute})
		e.disturb(emulator.Disturbance{Action: "SendMessage", Effect: emulator.DelayReply, By: time.Minute})
		for _, id := range []string{"before", "after"} {
			_, err := e.sdk.SendMessage(t.Context(), letter(queue, "g", id, id))
			require.Error(t, err)
		}
		require.Equal(t, []string{"after"}, bodies(e.receive(queue)), "the first was not carried out")

		manual := emulator.New(emulator.Options{Clock: clock.NewManual(start, time.Second)})
		require.NoError(t, manual.Disturb(emulator.Disturbance{Effect: emulator.Delay, By: time.Minute}))
		before := time.Now()
		_, err := client(manual).ListQueues(t.Context(), &sqs.ListQueuesInput{MaxResults: aws.Int32(1)})
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(before))
	})
}
