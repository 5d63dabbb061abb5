package report

import (
	"strings"
	"unicode"

	"fifoproof/internal/conformance"
)

// flat takes the line ends and control characters out of a text that an endpoint had a
// say in: none may move the cursor or forge a line of ours.
func flat(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// flatResults is a copy of the results with everything flat that a text report shows.
func flatResults(results *conformance.Results) *conformance.Results {
	r := *results
	for _, text := range []*string{&r.Version, &r.Run, &r.Target.Name} {
		*text = flat(*text)
	}
	r.Stale = nil
	for _, sentence := range results.Stale {
		r.Stale = append(r.Stale, flat(sentence))
	}
	r.Cases = make([]conformance.Result, len(results.Cases))
	for i, c := range results.Cases {
		for _, text := range []*string{&c.ID, (*string)(&c.Level), (*string)(&c.Verdict), &c.Expected, &c.Seen, &c.Reason, &c.Source} {
			*text = flat(*text)
		}
		if c.Known != nil {
			c.Known = &conformance.Known{ID: c.Known.ID, Seen: c.Known.Seen, Link: flat(c.Known.Link), Note: flat(c.Known.Note)}
		}
		sends := make([]conformance.Sent, len(c.Sends))
		for k, s := range c.Sends {
			s.Group, s.ID, s.MessageID, s.Refused = flat(s.Group), flat(s.ID), flat(s.MessageID), flat(s.Refused)
			sends[k] = s
		}
		c.Sends = sends
		r.Cases[i] = c
	}
	return &r
}
