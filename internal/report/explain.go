package report

import (
	"bytes"
	"fmt"
	"strings"

	"fifoproof/internal/conformance"
)

// explainAll writes in full what did not pass and is not known, the gravest first.
// Cases that were skipped for one reason share a paragraph, and so do those that an
// interrupt cut off: the same sentence twenty times tells no more than once.
func (s Style) explainAll(b *bytes.Buffer, results *conformance.Results) {
	explained := false
	shared := map[string][]conformance.Result{}
	var reasons []string
	for _, r := range attention(results) {
		if r.Verdict == conformance.Skipped || r.Shared || conformance.CutShort(r.Reason) {
			if shared[r.Reason] == nil {
				reasons = append(reasons, r.Reason)
			}
			shared[r.Reason] = append(shared[r.Reason], r)
			continue
		}
		s.explain(b, r, results)
		explained = true
	}
	for _, reason := range reasons {
		cases := shared[reason]
		if len(cases) == 1 && !cases[0].Shared && !conformance.CutShort(reason) {
			s.explain(b, cases[0], results)
		} else {
			ids := make([]string, len(cases))
			for i, r := range cases {
				ids[i] = r.ID
				if r.Level == conformance.Must {
					ids[i] += " (MUST)"
				}
			}
			fmt.Fprintf(b, "\n%s  %s: %s\n%s\n", strings.ToUpper(string(cases[0].Verdict)), plural(len(cases), "case"), orNone(reason),
				wrap(strings.Join(ids, ", "), 96, "      "))
		}
		explained = true
	}
	if explained {
		fmt.Fprintln(b)
	}
}

// mostSends bounds the sends of a case that are spelled out; the HTML report has all.
const mostSends = 10

// explain writes everything that helps with a case that did not pass.
func (s Style) explain(b *bytes.Buffer, r conformance.Result, results *conformance.Results) {
	fmt.Fprintf(b, "\n%s  %s   %s   source: %s\n", s.paint(r.Verdict, strings.ToUpper(string(r.Verdict))), r.ID, r.Level, r.Source)
	fmt.Fprintf(b, "      expected: %s\n      seen: %s\n", r.Expected, r.Seen)
	if r.Reason != "" && r.Reason != r.Seen {
		fmt.Fprintf(b, "      reason: %s\n", r.Reason)
	}
	if r.Tries > 1 {
		fmt.Fprintf(b, "      tries: %d\n", r.Tries)
	}
	shown, beyond := 0, r.Omitted
	for _, sent := range r.Sends {
		switch {
		case sent.Fence:
		case shown == mostSends:
			beyond++
		default:
			shown++
			fmt.Fprintf(b, "      sent at %.3f s to group %s with id %s, %s\n", sent.Start, sent.Group, orNone(shorten(sent.ID)), answer(sent))
		}
	}
	if beyond > 0 {
		fmt.Fprintf(b, "      and %d more\n", beyond)
	}
	fmt.Fprintf(b, "      again: %s\n", repeat(results, r))
}

// answer says what came back on a send.
func answer(sent conformance.Sent) string {
	switch {
	case sent.End == nil:
		return noAnswer
	case sent.Refused != "":
		return fmt.Sprintf("refused at %.3f s: %s", *sent.End, sent.Refused)
	default:
		return fmt.Sprintf("answered at %.3f s with MessageId %s", *sent.End, orNone(sent.MessageID))
	}
}
