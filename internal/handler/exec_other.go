//go:build !unix

package handler

import (
	"os"
	"os/exec"
)

// group is a command's first process: there are no process groups here, and when the
// consumer is killed, the command runs on.
type group struct{ process *os.Process }

func newGroup(string) (*group, error) { return &group{}, nil }

func (g *group) run(cmd *exec.Cmd) error {
	err := cmd.Start()
	g.process = cmd.Process
	return err
}

func (g *group) wait(cmd *exec.Cmd) error { return cmd.Wait() }

// interrupt ends the command at once: there is no SIGTERM here.
func (g *group) interrupt() { g.kill() }
func (g *group) kill()      { _ = g.process.Kill() }
func (g *group) end()       {}
