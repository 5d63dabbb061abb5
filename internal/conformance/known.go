package conformance

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Known is one entry of a known-failing list: a verdict that is no surprise on the
// target that the list is for.
type Known struct {
	ID   string `json:"id,omitempty"`
	Seen string `json:"seen,omitempty"` // the result's reason, word for word
	Link string `json:"link"`           // who else says so
	Note string `json:"note"`           // what the endpoint does otherwise, in a sentence
}

// ReadKnown reads a known-failing list. An entry is a case's id at the margin and
// indented fields below it:
//
//	lifecycle/resend/after-delete
//	    seen: the resend: 1 copy, not 0
//	    link: https://example.org/issues/1
//	    note: an id is forgotten with its message
//
// Lines that begin with # and empty lines do not count. Each entry has all three
// fields. Errors name the line.
func ReadKnown(r io.Reader) ([]Known, error) {
	var list []Known
	first := map[string]int{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(lines.Text(), " \t")
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case text == line:
			if at, twice := first[text]; twice {
				return nil, fmt.Errorf("line %d: %s has an entry on line %d already", n, text, at)
			}
			if err := complete(list, n); err != nil {
				return nil, err
			}
			first[text] = n
			list = append(list, Known{ID: text})
		case len(list) == 0:
			return nil, fmt.Errorf("line %d: an indented line before the first case id", n)
		default:
			if err := list[len(list)-1].set(text); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return list, complete(list, 0)
}

// set takes one "name: value" line.
func (k *Known) set(text string) error {
	name, value, _ := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	field := map[string]*string{"seen": &k.Seen, "link": &k.Link, "note": &k.Note}[name]
	switch {
	case field == nil:
		return fmt.Errorf("%q is not one of seen, link and note", name)
	case value == "":
		return fmt.Errorf("%s is empty", name)
	case *field != "":
		return fmt.Errorf("%s is there twice", name)
	}
	*field = value
	return nil
}

// complete checks the last entry once the next one begins.
func complete(list []Known, line int) error {
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	if last.Seen != "" && last.Link != "" && last.Note != "" {
		return nil
	}
	where := "at the end"
	if line > 0 {
		where = fmt.Sprintf("before line %d", line)
	}
	return fmt.Errorf("%s: the entry %s needs seen, link and note", where, last.ID)
}

// apply holds the results against a known-failing list and sums them up. A verdict that
// an entry names, for the reason that it gives, is marked as known and does not count
// for the exit code. What is wrong with the list goes into Stale: an entry whose case
// passed, or did otherwise than it says, or that is no case at all.
func (r *Results) apply(list []Known) {
	results := map[string]*Result{}
	for i := range r.Cases {
		results[r.Cases[i].ID] = &r.Cases[i]
	}
	for _, k := range list {
		result, ran := results[k.ID]
		switch {
		case !ran && !slices.Contains(r.NotRun, k.ID):
			r.Stale = append(r.Stale, k.ID+" is no case")
		case !ran || result.Reason == Interrupted || result.Slow:
			// not selected in this run, not brought to its end, or too slow for this machine
		case result.Verdict == Pass || result.Verdict == Noted:
			r.Stale = append(r.Stale, fmt.Sprintf("%s is known to fail, but it came to %s", k.ID, result.Verdict))
		case result.Verdict == Errored:
			// The harness went wrong; the list has no say in that.
		case result.Reason != k.Seen:
			r.Stale = append(r.Stale, fmt.Sprintf("%s failed otherwise than is known: %q, not %q", k.ID, result.Reason, k.Seen))
		default:
			result.Known = &Known{Link: k.Link, Note: k.Note} // the rest stands in the result
		}
	}
	r.Summary = r.Policy.summarise(r.Cases)
	if len(r.Stale) > 0 {
		r.Summary.Exit = exitFail
	}
}
