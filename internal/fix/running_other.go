//go:build !unix

package fix

import "os"

// running reports whether another process with a number is there.
func running(pid int) bool {
	if pid == os.Getpid() {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return p.Release() == nil
}
