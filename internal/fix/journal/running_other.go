//go:build !unix

package journal

import "os"

// started is when a process began; it is not known here.
func started(pid int) string { return "" }

// running reports whether another process with a number is there.
func running(pid int, began string) bool {
	if pid == os.Getpid() {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return p.Release() == nil
}
