package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"fifoproof/internal/audit"
)

// AuditJSON writes an audit as one object, described in docs/audit.md.
func AuditJSON(w io.Writer, r *audit.Report) error { return encode(w, r) }

// Audit writes an audit for a person: what was read, a line for each kind of finding,
// then the first offender of each.
func Audit(w io.Writer, r *audit.Report, colour bool) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "audit of %s and %s · deduplication scope %s\n", auditText(r.SendLog.Path), auditText(r.Receipts.Path), r.Scope)
	fmt.Fprintf(&b, "  %s · %s\n", sendCounts(r.Sends), deliveryCounts(r.Deliveries))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.DiscardEmptyColumns)
	for _, f := range r.Findings {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", auditVerdict(f.Verdict, 12, colour), f.Kind, auditNumber(f.Count))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, f := range r.Findings {
		firstOffender(&b, f, colour)
	}
	if len(r.Findings) > 0 {
		b.WriteByte('\n')
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", auditText(note))
	}
	fmt.Fprintf(&b, "%s · exit %d\n", auditSum(r), r.Exit)
	_, err := w.Write(b.Bytes())
	return err
}

func sendCounts(s audit.Sends) string {
	total := s.Accepted + s.Duplicate + s.Unknown + s.Failed + s.Unsent
	return auditPlural(total, "send") + auditCounts([]auditCount{
		{s.Accepted, "accepted"}, {s.Duplicate, "duplicate"}, {s.Unknown, "unknown"}, {s.Failed, "failed"}, {s.Unsent, "unsent"},
	})
}

func deliveryCounts(d audit.Deliveries) string {
	total := d.Fresh + d.Redelivered + d.Repeated + d.Rejected + d.Failed + d.Pending
	return auditPlural(total, "receipt") + " of " + auditPlural(d.Messages, "message") + auditCounts([]auditCount{
		{d.Fresh, "fresh"}, {d.Redelivered, "redelivered"}, {d.Repeated, "repeated"}, {d.Rejected, "rejected"}, {d.Failed, "failed"}, {d.Pending, "pending"},
	})
}

type auditCount struct {
	n    int64
	word string
}

// auditCounts is ": 3 accepted, 1 failed", and nothing where there is nothing to count.
func auditCounts(all []auditCount) string {
	var parts []string
	for _, c := range all {
		if c.n > 0 {
			parts = append(parts, auditNumber(c.n)+" "+c.word)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

func auditPlural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return auditNumber(n) + " " + noun + "s"
}

// auditNumber writes n with commas between its thousands.
func auditNumber(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func auditSum(r *audit.Report) string {
	fails, open := r.Count(audit.Fail), r.Count(audit.Inconclusive)
	switch {
	case fails > 0 || open > 0:
	case r.Nothing():
		return "there was nothing to judge"
	default:
		return "no promise was broken"
	}
	var parts []string
	if fails > 0 {
		parts = append(parts, auditPlural(fails, "broken promise"))
	}
	if open > 0 {
		parts = append(parts, auditNumber(open)+" inconclusive")
	}
	return strings.Join(parts, ", ")
}

// firstOffender writes everything that helps to look into the first case of a kind.
func firstOffender(b *bytes.Buffer, f audit.Finding, colour bool) {
	word := auditVerdict(f.Verdict, 0, colour)
	if f.Verdict == audit.Fail {
		word = strings.Replace(word, "fail", "FAIL", 1)
	}
	which := "first of " + auditNumber(f.Count)
	if f.Count == 1 {
		which = "the only one"
	}
	fmt.Fprintf(b, "\n%s  %s · %s\n      %s\n", word, f.Kind, which, f.First.Reason)
	if f.First.GapSeconds != nil {
		fmt.Fprintf(b, "      gap %s s\n", strconv.FormatFloat(*f.First.GapSeconds, 'f', 3, 64))
	}
	auditPlace(b, f.First.Place)
	if f.First.Other != nil {
		auditPlace(b, *f.First.Other)
	}
}

// auditPlace writes a line of one of the files: where it is, and what stands in it.
func auditPlace(b *bytes.Buffer, p audit.Place) {
	var parts []string
	add := func(label, text string) {
		if text != "" {
			parts = append(parts, label+" "+auditText(text))
		}
	}
	where := auditText(p.File)
	if p.Line > 0 {
		where += fmt.Sprintf(" line %d", p.Line)
	}
	if p.IsSend() {
		add("sent:", p.Outcome)
		if p.SourceLine > 0 {
			add("from", fmt.Sprintf("%s line %d in run %s", p.Source, p.SourceLine, p.Run))
		}
		add("begun", auditTime(p.Start))
		if p.End.IsZero() {
			parts = append(parts, "no answer")
		}
		add("answered", auditTime(p.End))
	} else {
		if p.Receipt > 0 {
			where += fmt.Sprintf(" receipt %d", p.Receipt)
		}
		add("delivered:", p.Kind)
		add("sent", auditTime(p.SentAt))
		add("received", auditTime(p.ReceivedAt))
		if p.ReceiveCount > 0 {
			add("receive count", strconv.Itoa(p.ReceiveCount))
		}
	}
	fmt.Fprintf(b, "      %s · %s\n", where, strings.Join(parts, " · "))
	parts = nil
	add("queue", p.Queue)
	add("group", p.Group)
	add("MessageId", p.MessageID)
	add("redriven copy of", p.RedrivenID)
	add("sequence number", p.SequenceNumber)
	fmt.Fprintf(b, "        %s\n", strings.Join(parts, " · "))
	parts = nil
	add("id", p.ID)
	if p.BodyDigest != p.ID {
		add("body digest", p.BodyDigest)
	}
	if p.Key != p.ID {
		add("key", p.Key)
	}
	if p.Consumer != p.Queue { // which it is called where nobody named it
		add("consumer", p.Consumer)
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "        %s\n", strings.Join(parts, " · "))
	}
}

// auditTime is a time to the millisecond, in UTC as in the files.
func auditTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// auditText keeps what others chose (groups, ids, file names) from moving the cursor.
func auditText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func auditVerdict(v audit.Verdict, width int, colour bool) string {
	word := fmt.Sprintf("%-*s", width, v)
	if !colour {
		return word
	}
	code := map[audit.Verdict]string{audit.Fail: "31", audit.Inconclusive: "33", audit.Note: "36"}[v]
	return "\x1b[" + code + "m" + word + "\x1b[0m"
}
