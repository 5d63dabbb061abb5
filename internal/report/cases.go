package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"fifoproof/internal/conformance"
)

// Cases lists the catalogue for a person.
func Cases(w io.Writer, cases []conformance.Case) error {
	var b bytes.Buffer
	for i, c := range cases {
		if i > 0 {
			b.WriteByte('\n')
		}
		notes := []string{string(c.Level)}
		if c.Wait > 0 {
			notes = append(notes, "waits "+Duration(c.Wait))
		}
		if p := profileOf(c); p != conformance.QuickProfile {
			notes = append(notes, "profile "+string(p))
		}
		if c.Needs != "" {
			notes = append(notes, "needs "+string(c.Needs))
		}
		fmt.Fprintf(&b, "%s   %s\n", c.ID, strings.Join(notes, " · "))
		fmt.Fprintf(&b, "%s\n", wrap(c.Text, 96, "    "))
		if c.Timeline != "" {
			fmt.Fprintf(&b, "    timeline: %s\n", c.Timeline)
		}
		fmt.Fprintf(&b, "    expected: %s\n    source: %s\n", c.Want, c.Source)
		if len(c.Premises) > 0 {
			fmt.Fprintf(&b, "    builds on: %s\n", strings.Join(c.Premises, ", "))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", plural(len(cases), "case"))
	_, err := w.Write(b.Bytes())
	return err
}

// profileOf is the smallest profile that has the case.
func profileOf(c conformance.Case) conformance.Profile {
	for _, p := range []conformance.Profile{conformance.QuickProfile, conformance.Default} {
		if p.In(c) {
			return p
		}
	}
	return conformance.Experiments
}

// listed is the JSON form of a case.
type listed struct {
	ID       string                 `json:"id"`
	Level    conformance.Level      `json:"level"`
	Source   string                 `json:"source"`
	Text     string                 `json:"text"`
	Timeline string                 `json:"timeline"`
	Expected string                 `json:"expected"`
	Wait     float64                `json:"wait_seconds"`
	Profile  conformance.Profile    `json:"profile"` // the smallest that has it
	Needs    conformance.Capability `json:"needs,omitempty"`
	Premises []string               `json:"premises,omitempty"`
}

// CasesJSON writes cases as one array.
func CasesJSON(w io.Writer, cases []conformance.Case) error {
	list := make([]listed, len(cases))
	for i, c := range cases {
		list[i] = listed{
			ID: c.ID, Level: c.Level, Source: c.Source, Text: c.Text, Timeline: c.Timeline, Expected: c.Want,
			Wait: c.Wait.Seconds(), Profile: profileOf(c), Needs: c.Needs, Premises: c.Premises,
		}
	}
	return encode(w, list)
}
