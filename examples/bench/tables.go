package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// The bars of issue 7, "Done when" 6.
const (
	shareOfBare = 0.5
	quota       = 3000.0 // messages a second in batches, of a FIFO queue without high throughput (developer guide, "Amazon SQS message quotas")
	mostGrowth  = 1.2
)

// writeTables writes all runs, and whether the consumer reaches the bars.
func writeTables(out io.Writer, p plan, results []result) (passed bool, err error) {
	var text strings.Builder
	fmt.Fprintf(&text, "%d-byte bodies in %d groups, every reply %s late, %d cores; consumer %s\n\n",
		p.body, p.groups, p.late, runtime.NumCPU(), cmp.Or(strings.Join(p.extra, " "), "with its defaults"))
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "contender\tmessages\ttook\ta second\tof bare\tCPU a message\tmemory at most")
	loop := results[0].rate()
	for _, r := range results {
		cpu, memory := "", ""
		if r.consumer() {
			cpu = fmt.Sprintf("%d µs", (r.cpu / time.Duration(r.messages)).Microseconds())
			memory = fmt.Sprintf("%.1f MiB", float64(r.peak)/(1<<20))
		}
		fmt.Fprintf(table, "%s\t%d\t%.1f s\t%.0f\t%.2f\t%s\t%s\n", r.name, r.messages, r.took.Seconds(), r.rate(), r.rate()/loop, cpu, memory)
	}
	if err := table.Flush(); err != nil {
		return false, err
	}
	text.WriteByte('\n')
	passed = true
	for _, v := range verdicts(results) {
		passed = passed && v.reached
		word := "reached"
		if !v.reached {
			word = "MISSED"
		}
		fmt.Fprintf(&text, "%s: %s\n", word, v.text)
	}
	_, err = io.WriteString(out, text.String())
	return passed, err
}

type verdict struct {
	reached bool
	text    string
}

// verdicts hold the consumers' runs against the bars. The first result is the bare
// loop's.
func verdicts(results []result) (all []verdict) {
	loop := results[0].rate()
	before := map[string]result{}
	for _, r := range results {
		if !r.consumer() {
			continue
		}
		all = append(all, verdict{
			r.rate() >= shareOfBare*loop || r.rate() >= quota,
			fmt.Sprintf("%s, %d messages: %.0f a second, %.2f of the bare loop (at least %.1f, or %.0f a second)", r.name, r.messages, r.rate(), r.rate()/loop, shareOfBare, quota),
		})
		if small, known := before[r.name]; known && small.peak > 0 {
			growth := float64(r.peak) / float64(small.peak)
			all = append(all, verdict{
				growth <= mostGrowth,
				fmt.Sprintf("%s: %.2f times the memory with %d messages instead of %d (at most %.1f)", r.name, growth, r.messages, small.messages, mostGrowth),
			})
		}
		before[r.name] = r
	}
	return all
}
