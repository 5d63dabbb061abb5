//go:build !unix

package handler

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a command's first process: there are no process groups here.
type group struct{ process *os.Process }

// interrupt ends the command at once: there is no SIGTERM here.
func (g *group) interrupt() { _ = g.process.Kill() }
func (g *group) kill()      { _ = g.process.Kill() }

func (g *group) wait(cmd *exec.Cmd) error { return cmd.Wait() }

func ownGroup() *syscall.SysProcAttr { return nil }
