//go:build unix

package fix

import (
	"errors"
	"os"
	"syscall"
)

// running reports whether another process with a number is there.
func running(pid int) bool {
	if pid == os.Getpid() {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
