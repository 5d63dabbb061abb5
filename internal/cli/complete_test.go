package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

type completable struct {
	Send struct {
		Queue  string   `help:"The queue."`
		Scope  string   `enum:"queue,group" default:"queue" help:"The scope."`
		Case   []string `completion-predictor:"case" help:"The case."`
		Secret string   `hidden:"" help:"Not shown."`
	} `cmd:"" help:"Send."`
	Serve explained `cmd:"" help:"Serve."`
}

type explained struct{}

// Help is what --help of the command ends with.
func (explained) Help() string { return "It serves <all>." }

type receiptsLine struct {
	Kind string `enum:"fresh,repeated" default:"fresh" help:"The kind."`
}

var completableProgram = cli.Program{
	Name:  "prog",
	About: "Does it, with <care>.",
	Words: map[string]func() []string{"case": func() []string { return []string{"scope/a", "window/a", "window/b"} }},
	Also:  []cli.Also{{Word: "receipts", Grammar: &receiptsLine{}, Program: cli.Program{Name: "prog receipts", About: "Prints them."}}},
}

// TestComplete asks as bash does: the line up to the cursor stands in COMP_LINE.
func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"prog ":                        "receipts send serve",
		"prog se":                      "send serve",
		"prog send --s":                "--scope",
		"prog send --scope ":           "group queue",
		"prog send --scope=g":          "group",
		"prog send --case win":         "window/a window/b",
		"/some/where/prog send --q":    "--queue",
		"prog receipts --kind ":        "fresh repeated",
		"prog send --queue somewhere ": "", // the shell's own completion goes on
	} {
		t.Setenv("COMP_LINE", line)
		var out, talk bytes.Buffer
		// bash hands over the program's name and the words around the cursor.
		parsed, code := cli.Parse(&completable{}, completableProgram, []string{"prog", "se", "send"}, cli.Stdio{Out: &out, Err: &talk})
		require.Nil(t, parsed, "%q", line)
		require.Equal(t, cli.OK, code, "%q", line)
		require.Empty(t, talk.String(), "%q", line)
		require.ElementsMatch(t, strings.Fields(want), strings.Fields(strings.ReplaceAll(out.String(), "--help", "")), "%q", line)
	}
}

// TestCompletionInShells runs the scripts in those shells that are there, with a
// program that answers with the line it was asked about, in a folder that needs quotes.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	for shell, ask := range map[string]string{
		"bash": `COMP_LINE='prog se' COMP_POINT=7 eval "$(complete -p prog | sed -E "s/.* -C (.*) prog$/\1/; s/^'(.*)'$/\1/; s/'\\\\''/'/g")"`,
		"fish": `complete -C 'prog se'`,
		"zsh":  `export COMP_LINE='prog se'; eval "${(Q)_comps[prog]##*-C }"`,
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip(shell + " is not installed")
			}
			folder := filepath.Join(t.TempDir(), "it's a folder")
			require.NoError(t, os.Mkdir(folder, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "prog"), []byte("#!/bin/sh\necho \"send-$COMP_LINE\"\n"), 0o755))
			script, err := cli.Completion(shell, folder, []string{"prog"})
			require.NoError(t, err)
			args := map[string][]string{"bash": {"--norc", "-c"}, "fish": {"--no-config", "-c"}, "zsh": {"-f", "-c"}}[shell]
			command := exec.Command(shell, append(args, script+ask)...)
			command.Env = append(os.Environ(), "HOME="+t.TempDir())
			out, err := command.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, "send-prog se", strings.TrimSpace(string(out)))
		})
	}
}

func TestCompletionForAnotherShell(t *testing.T) {
	t.Parallel()
	_, err := cli.Completion("tcsh", "/bin", []string{"prog"})
	require.ErrorContains(t, err, "tcsh")
	require.Equal(t, "it is there for bash, fish, zsh", cli.HintOf(err))
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	document, err := cli.Markdown(&completable{}, completableProgram)
	require.NoError(t, err)
	for _, text := range []string{
		"# prog\n", "Does it, with &lt;care>.", "```\nprog <command>\n```", "| [`send`](#prog-send) | Send. |",
		"## prog send\n", "## prog serve\n\nServe.\n\nIt serves &lt;all>.\n\n```\n", "| `--scope=\"queue\"` | The scope. |", "## prog receipts\n\nPrints them.", "| `--kind=\"fresh\"` | The kind. |",
	} {
		require.Contains(t, document, text)
	}
	require.NotContains(t, document, "secret")

	two := completableProgram
	two.Name = "prog two"
	document, err = cli.Markdown(&completable{}, two)
	require.NoError(t, err)
	require.Contains(t, document, "| [`send`](#prog-two-send) | Send. |", "a heading's anchor has no spaces")
}
