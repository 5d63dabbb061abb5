package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// Shells are those that [Completion] knows.
var Shells = []string{"bash", "zsh", "fish"}

// Completion is a script for a shell. It has the programs, which lie in one folder,
// complete their own command lines.
func Completion(shell, folder string, programs []string) (string, error) {
	var script strings.Builder
	if shell == "zsh" {
		script.WriteString("autoload -Uz compinit bashcompinit\n(( $+functions[compdef] )) || compinit\nbashcompinit\n")
	}
	for _, name := range programs {
		path := quote(filepath.Join(folder, name))
		switch shell {
		case "bash", "zsh":
			// Where there is nothing to say, the shell completes names of files.
			fmt.Fprintf(&script, "complete -o default -o bashdefault -C %s %s\n", quote(path), name) // bash runs -C's word as a command line
		case "fish":
			fmt.Fprintf(&script, `function __complete_%[1]s
    set -lx COMP_LINE (commandline -cp)
    set -l words (%[2]s)
    if test (count $words) -gt 0
        printf '%%s\n' $words
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -f -c %[1]s -a '(__complete_%[1]s)'
`, name, path)
		default:
			return "", Hint(errors.New("there is no completion for "+shell), "it is there for %s", strings.Join(Shells, ", "))
		}
	}
	return script.String(), nil
}

// quote makes a word of text for all three shells. It leaves a plain path as it is.
func quote(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%"
	if strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
