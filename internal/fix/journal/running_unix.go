//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// running reports whether another process with a number is there, and is the one that began then.
func running(pid int, began string) bool {
	if pid == os.Getpid() {
		return false
	}
	err := syscall.Kill(pid, 0)
	if err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	now := started(pid)
	return began == "" || now == "" || now == began
}

// started is when a process began, in the system's own count; empty where it does not say.
func started(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold spaces; the 20th field after it is the start.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
