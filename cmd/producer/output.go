package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"fifoproof/internal/cli"
	"fifoproof/internal/producer"
)

// printer writes records and the summary: results to standard output, problems and
// warnings to standard error.
type printer struct {
	f       flags
	several bool // inputs
	stdio   cli.Stdio
	out     *bufio.Writer
	bar     *progress

	refused int   // lines of which no message was made
	broken  error // standard output cannot be written
}

func newPrinter(f flags, inputs int, stdio cli.Stdio, bar *progress) *printer {
	return &printer{f: f, several: inputs > 1, stdio: stdio, out: bufio.NewWriter(stdio.Out), bar: bar}
}

// record prints what became of one line.
func (p *printer) record(r producer.Record) {
	bad := r.Outcome == producer.Failed && len(r.Attempts) == 0
	switch {
	case bad:
		p.refused++
		p.problem(r)
	case p.f.Quiet && (r.Outcome == producer.Failed || r.Outcome == producer.Unknown):
		p.problem(r)
	}
	if r.Warning != "" {
		p.sayf("warning: %s", clean(r.Warning))
	}
	switch {
	case p.f.JSON:
		p.json(messageLine{Type: "message", Entry: r.Entry(), Explanation: explain(r)})
	case !p.f.Quiet && !bad:
		p.row(r)
	}
	p.flush()
}

func (p *printer) problem(r producer.Record) {
	p.sayf("%s: %s", p.place(r), clean(r.Reason))
}

// sayf writes to standard error, above the progress bar.
func (p *printer) sayf(format string, args ...any) {
	p.bar.clear()
	sayf(p.stdio, format, args...)
}

// place names a line in a sentence.
func (p *printer) place(r producer.Record) string {
	if p.several {
		return fmt.Sprintf("%s: line %d", r.Source, r.Line)
	}
	return fmt.Sprintf("line %d", r.Line)
}

const shortID = 12

func (p *printer) row(r producer.Record) {
	line := strconv.Itoa(r.Line)
	if p.several {
		line = r.Source + ":" + line
	}
	if p.f.Repeat > 1 {
		line += fmt.Sprintf("#%d", r.Copy)
	}
	if p.f.DryRun {
		again := ""
		if r.Original != "" {
			again = "  same id as " + r.Original
		}
		p.printf("%6s  %-14s  %s%s\n", line, r.Group, r.ID, again)
	} else {
		p.printf("%6s  %-14s  %s  %-36s  %-20s  %s\n", line, r.Group, r.ID[:min(shortID, len(r.ID))],
			dash(r.MessageID), dash(r.SequenceNumber), verdict(r))
	}
	if r.Explanation != nil {
		p.printf("        canonical  %s\n", r.Explanation.Canonical)
		if len(r.Explanation.LeftOut) > 0 {
			p.printf("        left out   %s\n", strings.Join(r.Explanation.LeftOut, "  "))
		}
	}
}

// verdict is the outcome with what is to be said about it.
func verdict(r producer.Record) string {
	switch {
	case r.Original != "":
		return string(r.Outcome) + " of " + r.Original
	case r.Reason != "":
		return string(r.Outcome) + ": " + clean(r.Reason)
	default:
		return string(r.Outcome)
	}
}

func (p *printer) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil && p.broken == nil {
		p.broken = err
	}
}

func (p *printer) json(v any) {
	encoder := json.NewEncoder(p.out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil && p.broken == nil {
		p.broken = err
	}
}

// flush hands on what was printed, so that a reader of a pipe sees each batch.
func (p *printer) flush() {
	if err := p.out.Flush(); err != nil && p.broken == nil {
		p.broken = err
		sayf(p.stdio, "writing to standard output: %v", err)
	}
}

// messageLine is a line of --json; docs/send-log.md describes it.
type messageLine struct {
	Type string `json:"type"`
	producer.Entry
	Explanation *explanation `json:"explanation,omitempty"`
}

type explanation struct {
	Canonical string   `json:"canonical"`
	LeftOut   []string `json:"left_out"`
}

func explain(r producer.Record) *explanation {
	if r.Explanation == nil {
		return nil
	}
	return &explanation{Canonical: r.Explanation.Canonical, LeftOut: append([]string{}, r.Explanation.LeftOut...)}
}

// summaryLine is the last line of --json.
type summaryLine struct {
	Type        string   `json:"type"`
	Run         string   `json:"run"`
	Queue       string   `json:"queue"`
	Lines       int      `json:"lines"`
	Accepted    int      `json:"accepted"`
	Duplicate   int      `json:"duplicate"`
	Failed      int      `json:"failed"`
	Unknown     int      `json:"unknown"`
	Unsent      int      `json:"unsent"`
	Distinct    int      `json:"distinct,omitempty"`
	Warnings    int      `json:"warnings"`
	Retries     int      `json:"retries"`
	ElapsedMS   float64  `json:"elapsed_ms"`
	PerSecond   float64  `json:"per_second"`
	DryRun      bool     `json:"dry_run"`
	Interrupted bool     `json:"interrupted"`
	Unread      bool     `json:"unread"`
	Unmatched   []string `json:"unmatched"`
	Log         string   `json:"log,omitempty"`
	Error       string   `json:"error,omitempty"`
	Note        string   `json:"note"`
}

const acceptedMeans = "accepted means: not known to be a duplicate"

func (p *printer) summary(s producer.Summary, err error) {
	for _, pointer := range s.Unmatched {
		p.sayf("warning: %s matched nothing in any line: is it spelled right?", pointer)
	}
	if p.f.JSON {
		line := summaryLine{
			Type: "summary", Run: s.Run, Queue: s.Queue, Lines: s.Lines,
			Accepted: s.Accepted, Duplicate: s.Duplicate, Failed: s.Failed, Unknown: s.Unknown, Unsent: s.Unsent,
			Distinct: s.Distinct, Warnings: s.Warnings, Retries: s.Retries,
			ElapsedMS: float64(s.Elapsed) / float64(time.Millisecond), PerSecond: s.PerSecond(),
			DryRun: p.f.DryRun, Interrupted: s.Interrupted, Unread: s.Unread, Unmatched: append([]string{}, s.Unmatched...),
			Log: p.f.Log, Note: acceptedMeans,
		}
		if err != nil {
			line.Error = err.Error()
		}
		p.json(line)
		return
	}
	sayf(p.stdio, "%s", p.sentence(s))
	if p.refused > 0 {
		_, _ = fmt.Fprintf(p.stdio.Err, "hint: %s\n", p.advice(s))
	}
}

// advice is what to do about lines of which no message was made.
func (p *printer) advice(s producer.Summary) string {
	lines := "mend the bad line"
	if p.refused > 1 {
		lines = "mend the " + thousands(p.refused) + " bad lines"
	}
	if p.f.DryRun {
		return lines + "; ids were made for " + plural(s.Unsent, "other message")
	}
	return lines + " and send again; taken by the queue: " + plural(s.Accepted+s.Duplicate, "other message")
}

// sentence is the summary of a run on one line.
func (p *printer) sentence(s producer.Summary) string {
	lines := plural(s.Lines, "line")
	if p.f.Repeat > 1 {
		lines += fmt.Sprintf(" × %d", p.f.Repeat)
	}
	parts := []string{lines}
	count := func(n int, text string) { parts = append(parts, thousands(n)+" "+text) }
	if p.f.DryRun {
		parts = append(parts, plural(s.Distinct, "id"))
		count(s.Unsent-s.Distinct, "repeated")
		count(s.Failed, "failed")
		parts = append(parts, "dry run, nothing was sent")
		return strings.Join(parts, " · ")
	}
	accepted := "accepted"
	if s.Accepted > 0 {
		accepted += " (not known to be duplicates)"
	}
	count(s.Accepted, accepted)
	count(s.Duplicate, "duplicate")
	count(s.Failed, "failed")
	if s.Unknown > 0 {
		count(s.Unknown, "unknown")
	}
	if s.Unsent > 0 {
		count(s.Unsent, "not sent")
	}
	if s.Retries > 0 {
		count(s.Retries, "retries")
	}
	if rate := s.PerSecond(); rate >= 1 {
		parts = append(parts, thousands(int(rate))+"/s")
	}
	if s.Interrupted {
		parts = append(parts, "interrupted, the rest was not read")
	} else if s.Unread {
		parts = append(parts, "the rest was not read")
	}
	if p.f.Log != "" {
		parts = append(parts, "log "+p.f.Log)
	}
	return strings.Join(parts, " · ")
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return clean(text)
}

// clean takes control characters out of what an endpoint or a body said: they could
// steer a terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
