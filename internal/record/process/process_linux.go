package process

import "syscall"

func ownGroup() *syscall.SysProcAttr {
	// The second interrupt ends us at once: the child must not outlive that.
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
