package window_test

import (
	"fmt"
	"time"

	"fifoproof/internal/window"
)

// A queue asks its table what a send is.
func ExampleTable() {
	table := window.NewTable[string](window.ScopeQueue, window.Length)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	for _, send := range []struct {
		after     time.Duration
		group, id string
		message   string
	}{
		{0, "orders", "id-1", "m1"},
		{2 * time.Minute, "refunds", "id-1", "m2"},
		{5*time.Minute - 1, "orders", "id-1", "m3"},
		{5 * time.Minute, "orders", "id-1", "m4"},
	} {
		first, duplicate := table.Decide(noon.Add(send.after), send.group, send.id, send.message)
		fmt.Printf("%-14v %-8s duplicate: %-5t message: %s\n", send.after, send.group, duplicate, first)
	}
	// Output:
	// 0s             orders   duplicate: false message: m1
	// 2m0s           refunds  duplicate: true  message: m1
	// 4m59.999999999s orders   duplicate: true  message: m1
	// 5m0s           orders   duplicate: false message: m4
}

// A client that sent, and waited for the answers, knows what must have happened.
func ExampleRule_Expect() {
	rule := window.ClientRule()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	opening := window.Interval{Start: noon, End: noon.Add(80 * time.Millisecond)}

	for _, after := range []time.Duration{299 * time.Second, 300 * time.Second, 301 * time.Second} {
		probe := window.Interval{Start: noon.Add(after), End: noon.Add(after + 80*time.Millisecond)}
		gap := rule.Gap(opening, probe)
		expectation, reason := rule.Judge(gap)
		fmt.Printf("%v to %v: %v %q\n",
			gap.Min.Truncate(time.Millisecond), gap.Max.Truncate(time.Millisecond), expectation, reason)
	}
	// Output:
	// 4m58.86s to 4m59.139s: suppressed ""
	// 4m59.86s to 5m0.14s: undecidable "the possible gaps lie on both sides of the end of the window"
	// 5m0.859s to 5m1.14s: delivered ""
}

// A scheduler asks when to send so that the answer decides something.
func ExampleRule_LatestInside() {
	rule := window.ClientRule()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	opening := window.Interval{Start: noon, End: noon.Add(80 * time.Millisecond)}

	inside, _ := rule.LatestInside(opening, 2*time.Second) // a send may take two seconds
	outside, _ := rule.EarliestOutside(opening, 0)
	must, _ := rule.EarliestOutside(opening, time.Minute)
	for _, at := range []time.Time{inside, outside, must} {
		fmt.Println(at.Sub(noon).Round(time.Millisecond))
	}
	// Output:
	// 4m57.94s
	// 5m0.14s
	// 6m0.152s
}

// The second send was not answered: it may have been carried out, or may yet be.
func ExampleBelief() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(after time.Duration) window.Interval { return window.At(noon.Add(after)) }
	lost := window.Interval{Start: noon.Add(4 * time.Minute)}

	belief := window.NewBelief(window.Rule{Length: window.Length})
	belief, _ = belief.Observe(at(0), window.WasDelivered)
	belief, _ = belief.Observe(lost, window.Unknown)

	for _, after := range []time.Duration{4*time.Minute + 30*time.Second, 6 * time.Minute} {
		expectation, reason := belief.Expect(at(after))
		fmt.Printf("%v %v %q\n", after, expectation, reason)
	}
	belief, ok := belief.Observe(at(6*time.Minute), window.WasSuppressed)
	fmt.Println("suppressed after six minutes is possible:", ok)
	expectation, _ := belief.Expect(at(8 * time.Minute))
	fmt.Println(8*time.Minute, expectation)
	// Output:
	// 4m30s suppressed ""
	// 6m0s undecidable "an unanswered send of the same id may have opened an interval meanwhile"
	// suppressed after six minutes is possible: true
	// 8m0s suppressed
}
