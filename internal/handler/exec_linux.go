package handler

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel kill a process when the thread that started it ends.
// The guard needs no such help; it is for where there is none.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// ended blocks until a process has ended, and leaves it to be waited for. It reports
// whether it could.
func ended(pid int) bool {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
