//go:build unix

package handler_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/handler"
)

// shell returns the handler on a script for sh, with arguments $1, $2 and so on.
func shell(t *testing.T, grace time.Duration, script string, args ...string) *handler.Exec {
	t.Helper()
	h, err := handler.NewExec(append([]string{"sh", "-c", script, "sh"}, args...), 0, grace)
	require.NoError(t, err)
	return h
}

func TestExecTellsTheEvent(t *testing.T) {
	t.Setenv("TRACEPARENT", "the consumer's own")
	t.Setenv("HANDED_DOWN", "yes")
	h := shell(t, 0, `cat; echo; env | grep -E '^(FIFOPROOF_|TRACEPARENT|HANDED_DOWN)' | sort`)
	result, err := h.Call(t.Context(), event())
	require.NoError(t, err)
	require.Equal(t, `{"account":"alice","amount":12.34}
FIFOPROOF_ATTEMPT=2
FIFOPROOF_GROUP=g-1
FIFOPROOF_IDEMPOTENCY_KEY=`+event().IdempotencyKey+`
FIFOPROOF_MESSAGE_ID=m-1
FIFOPROOF_QUEUE=orders.fifo
FIFOPROOF_RECEIVE_COUNT=3
FIFOPROOF_SEQUENCE_NUMBER=18849496460467696128
HANDED_DOWN=yes
TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
`, result)

	e := event()
	e.Traceparent = "not one\x00at all"
	result, err = shell(t, 0, `printf '<%s>' "$TRACEPARENT"`).Call(t.Context(), e)
	require.NoError(t, err)
	require.Equal(t, "<>", result)
}

// Every exit code, and what of it is kept. 65 and 75 are those of sysexits.h.
func TestExecEndings(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct{ result, err string }{
		`exit 0`:                          {},
		`echo done; echo noise >&2`:       {result: "done\n"},
		`exec <&-; exit 0`:                {}, // reads nothing
		`exit 65`:                         {err: "reject: the command sh refused the event (exit code 65)"},
		`echo no account >&2; exit 65`:    {err: "reject: the command sh refused the event (exit code 65): no account"},
		`exit 75`:                         {err: "retry: the command sh asks for another attempt (exit code 75)"},
		`echo busy >&2; exit 75`:          {err: "retry: the command sh asks for another attempt (exit code 75): busy"},
		`exit 1`:                          {err: "retry: the command sh failed (exit status 1)"},
		`exit 64`:                         {err: "retry: the command sh failed (exit status 64)"},
		`exit 66`:                         {err: "retry: the command sh failed (exit status 66)"},
		`exit 255`:                        {err: "retry: the command sh failed (exit status 255)"},
		`kill -SEGV $$`:                   {err: "retry: the command sh failed (signal: segmentation fault)"},
		`no-such-program-1b3 2>/dev/null`: {err: "retry: the command sh failed (exit status 127)"},
		`printf '\n \t\n\033[31mred\033[0m \377\000x\nsecond\n' >&2; exit 3`: {
			err: "retry: the command sh failed (exit status 3): [31mred [0m ��x",
		},
	} {
		e := event()
		e.Body = strings.Repeat("x", 1<<20) // more than a pipe takes, and nobody reads it
		result, err := shell(t, 0, script).Call(t.Context(), e)
		require.Equal(t, want.result, result, script)
		if want.err == "" {
			require.NoError(t, err, script)
			continue
		}
		require.Error(t, err, script)
		kind := "retry: "
		if handler.Rejected(err) {
			kind = "reject: "
		}
		require.Equal(t, want.err, kind+err.Error(), script)
		require.NotErrorAs(t, err, new(*handler.HaltError), script)
	}
}

func TestExecOutputIsBounded(t *testing.T) {
	t.Parallel()
	result, err := shell(t, 0, `i=0; while [ $i -lt 2000 ]; do printf 'éé'; i=$((i+1)); done; printf x`).Call(t.Context(), event())
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("é", handler.MaxResult/2), result)
	_, err = shell(t, 0, `i=0; while [ $i -lt 2000 ]; do printf 'éé'; i=$((i+1)); done >&2; exit 1`).Call(t.Context(), event())
	require.EqualError(t, err, "the command sh failed (exit status 1): "+strings.Repeat("é", 100))
}

// A command that cannot be run stops the lane: no event could fare better.
func TestExecHalts(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "pay.sh")
	write := func(text string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(script, []byte(text), mode))
		require.NoError(t, os.Chmod(script, mode))
	}
	write("#!/bin/sh\nexit 0\n", 0o755)
	h, err := handler.NewExec([]string{script, "--password=geheim"}, 0, 0)
	require.NoError(t, err)
	_, err = h.Call(t.Context(), event())
	require.NoError(t, err)

	write("#!/no/such/interpreter\n", 0o755)
	halts := func(what string) {
		t.Helper()
		_, err := h.Call(t.Context(), event())
		require.ErrorAs(t, err, new(*handler.HaltError), what)
		require.ErrorContains(t, err, "starting the command pay.sh: ", what)
		require.NotContains(t, err.Error(), "geheim", what)
	}
	halts("its interpreter is missing")
	write("\x00\x01\x02", 0o755)
	halts("it is no program")
	write("#!/bin/sh\nexit 0\n", 0o644)
	halts("it is not executable")
	require.NoError(t, os.Remove(script))
	halts("it is gone")
}

// lifeline is a pipe by which a test knows who lives: every process that began
// holds its writing end, and the end of what can be read is the end of all of them.
type lifeline struct {
	path   string
	reader *bufio.Reader
}

func newLifeline(t *testing.T) *lifeline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "line")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return &lifeline{path: path}
}

// begun waits for a process to write a line.
func (l *lifeline) begun(t *testing.T) string {
	t.Helper()
	if l.reader == nil {
		file, err := os.Open(l.path)
		require.NoError(t, err)
		t.Cleanup(func() { file.Close() })
		l.reader = bufio.NewReader(file)
	}
	text, err := l.reader.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(text)
}

// ended waits for the last of them.
func (l *lifeline) ended(t *testing.T) {
	t.Helper()
	_, err := l.reader.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}

var errDrain = errors.New("the consumer is draining")

// When the context ends, the whole group is told to, and killed if it does not.
func TestExecCancelled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		grace  time.Duration
		want   string
		result string
	}{
		"a child and a grandchild": {
			script: `exec 3>"$1"; sleep 600 & echo begun >&3; wait`,
			grace:  time.Minute,
			want:   "the command sh was told to end: the consumer is draining",
		},
		"a grandchild that ignores SIGTERM": {
			script: `exec 3>"$1"; (trap '' TERM; echo begun >&3; sleep 600) & wait`,
			grace:  time.Minute,
			want:   "the command sh was told to end: the consumer is draining",
		},
		"all ignore SIGTERM": {
			script: `exec 3>"$1"; trap '' TERM; sleep 600 & echo begun >&3; wait`,
			grace:  10 * time.Millisecond,
			want:   "the command sh did not end within 10ms and was killed: the consumer is draining",
		},
		"it finishes first": {
			script: `exec 3>"$1"; trap 'echo paid; exit 0' TERM; echo begun >&3; sleep 600 & wait`,
			grace:  time.Minute,
			result: "paid\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			life := newLifeline(t)
			h := shell(t, c.grace, c.script, life.path)
			ctx, cancel := context.WithCancelCause(t.Context())
			var result string
			var err error
			var call sync.WaitGroup
			call.Go(func() { result, err = h.Call(ctx, event()) })
			require.Equal(t, "begun", life.begun(t))
			cancel(errDrain)
			call.Wait()
			life.ended(t)
			require.Equal(t, c.result, result)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.want)
				require.ErrorIs(t, err, errDrain)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := shell(t, 0, "exit 0").Call(ctx, event())
	require.EqualError(t, err, "the command sh was not begun: context canceled")
}

// Nothing of an attempt outlives it: the next one must not meet it.
func TestExecLeavesNothing(t *testing.T) {
	t.Parallel()
	life := newLifeline(t)
	h := shell(t, 0, `exec 3>"$1"; sleep 600 & echo begun >&3; echo paid`, life.path)
	var result string
	var err error
	var call sync.WaitGroup
	call.Go(func() { result, err = h.Call(t.Context(), event()) })
	life.begun(t)
	call.Wait()
	life.ended(t)
	require.NoError(t, err)
	require.Equal(t, "paid\n", result)
}

// The signal that the kernel sends is bound to the thread that forked. Threads that
// end while a command runs must not be that one.
func TestExecOutlivesThreads(t *testing.T) {
	t.Parallel()
	life, gate := newLifeline(t), newLifeline(t)
	h := shell(t, 0, `exec 3>"$1"; echo begun >&3; read word <"$2"; echo "$word"`, life.path, gate.path)
	var result string
	var err error
	var call sync.WaitGroup
	call.Go(func() { result, err = h.Call(t.Context(), event()) })
	life.begun(t)
	var threads sync.WaitGroup
	for range 200 {
		threads.Go(runtime.LockOSThread) // a goroutine that ends locked takes its thread along
	}
	threads.Wait()
	require.NoError(t, os.WriteFile(gate.path, []byte("alive\n"), 0))
	call.Wait()
	require.NoError(t, err)
	require.Equal(t, "alive\n", result)
}

// A consumer that is killed can do nothing any more; its commands die all the same,
// and so does what they have started.
func TestExecDiesWithItsConsumer(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a child":                    `exec 3>"$1"; echo begun >&3; exec sleep 600`,
		"a grandchild":               `exec 3>"$1"; echo begun >&3; sleep 600; exit 0`,
		"one that is left to itself": `exec 3>"$1"; (trap '' TERM HUP; echo begun >&3; exec sleep 600) & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			life := newLifeline(t)
			consumer := startConsumer(t, script, life)
			require.Equal(t, "begun", life.begun(t))
			require.NoError(t, consumer.Process.Kill())
			require.ErrorContains(t, consumer.Wait(), "signal: killed")
			life.ended(t)
		})
	}
}

// An image with nothing but programs has no shell to guard a command. The group is
// ended all the same, and on Linux the command dies with its consumer.
func TestExecWithoutAShell(t *testing.T) {
	t.Setenv("PATH", "")
	life := newLifeline(t)
	h, err := handler.NewExec([]string{"/bin/sh", "-c", `exec 3>"$1"; /bin/sleep 600 & echo begun >&3; wait`, "sh", life.path}, 0, time.Minute)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	var call sync.WaitGroup
	call.Go(func() { _, err = h.Call(ctx, event()) })
	life.begun(t)
	cancel(errDrain)
	call.Wait()
	life.ended(t)
	require.EqualError(t, err, "the command sh was told to end: the consumer is draining")

	if runtime.GOOS != "linux" {
		return
	}
	life = newLifeline(t)
	consumer := startConsumer(t, `exec 3>"$1"; echo begun >&3; exec /bin/sleep 600`, life)
	require.Equal(t, "begun", life.begun(t))
	require.NoError(t, consumer.Process.Kill())
	require.ErrorContains(t, consumer.Wait(), "signal: killed")
	life.ended(t)
}

// startConsumer starts this binary as a consumer whose command is a script.
func startConsumer(t *testing.T, script string, life *lifeline) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	consumer := exec.Command(self)
	consumer.Env = append(os.Environ(), "HANDLER_TEST_ROLE="+script, "HANDLER_TEST_LINE="+life.path)
	require.NoError(t, consumer.Start())
	return consumer
}

// play is what this binary does when it is told to be a consumer.
func play(script string) int {
	h, err := handler.NewExec([]string{"/bin/sh", "-c", script, "sh", os.Getenv("HANDLER_TEST_LINE")}, 0, 0)
	if err == nil {
		_, err = h.Call(context.Background(), event())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// A command that runs for too long is told to end, and has failed.
func TestExecTakesTooLong(t *testing.T) {
	t.Parallel()
	h, err := handler.NewExec([]string{"sh", "-c", "exec sleep 600"}, 10*time.Millisecond, time.Minute)
	require.NoError(t, err)
	_, err = h.Call(t.Context(), event())
	require.EqualError(t, err, "the command sh was told to end: it ran for longer than 10ms")
	require.False(t, handler.Rejected(err))
	require.NotErrorIs(t, err, context.Canceled, "the consumer goes on")
}
