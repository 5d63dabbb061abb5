package cli

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	posener "github.com/posener/complete"
)

// completing reports whether a shell asks for completions: bash's 'complete -C' sets
// COMP_LINE, and the scripts for the other shells do the same.
func completing() bool { return os.Getenv("COMP_LINE") != "" }

// complete prints the words that may follow in the line that the shell holds.
func complete(parser *kong.Kong, p Program, out io.Writer) error {
	command, err := completion(parser, p)
	if err != nil {
		return err
	}
	answer := posener.New(p.Name, command)
	answer.Out = out
	answer.Complete()
	return nil
}

// completion is what can be completed in the command lines of a program.
func completion(parser *kong.Kong, p Program) (posener.Command, error) {
	words := map[string]posener.Predictor{}
	for name, list := range p.Words {
		words[name] = posener.PredictFunc(func(posener.Args) []string { return list() })
	}
	command, err := kongcompletion.Command(parser, kongcompletion.WithPredictors(words))
	if err != nil {
		return command, err
	}
	for _, also := range p.Also {
		nothing := Stdio{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
		other, err := newParser(also.Grammar, also.Program, nothing, func(int) {})
		if err != nil {
			return command, err
		}
		if command.Sub[also.Word], err = completion(other, also.Program); err != nil {
			return command, err
		}
	}
	return command, nil
}

// scripts have a shell complete a program; what is PATH there is in quotes, and QUOTED
// again, for bash takes the word behind -C as a command line of its own. Where the
// program has nothing to say, names of files are completed.
var scripts = map[string]struct{ once, each string }{
	"bash": {"", bashScript},
	"zsh":  {"autoload -Uz compinit bashcompinit\n(( $+functions[compdef] )) || compinit\nbashcompinit\n", bashScript},
	"fish": {"", `function __complete_PROGRAM
    set -lx COMP_LINE (commandline -cp)
    set -l words (PATH)
    if test (count $words) -gt 0
        printf '%s\n' $words
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -f -c PROGRAM -a '(__complete_PROGRAM)'
`},
}

const bashScript = "complete -o default -o bashdefault -C QUOTED PROGRAM\n"

// Completion is a script for a shell. It has the programs, which lie in one folder,
// complete their own command lines.
func Completion(shell, folder string, programs []string) (string, error) {
	form, known := scripts[shell]
	if !known {
		return "", Hint(errors.New("there is no completion for "+shell), "it is there for %s", strings.Join(slices.Sorted(maps.Keys(scripts)), ", "))
	}
	var text strings.Builder
	text.WriteString(form.once)
	for _, name := range programs {
		path := quote(filepath.Join(folder, name))
		text.WriteString(strings.NewReplacer("PROGRAM", name, "PATH", path, "QUOTED", quote(path)).Replace(form.each))
	}
	return text.String(), nil
}

// quote makes a word of text for all three shells. It leaves a plain path as it is.
func quote(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%"
	if strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
