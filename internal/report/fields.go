package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"fifoproof/internal/conformance"
)

// FieldsJSON writes a field matrix as one object.
func FieldsJSON(w io.Writer, m *conformance.FieldMatrix) error { return encode(w, m) }

// Fields writes a field matrix as a table: a row for each field, a column for each
// way to change it.
func Fields(w io.Writer, m *conformance.FieldMatrix, target string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "fields of message %s · %s\n", shorten(m.ID), target)
	table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "field\tkind\tchanged\tadded\tremoved")
	for _, f := range m.Fields {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", fieldName(f.Pointer), f.Kind, f.Changed, f.Added, f.Removed)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(m.Wrong) > 0 {
		fmt.Fprintf(&b, "the endpoint did not do what the ids demand: %s\n", strings.Join(m.Wrong, ", "))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func fieldName(pointer string) string {
	if pointer == "" {
		return "(body)"
	}
	return pointer
}
