//go:build unix

package handler

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// group is a command's process group, whose number is that of its first process.
// The number is free for others when the last of the group is gone and the first is
// waited for; nothing is sent after that.
type group struct {
	process *os.Process
	mu      sync.Mutex
	gone    bool
}

func (g *group) interrupt() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		_ = syscall.Kill(-g.process.Pid, s) // nobody left is what was wanted
	}
}

// end kills what is left of the group, for good.
func (g *group) end() {
	g.kill()
	g.mu.Lock()
	g.gone = true
	g.mu.Unlock()
}

// wait waits for the command's first process and ends the rest of the group.
func (g *group) wait(cmd *exec.Cmd) error {
	if ended(g.process.Pid) {
		g.end()
		return cmd.Wait()
	}
	err := cmd.Wait()
	g.end() // the group's number can have been given away only in this very moment
	return err
}
