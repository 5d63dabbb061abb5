package report

import (
	"encoding/json"
	"io"

	"fifoproof/internal/conformance"
)

// JSON writes results as one object, described in docs/results.md.
func JSON(w io.Writer, results *conformance.Results) error { return encode(w, results) }

// PlanJSON writes a plan as one object.
func PlanJSON(w io.Writer, plan *conformance.Plan) error { return encode(w, plan) }

// MutantsJSON writes what the suite made of the variants as one array.
func MutantsJSON(w io.Writer, mutants []conformance.Mutant) error {
	if mutants == nil {
		mutants = []conformance.Mutant{}
	}
	return encode(w, mutants)
}

func encode(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
