package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"fifoproof/internal/conformance"
)

// mostMarkdown is what a summary may take, in bytes. A GitHub job's summaries may take
// 1 MiB together, and nobody reads a tenth of that.
const mostMarkdown = 100 << 10

// Markdown writes results for the summary page of a CI job: the verdict in a sentence,
// counts, what needs looking at, the edge, and folded all cases and those that a given
// queue could not be asked. It stays under 100 KiB: where it would not, these lists are
// left out, and then what is
// beyond the first failures.
func Markdown(w io.Writer, results *conformance.Results) error {
	for _, size := range []struct {
		table bool
		most  int
	}{{true, 1000}, {false, 1000}, {false, 40}, {false, 5}} {
		b := summary(results, size.table, size.most)
		if b.Len() < mostMarkdown {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
	b := summary(results, false, 0)
	_, err := w.Write(b.Bytes())
	return err
}

func summary(results *conformance.Results, table bool, most int) *bytes.Buffer {
	b := &bytes.Buffer{}
	sentence, amounts := conclusion(results)
	fmt.Fprintf(b, "## %s SQS FIFO deduplication: %s\n\n", sign(amounts), escape(strings.TrimSpace(product(results.Target)+" "+results.Target.Version)))
	fmt.Fprintf(b, "**%s.** ", capital(escape(sentence)))
	fmt.Fprintf(b, "%s, %s clock, profile %s, run %s, %s.\n\n", code(place(results.Target)), escape(results.Target.Clock),
		escape(orDash(string(results.Profile))), code(results.Run), Duration(seconds(results.Summary.Seconds)))
	counts(b, results)
	for _, line := range edgeLines(results.Cases) {
		fmt.Fprintf(b, "\n**Edge:** %s.\n", escape(line))
	}
	if len(results.Stale) > 0 {
		fmt.Fprint(b, "\n**The known-failing list is out of date:**\n\n")
		for i, sentence := range results.Stale {
			if i == most {
				fmt.Fprintf(b, "- and %d more\n", len(results.Stale)-most)
				break
			}
			fmt.Fprintf(b, "- %s\n", escape(sentence))
		}
	}
	failures(b, results, most)
	if table {
		allCases(b, results)
		notRunReasons(b, results)
	}
	return b
}

// counts is a row for each area that has cases.
func counts(b *bytes.Buffer, results *conformance.Results) {
	fmt.Fprint(b, "| area |")
	for _, v := range verdicts {
		fmt.Fprintf(b, " %s |", v)
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("--:|", len(verdicts)))
	line := func(name string, t tally) {
		fmt.Fprintf(b, "| %s |", name)
		for _, v := range verdicts {
			if t[v] == 0 {
				fmt.Fprint(b, " |")
			} else {
				fmt.Fprintf(b, " %d |", t[v])
			}
		}
		fmt.Fprintln(b)
	}
	for _, a := range areas(results.Cases) {
		line(escape(a.name), a.tally)
	}
	line("**all**", tallyOf(results.Cases))
	if n := notRun(results); n > 0 {
		fmt.Fprintf(b, "\n%s of the catalogue not run.\n", plural(n, "case"))
	}
}

func failures(b *bytes.Buffer, results *conformance.Results, most int) {
	list := attention(results)
	if len(list) > 0 {
		fmt.Fprint(b, "\n### What needs looking at\n\n")
	}
	for i, r := range list {
		if i == most {
			fmt.Fprintf(b, "- and %d more\n", len(list)-most)
			break
		}
		fmt.Fprintf(b, "- %s **%s** %s %s: %s", sign(r.Verdict), r.Verdict, r.Level, code(r.ID), escape(orDash(cut(r.Reason))))
		if r.Verdict != conformance.Skipped && !r.Shared && !conformance.CutShort(r.Reason) {
			fmt.Fprintf(b, "<br>expected: %s · seen: %s · source: %s<br>again: %s", escape(cut(r.Expected)), escape(cut(r.Seen)), escape(cut(r.Source)), code(repeat(results, r)))
		}
		fmt.Fprintln(b)
	}
	title := false
	for i, r := range results.Cases {
		if r.Known == nil || i >= most*10 {
			continue
		}
		if !title {
			fmt.Fprint(b, "\n### Known\n\n")
			title = true
		}
		fmt.Fprintf(b, "- %s: %s ([source](%s))\n", code(r.ID), escape(r.Known.Note), destination(r.Known.Link))
	}
}

func allCases(b *bytes.Buffer, results *conformance.Results) {
	fmt.Fprintf(b, "\n<details><summary>All %s</summary>\n\n| case | level | verdict | seen |\n|---|---|---|---|\n", plural(len(results.Cases), "case"))
	for i := range results.Cases {
		r := &results.Cases[i]
		fmt.Fprintf(b, "| %s | %s | %s %s | %s |\n", code(r.ID), r.Level, sign(r.Verdict), cell(r), escape(cut(r.Seen)))
	}
	fmt.Fprint(b, "\n</details>\n")
}

// cut bounds a text that an endpoint had a say in.
func cut(text string) string {
	const most = 400
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}

// sign is a verdict in one character, for the eye; the word always stands beside it.
func sign(v conformance.Verdict) string {
	switch v {
	case conformance.Pass:
		return "✓"
	case conformance.NonStrict:
		return "≈"
	case conformance.Fail:
		return "✗"
	case conformance.Inconclusive:
		return "?"
	case conformance.Noted:
		return "i"
	case conformance.Errored:
		return "!"
	default:
		return "–"
	}
}

// escape keeps text from ending a table cell or starting markup.
func escape(text string) string {
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", "|", `\|`, "\r", " ", "\n", " ",
		"`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, `\`, `\\`,
	).Replace(text)
}

// destination keeps a link from ending the parentheses that it stands in.
func destination(link string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", "|", "%7C", "\r", "", "\n", "").Replace(link)
}

// code makes text a code span; none can end it early, and no cell either.
func code(text string) string {
	text = strings.NewReplacer("|", `\|`, "\r", " ", "\n", " ").Replace(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	fence := "``"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + " " + text + " " + fence
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
