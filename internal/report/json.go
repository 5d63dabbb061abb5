package report

import (
	"encoding/json"
	"io"

	"fifoproof/internal/conformance"
)

// JSON writes results as one object, described in docs/results.md.
func JSON(w io.Writer, results *conformance.Results) error { return encode(w, results) }

// listed is the JSON form of a case.
type listed struct {
	ID       string            `json:"id"`
	Level    conformance.Level `json:"level"`
	Source   string            `json:"source"`
	Text     string            `json:"text"`
	Expected string            `json:"expected"`
	Wait     float64           `json:"wait_seconds"`
}

// CasesJSON writes cases as one array.
func CasesJSON(w io.Writer, cases []conformance.Case) error {
	list := make([]listed, len(cases))
	for i, c := range cases {
		list[i] = listed{ID: c.ID, Level: c.Level, Source: c.Source, Text: c.Text, Expected: c.Want, Wait: c.Wait.Seconds()}
	}
	return encode(w, list)
}

func encode(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
