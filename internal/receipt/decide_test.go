package receipt_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/receipt"
)

var (
	noon  = time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)
	first = receipt.Origin{MessageID: "m1", ReceivedAt: noon.Add(-time.Hour)}
)

func entry(state receipt.State) *receipt.Entry {
	e := &receipt.Entry{State: state, Fingerprint: "f", MessageID: first.MessageID, ReceivedAt: first.ReceivedAt, Worker: "w", Result: "201"}
	if state == receipt.Leased {
		e.LeaseUntil = noon.Add(time.Second)
	}
	return e
}

func from(message string) receipt.Delivery {
	return receipt.Delivery{MessageID: message, Fingerprint: "f"}
}

// Every line is a rule of docs/receipts.md.
func TestDecide(t *testing.T) {
	t.Parallel()
	over := entry(receipt.Leased)
	over.LeaseUntil = noon
	endless := entry(receipt.Leased)
	endless.LeaseUntil = time.Time{}
	copied := from("c1")
	copied.OriginID = "m1"
	fresh := receipt.Decision{Kind: receipt.Fresh}
	took := receipt.Decision{Kind: receipt.Fresh, TookOver: true}
	inFlight := receipt.Decision{Kind: receipt.Pending, Until: noon.Add(time.Second), Reason: "in flight with w"}
	redelivered := receipt.Decision{Kind: receipt.Redelivered, First: first, Result: "201"}
	repeated := receipt.Decision{Kind: receipt.Repeated, First: first, Result: "201", Repeats: true}
	refused := receipt.Decision{Kind: receipt.Rejected, First: first, Repeats: true, Reason: "the key was done before by message m1"}
	again := receipt.Decision{First: first, Repeats: true}
	for _, tt := range []struct {
		name   string
		entry  *receipt.Entry
		d      receipt.Delivery
		policy receipt.Policy
		seen   bool
		want   receipt.Decision
		again  bool
	}{
		{"a new key", nil, from("m1"), receipt.Skip, false, fresh, false},
		{"a new key, run", nil, from("m1"), receipt.Run, false, fresh, false},
		{"an open key", entry(receipt.Open), from("m1"), receipt.Skip, false, fresh, false},
		{"an open key, another message", entry(receipt.Open), from("m2"), receipt.Refuse, false, fresh, false},
		{"an open key, another message, run", entry(receipt.Open), from("m2"), receipt.Run, false, fresh, false},
		{"in flight, itself", entry(receipt.Leased), from("m1"), receipt.Skip, false, inFlight, false},
		{"in flight, itself, run", entry(receipt.Leased), from("m1"), receipt.Run, false, inFlight, false},
		{"in flight, another", entry(receipt.Leased), from("m2"), receipt.Skip, false, inFlight, false},
		{"in flight, another, reject", entry(receipt.Leased), from("m2"), receipt.Refuse, false, inFlight, false},
		{"in flight, another, run", entry(receipt.Leased), from("m2"), receipt.Run, false, again, true},
		{"the lease is over at its end", over, from("m1"), receipt.Skip, false, took, false},
		{"the lease is over, another", over, from("m2"), receipt.Run, false, took, false},
		{"no end is over", endless, from("m1"), receipt.Skip, false, took, false},
		{"done, itself", entry(receipt.Completed), from("m1"), receipt.Skip, false, redelivered, false},
		{"done, its redriven copy", entry(receipt.Completed), copied, receipt.Run, false, redelivered, false},
		{"done, a repeat", entry(receipt.Completed), from("m2"), receipt.Skip, false, repeated, false},
		{"done, a repeat, by default", entry(receipt.Completed), from("m2"), "", false, repeated, false},
		{"done, a repeat that comes again", entry(receipt.Completed), from("m2"), receipt.Skip, true, redelivered, false},
		{"done, a repeat, run", entry(receipt.Completed), from("m2"), receipt.Run, false, again, true},
		{"done, a repeat that was skipped before, run", entry(receipt.Completed), from("m2"), receipt.Run, true, redelivered, false},
		{"done, a repeat, reject", entry(receipt.Completed), from("m2"), receipt.Refuse, false, refused, false},
		{"done, itself, reject", entry(receipt.Completed), from("m1"), receipt.Refuse, false, redelivered, false},
	} {
		got, more := receipt.Decide(tt.entry, tt.d, tt.policy, tt.seen, noon)
		require.Equal(t, tt.want, got, tt.name)
		require.Equal(t, tt.again, more, tt.name)
	}
}

// C68: a conflict is told whatever state the key is in and whatever the policy.
func TestMismatchFirst(t *testing.T) {
	t.Parallel()
	for _, state := range []receipt.State{receipt.Open, receipt.Leased, receipt.Completed} {
		for _, policy := range []receipt.Policy{receipt.Skip, receipt.Run, receipt.Refuse} {
			for _, message := range []string{"m1", "m2"} {
				d := from(message)
				d.Fingerprint = "another"
				got, again := receipt.Decide(entry(state), d, policy, message == "m2", noon)
				require.False(t, again)
				require.Equal(t, receipt.Decision{
					Kind: receipt.Rejected, First: first, Repeats: message == "m2",
					Reason: "the key is known with another body: message m1 had the fingerprint f…, this one has another…",
				}, got, "%s %s %s", state, policy, message)
			}
		}
	}
	// Where one side has none there is nothing to compare.
	d := from("m2")
	d.Fingerprint = ""
	got, _ := receipt.Decide(entry(receipt.Completed), d, receipt.Skip, false, noon)
	require.Equal(t, receipt.Repeated, got.Kind)
}

// C57: to the nanosecond, in one unit.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	e := entry(receipt.Leased)
	for offset, want := range map[time.Duration]receipt.Kind{-1: receipt.Pending, 0: receipt.Fresh, 1: receipt.Fresh} {
		got, _ := receipt.Decide(e, from("m1"), receipt.Skip, false, e.LeaseUntil.Add(offset))
		require.Equal(t, want, got.Kind, offset)
	}
}

// inbox is the smallest store there can be: a map, and the token.
type inbox struct {
	rows map[string]*held
	seen map[string]bool
}

type held struct {
	receipt.Entry

	token int
}

// TestDecideNeverRunsTwoHandlers lets workers deliver, finish, fail, crash and sleep
// in any order. However it comes, no two handlers run under a lease that holds, and
// no message's effect is committed twice, nor a key's where repeats do not run.
func TestDecideNeverRunsTwoHandlers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]receipt.Policy{receipt.Skip, receipt.Run, receipt.Refuse}).Draw(t, "policy")
		box := inbox{rows: map[string]*held{}, seen: map[string]bool{}}
		type handler struct {
			key, message string
			token        int
		}
		var running []handler
		committed := map[string]int{}
		now, tokens := noon, 0
		t.Repeat(map[string]func(*rapid.T){
			"deliver": func(t *rapid.T) {
				message := fmt.Sprintf("m%d", rapid.IntRange(0, 2).Draw(t, "message"))
				d := from(message)
				key := "k"
				row := box.rows[key]
				if own, ok := box.rows["k/"+message]; ok && policy == receipt.Run {
					key, row = "k/"+message, own
				}
				var known *receipt.Entry
				if row != nil {
					known = &row.Entry
				}
				decision, again := receipt.Decide(known, d, policy, box.seen[message], now)
				if again {
					key, row = "k/"+message, nil
					decision, again = receipt.Decide(nil, d, policy, false, now)
					require.False(t, again)
				}
				if decision.Kind.Done() && decision.Kind != receipt.Fresh {
					box.seen[message] = true
				}
				if decision.Kind != receipt.Fresh {
					return
				}
				if row != nil {
					require.Equal(t, row.State == receipt.Leased, decision.TookOver)
					require.False(t, row.State == receipt.Leased && now.Before(row.LeaseUntil), "two handlers run")
					require.NotEqual(t, receipt.Completed, row.State, "a done key runs again")
				}
				tokens++
				box.rows[key] = &held{
					Entry: receipt.Entry{State: receipt.Leased, Fingerprint: "f", MessageID: message, ReceivedAt: now, LeaseUntil: now.Add(time.Minute)},
					token: tokens,
				}
				running = append(running, handler{key, message, tokens})
			},
			"end": func(t *rapid.T) {
				if len(running) == 0 {
					t.Skip("nobody runs")
				}
				n := rapid.IntRange(0, len(running)-1).Draw(t, "who")
				h := running[n]
				running = append(running[:n:n], running[n+1:]...)
				row := box.rows[h.key]
				if row.token != h.token || row.State != receipt.Leased {
					return // fenced
				}
				if rapid.Bool().Draw(t, "succeeds") {
					row.State = receipt.Completed
					box.seen[h.message] = true
					committed[h.key]++
					committed[h.message]++
				} else {
					row.State = receipt.Open
				}
			},
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) {
				for what, n := range committed {
					require.LessOrEqual(t, n, 1, what)
				}
			},
		})
	})
}

func TestKinds(t *testing.T) {
	t.Parallel()
	var counts receipt.Counts
	for n, kind := range receipt.Kinds() {
		counts.Add(kind, int64(n+1))
		require.Equal(t, kind == receipt.Fresh || kind == receipt.Redelivered || kind == receipt.Repeated, kind.Done(), kind)
	}
	require.Equal(t, receipt.Counts{Fresh: 1, Redelivered: 2, Repeated: 3, Rejected: 4, Failed: 5, Pending: 6}, counts)
	require.Equal(t, int64(21), counts.Deliveries())
	require.Equal(t, "m1", receipt.Delivery{MessageID: "c1", OriginID: "m1"}.Identity())
	require.Equal(t, "m1", from("m1").Identity())
}
