//go:build !unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// ownGroup leaves the child in our console group: otherwise it could not be
// interrupted at all.
func ownGroup() *syscall.SysProcAttr { return nil }

// interruptGroup always fails here; the caller then kills the process.
func interruptGroup(*os.Process) error {
	return errors.New("this system cannot interrupt another process")
}

func killGroup(p *os.Process) { p.Kill() }

func peakRSSAfter(*os.ProcessState) int64 { return 0 }
