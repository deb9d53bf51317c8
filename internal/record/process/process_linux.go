package process

import "syscall"

func ownGroup() *syscall.SysProcAttr {
	// A second interrupt kills heaptrim at once; the child must not outlive it.
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
