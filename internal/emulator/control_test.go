package emulator_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	for kind, server := range map[string]*emulator.Server{
		"virtual": emulator.New(emulator.Options{Clock: clock.NewManual(start.Add(1), time.Second)}),
		"walking": emulator.New(emulator.Options{Clock: clock.NewVirtual(start.Add(1))}),
	} {
		r := do(t, server, "GET", emulator.HealthPath, "")
		require.Equal(t, 200, r.status)
		require.Equal(t, "application/json", r.header.Get("Content-Type"))
		require.JSONEq(t, `{"name":"fifoproof","version":"`+cli.Version+`","clock":"virtual","now":"2026-03-01T12:00:00.000000001Z"}`, r.body, kind)
	}
	r := do(t, emulator.New(emulator.Options{}), "GET", emulator.HealthPath, "")
	require.Contains(t, r.body, `"clock":"real"`)
	require.NotContains(t, r.body, `"variants"`)
	r = do(t, emulator.New(emulator.Options{Variants: []string{"", "scope-ignored", "slow-replies"}}), "GET", emulator.HealthPath, "")
	require.Contains(t, r.body, `"variants":["scope-ignored","slow-replies"]`)
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	manual := clock.NewManual(start, time.Second)
	server := emulator.New(emulator.Options{Clock: manual})
	for _, c := range []struct{ body, want string }{
		{`{"by":"5m"}`, "2026-03-01T12:05:00Z"},
		{`{"by":"4m59.999999999s"}`, "2026-03-01T12:09:59.999999999Z"},
		{`{"by":"0s"}`, "2026-03-01T12:09:59.999999999Z"},
		{`{"by":"336h0m0.000000001s"}`, "2026-03-15T12:10:00Z"},
	} {
		r := do(t, server, "POST", emulator.AdvancePath, c.body)
		require.Equal(t, 200, r.status, r.body)
		require.JSONEq(t, `{"now":"`+c.want+`"}`, r.body)
	}
	now := manual.Now()
	for _, body := range []string{
		"", "{", "{}", "[]", "5m", `{"by":5}`, `{"by":null}`, `{"by":""}`, `{"by":"5"}`, `{"by":"five"}`, `{"by":"-5m"}`,
		`{"by":"9999999h"}`, `{"by":"` + strings.Repeat("1", 5000) + `s"}`,
	} {
		r := do(t, server, "POST", emulator.AdvancePath, body)
		require.Equal(t, 400, r.status, body)
		require.Regexp(t, `^\{"error":"[^"].*"\}$`, r.body)
	}
	// Each step is allowed, all of them together would end up where no time can be
	// written any more.
	var last reply
	for range 100 {
		last = do(t, server, "POST", emulator.AdvancePath, `{"by":"2540000h"}`)
	}
	require.Equal(t, 400, last.status)
	require.Equal(t, 200, do(t, server, "GET", emulator.HealthPath, "").status)
	require.True(t, manual.Now().After(now))

	for _, c := range []clock.Clock{clock.Real{}, clock.NewVirtual(start)} {
		r := do(t, emulator.New(emulator.Options{Clock: c}), "POST", emulator.AdvancePath, `{"by":"5m"}`)
		require.Equal(t, 400, r.status)
		require.Contains(t, r.body, "--clock virtual")
	}
}

func TestControlPaths(t *testing.T) {
	t.Parallel()
	server := emulator.New(emulator.Options{})
	require.Equal(t, 404, do(t, server, "GET", emulator.ControlPrefix+"other", "").status)
	r := do(t, server, "POST", emulator.HealthPath, "")
	require.Equal(t, 405, r.status)
	require.Equal(t, "GET", r.header.Get("Allow"))
	require.Equal(t, 405, do(t, server, "GET", emulator.AdvancePath, "").status)
}

// A line a request, and nothing in it of what was sent.
func TestLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server := emulator.New(emulator.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, server.CreateQueue("a.fifo"))
	call(t, server, "SendMessage", `{"QueueUrl":"`+queueURL("a.fifo")+`","MessageBody":"secret","MessageGroupId":"secret","MessageDeduplicationId":"secret"}`)
	call(t, server, "SendMessage", `{"QueueUrl":"`+queueURL("a.fifo")+`","MessageBody":"secret"}`)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], "action=SendMessage status=200")
	require.Contains(t, lines[1], "action=SendMessage status=400 code=MissingParameter")
	require.NotContains(t, log.String(), "secret")
}
