package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// DefaultGrace is how long a command has between SIGTERM and SIGKILL.
	DefaultGrace = 5 * time.Second

	// What a command says by its exit code, from sysexits.h; 0 is success, and any
	// other code a failure like that of exitRetry.
	exitReject = 65 // EX_DATAERR: the event can never be carried out
	exitRetry  = 75 // EX_TEMPFAIL: not now

	// maxReason is how much of a command's or a server's own words a reason holds, in
	// bytes.
	maxReason = 200
	// drainPipes is how long the end of a command's output is waited for when the
	// command itself has ended: only a process that has left its group can hold it.
	drainPipes = time.Second
)

// Exec runs a command for every event: the body is its standard input, and what
// else there is to know stands in its environment.
type Exec struct {
	argv    []string
	timeout time.Duration
	grace   time.Duration
	shell   string // runs guards; "": there is none
}

// NewExec returns an Exec of a command and its arguments, which must be there to be
// run. A timeout of 0 is [DefaultTimeout], a grace of 0 [DefaultGrace].
func NewExec(argv []string, timeout, grace time.Duration) (*Exec, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("the handler exec needs a command")
	}
	if grace < 0 {
		return nil, fmt.Errorf("a grace of %v cannot be given to a command", grace)
	}
	if timeout < 0 {
		return nil, fmt.Errorf("a timeout of %v cannot be given to a command", timeout)
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil, fmt.Errorf("the command of the handler exec cannot be run: %w", err)
	}
	shell, _ := exec.LookPath("sh") // an image with nothing but programs has none
	return &Exec{argv: slices.Clone(argv), timeout: cmp.Or(timeout, DefaultTimeout), grace: cmp.Or(grace, DefaultGrace), shell: shell}, nil
}

// Name is "exec".
func (*Exec) Name() string { return nameExec }

// Describe says what can be relied on.
func (x *Exec) Describe() string {
	return "at least once: a process may die between the command and the note that it was run; " +
		"FIFOPROOF_IDEMPOTENCY_KEY stays the same"
}

// Call runs the command once and waits for it. It ends when its first process does,
// and then nothing of its process group is left running. When ctx or the timeout ends
// first, the group gets SIGTERM, and SIGKILL after the grace.
func (x *Exec) Call(ctx context.Context, e Event) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, x.timeout, fmt.Errorf("it ran for longer than %v", x.timeout))
	defer cancel()
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("the command %s was not begun: %w", x.base(), err)
	}
	g, err := newGroup(x.shell)
	if err != nil {
		return "", err
	}
	defer g.end()
	// The kernel tells a command of its parent's death when the thread that forked
	// ends, not the process (prctl(2), PR_SET_PDEATHSIG): no other goroutine may bring
	// that one to its end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	out, errs := &limited{most: 2 * MaxResult}, &limited{most: 16 * maxReason}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), x.argv[0], x.argv[1:]...) //nolint:gosec // what the user names, and ended below, with its group
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(e.Body), out, errs
	cmd.Env = append(os.Environ(), environment(e)...)
	cmd.WaitDelay = drainPipes
	if err := g.run(cmd); err != nil {
		return "", x.startError(err)
	}
	var waited error
	done := make(chan struct{})
	go func() {
		waited = g.wait(cmd)
		close(done)
	}()
	select {
	case <-done:
		return x.result(cmd.ProcessState, waited, out, errs)
	case <-ctx.Done():
	}
	g.interrupt()
	patience := time.NewTimer(x.grace)
	defer patience.Stop()
	select {
	case <-done:
		if state := cmd.ProcessState; state != nil && state.Success() { // it finished after all
			return x.result(state, nil, out, errs)
		}
		return "", fmt.Errorf("the command %s was told to end: %w", x.base(), context.Cause(ctx))
	case <-patience.C:
		g.kill()
		<-done
		return "", fmt.Errorf("the command %s did not end within %v and was killed: %w", x.base(), x.grace, context.Cause(ctx))
	}
}

// result reads how the command ended.
func (x *Exec) result(state *os.ProcessState, err error, out, errs *limited) (string, error) {
	if state != nil && state.Success() {
		// What may be wrong now is that a process outside of the group holds the output.
		return clip(out.kept, MaxResult), nil
	}
	if state == nil {
		return "", fmt.Errorf("waiting for the command %s: %w", x.base(), err)
	}
	said := line(errs.kept, maxReason)
	if said != "" {
		said = ": " + said
	}
	switch state.ExitCode() {
	case exitReject:
		return "", &RejectError{fmt.Errorf("the command %s refused the event (exit code %d)%s", x.base(), exitReject, said)}
	case exitRetry:
		return "", fmt.Errorf("the command %s asks for another attempt (exit code %d)%s", x.base(), exitRetry, said)
	default:
		return "", fmt.Errorf("the command %s failed (%s)%s", x.base(), state, said)
	}
}

// startError tells a command that cannot be run from a machine that is short of
// something for a moment.
func (x *Exec) startError(err error) error {
	wrapped := fmt.Errorf("starting the command %s: %w", x.base(), err)
	for _, lasting := range []error{exec.ErrNotFound, exec.ErrDot, fs.ErrNotExist, fs.ErrPermission, syscall.ENOEXEC} {
		if errors.Is(err, lasting) {
			return &HaltError{wrapped}
		}
	}
	return wrapped
}

// base names the command in errors. Its arguments may be secret.
func (x *Exec) base() string { return filepath.Base(x.argv[0]) }

// environment is what the command is told beside the body, added to the consumer's
// own environment.
func environment(e Event) []string {
	env := []string{
		"FIFOPROOF_QUEUE=" + e.Queue,
		"FIFOPROOF_MESSAGE_ID=" + e.MessageID,
		"FIFOPROOF_GROUP=" + e.Group,
		"FIFOPROOF_SEQUENCE_NUMBER=" + e.SequenceNumber,
		"FIFOPROOF_IDEMPOTENCY_KEY=" + e.IdempotencyKey,
		"FIFOPROOF_ATTEMPT=" + strconv.Itoa(e.Attempt),
		"FIFOPROOF_RECEIVE_COUNT=" + strconv.Itoa(e.ReceiveCount),
	}
	// The consumer's own TRACEPARENT, if it has one, is not this event's.
	return append(env, "TRACEPARENT="+trace(e))
}
