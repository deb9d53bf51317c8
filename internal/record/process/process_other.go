//go:build !unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// ownGroup leaves the child in our console group: without it an interrupt could
// not be passed on at all.
func ownGroup() *syscall.SysProcAttr { return nil }

// interruptGroup cannot be had: the caller goes on to kill.
func interruptGroup(*os.Process) error {
	return errors.New("this system has no interrupt for another process")
}

func killGroup(p *os.Process) { p.Kill() }

func peakRSSAfter(*os.ProcessState) int64 { return 0 }
