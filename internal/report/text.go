package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"fifoproof/internal/conformance"
)

// Style is how a text report is drawn.
type Style struct {
	Target string // the target in words
	Colour bool   // colour the verdicts; the word stands there either way
}

// Text writes results for a person: a line for each case, then what did not pass
// in full, then one line that sums up.
func Text(w io.Writer, results *conformance.Results, style Style) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "fifoproof %s · %s · run %s\n", results.Version, style.Target, results.Run)
	idWidth := 0
	for _, r := range results.Cases {
		idWidth = max(idWidth, len(r.ID))
	}
	for _, r := range results.Cases {
		fmt.Fprintf(&b, "  %s  %-6s  %-*s  %s\n", style.verdict(r.Verdict), r.Level, idWidth, r.ID, r.Seen)
		if r.Known != nil {
			fmt.Fprintf(&b, "  %-12s  %-6s  %-*s  known: %s (%s)\n", "", "", idWidth, "", r.Known.Note, r.Known.Link)
		}
	}
	explained := false
	for _, r := range results.Cases {
		if r.Verdict != conformance.Pass && r.Verdict != conformance.Noted && r.Reason != conformance.Interrupted && r.Known == nil {
			style.explain(&b, r, results.Target.Name)
			explained = true
		}
	}
	if explained {
		fmt.Fprintln(&b)
	}
	fmt.Fprintln(&b, sum(results.Summary))
	_, err := w.Write(b.Bytes())
	return err
}

// explain writes everything that helps with a case that did not pass.
func (s Style) explain(b *bytes.Buffer, r conformance.Result, target string) {
	fmt.Fprintf(b, "\n%s  %s   %s   source: %s\n", strings.ToUpper(string(r.Verdict)), r.ID, r.Level, r.Source)
	fmt.Fprintf(b, "      expected: %s\n      seen: %s\n", r.Expected, r.Seen)
	if r.Reason != "" && r.Reason != r.Seen {
		fmt.Fprintf(b, "      reason: %s\n", r.Reason)
	}
	for _, sent := range r.Sends {
		until := "no answer"
		if sent.End != nil {
			until = fmt.Sprintf("answered at %.3f s with MessageId %s", *sent.End, orNone(sent.MessageID))
		}
		fmt.Fprintf(b, "      sent at %.3f s to group %s with id %s, %s\n", sent.Start, sent.Group, orNone(shorten(sent.ID)), until)
	}
	fmt.Fprintf(b, "      again: fifoproof verify --target %s --case %s\n", target, r.ID)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// shorten keeps of a long id what tells it from others.
func shorten(id string) string {
	const shown = 16
	if len(id) <= shown {
		return id
	}
	return id[:shown] + "…"
}

func sum(s conformance.Summary) string {
	var parts []string
	for _, part := range []struct {
		count int
		word  conformance.Verdict
	}{
		{s.Pass, conformance.Pass},
		{s.NonStrict, conformance.NonStrict},
		{s.Fail, conformance.Fail},
		{s.Inconclusive, conformance.Inconclusive},
		{s.Info, conformance.Noted},
		{s.Skipped, conformance.Skipped},
		{s.Error, conformance.Errored},
		{s.Known, "known"},
	} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.word))
		}
	}
	return fmt.Sprintf("%s: %s · %s of queue time · %s · exit %d",
		plural(s.Cases, "case"), strings.Join(parts, ", "), Duration(seconds(s.QueueTime)), Duration(seconds(s.Seconds)), s.Exit)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Duration writes d as people read it: "5 min 30 s", "0.8 s".
func Duration(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// verdict is the word of v, wide enough for all, coloured if wanted.
func (s Style) verdict(v conformance.Verdict) string {
	word := fmt.Sprintf("%-12s", v)
	if !s.Colour {
		return word
	}
	colour := map[conformance.Verdict]string{
		conformance.Pass: "32", conformance.Noted: "36", conformance.NonStrict: "33",
		conformance.Inconclusive: "33", conformance.Skipped: "36", conformance.Fail: "31", conformance.Errored: "35",
	}[v]
	return "\x1b[" + colour + "m" + word + "\x1b[0m"
}

// Cases lists the catalogue for a person.
func Cases(w io.Writer, cases []conformance.Case) error {
	var b bytes.Buffer
	for i, c := range cases {
		if i > 0 {
			b.WriteByte('\n')
		}
		wait := ""
		if c.Wait > 0 {
			wait = " · waits " + Duration(c.Wait)
		}
		fmt.Fprintf(&b, "%s   %s%s\n", c.ID, c.Level, wait)
		fmt.Fprintf(&b, "%s\n", wrap(c.Text, 96, "    "))
		fmt.Fprintf(&b, "    expected: %s\n    source: %s\n", c.Want, c.Source)
	}
	fmt.Fprintf(&b, "\n%s\n", plural(len(cases), "case"))
	_, err := w.Write(b.Bytes())
	return err
}

// wrap breaks text into lines of at most width runes behind indent.
func wrap(text string, width int, indent string) string {
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len([]rune(line))+1+len([]rune(word)) > width && line != indent {
			lines = append(lines, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
