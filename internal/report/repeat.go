package report

import (
	"strings"

	"fifoproof/internal/conformance"
)

// repeat is the command that runs one case again, ready for a shell.
func repeat(results *conformance.Results, r conformance.Result) string {
	if r.Profile != "" {
		return command(results, "--profile", string(r.Profile), "--case", r.ID)
	}
	return command(results, "--case", r.ID)
}

// command is the verify command of a run with more arguments.
func command(results *conformance.Results, more ...string) string {
	args := []string{program, "verify", "--target", results.Target.Name}
	if results.Target.Queue != "" {
		args = append(args, "--queue", results.Target.Queue)
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

// profiled is the profile of a run as arguments; none for the default one.
func profiled(results *conformance.Results) []string {
	if results.Profile == "" || results.Profile == conformance.Default {
		return nil
	}
	return []string{"--profile", string(results.Profile)}
}
