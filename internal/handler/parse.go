package handler

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Record is the name of the handler that a consumer has without being given one: the
// store writes a row to its table effects, in the transaction that notes the event's
// key. As a [Handler] it is nil.
const Record = "record"

// Names of the handlers, as [Parse] knows them.
const (
	nameLedger = "ledger"
	namePrint  = "print"
	nameExec   = "exec"
	nameHTTP   = "http"
)

// Options are what the handlers can be told beside their specification. The zero
// value of every field but Output is its default.
type Options struct {
	// Output is where [Print] writes.
	Output io.Writer
	// Timeout bounds one call of [HTTP], its answer included, and one run of [Exec]. 0:
	// [DefaultTimeout].
	Timeout time.Duration
	// Grace is how long a command of [Exec] has between SIGTERM and SIGKILL when it
	// has to end early. 0: [DefaultGrace].
	Grace time.Duration
	// Now is the clock that dates in Retry-After are told by. Nil: the machine's.
	Now func() time.Time
	// Ledger says where a ledger finds what it books.
	Ledger Booking
}

// Parse makes a handler from how it is written on the command line:
//
//	record               a row in the table effects; the handler is nil
//	ledger, ledger:FORM  a balance in the same database, see [Forms]
//	print                a line of JSON on the output
//	exec COMMAND ...     a command, run without a shell; words as [Words] cuts them
//	http URL             a POST
func Parse(spec string, o Options) (Handler, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(spec), " ")
	rest = strings.TrimSpace(rest)
	kind, form, hasForm := strings.Cut(name, ":")
	if hasForm && kind != nameLedger {
		return nil, fmt.Errorf("the handler %s takes nothing behind a colon", kind)
	}
	switch kind {
	case nameExec:
		argv, err := Words(rest)
		if err != nil {
			return nil, fmt.Errorf("the command of the handler exec %w", err)
		}
		return NewExec(argv, o.Timeout, o.Grace)
	case nameHTTP:
		return NewHTTP(rest, o.Timeout, o.Now)
	case Record, nameLedger, namePrint:
		if rest != "" {
			return nil, fmt.Errorf("the handler %s takes no %q", kind, rest)
		}
	}
	switch kind {
	case Record:
		return nil, nil
	case nameLedger:
		if !hasForm {
			form = string(Inbox)
		}
		return NewLedger(Form(form), o.Ledger)
	case namePrint:
		return NewPrint(o.Output)
	case "":
		return nil, errors.New("no handler is named")
	default:
		return nil, fmt.Errorf("there is no handler %q", kind)
	}
}

// Name is how a handler was chosen, nil included.
func Name(h Handler) string {
	if h == nil {
		return Record
	}
	return h.Name()
}

// Describe says in a sentence how often a handler carries an event out.
func Describe(h Handler) string {
	switch h := h.(type) {
	case nil:
		return "exactly once: a row in the table effects, committed together with the event's key"
	case interface{ Describe() string }:
		return h.Describe()
	case Transactional:
		return "exactly once, in the transaction that notes the event's key"
	default:
		return "at least once: a process may die between the call and the note that it was made; the key stays the same"
	}
}

// Words cuts a command line into words: blanks part them, quotes of either sort hold
// them together, and outside of single quotes a backslash takes the next character
// for what it is. Nothing else has a meaning: no variables, no patterns, no pipes.
func Words(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune // the one that is open; 0: none
	begun, escaped := false, false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			begun, quote = true, c
		case quote == 0 && strings.ContainsRune(" \t\r\n", c):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("has a quote %c without its end", quote)
	case escaped:
		return nil, errors.New("ends in a backslash")
	case begun:
		words = append(words, word.String())
	}
	return words, nil
}
