package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Markdown is the help of a program and all its commands as one document.
func Markdown(grammar any, p Program) (string, error) {
	var doc strings.Builder
	fmt.Fprintf(&doc, "# %s\n\n<!-- made from the program's --help by 'go test ./cmd/%s -update': change it there -->\n\n", p.Name, p.Name)
	if err := markdown(&doc, grammar, p, 2); err != nil {
		return "", err
	}
	for _, also := range p.Also {
		fmt.Fprintf(&doc, "\n## %s\n\n", also.Program.Name)
		if err := markdown(&doc, also.Grammar, also.Program, 3); err != nil {
			return "", err
		}
	}
	return doc.String(), nil
}

// markdown writes one command line; level is that of its commands' headings.
func markdown(doc *strings.Builder, grammar any, p Program, level int) error {
	parser, err := newParser(grammar, p, Stdio{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, func(int) {})
	if err != nil {
		return fmt.Errorf("reading the command line's grammar: %w", err)
	}
	app := parser.Model.Node
	fmt.Fprintf(doc, "%s\n\n```\n%s\n```\n", prose(p.About), p.Name+" "+strings.TrimSpace(app.Summary()))
	writeCommands(doc, p.Name, app.Children)
	writeArguments(doc, app.Positional)
	writeFlags(doc, app.Flags)
	if p.Examples != "" {
		fmt.Fprintf(doc, "\nExamples:\n\n```\n%s\n```\n", unindent(p.Examples))
	}
	if p.Notes != "" {
		fmt.Fprintf(doc, "\n%s\n", prose(unindent(p.Notes)))
	}
	for _, command := range app.Children {
		if command.Hidden {
			continue
		}
		fmt.Fprintf(doc, "\n%s %s %s\n\n%s\n", strings.Repeat("#", level), p.Name, command.Name, prose(command.Help))
		if command.Detail != "" {
			fmt.Fprintf(doc, "\n%s\n", prose(command.Detail))
		}
		fmt.Fprintf(doc, "\n```\n%s %s\n```\n", p.Name, command.Summary())
		writeArguments(doc, command.Positional)
		writeFlags(doc, command.Flags)
	}
	return nil
}

func writeCommands(doc *strings.Builder, program string, commands []*kong.Node) {
	if len(commands) == 0 {
		return
	}
	doc.WriteString("\n| command | |\n|---|---|\n")
	for _, c := range commands {
		if !c.Hidden {
			fmt.Fprintf(doc, "| [`%s`](#%s-%s) | %s |\n", c.Name, strings.ReplaceAll(program, " ", "-"), c.Name, cell(c.Help))
		}
	}
}

func writeArguments(doc *strings.Builder, arguments []*kong.Positional) {
	if len(arguments) == 0 {
		return
	}
	doc.WriteString("\n| argument | |\n|---|---|\n")
	for _, a := range arguments {
		fmt.Fprintf(doc, "| `%s` | %s |\n", a.Summary(), cell(a.Help))
	}
}

func writeFlags(doc *strings.Builder, flags []*kong.Flag) {
	var rows strings.Builder
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := f.Summary() // --name or --name=WHAT
		if f.Short != 0 {
			name = fmt.Sprintf("-%c, %s", f.Short, name)
		}
		// A bar ends a cell, also inside code.
		fmt.Fprintf(&rows, "| `%s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), cell(f.Help))
	}
	if rows.Len() > 0 {
		doc.WriteString("\n| flag | |\n|---|---|\n" + rows.String())
	}
}

// markup is what Markdown would read otherwise.
var markup = strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`", "~", `\~`)

// prose keeps text from being read as markup.
func prose(text string) string { return markup.Replace(text) }

// cell is prose for a table, where a bar ends a cell.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(prose(text), "|", `\|`), "\n", " ")
}

func unindent(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
