package report

import (
	"fmt"
	"io"

	"fifoproof/internal/conformance"
)

// leftOut is a case of the catalogue that did not run, and why.
type leftOut struct{ ID, Why string }

// unasked is why a case did not run that could have been.
const unasked = "outside the profile or the selection"

// leftOuts are the cases that did not run, and whether any of them had a reason beside
// not being asked for: a given queue leaves most of the catalogue out.
func leftOuts(results *conformance.Results) (list []leftOut, reasons bool) {
	for _, id := range results.NotRun {
		why, given := results.NotRunWhy[id]
		if !given {
			why = unasked
		}
		list, reasons = append(list, leftOut{id, why}), reasons || given
	}
	return list, reasons
}

func notRun(results *conformance.Results) int {
	return max(results.Summary.NotRun, len(results.NotRun))
}

// notRunReasons lists what a given queue could not be asked; of other runs it says nothing.
func notRunReasons(w io.Writer, results *conformance.Results) {
	list, reasons := leftOuts(results)
	if !reasons {
		return
	}
	fmt.Fprintf(w, "\n<details><summary>%s not run</summary>\n\n| case | why not |\n|---|---|\n", plural(len(list), "case"))
	for _, c := range list {
		fmt.Fprintf(w, "| %s | %s |\n", code(c.ID), escape(cut(c.Why)))
	}
	fmt.Fprint(w, "\n</details>\n")
}
