package handler

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup begins a process group, and has the kernel kill its first process when
// the thread that starts it ends, which the consumer cannot do any more when it is
// killed itself.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// ended blocks until the process has ended, and leaves it to be waited for, so that
// its number is not given away. It reports whether it could.
func ended(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
