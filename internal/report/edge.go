package report

import (
	"fmt"
	"math"
	"slices"

	"fifoproof/internal/conformance"
)

// bracket is a measured end of the window in words: the longest gap that was surely
// suppressed, the shortest that was surely delivered. It rounds outward, so that it
// never claims more than was seen.
func bracket(e *conformance.Edge) string {
	switch digits := bracketDigits(e); {
	case e.SuppressedUpTo != nil && e.DeliveredFrom != nil:
		return fmt.Sprintf("suppressed up to %s s, delivered from %s s", down(*e.SuppressedUpTo, digits), up(*e.DeliveredFrom, digits))
	case e.SuppressedUpTo != nil:
		return fmt.Sprintf("suppressed up to %s s; no longer gap was surely delivered", down(*e.SuppressedUpTo, digits))
	case e.DeliveredFrom != nil:
		return fmt.Sprintf("delivered from %s s; no shorter gap was surely suppressed", up(*e.DeliveredFrom, digits))
	default:
		return "no gap was surely suppressed, and none surely delivered"
	}
}

// bracketDigits is how many decimals both ends of the bracket need.
func bracketDigits(e *conformance.Edge) int {
	digits := 3
	for _, end := range []*float64{e.SuppressedUpTo, e.DeliveredFrom} {
		if end != nil {
			digits = max(digits, digitsOf(*end))
		}
	}
	return digits
}

// slack keeps a value that is written with all its digits from being rounded to its
// neighbour by the last bits of a float64.
const slack = 1e-3

func down(s float64, digits int) string {
	scale := math.Pow10(digits)
	return decimals(math.Floor(s*scale+slack)/scale, digits)
}

func up(s float64, digits int) string {
	scale := math.Pow10(digits)
	return decimals(math.Ceil(s*scale-slack)/scale, digits)
}

// measured are the results that have an edge.
func measured(cases []conformance.Result) []conformance.Result {
	var out []conformance.Result
	for _, r := range cases {
		if r.Edge != nil && len(r.Edge.Probes) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// edgeLines says each bracket once: cases that agree share a line. Where one has both
// ends, a case that saw only one side of the window adds nothing.
func edgeLines(cases []conformance.Result) []string {
	edges := measured(cases)
	if slices.ContainsFunc(edges, bothEnds) {
		edges = slices.DeleteFunc(edges, func(r conformance.Result) bool { return !bothEnds(r) })
	}
	var lines []string
	said := map[string]bool{}
	for _, r := range edges {
		line := bracket(r.Edge)
		if said[line] {
			continue
		}
		said[line] = true
		if len(lines) > 0 {
			line += " (" + r.ID + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func bothEnds(r conformance.Result) bool {
	return r.Edge.SuppressedUpTo != nil && r.Edge.DeliveredFrom != nil
}
