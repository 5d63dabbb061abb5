package window_test

import (
	"runtime"
	"testing"
	"time"

	"fifoproof/internal/window"
)

// BenchmarkMillion fills a table with a million live ids of 64 hexadecimal digits and
// lets them expire. It reports
//
//	bytes/id               heap in use after garbage collection, values included
//	bytes/id-after-expiry  the same when the window has passed
//	ns/id                  filling, growth included
//	worst-send-ms          the slowest single send (one that doubles the index)
//	expire-31250-ms        one call that drops as many as are still dropped one by one
//	expire-half-ms         one call that drops half of the rest
//	expire-rest-ms         one call that drops all but one
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	var perID, after, filling, worst, few, half, rest float64
	ms := func(from time.Time) float64 { return time.Since(from).Seconds() * 1e3 }
	var buffer [64]byte
	for b.Loop() {
		before := heapInUse()
		table := window.NewTable[original](window.ScopeGroup, window.Length)
		began := time.Now()
		last := fill(table, n) // in four minutes
		filling += ms(began)
		perID += float64(heapInUse()-before) / n

		began = time.Now()
		table.Expire(start.Add(window.Length + 4*time.Minute/32 - time.Microsecond))
		few += ms(began)
		if table.Len() != n-n/32 {
			b.Fatalf("%d ids are left, want %d", table.Len(), n-n/32)
		}
		began = time.Now()
		table.Expire(start.Add(window.Length + 2*time.Minute))
		half += ms(began)
		began = time.Now()
		table.Expire(last.Add(window.Length - 1))
		rest += ms(began)
		if table.Len() != 1 {
			b.Fatalf("%d ids are left, want 1", table.Len())
		}
		table.Expire(last.Add(window.Length))
		after += float64(heapInUse()-before) / n
		runtime.KeepAlive(table)

		table = window.NewTable[original](window.ScopeGroup, window.Length)
		for i := range n {
			id := hexID(&buffer, i)
			began = time.Now()
			table.Decide(start, "group", id, original{})
			worst = max(worst, ms(began))
		}
	}
	runs := float64(b.N)
	b.ReportMetric(perID/runs, "bytes/id")
	b.ReportMetric(after/runs, "bytes/id-after-expiry")
	b.ReportMetric(filling*1e6/n/runs, "ns/id")
	b.ReportMetric(worst, "worst-send-ms")
	b.ReportMetric(few/runs, "expire-31250-ms")
	b.ReportMetric(half/runs, "expire-half-ms")
	b.ReportMetric(rest/runs, "expire-rest-ms")
	b.ReportMetric(0, "ns/op") // a whole run: says nothing
}

// BenchmarkDecideOne is a decision by a table that fits the processor's cache.
func BenchmarkDecideOne(b *testing.B) {
	table := window.NewTable[original](window.ScopeGroup, window.Length)
	var buffer [64]byte
	id := hexID(&buffer, 1)
	b.ReportAllocs()
	for b.Loop() {
		table.Decide(start, "group", id, original{})
	}
}

// BenchmarkDecide is the price of a decision at a million live ids.
func BenchmarkDecide(b *testing.B) {
	const n = 1_000_000
	var buffer [64]byte
	ids := make([]string, 2*n)
	for i := range ids {
		ids[i] = hexID(&buffer, i)
	}
	b.Run("duplicate", func(b *testing.B) {
		table := window.NewTable[original](window.ScopeGroup, window.Length)
		now := fill(table, n)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			table.Decide(now, "group", ids[i%n*7919%n], original{})
		}
	})
	// A new id for every id that expires: the steady state of a busy queue.
	b.Run("new", func(b *testing.B) {
		table := window.NewTable[original](window.ScopeGroup, window.Length)
		step := window.Length / n
		now := start
		for i := range n {
			now = now.Add(step)
			table.Decide(now, "group", ids[i], original{})
		}
		b.ReportAllocs()
		for i := n; b.Loop(); i++ {
			now = now.Add(step)
			table.Decide(now, "group", ids[i%len(ids)], original{})
		}
		if table.Len() != n {
			b.Fatalf("%d live ids, want %d", table.Len(), n)
		}
	})
}

// BenchmarkExpect is the price of an interval verdict.
func BenchmarkExpect(b *testing.B) {
	rule := window.ClientRule()
	opening, probe := between(0, 5*time.Millisecond), between(290*s, 290*s+5*time.Millisecond)
	b.ReportAllocs()
	for b.Loop() {
		if rule.Expect(opening, probe) != window.Suppressed {
			b.Fatal("not suppressed")
		}
	}
}
