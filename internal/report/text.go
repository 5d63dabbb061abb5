package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"fifoproof/internal/conformance"
)

// Style is how a text report is drawn.
type Style struct {
	Target string // the target in words
	Colour bool   // colour the verdicts; the word stands there either way
	All    bool   // a line for each case, not one for each area
}

// column is the first column of a text report.
const column = "%-11s"

// Text writes results for a person: a line for each area, or each case, the measured
// edge, then in full what did not pass, then one line that sums up. A run that passes
// fits on one screen.
func Text(w io.Writer, results *conformance.Results, style Style) error {
	var b bytes.Buffer
	results = flatResults(results)
	fmt.Fprintf(&b, "fifoproof %s · %s · run %s\n", results.Version, flat(style.Target), results.Run)
	if style.All {
		style.cases(&b, results)
	} else {
		style.areas(&b, results)
	}
	for i, line := range edgeLines(results.Cases) {
		name := "edge"
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(&b, column+" %s\n", name, line)
	}
	style.known(&b, results)
	for _, sentence := range results.Stale {
		fmt.Fprintf(&b, column+" %s\n", "stale", sentence)
	}
	style.explainAll(&b, results)
	fmt.Fprintln(&b, style.sum(results))
	_, err := w.Write(b.Bytes())
	return err
}

// areas writes a line for each area, and which measurements differ.
func (s Style) areas(b *bytes.Buffer, results *conformance.Results) {
	for _, a := range areas(results.Cases) {
		var parts []string
		for i, v := range verdicts {
			if a.tally[v] > 0 {
				parts = append(parts, s.paint(v, fmt.Sprintf("%3d %s", a.tally[v], v)))
			} else if i == 0 {
				parts = append(parts, strings.Repeat(" ", len("  0 pass")))
			}
		}
		line := fmt.Sprintf(column+" %s", a.name, strings.Join(parts, "  "))
		if t := a.queueTime(); t >= 10 {
			line = fmt.Sprintf("%s%s of queue time", pad(line, 56), Duration(seconds(t)))
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	var different []string
	for _, r := range results.Cases {
		if differs(r) {
			different = append(different, r.ID)
		}
	}
	if len(different) > 0 {
		fmt.Fprintf(b, column+" %s: %s\n", "differs", plural(len(different), "measurement")+" from the reference",
			strings.TrimLeft(wrap(strings.Join(different, ", "), 96, strings.Repeat(" ", 12)), " "))
	}
}

// pad fills text up to the width, not counting what only colours it.
func pad(text string, width int) string {
	shown := text
	for strings.Contains(shown, "\x1b") {
		before, after, _ := strings.Cut(shown, "\x1b")
		_, after, _ = strings.Cut(after, "m")
		shown = before + after
	}
	return text + strings.Repeat(" ", max(width-len([]rune(shown)), 2))
}

// cases writes a line for each case.
func (s Style) cases(b *bytes.Buffer, results *conformance.Results) {
	idWidth := 0
	for _, r := range results.Cases {
		idWidth = max(idWidth, len(r.ID))
	}
	for _, r := range results.Cases {
		fmt.Fprintf(b, "  %s  %-6s  %-*s  %s\n", s.paint(r.Verdict, fmt.Sprintf("%-12s", r.Verdict)), r.Level, idWidth, r.ID, r.Seen)
	}
}

// known writes a line for each failure that is no surprise.
func (s Style) known(b *bytes.Buffer, results *conformance.Results) {
	for _, r := range results.Cases {
		if r.Known == nil {
			continue
		}
		link := ""
		if s.All {
			link = " (" + r.Known.Link + ")"
		}
		fmt.Fprintf(b, column+" %s: %s%s\n", "known", r.ID, r.Known.Note, link)
	}
}

// sum is the last line: counts, time, exit code.
func (s Style) sum(results *conformance.Results) string {
	sum := results.Summary
	words := tally{
		conformance.Pass: sum.Pass, conformance.Noted: sum.Info, conformance.NonStrict: sum.NonStrict, conformance.Fail: sum.Fail,
		conformance.Inconclusive: sum.Inconclusive, conformance.Skipped: sum.Skipped, conformance.Errored: sum.Error,
	}.words(", ")
	line := plural(sum.Cases, "case")
	if words != "" {
		line += ": " + words
	}
	if sum.Known > 0 {
		line += fmt.Sprintf(" (%d known)", sum.Known)
	}
	if n := notRun(results); n > 0 {
		line += fmt.Sprintf(" · %d not run", n)
	}
	if s.All {
		line += fmt.Sprintf(" · %s of queue time", Duration(seconds(sum.QueueTime)))
	}
	return fmt.Sprintf("%s · %s · exit %d", line, Duration(seconds(sum.Seconds)), sum.Exit)
}

// paint colours text as the verdict asks, if colour is wanted.
func (s Style) paint(v conformance.Verdict, text string) string {
	colour, known := map[conformance.Verdict]string{
		conformance.Pass: "32", conformance.Noted: "36", conformance.NonStrict: "33",
		conformance.Inconclusive: "33", conformance.Skipped: "36", conformance.Fail: "31", conformance.Errored: "35",
	}[v]
	if !s.Colour || !known {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
