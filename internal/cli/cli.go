package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// Exit codes. CI relies on them; 1 outranks 3, which outranks 2.
const (
	OK           = 0  // all well
	Failed       = 1  // a MUST failed, or some lines or bodies were bad
	Inconclusive = 2  // no verdict could be reached
	Harness      = 3  // the program itself or its surroundings failed
	Usage        = 64 // the command line cannot be used (sysexits.h EX_USAGE)
)

// Stdio is the three standard streams. Out carries results, Err the talk.
type Stdio struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Env looks up an environment variable, as [os.LookupEnv] does.
type Env func(name string) (string, bool)

// Get is the value of name, or "" where it is not set.
func (e Env) Get(name string) string {
	value, _ := e(name)
	return value
}

// Run is a whole program but for its process: it returns the exit code.
type Run func(ctx context.Context, args []string, stdio Stdio, env Env) int

// Main gives run the process's arguments, streams and environment, and a context
// that ends on SIGINT or SIGTERM. A second signal kills the process.
func Main(run Run) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.LookupEnv)
}

type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// Hint adds to err one line that says what to do about it.
func Hint(err error, format string, args ...any) error {
	return hinted{error: err, hint: fmt.Sprintf(format, args...)}
}

// HintOf is the outermost hint that err carries, or "".
func HintOf(err error) string {
	if h, ok := errors.AsType[hinted](err); ok {
		return h.hint
	}
	return ""
}

// Report writes err as "program: sentence", followed by its hint line if it has one.
func Report(w io.Writer, program string, err error) {
	fmt.Fprintf(w, "%s: %v\n", program, err)
	if hint := HintOf(err); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}

// Program describes a command line.
type Program struct {
	Name     string
	About    string // one paragraph
	Examples string // shown at the end of --help, one command a line
	Notes    string // shown below them, for instance what exit codes mean

	// Words are what a shell may complete where the grammar says
	// completion-predictor:"NAME", by that name.
	Words map[string]func() []string

	// Also are further command lines of the program, each reached by its first word.
	Also []Also
}

// Also is a command line that its program parses apart from the others.
type Also struct {
	Word    string // the first argument
	Grammar any    // a pointer to a kong grammar
	Program Program
}

// Parse reads args into grammar (a pointer to a kong grammar). It returns
// (nil, code) when the program has nothing left to do: help or version was
// printed (code OK), or the line cannot be used (code Usage, said on stdio.Err).
func Parse(grammar any, p Program, args []string, stdio Stdio) (*kong.Context, int) {
	exited, code := false, OK
	parser, err := newParser(grammar, p, stdio, func(c int) { exited, code = true, c })
	if err == nil && completing() {
		err = complete(parser, p, stdio.Out)
		exited = err == nil
	}
	if err != nil {
		Report(stdio.Err, p.Name, fmt.Errorf("reading the command line's grammar: %w", err))
		return nil, Harness
	}
	if exited {
		return nil, OK
	}
	kctx, err := parser.Parse(args)
	switch {
	case exited:
		return nil, code
	case err != nil:
		Report(stdio.Err, p.Name, Hint(err, "'%s --help' lists what there is", p.Name))
		return nil, Usage
	}
	return kctx, OK
}

func newParser(grammar any, p Program, stdio Stdio, exit func(int)) (*kong.Kong, error) {
	return kong.New(grammar,
		kong.Name(p.Name),
		kong.Description(p.About),
		kong.Writers(stdio.Out, stdio.Err),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Vars{"version": versionText(p.Name)},
		kong.Help(func(options kong.HelpOptions, kctx *kong.Context) error {
			if err := kong.DefaultHelpPrinter(options, kctx); err != nil {
				return err
			}
			if kctx.Selected() != nil {
				return nil
			}
			if p.Examples != "" {
				fmt.Fprintf(stdio.Out, "\nExamples:\n%s\n", indent(p.Examples))
			}
			if p.Notes != "" {
				fmt.Fprintf(stdio.Out, "\n%s\n", unindent(p.Notes))
			}
			return nil
		}),
	)
}

func indent(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			line = "  " + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// IsTerminal reports whether w is a terminal that may be drawn on: a real one,
// outside CI. Colour further needs NO_COLOR to be unset.
func IsTerminal(w io.Writer, env Env) bool {
	if _, ci := env("CI"); ci {
		return false
	}
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
