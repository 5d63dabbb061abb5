package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

type grammar struct {
	Send struct {
		Queue string `required:"" help:"The queue."`
	} `cmd:"" help:"Send."`
}

func parse(args ...string) (selected string, code int, out, err string) {
	var o, e bytes.Buffer
	parsed, code := cli.Parse(&grammar{}, cli.Program{Name: "prog", About: "Does it.", Examples: "prog send --queue q", Notes: "Exit codes: 0."}, args, cli.Stdio{Out: &o, Err: &e})
	if parsed != nil {
		selected = parsed.Command()
	}
	return selected, code, o.String(), e.String()
}

func TestParse(t *testing.T) {
	t.Parallel()
	selected, code, out, err := parse("send", "--queue", "q")
	require.Equal(t, "send", selected)
	require.Equal(t, cli.OK, code)
	require.Empty(t, out+err)

	selected, code, out, _ = parse("--help")
	require.Empty(t, selected)
	require.Equal(t, cli.OK, code)
	require.Contains(t, out, "Examples:\n  prog send --queue q\n\nExit codes: 0.\n")

	for _, args := range [][]string{{}, {"send"}, {"send", "--queue", "q", "--nonsense"}, {"receive"}} {
		selected, code, out, err = parse(args...)
		require.Empty(t, selected, "%q", args)
		require.Equal(t, cli.Usage, code, "%q", args)
		require.Empty(t, out, "%q: standard output is for results", args)
		require.Regexp(t, `(?s)^prog: .+\nhint: .+\n$`, err, "%q", args)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	err := cli.Hint(errors.New("the queue does not exist"), "make it with %s", "--create")
	cli.Report(&b, "prog", fmt.Errorf("sending: %w", err))
	require.Equal(t, "prog: sending: the queue does not exist\nhint: make it with --create\n", b.String())

	b.Reset()
	cli.Report(&b, "prog", errors.New("no"))
	require.Equal(t, "prog: no\n", b.String())
}

func TestIsTerminal(t *testing.T) {
	t.Parallel()
	unset := func(string) (string, bool) { return "", false }
	require.False(t, cli.IsTerminal(&bytes.Buffer{}, unset))
}
