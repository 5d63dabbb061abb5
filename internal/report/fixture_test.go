package report_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fifoproof/internal/conformance"
)

// hostile is what an endpoint could say to break out of any of the formats.
const hostile = "</script><script>alert(1)</script> | `a` **b** ]]> \" ' & <b>x</b> \x01 \n| c"

// idOf is a deduplication id as the content hash makes them.
func idOf(word string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	state := uint32(2166136261)
	for i := range 64 {
		state = (state ^ uint32(word[i%len(word)])) * 16777619
		b.WriteByte(hex[state>>28])
	}
	return b.String()
}

// story builds the timeline of a case.
type story struct{ r conformance.Result }

func tell(id string, level conformance.Level, verdict conformance.Verdict) *story {
	return &story{conformance.Result{ID: id, Level: level, Verdict: verdict, Source: "SQS API reference, SendMessage, MessageDeduplicationId"}}
}

func (s *story) says(text, expected, seen, reason string) *story {
	s.r.Text, s.r.Expected, s.r.Seen, s.r.Reason = text, expected, seen, reason
	return s
}

func (s *story) source(text string) *story { s.r.Source = text; return s }

// send adds an accepted send; message numbers its MessageId, 0 for a fresh one.
func (s *story) send(queue int, group, id string, start, end float64, message int, claim string) *story {
	s.r.Sends = append(s.r.Sends, conformance.Sent{
		Queue: queue, Group: group, ID: idOf(id), Start: start, End: &end, Claim: claim, MessageID: messageID(message),
	})
	s.r.QueueTime = max(s.r.QueueTime, end)
	return s
}

func messageID(n int) string { return fmt.Sprintf("%08x-5f0c-4b1e-9d1a-000000000000", n) }

func (s *story) refused(group, id string, start, end float64, code, claim string) *story {
	s.r.Sends = append(s.r.Sends, conformance.Sent{Group: group, ID: id, Start: start, End: &end, Refused: code, Claim: claim})
	return s
}

func (s *story) lost(group, id string, start float64, claim string) *story {
	s.r.Sends = append(s.r.Sends, conformance.Sent{Group: group, ID: idOf(id), Start: start, Claim: claim})
	return s
}

func (s *story) fence(queue int, group string, start, end, got float64, message int) *story {
	s.r.Sends = append(s.r.Sends, conformance.Sent{Queue: queue, Group: group, ID: idOf(fmt.Sprint("fence", message)), Start: start, End: &end, MessageID: messageID(message), Fence: true})
	s.r.Deliveries = append(s.r.Deliveries, conformance.Received{
		Queue: queue, Group: group, ID: idOf(fmt.Sprint("fence", message)), Start: end, End: got, MessageID: messageID(message), Fence: true,
	})
	s.r.QueueTime = max(s.r.QueueTime, got)
	return s
}

func (s *story) got(queue int, group, id string, start, end float64, message int, again bool) *story {
	s.r.Deliveries = append(s.r.Deliveries, conformance.Received{Queue: queue, Group: group, ID: idOf(id), Start: start, End: end, MessageID: messageID(message), Copy: !again})
	s.r.QueueTime = max(s.r.QueueTime, end)
	return s
}

func (s *story) window(queue int, group, id string, from, until, drift float64) *story {
	s.r.Windows = append(s.r.Windows, conformance.Window{
		Queue: queue, Group: group, ID: idOf(id), Opened: [2]float64{from, until}, Ends: [2]float64{from + 300 - drift, until + 300 + drift},
	})
	return s
}

// foreign is a run in real time on an endpoint that has every kind of verdict.
func foreign() *conformance.Results {
	var cases []conformance.Result
	add := func(s *story) *conformance.Result { cases = append(cases, s.r); return &cases[len(cases)-1] }

	ten := tell("window/basic/ten-identical", conformance.Must, conformance.Pass).
		says("The producer sends one order ten times, a call each. All ten are answered with success; the consumer gets one.", "one copy of ten sends", "ten identical sends: 1 copy", "")
	for i := range 10 {
		ten.send(0, "orders", "order", 0.012*float64(i), 0.012*float64(i)+0.009, 1, "ten identical sends")
	}
	add(ten.got(0, "orders", "order", 0.121, 0.130, 1, false).fence(0, "orders", 0.140, 0.149, 0.166, 2).window(0, "", "order", 0, 0.009, 0.06))
	add(tell("window/resend/at-once", conformance.Must, conformance.Pass).
		says("The same order again, as soon as the first has been received and deleted: nothing new comes.", "no copy of the resend", "the resend: no copy", "").
		send(0, "orders", "again", 0.003, 0.011, 1, "the first send").got(0, "orders", "again", 0.012, 0.020, 1, false).
		send(0, "orders", "again", 0.034, 0.041, 1, "the resend").fence(0, "orders", 0.043, 0.050, 0.062, 2).window(0, "", "again", 0.003, 0.011, 0.06))
	add(tell("window/resend/half-time", conformance.Must, conformance.Pass).
		says("The same order again after two and a half minutes: nothing new comes.", "no copy of the resend", "the resend: no copy after 150.002 to 150.019 s", "").
		send(0, "orders", "half", 0.002, 0.010, 1, "the first send").got(0, "orders", "half", 0.012, 0.021, 1, false).
		send(0, "orders", "half", 150.012, 150.021, 1, "the resend").fence(0, "orders", 150.022, 150.031, 150.047, 2).window(0, "", "half", 0.002, 0.010, 0.06))
	add(tell("window/resend/inside-late", conformance.Must, conformance.Pass).
		says("The same order again just before the five minutes are over: nothing new comes. On a virtual clock this is a nanosecond before the end, on a real one two seconds.",
			"no copy of the resend", "the resend: no copy after 297.981 to 297.999 s", "").
		send(0, "orders", "late", 0.004, 0.013, 1, "the first send").got(0, "orders", "late", 0.014, 0.023, 1, false).
		send(0, "orders", "late", 297.994, 298.003, 1, "the resend").fence(0, "orders", 298.004, 298.012, 298.030, 2).window(0, "", "late", 0.004, 0.013, 0.06))
	add(tell("window/resend/outside-soon", conformance.Should, conformance.NonStrict).source("SQS developer guide, designing for outage recovery scenarios").
		says("The same order again as soon as the five minutes are surely over: it is delivered again. AWS also writes of a minimum of five minutes, so later is allowed.",
			"one more copy, right after the window", "the resend: no copy after 300.060 to 300.190 s", "the resend: no copy, not 1").
		send(0, "orders", "soon", 0.004, 0.013, 1, "the first send").got(0, "orders", "soon", 0.014, 0.023, 1, false).
		send(0, "orders", "soon", 300.079, 300.194, 1, "the resend").fence(0, "orders", 300.196, 300.204, 300.230, 2).window(0, "", "soon", 0.004, 0.013, 0.06))
	add(tell("window/resend/outside-late", conformance.Must, conformance.Pass).source("recorded on AWS 2024-05-29").
		says("The same order again a minute after the window: it is delivered again.", "one more copy, a minute after the window", "the resend: 1 copy after 360.003 to 360.021 s", "").
		send(0, "orders", "minute", 0.004, 0.013, 1, "the first send").got(0, "orders", "minute", 0.014, 0.023, 1, false).
		send(0, "orders", "minute", 360.016, 360.025, 2, "the resend").got(0, "orders", "minute", 360.030, 360.044, 2, false).
		window(0, "", "minute", 0.004, 0.013, 0.06).window(0, "", "minute", 360.016, 360.025, 0.06))
	edge := tell("window/edge/ladder", conformance.Should, conformance.Pass).source("SQS developer guide, exactly-once processing").
		says("Twenty-four ids, each sent twice, the gaps between 290 and 310 seconds: from the longest gap that is surely suppressed to the shortest that is surely delivered, the window ends.",
			"suppressed below 300 s, delivered from there on", "suppressed up to 299.812 s, delivered from 300.241 s", "")
	e := &conformance.Edge{RoundTrip: 0.0093, SuppressedUpTo: new(299.8121), DeliveredFrom: new(300.2407)}
	for i, gap := range []float64{290, 291, 292, 293, 294, 295, 296, 297, 298, 299, 299.5, 299.8, 299.95, 300.05, 300.24, 300.5, 301, 302, 303, 304, 305, 306, 308, 309.5} {
		e.Probes = append(e.Probes, conformance.Probe{Min: gap + 0.0007, Max: gap + 0.0121, Delivered: gap > 300, Open: gap > 299.9 && gap < 300.1})
		id := fmt.Sprint("ladder", i)
		edge.send(0, fmt.Sprint("g", i%12), id, 0.01*float64(i), 0.01*float64(i)+0.006, 2*i+1, "").got(0, fmt.Sprint("g", i%12), id, 0.3, 0.4, 2*i+1, false)
		edge.send(0, fmt.Sprint("g", i%12), id, 0.01*float64(i)+gap, 0.01*float64(i)+gap+0.006, 2*i+2, "").window(0, "", id, 0.01*float64(i), 0.01*float64(i)+0.006, 0.06)
	}
	add(edge).Edge = e
	add(tell("window/anchor/not-sliding", conformance.Must, conformance.Inconclusive).
		says("A duplicate in the middle of the window does not prolong it: the window runs from the first send.", "one more copy", "the clock left it open",
			"the resend can have been accepted 299.981 to 300.043 s after the first send: on either side of the end").
		send(0, "orders", "anchor", 0.004, 0.013, 1, "the first send").got(0, "orders", "anchor", 0.014, 0.023, 1, false).
		send(0, "orders", "anchor", 150.004, 150.013, 1, "the duplicate").send(0, "orders", "anchor", 299.994, 300.047, 1, "the resend").
		window(0, "", "anchor", 0.004, 0.013, 0.06)).Tries = 3

	interleaved := add(tell("scope/group/interleaved", conformance.Must, conformance.Fail).source("SQS API reference, CreateQueue, DeduplicationScope").
		says("One id in two groups, A B A B, where ids are known by group: it is delivered once in each. An endpoint that keeps one entry an id forgets group A when B comes.",
			"once in each group", "A, B, A, B (the second A 14 ms after the first)", "group A: 2 copies, not 1; group B: 2 copies, not 1").
		send(0, "A", "one", 0.000, 0.004, 1, "A").send(0, "B", "one", 0.010, 0.013, 2, "B").send(0, "A", "one", 0.018, 0.021, 3, "A again").send(0, "B", "one", 0.025, 0.028, 4, "B again").
		got(0, "A", "one", 0.030, 0.036, 1, false).got(0, "B", "one", 0.030, 0.036, 2, false).got(0, "A", "one", 0.041, 0.047, 3, false).got(0, "B", "one", 0.041, 0.047, 4, false).
		got(0, "A", "one", 0.052, 0.060, 3, true).
		window(0, "A", "one", 0.000, 0.004, 0.06).window(0, "B", "one", 0.010, 0.013, 0.06))
	_ = interleaved
	add(tell("scope/queue/other-queue", conformance.Must, conformance.Pass).
		says("One id in two queues: each has its own window.", "once in each queue", "queue 1: 1 copy; queue 2: 1 copy", "").
		send(0, "orders", "two", 0.000, 0.005, 1, "queue 1").send(1, "orders", "two", 0.006, 0.012, 2, "queue 2").
		got(0, "orders", "two", 0.013, 0.019, 1, false).got(1, "orders", "two", 0.020, 0.027, 2, false).
		window(0, "", "two", 0, 0.005, 0.06).window(1, "", "two", 0.006, 0.012, 0.06))
	add(tell("scope/group/delimiter", conformance.Must, conformance.Skipped).
		says("Group a:b with id c, and group a with id b:c, are two messages.", "two copies", "the endpoint lacks the capability move-task: UnknownOperationException",
			"the endpoint lacks the capability move-task: UnknownOperationException"))
	add(tell("content/fields/each", conformance.Must, conformance.Pass).source("fifoproof docs/content-hash.md").
		says("Each field of an order is changed in each way: each is a new message, but for the field that is left out of the id.", "a new message for each change but of /sent_at", "17 of 17 as expected", "")).Fields = []conformance.Field{
		{Pointer: "", Kind: "object", Changed: "-", Added: "new message", Removed: "-"},
		{Pointer: "/order_id", Kind: "string", Changed: "new message", Added: "-", Removed: "new message"},
		{Pointer: "/amount", Kind: "number", Changed: "new message", Added: "-", Removed: "new message"},
		{Pointer: "/lines", Kind: "array", Changed: "-", Added: "new message", Removed: "new message"},
		{Pointer: "/lines/0/note", Kind: "null", Changed: "new message", Added: "-", Removed: "new message"},
		{Pointer: "/sent_at", Kind: "string", Changed: "duplicate", Added: "-", Removed: "duplicate"},
		{Pointer: "/" + hostile, Kind: "string", Changed: "refused: a duplicate name", Added: "-", Removed: "new message"},
	}
	add(tell("content/id/"+"sha256", conformance.Must, conformance.Errored).
		says("", "one copy, one effect", "the wire saw 3 deliveries, the consumer has 2 receipts", "the wire saw 3 deliveries, the consumer has 2 receipts").
		send(0, "orders", "sum", 0.000, 0.005, 1, "").got(0, "orders", "sum", 0.006, 0.011, 1, false))
	add(tell("batch/same-id/twice", conformance.Must, conformance.Pass).
		says("One batch with one id in two entries: both are answered with success, one is delivered.", "one copy, both entries successful", "1 copy", "").
		send(0, "orders", "batch", 0, 0.006, 1, "entry 1").send(0, "orders", "batch", 0, 0.006, 1, "entry 2").got(0, "orders", "batch", 0.007, 0.012, 1, false).window(0, "", "batch", 0, 0.006, 0.06))
	known := add(tell("lifecycle/resend/after-delete", conformance.Must, conformance.Fail).source("recorded on AWS 2024-04-30").
		says("An order is received and deleted; then it comes again: nothing new comes.", "no copy of the resend", "the resend: 1 copy after 1.010 to 1.016 s", "the resend: 1 copy, not 0").
		send(0, "orders", "gone", 0.004, 0.010, 1, "the first send").got(0, "orders", "gone", 0.011, 0.018, 1, false).
		send(0, "orders", "gone", 1.020, 1.026, 2, "the resend").got(0, "orders", "gone", 1.027, 1.034, 2, false).window(0, "", "gone", 0.004, 0.010, 0.06))
	known.Known = &conformance.Known{Link: "https://example.org/issues/1", Note: "an id is forgotten with its message"}
	add(tell("validate/id/129-characters", conformance.Must, conformance.Pass).
		says("An id of 129 characters is refused, one of 128 is not.", "refused: InvalidParameterValue", "refused: InvalidParameterValue", "").
		refused("orders", strings.Repeat("i", 129), 0.000, 0.004, "InvalidParameterValue", "129 characters").
		send(0, "orders", "full", 0.006, 0.011, 1, "128 characters").got(0, "orders", "full", 0.012, 0.018, 1, false))
	add(tell("receive/order/hostile", conformance.Info, conformance.Fail).source(hostile).
		says("What an endpoint says is shown, whatever it is. "+hostile, hostile, hostile, hostile).
		refused(hostile, hostile, 0, 0.003, hostile, hostile).
		send(0, "g", "x", 0.004, 0.006, 0, hostile).got(0, "g", "y", 0.01, 0.02, 77, false))
	add(tell("deadletter/move/forgotten", conformance.Info, conformance.Noted).source("not published by AWS").
		says("A message moves to the dead-letter queue; then its id comes again on the source queue.", "no copy of the resend", "the resend: 1 copy", "the reference has no copy").
		send(0, "orders", "dead", 0.000, 0.005, 1, "the first send").got(0, "orders", "dead", 0.006, 0.012, 1, false).got(0, "orders", "dead", 2.016, 2.022, 1, true).
		got(1, "orders", "dead", 4.040, 4.051, 1, false).send(0, "orders", "dead", 4.060, 4.066, 2, "the resend").got(0, "orders", "dead", 4.070, 4.078, 2, false).window(0, "", "dead", 0, 0.005, 0.06))
	add(tell("response/duplicate/message-id", conformance.Info, conformance.Noted).source("not published by AWS").
		says("Which MessageId a duplicate is answered with.", "the first one's", "the first one's", ""))
	slow := add(tell("response/many/first-hundred", conformance.Must, conformance.Skipped).
		says("Two thousand ids, each sent twice.", "one copy each", "41 messages a second: the rest would take 46 s", "the rest would take 46 s at 41 messages a second"))
	slow.Slow = true
	add(tell("transport/reply/lost-once", conformance.Must, conformance.Pass).
		says("The reply to the first attempt is lost after the endpoint has carried it out; the retry has the same id.", "one copy", "1 copy", "").
		lost("orders", "reply", 0.003, "the attempt without a reply").send(0, "orders", "reply", 2.010, 2.016, 1, "the retry").
		got(0, "orders", "reply", 2.020, 2.026, 1, false).window(0, "", "reply", 0.003, 2.016, 0.06)).Premise = true

	r := &conformance.Results{
		Target: conformance.Target{
			Name: "http://127.0.0.1:4566", Product: "ExampleMQ", Version: "4.14.0", Server: "ExampleMQ/4 (Jetty)", Clock: "real",
			Missing: map[conformance.Capability]string{conformance.MoveTask: "StartMessageMoveTask: UnknownOperationException"},
		},
		Run: "9c21", Version: "0.2.0", Profile: conformance.Default, Policy: conformance.Policy{AllowSkip: []string{"deadletter/redrive/roundtrip"}},
		Started: time.Date(2026, time.November, 29, 9, 30, 0, 0, time.UTC), Cases: cases,
		NotRun: []string{"window/experiments/an-hour", "window/experiments/a-day"},
		Stale:  []string{"batch/same-id/twice is known to fail, but it came to pass"},
	}
	r.Summary = conformance.Summary{NotRun: 2, Calls: 3104, Queues: 61, Seconds: 366.4, QueueTime: 365.1, Exit: 1}
	count(r)
	return r
}

// given is a run on one queue that others use: most of the catalogue cannot be asked there.
func given() *conformance.Results {
	told := tell("response/duplicate/message-id", conformance.Must, conformance.Pass).
		says("The answer to a duplicate has the MessageId of the first send.", "the MessageId of the first", "the same MessageId", "").
		send(0, "fifoproof-9c21-1", "order", 0.003, 0.011, 1, "the first send").send(0, "fifoproof-9c21-1", "order", 0.020, 0.028, 1, "the duplicate").
		got(0, "fifoproof-9c21-1", "order", 0.031, 0.040, 1, false)
	open := tell("lifecycle/resend/after-delete", conformance.Must, conformance.Inconclusive).
		says("An order is received and deleted, and sent again.", "no copy of the resend", "the resend: no copy",
			"nothing speaks against it, and what does not come proves nothing here: another consumer may have taken it").
		send(0, "fifoproof-9c21-2", "again", 0.003, 0.011, 2, "the first send").got(0, "fifoproof-9c21-2", "again", 0.012, 0.020, 2, false).
		send(0, "fifoproof-9c21-2", "again", 0.034, 0.041, 2, "the resend")
	open.r.Shared = true
	r := &conformance.Results{
		Target: conformance.Target{
			Name: "aws", Product: "Amazon SQS", Region: "eu-central-1", Clock: "real", Queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/staging-orders.fifo",
		},
		Run: "9c21", Version: "0.2.0", Profile: conformance.Default, Started: time.Date(2026, time.November, 29, 9, 30, 0, 0, time.UTC),
		Cases:  []conformance.Result{told.r, open.r},
		NotRun: []string{"response/send/body-md5", "scope/group/interleaved", "window/resend/inside-late"},
		NotRunWhy: map[string]string{
			"scope/group/interleaved":   "needs queues of its own with the capability " + string(conformance.Scope),
			"window/resend/inside-late": "waits, and what has not come by then proves nothing on a queue that others may read",
		},
	}
	r.Summary = conformance.Summary{NotRun: 3, Calls: 31, Seconds: 4.2, QueueTime: 0.2}
	count(r)
	return r
}

// presentable is foreign without what only a test needs: for pictures that people see.
func presentable() *conformance.Results {
	r := foreign()
	r.Cases = slices.DeleteFunc(r.Cases, func(c conformance.Result) bool { return strings.Contains(c.ID, "hostile") })
	for i := range r.Cases {
		r.Cases[i].Fields = slices.DeleteFunc(r.Cases[i].Fields, func(f conformance.Field) bool { return strings.Contains(f.Pointer, hostile) })
	}
	s := r.Summary
	r.Summary = conformance.Summary{NotRun: s.NotRun, Calls: s.Calls, Queues: s.Queues, Seconds: s.Seconds, QueueTime: s.QueueTime, Exit: s.Exit}
	count(r)
	return r
}

// side is presentable on another target, where everything passes but what is worse.
func side(target conformance.Target, worse map[string]conformance.Verdict) *conformance.Results {
	r := presentable()
	r.Target, r.Stale, r.Policy = target, nil, conformance.Policy{}
	for i := range r.Cases {
		c := &r.Cases[i]
		c.Known, c.Slow, c.Verdict, c.Reason = nil, false, conformance.Pass, ""
		if c.Level == conformance.Info {
			c.Verdict = conformance.Noted
		}
		if v, ok := worse[c.ID]; ok {
			c.Verdict, c.Reason = v, "another one"
		}
	}
	r.Summary = conformance.Summary{NotRun: 2, Calls: 2980, Queues: 60, Seconds: 366, QueueTime: 365}
	count(r)
	return r
}

// neighbours are three endpoints side by side.
func neighbours() []*conformance.Results {
	ours := side(conformance.Target{Name: "embedded", Product: "fifoproof", Version: "0.2.0", Clock: "virtual"}, nil)
	ours.Cases[6].Edge = own(3).Cases[2].Edge
	never := side(conformance.Target{Name: "http://127.0.0.1:9324", Product: "OtherMQ", Version: "1.6.15", Clock: "real"}, map[string]conformance.Verdict{
		"window/resend/outside-soon": conformance.NonStrict, "scope/group/interleaved": conformance.Fail, "scope/group/delimiter": conformance.Fail,
		"deadletter/move/forgotten": conformance.Noted, "batch/same-id/twice": conformance.Fail,
	})
	never.Cases[6].Edge = &conformance.Edge{Probes: never.Cases[6].Edge.Probes, SuppressedUpTo: new(300.5), DeliveredFrom: new(301.2), RoundTrip: 0.004}
	return []*conformance.Results{ours, presentable(), never}
}

// count fills in the counts of a summary.
func count(r *conformance.Results) {
	s := &r.Summary
	s.Cases = len(r.Cases)
	for _, c := range r.Cases {
		*map[conformance.Verdict]*int{
			conformance.Pass: &s.Pass, conformance.NonStrict: &s.NonStrict, conformance.Fail: &s.Fail, conformance.Inconclusive: &s.Inconclusive,
			conformance.Noted: &s.Info, conformance.Skipped: &s.Skipped, conformance.Errored: &s.Error,
		}[c.Verdict]++
		if c.Known != nil {
			s.Known++
		}
	}
}

// own is a run on the embedded endpoint, on which everything passes: of n cases, in
// exact time.
func own(n int) *conformance.Results {
	r := &conformance.Results{
		Target: conformance.Target{Name: "embedded", Product: "fifoproof", Version: "0.2.0", Clock: "virtual"},
		Run:    "7f3a", Version: "0.2.0", Profile: conformance.Default,
		Started: time.Date(2026, time.November, 29, 9, 30, 0, 0, time.UTC),
		Summary: conformance.Summary{Calls: 2980, Queues: n, Seconds: 0.8, QueueTime: 365},
	}
	const ns = 1e-9
	edge := &conformance.Edge{SuppressedUpTo: new(300 - ns), DeliveredFrom: new(300.0)}
	for _, gap := range []float64{290, 295, 298, 299, 299.9, 299.99, 299.999, 300 - 1e-6, 300 - ns, 300, 300 + ns, 300 + 1e-6, 300.001, 300.01, 300.1, 301, 302, 305, 310} {
		edge.Probes = append(edge.Probes, conformance.Probe{Min: gap, Max: gap, Delivered: gap >= 300})
	}
	first := tell("window/edge/ladder", conformance.Should, conformance.Pass).
		says("Nineteen ids, each sent twice, the gaps between 290 and 310 seconds.", "suppressed below 300 s, delivered from there on", "suppressed up to 299.999 999 999 s, delivered from 300.000 000 000 s", "")
	first.r.Edge, first.r.QueueTime = edge, 310
	inside := tell("window/resend/inside-late", conformance.Must, conformance.Pass).
		says("The same order again a nanosecond before the five minutes are over: nothing new comes.", "no copy of the resend", "the resend: no copy after 299.999 999 999 s", "").
		send(0, "orders", "late", 0, 0, 1, "the first send").got(0, "orders", "late", 0, 0, 1, false).
		send(0, "orders", "late", 300-ns, 300-ns, 1, "the resend").fence(0, "orders", 300-ns, 300-ns, 300-ns, 2).window(0, "", "late", 0, 0, 0)
	outside := tell("window/resend/outside-soon", conformance.Should, conformance.Pass).
		says("The same order again at the instant when the five minutes are over: it is delivered again.", "one more copy, right after the window", "the resend: 1 copy after 300.000 s", "").
		send(0, "orders", "soon", 0, 0, 1, "the first send").got(0, "orders", "soon", 0, 0, 1, false).
		send(0, "orders", "soon", 300, 300, 2, "the resend").got(0, "orders", "soon", 300, 300, 2, false).window(0, "", "soon", 0, 0, 0).window(0, "", "soon", 300, 300, 0)
	r.Cases = append(r.Cases, inside.r, outside.r, first.r)
	areas := []string{"scope", "content", "batch", "lifecycle", "validate", "receive", "deadletter", "response", "transport"}
	for i := len(r.Cases); i < n; i++ {
		area := areas[(i*len(areas)-1)/n]
		level, verdict := conformance.Must, conformance.Pass
		if area == "response" || i%11 == 0 {
			level, verdict = conformance.Info, conformance.Noted
		}
		s := tell(fmt.Sprintf("%s/subject-%d/variation-%d", area, i%7, i), level, verdict).
			says("A send, and the same again behind it; nothing new comes, since the id is known for five minutes after the first send that was accepted.", "no copy of the resend", "the resend: no copy", "")
		word := fmt.Sprint("case", i)
		for k := range 1 + i%8 {
			s.send(0, "orders", word, float64(k), float64(k), 1, "the resend")
		}
		s.got(0, "orders", word, 0, 0, 1, false).fence(0, "orders", 9, 9, 9, 2).window(0, "", word, 0, 0, 0)
		r.Cases = append(r.Cases, s.r)
	}
	count(r)
	return r
}

// warned is a run under the other policy: strict, and open questions only warn.
func warned() *conformance.Results {
	r := foreign()
	r.Policy = conformance.Policy{Strict: true, Inconclusive: conformance.Warn}
	r.Stale = nil
	r.Profile = conformance.Experiments
	r.Target.Name = "http://localhost:9324/a b'c"
	return r
}
