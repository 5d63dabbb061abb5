package emulator_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/emulator"
)

// wrong is what each variant answers otherwise than the right endpoint, by probe. It is
// right everywhere else.
var wrong = map[string]map[string]string{
	"forgets-on-delete": {
		"resent after the delete": "second", "resent after the delete, others waiting": "other second",
	},
	"forgets-on-receive": {
		"resent after the delete": "second", "resent after the delete, others waiting": "other second",
		"resent while in flight": "second", "resent after the dead-letter move": "second", "resent after a timeout": "first again",
	},
	"forgets-on-dead-letter": {"resent after the dead-letter move": "second"},
	"window-slides":          {"at half time and at the end": "first"},
	"window-295s":            {"gaps delivered": "296 299 300 304 306 329 331 361"},
	"window-305s":            {"at half time and at the end": "first", "gaps delivered": "306 329 331 361"},
	"sweeps-every-minute":    {"gaps delivered": "361"},
	"keeps-10000-ids":        {"10,050 ids": "new"},
	"scope-ignored":          {"scope messageGroup, groups 1 2 1": "1"},
	"scope-keyed-by-id":      {"scope messageGroup, groups 1 2 1": "1 1 2"},
	"joins-with-colon":       {"group and id run into each other": "a:b"},
	"md5-content-id":         {"id made from a body": "0cbc6611f5540bd0809a388dc95a615b"},
	"attributes-in-content-id": {
		"one body with two attributes": "b b",
	},
	"explicit-id-ignored": {"one body with two ids": "b"},
	"batch-unchecked": {
		"in a batch": "x x-again y y-again",
	},
	"batch-checks-itself-only": {"in a batch": "x x-again y"},
	"duplicate-replaces-body": {
		"answer to a duplicate": "id=same sequence=same md5=own, second", "at half time and at the end": "half end",
		"scope queue, groups 1 2 1": "1", "resent after a timeout": "again", "in a batch": "x-again y-again",
		"gaps delivered": "294 296 299 300 304 306 329 331 361",
	},
	"duplicate-new-message-id": {"answer to a duplicate": "id=fresh sequence=same md5=own, first"},
	"duplicate-enqueued": {
		"at half time and at the end": "first half end", "gaps delivered": "294 296 299 300 304 306 329 331 361",
		"resent after the delete": "second", "resent after the delete, others waiting": "other second", "resent while in flight": "second",
		"resent after the dead-letter move": "second", "scope messageGroup, groups 1 2 1": "1 1 2", "scope queue, groups 1 2 1": "1 1 2",
		"one body with two attributes": "b b", "in a batch": "x x-again y y-again",
		"answer to a duplicate":  "id=same sequence=same md5=own, first second",
		"resent after a timeout": "first again", "order after a resend": "a1 a2 a1", "twenty duplicates": "more", "150 duplicates": "more",
		"90 s after a duplicate": "", "after a purge": "second", "twenty at once": "more", "650 ids": "new",
	},
	"duplicate-first-md5":           {"answer to a duplicate": "id=same sequence=same md5=other, first"},
	"group-not-locked":              {"locks": "a1 then a2 b1"},
	"group-lock-shared":             {"locks": "a1 then ", "order of groups": "another, 1", "receives": "1, at once"},
	"order-lost-after-timeout":      {"order after a timeout": "a2 a1"},
	"keeps-id-in-dead-letter-queue": {"id of a dead letter": "x"},
	"folds-case":                    {"ids that differ in case": "1"},
	"cuts-id-at-64":                 {"ids that differ at the end": "1"},
	"never-deduplicates": {
		"at half time and at the end": "first half end", "gaps delivered": "294 296 299 300 304 306 329 331 361",
		"resent after the delete": "second", "resent after the delete, others waiting": "other second", "resent while in flight": "second",
		"resent after the dead-letter move": "second", "scope messageGroup, groups 1 2 1": "1 1 2", "scope queue, groups 1 2 1": "1 1 2",
		"one body with two attributes": "b b", "in a batch": "x x-again y y-again",
		"answer to a duplicate":  "id=fresh sequence=fresh md5=own, first second",
		"resent after a timeout": "first again", "order after a resend": "a1 a2 a1", "twenty duplicates": "more", "150 duplicates": "more",
		"90 s after a duplicate": "", "after a purge": "second", "twenty at once": "more", "650 ids": "new",
	},

	"every-13th-duplicate-passes": {"twenty duplicates": "more", "150 duplicates": "more", "twenty at once": "more"},
	"forgets-after-100-resends":   {"150 duplicates": "more"},
	"late-copy": {
		"90 s after a duplicate": "second", "at half time and at the end": "first half end",
	},
	"forgets-when-queue-empties": {
		"resent after the delete": "second", "resent after the dead-letter move": "second",
	},
	"forgets-newest-past-500-ids": {"650 ids": "new"},
	"window-from-receive": {
		"gaps delivered": "", "received 60 s before the window ends": "", "at half time and at the end": "first",
	},
	"refused-send-claims-id": {"sent again after a refusal": ""},
	"forgets-on-redelivery": {
		"resent after a timeout": "first again", "resent after the dead-letter move": "second",
	},
	"second-group-forgets": {"scope messageGroup, groups 1 2 1": "1 1 2", "scope queue, groups 1 2 1": "1 1"},
	"concurrent-double":    {"twenty at once": "more"},
	"drops-first-after-window": {
		"at half time and at the end": "first", "gaps delivered": "", "received 60 s before the window ends": "",
	},
	"resend-reorders": {"order after a resend": "a2 a1"},

	"empty-receives":           {"receives": "late"},
	"one-message-a-receive":    {"receives": "1, at once"},
	"visible-a-second-late":    {"receives": "late"},
	"stale-counters":           {"counters": "0 waiting"},
	"suppresses-330s":          {"at half time and at the end": "first", "gaps delivered": "331 361"},
	"duplicate-fresh-sequence": {"answer to a duplicate": "id=same sequence=fresh md5=own, first"},
	"purge-clears-ids":         {"after a purge": "second"},
	"batch-refuses-per-entry":  {"a batch with a bad id": "200 good"},
	"any-group-first":          {"order of groups": "another, 10"},
	"short-sequence-numbers":   {"sequence numbers": "3 digits"},
}

// noisy variants disturb every probe, so they have tests of their own below.
var noisy = []string{"slow-replies", "throttles-and-fails"}

func TestRightEndpoint(t *testing.T) {
	t.Parallel()
	for _, p := range probes {
		require.Equal(t, p.right, p.run(newEndpoint(t)), p.name)
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	for _, v := range emulator.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			want, listed := wrong[v.Name]
			if !listed {
				require.Contains(t, noisy, v.Name, "every variant has a probe")
				return
			}
			require.NotEmpty(t, want)
			for _, p := range probes {
				answer, differs := want[p.name]
				if !differs {
					answer = p.right
				}
				if p.large && !differs {
					continue
				}
				require.Equal(t, answer, p.run(newEndpoint(t, v.Name)), p.name)
			}
		})
	}
}

func TestCatalogueOfVariants(t *testing.T) {
	t.Parallel()
	count := map[emulator.Kind]int{}
	seen := map[string]bool{}
	for _, v := range emulator.Variants() {
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, v.Name)
		require.False(t, seen[v.Name], v.Name)
		require.NotRegexp(t, `[.!]$`, v.Text)
		seen[v.Name] = true
		count[v.Kind]++
	}
	require.Len(t, count, 2)
	require.GreaterOrEqual(t, count[emulator.Faulty], 36)
	require.GreaterOrEqual(t, count[emulator.Legal], 10)
}

// Variants are combined: each is wrong in its own way still.
func TestVariantsCombined(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, "", "suppresses-330s", "forgets-on-delete", "folds-case", "cuts-id-at-64", "one-message-a-receive")
	queue := e.simple()
	e.send(queue, "g", "X", "first")
	e.pass(310 * time.Second)
	e.send(queue, "g", "x", "second")
	require.Equal(t, "first", e.drain(queue))
	e.send(queue, "g", "x", "third")
	require.Equal(t, "third", e.drain(queue))
}

func TestUnknownVariant(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, "scope-ignored", "no-such-variant")
	_, err := e.sdk.ListQueues(t.Context(), nil)
	require.ErrorContains(t, err, `no variant is named "no-such-variant"`)
	require.Error(t, e.server.CreateQueue("a.fifo"))
	r := call(t, e.server, "ListQueues", "{}")
	require.Equal(t, 500, r.status)
	require.Equal(t, "InternalFailure;Receiver", r.header.Get("X-Amzn-Query-Error"))
}

// One seed, one sequence of chances; and it changes no message id.
func TestSeededVariant(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, variants ...string) (statuses []int, id string) {
		server := emulator.New(emulator.Options{Seed: seed, Variants: variants})
		require.NoError(t, server.CreateQueue("a.fifo"))
		for range 200 {
			statuses = append(statuses, call(t, server, "ListQueues", "{}").status)
		}
		return statuses, call(t, server, "SendMassage", "{}").header.Get("X-Amzn-Requestid")
	}
	first, id := run(7, "throttles-and-fails")
	again, _ := run(7, "throttles-and-fails")
	other, _ := run(8, "throttles-and-fails")
	_, plain := run(7)
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
	require.Equal(t, plain, id)
}

func TestThrottlesAndFails(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, "throttles-and-fails")
	for e.server.CreateQueue("a.fifo") != nil {
	}
	codes := map[string]int{}
	carriedOut := 0
	const n = 4000
	for i := range n {
		r := call(t, e.server, "SendMessage", fmt.Sprintf(`{"QueueUrl":%q,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"%d"}`, queueURL("a.fifo"), i))
		codes[r.header.Get("X-Amzn-Query-Error")]++
	}
	var counters struct{ Attributes map[string]string }
	for counters.Attributes == nil {
		r := call(t, e.server, "GetQueueAttributes", `{"QueueUrl":"`+queueURL("a.fifo")+`","AttributeNames":["All"]}`)
		_ = json.Unmarshal([]byte(r.body), &counters)
	}
	require.NoError(t, json.Unmarshal([]byte(counters.Attributes["ApproximateNumberOfMessages"]), &carriedOut))
	require.Len(t, codes, 3)
	require.InDelta(t, 0.10*n, codes["RequestThrottled;Sender"], 0.02*n)
	require.InDelta(t, 0.07*n, codes["InternalFailure;Receiver"], 0.02*n)
	require.InDelta(t, 0.02*n, carriedOut-codes[""], 0.01*n, "failed, yet carried out")
}

func TestSlowReplies(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, "slow-replies")
	queue := e.create("a.fifo")
	var before, after int
	for i := range 100 {
		asked := e.clock.Now()
		e.send(queue, "g", fmt.Sprint(i), "b")
		answered := e.clock.Now()
		require.True(t, answered.After(asked))
		require.LessOrEqual(t, answered.Sub(asked), 2*time.Second)
		var m []byte
		for _, got := range e.receive(queue) {
			m = []byte(got.Attributes["SentTimestamp"])
			e.delete(queue, got)
		}
		var sent int64
		require.NoError(t, json.Unmarshal(m, &sent))
		if sent == asked.UnixMilli() {
			after++
		} else {
			before++
		}
	}
	require.InDelta(t, 50, before, 20)
	require.InDelta(t, 50, after, 20)
}

// Never more than four in a row, of receives that would have found something.
func TestEmptyReceivesComeToAnEnd(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, "empty-receives")
	queue := e.create("a.fifo", "VisibilityTimeout", "0")
	e.send(queue, "g", "x", "x")
	row, empties := 0, 0
	for range 3000 {
		if len(e.receive(queue)) > 0 {
			row = 0
			continue
		}
		row++
		empties++
		require.LessOrEqual(t, row, 4)
	}
	require.InDelta(t, 1000, empties, 150)
}
