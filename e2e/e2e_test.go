package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// programs is the folder of the built programs.
var programs string

func TestMain(m *testing.M) {
	code, err := build(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// build builds the programs as users do and runs the tests on them.
func build(tests func() int) (int, error) {
	dir, err := os.MkdirTemp("", "fifoproof-e2e-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	programs = dir
	if out, err := exec.Command("go", "build", "-o", dir+"/", "../cmd/...").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return tests(), nil
}

func TestScripts(t *testing.T) {
	t.Parallel()
	webhooks, err := filepath.Abs("../../shared/data/webhooks.ndjson")
	require.NoError(t, err)
	if _, err := os.Stat(webhooks); err != nil {
		webhooks = ""
	}
	examples, err := filepath.Abs("../examples")
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", programs+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("EXAMPLES", examples)
			env.Setenv("WEBHOOKS", webhooks)
			// A user without any AWS configuration; the machine's own must not leak in.
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("AWS_EC2_METADATA_DISABLED", "true")
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition == "webhooks" {
				return webhooks != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", condition)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":    serve,
			"queue":    queue,
			"refuser":  refuser,
			"lacking":  lacking,
			"amazon":   amazon,
			"tokens":   tokens,
			"letter":   letter,
			"calls":    calls,
			"intruder": intruder,
			"cloud":    cloud,
			"advance":  advance,
			"exits":    exits,
			"lines":    lines,
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// serve starts 'fifoproof serve' on a free port with the arguments given and puts
// what it exports into the script's environment.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("serve cannot be negated")
	}
	server := exec.Command(filepath.Join(programs, "fifoproof"), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	var talk bytes.Buffer
	server.Stderr = &talk
	out, err := server.StdoutPipe()
	ts.Check(err)
	ts.Check(server.Start())
	ts.Defer(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil {
			ts.Logf("serve ended with %v: %s", err, talk.String())
		}
	})
	wanted := map[string]bool{"AWS_ENDPOINT_URL": true, "AWS_REGION": true, "AWS_ACCESS_KEY_ID": true, "AWS_SECRET_ACCESS_KEY": true}
	for scanner := bufio.NewScanner(out); len(wanted) > 0 && scanner.Scan(); {
		if export, ok := strings.CutPrefix(scanner.Text(), "export "); ok {
			name, value, _ := strings.Cut(export, "=")
			ts.Setenv(name, strings.Trim(value, `"'`))
			delete(wanted, name)
		}
	}
	if len(wanted) > 0 {
		ts.Fatalf("serve did not export %v: %s", wanted, talk.String())
	}
}

// advance moves the virtual clock of the served endpoint.
func advance(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: advance DURATION")
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		ts.Getenv("AWS_ENDPOINT_URL")+"/_fifoproof/clock/advance", strings.NewReader(`{"by":"`+args[0]+`"}`))
	ts.Check(err)
	answer, err := http.DefaultClient.Do(request)
	ts.Check(err)
	ts.Check(answer.Body.Close())
	if answer.StatusCode != http.StatusOK {
		ts.Fatalf("moving the clock: %s", answer.Status)
	}
}

// exits runs a program and demands its exit code: exits CODE PROGRAM ARGS.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s exited with %d, not %d", strings.Join(args[1:], " "), got, want)
	}
}

// lines demands how many lines a file has: lines FILE N.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); got != want {
		ts.Fatalf("%s has %d lines, not %d", args[0], got, want)
	}
}
