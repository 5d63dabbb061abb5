//go:build unix && !linux

package handler

import "syscall"

// ownGroup begins a process group. When the consumer is killed with SIGKILL, it
// runs on: only Linux has a signal for that.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// ended cannot wait for a process here without letting its number go.
func ended(int) bool { return false }
