package report

import (
	"strings"

	"fifoproof/internal/conformance"
)

// repeat is the command that runs one case again, ready for a shell.
func repeat(results *conformance.Results, id string) string {
	return command(results, "--case", id)
}

// command is the verify command of a run with more arguments.
func command(results *conformance.Results, more ...string) string {
	args := []string{"fifoproof", "verify", "--target", results.Target.Name}
	if results.Profile == conformance.Experiments {
		args = append(args, "--profile", string(results.Profile)) // the case may be in no other
	}
	if results.Policy.Strict {
		args = append(args, "--strict")
	}
	args = append(args, more...)
	for i, arg := range args {
		args[i] = quote(arg)
	}
	return strings.Join(args, " ")
}

// quote makes one word of a POSIX shell.
func quote(arg string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,"
	if arg != "" && strings.Trim(arg, plain) == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
