package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

func catalogue() []conformance.Case {
	return []conformance.Case{
		{
			ID: "window/basic/ten-identical", Level: conformance.Must, Source: "SQS API reference, SendMessage, MessageDeduplicationId",
			Text: "The producer sends one order ten times, a call each. All ten are answered with success; the consumer gets one.", Timeline: "0 s send A ten times · fence", Want: "one copy of ten sends",
		},
		{
			ID: "window/resend/outside-late", Level: conformance.Must, Source: "recorded on AWS 2024-05-29", Wait: 360 * time.Second,
			Text:     "The same order again a minute after the window: it is delivered again, for a late retry is a new message to SQS. This is what an idempotent consumer is for.",
			Timeline: "0 s send A · 360 s send A again · fence", Want: "one more copy, a minute after the window", Premises: []string{"window/basic/ten-identical"},
		},
		{
			ID: "scope/group/other-group", Level: conformance.Should, Source: "CreateQueue, DeduplicationScope", Text: "One id in two groups.", Timeline: "0 s send A to g1 · send A to g2",
			Want: "two copies", Needs: conformance.Scope,
		},
		{ID: "scope/experiments/an-hour", Level: conformance.Info, Source: "not published by AWS", Text: "An id an hour later: <b>_new_</b> | `new`.", Timeline: "0 s send A · 3600 s send A again", Want: "one more copy", Wait: time.Hour},
		{ID: "scope/experiments/many", Level: conformance.Info, Source: "not published by AWS", Text: "Ten thousand ids.", Timeline: "0 s send 10,000", Want: "one copy each", Costly: true},
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	var text, asJSON, markdown bytes.Buffer
	require.NoError(t, report.Cases(&text, catalogue()))
	golden(t, "cases.txt", text.Bytes())
	require.NoError(t, report.CasesJSON(&asJSON, catalogue()))
	golden(t, "cases.json", asJSON.Bytes())
	require.NoError(t, report.CasesMarkdown(&markdown, catalogue(), map[string]conformance.Demand{
		"window/basic/ten-identical": {Seconds: 1.2, Calls: 24, Queues: 1, Actions: []string{"SendMessage", "ReceiveMessage", "DeleteMessageBatch", "DeleteMessage", "CreateQueue"}},
		"window/resend/outside-late": {Seconds: 361, Calls: 1, Queues: 2, Actions: []string{"SendMessage"}},
	}))
	golden(t, "cases.md", markdown.Bytes())
}

func plan() *conformance.Plan {
	p := &conformance.Plan{
		Target:  conformance.Target{Name: "http://127.0.0.1:4566", Product: "ExampleMQ", Version: "4.14.0", Clock: "real"},
		Profile: conformance.Default, Calls: 3104, Queues: 61, Seconds: 372.4, Longest: 360,
		Cost: "nothing: the endpoint is on this machine", NotRun: []string{"scope/experiments/an-hour"},
	}
	add := func(area string, n int, wait, begins, ends float64) {
		for range n {
			p.Cases = append(p.Cases, conformance.Planned{
				ID: area + "/x/y", Level: conformance.Must, Wait: wait, Begins: begins, Ends: ends, Premise: area == "receive",
				Demand: conformance.Demand{Calls: 30, Queues: 1, Actions: []string{"SendMessage"}},
			})
		}
	}
	for _, area := range []string{"window", "scope", "content", "batch", "lifecycle", "validate", "receive", "deadletter", "response", "transport"} {
		add(area, 8, 0, 0, 6)
	}
	add("window", 3, 150, 4, 156)
	add("window", 6, 300, 4, 306)
	add("window", 4, 360, 4, 366)
	add("scope", 2, 300, 4, 306)
	add("lifecycle", 2, 300, 4.2, 306.3)
	add("deadletter", 1, 20, 10, 36)
	return p
}

func TestPlan(t *testing.T) {
	t.Parallel()
	var text, asJSON bytes.Buffer
	require.NoError(t, report.PlanText(&text, plan()))
	golden(t, "plan.txt", text.Bytes())
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	require.LessOrEqual(t, len(lines), 24, "one screen")
	for _, line := range lines {
		require.LessOrEqual(t, len([]rune(line)), 100, line)
	}
	require.NoError(t, report.PlanJSON(&asJSON, plan()))
	require.Contains(t, asJSON.String(), `"longest_wait": 360,`)

	var quick bytes.Buffer
	require.NoError(t, report.PlanText(&quick, &conformance.Plan{Target: conformance.Target{Name: "embedded", Product: "fifoproof", Clock: "virtual"}, Profile: conformance.QuickProfile, Cases: plan().Cases[:2], Calls: 60, Queues: 2}))
	require.NotContains(t, quick.String(), "▓", "nothing waits")
}

func mutants() []conformance.Mutant {
	kill := func(level conformance.Level, ids ...string) []conformance.Kill {
		var out []conformance.Kill
		for _, id := range ids {
			out = append(out, conformance.Kill{ID: id, Level: level})
		}
		return out
	}
	must, should, info := conformance.Must, conformance.Should, conformance.Info
	return []conformance.Mutant{
		{Name: "window-330", Legal: true, Text: "ids are known for 330 s", Kills: kill(should, "window/resend/outside-soon")},
		{Name: "forgets-on-delete", Text: "an id is forgotten with its message", Kills: append(kill(info, "response/duplicate/message-id"), kill(must, "lifecycle/resend/after-delete", "window/resend/at-once")...), Exit: 1},
		{Name: "window-295", Text: "ids are known for 295 s", Kills: kill(should, "window/edge/ladder"), Exit: 1},
		{Name: "md5-id", Text: "content ids are | MD5", Kills: kill(info, "content/id/sha256"), Exit: 1},
		{Name: "survivor", Text: "nobody sees it"},
		{Name: "breaks", Text: "the harness trips", Broken: []string{"receive/order/group"}, Open: []string{"window/basic/ten-identical"}, Exit: 3},
		{Name: "empty-receives", Legal: true, Text: "receives come back empty although messages wait"},
		{Name: "late-replies", Legal: true, Text: "replies take up to 2 s", Kills: kill(must, "window/resend/at-once"), Exit: 1},
		{Name: "empty-receives", With: "forgets-on-delete", Legal: true, Text: "both", Kills: kill(must, "lifecycle/resend/after-delete"), Exit: 1},
		{Name: "late-replies", With: "forgets-on-delete", Legal: true, Text: "both", Open: []string{"lifecycle/resend/after-delete", "window/resend/at-once"}, Exit: 2},
	}
}

func TestMutants(t *testing.T) {
	t.Parallel()
	var text, markdown, asJSON bytes.Buffer
	require.NoError(t, report.Mutants(&text, mutants()))
	golden(t, "mutants.txt", text.Bytes())
	require.NoError(t, report.MutantsMarkdown(&markdown, mutants()))
	golden(t, "mutants.md", markdown.Bytes())
	require.NoError(t, report.MutantsJSON(&asJSON, nil))
	require.Equal(t, "[]\n", asJSON.String())
}
