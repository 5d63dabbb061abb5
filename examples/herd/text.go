package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

const (
	shown = 1               // the seed of what is drawn
	row   = 8 * time.Second // of the histogram in text
	full  = 50              // characters for a bar of all clients
)

// writeText writes the histogram of the first setting, the table of all of them, and
// whether the bar is reached.
func writeText(w io.Writer) (reached bool, err error) {
	var text strings.Builder
	all := settings()
	fmt.Fprintf(&text, "%d clients fail at once and retry %d times: %s.\n", clients, retries, all[0].name)
	fmt.Fprintf(&text, "The most calls within any %s of each %.0f s, first attempts left out:\n\n", millis(bin), row.Seconds())
	writeHistogram(&text, all[0])

	fmt.Fprintf(&text, "\nHow many times lower the peak is with full jitter, over %d seeds:\n\n", seeds)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "setting\twithout\twith\tmin\tmedian\tmax")
	var first spread
	for i, s := range all {
		m := s.measure()
		if i == 0 {
			first = m
		}
		fmt.Fprintf(table, "%s\t%d\t%d to %d\t%.1f x\t%.1f x\t%.1f x\n", s.name, m.steady, m.lowest, m.highest, m.least, m.middle, m.utmost)
	}
	if err := table.Flush(); err != nil {
		return false, err
	}
	reached = first.least >= bar
	verdict := "reached with every seed"
	if !reached {
		verdict = "missed"
	}
	fmt.Fprintf(&text, "\n%s: at least %d x lower was asked for: %s.\n", all[0].name, bar, verdict)
	_, err = io.WriteString(w, text.String())
	return reached, err
}

// writeHistogram writes a line for each row of time, with the fullest bin in it,
// without jitter and with it.
func writeHistogram(w io.Writer, s setting) {
	steady, jitter := histogram(s.steady().calls(shown)), histogram(s.calls(shown))
	fmt.Fprintf(w, "%6s  %-*s  %s\n", "from", full+4, "without jitter", fmt.Sprintf("with full jitter (seed %d)", shown))
	for at := time.Duration(0); at <= s.longest(); at += row {
		line := fmt.Sprintf("%4.0f s  %-*s  %s", at.Seconds(), full+4, stroke(fullest(steady, at)), stroke(fullest(jitter, at)))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// fullest is the most calls in one bin of the row that begins at a time.
func fullest(counts []int, at time.Duration) int {
	from := min(int(at/bin), len(counts))
	to := min(int((at+row)/bin), len(counts))
	if from == to {
		return 0
	}
	return slices.Max(counts[from:to])
}

// stroke is a count as a bar, with its number; nothing for none.
func stroke(count int) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d", strings.Repeat("#", max(count*full/clients, 1)), count)
}

func millis(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
