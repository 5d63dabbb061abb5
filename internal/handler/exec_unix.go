//go:build unix

package handler

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// guarding is the guard's script: it ends by being killed with its group, or does
// that itself when the consumer is gone, which alone holds the other end of its
// input. It is no command that a polite request is meant for.
const guarding = `trap '' TERM INT HUP QUIT; read -r end; kill -KILL "-$$"`

// group is the process group of one command. Its first process is a guard, which
// is there before the command and after it: there is no moment in which the command
// could outlive a consumer that is killed, and the group's number is nobody else's
// until the guard is waited for. Where there is no shell to be a guard, the command
// is its group's first process.
type group struct {
	guard *exec.Cmd
	alive io.Closer // what the guard listens to
	mu    sync.Mutex
	pid   int // 0: not begun, or gone
}

// newGroup makes a group with a guard in it, if the shell is there ("": it is not).
func newGroup(shell string) (*group, error) {
	if shell == "" {
		return &group{}, nil
	}
	guard := exec.Command(shell, "-c", guarding) //nolint:noctx // it lives as long as its group
	guard.Env = []string{}
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, err := guard.StdinPipe()
	if err == nil {
		err = guard.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting the guard of a command: %w", err)
	}
	return &group{guard: guard, alive: alive, pid: guard.Process.Pid}, nil
}

// run starts a command in the group.
func (g *group) run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = dieWithParent()
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pgid = g.pid
	if err := cmd.Start(); err != nil {
		return err
	}
	if g.guard == nil {
		g.pid = cmd.Process.Pid
	}
	return nil
}

// wait waits for the command itself, and ends what else is left of the group.
func (g *group) wait(cmd *exec.Cmd) error {
	if ended(cmd.Process.Pid) {
		g.end() // or the rest might hold the output open
	}
	defer g.end()
	return cmd.Wait()
}

func (g *group) interrupt() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pid != 0 {
		_ = syscall.Kill(-g.pid, s) // nobody left is what was wanted
	}
}

// end kills the group, for good.
func (g *group) end() {
	g.kill()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pid = 0
	if g.guard != nil {
		_ = g.alive.Close()
		_ = g.guard.Wait() // it was killed
		g.guard = nil
	}
}
