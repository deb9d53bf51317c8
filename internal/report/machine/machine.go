// Package machine describes the machine of a recording in a few words.
package machine

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Facts are the parts of a line on processors, memory and settings; those that
// are not known are "".
func Facts(e evidence.Environment) []string {
	procs := ""
	switch {
	case e.GOMAXPROCS > 0 && e.NumCPU > 0:
		procs = fmt.Sprintf("GOMAXPROCS %d of %d CPUs", e.GOMAXPROCS, e.NumCPU)
	case e.GOMAXPROCS > 0:
		procs = fmt.Sprintf("GOMAXPROCS %d", e.GOMAXPROCS)
	case e.NumCPU > 0:
		procs = fmt.Sprintf("%d CPUs", e.NumCPU)
	}
	group := ""
	if term.Some(e.CgroupCPU) || e.CgroupLimit > 0 {
		var limits []string
		if term.Some(e.CgroupCPU) {
			limits = append(limits, unit.FormatCount(e.CgroupCPU)+" CPUs")
		}
		if e.CgroupLimit > 0 {
			limits = append(limits, unit.Bytes(e.CgroupLimit).String())
		}
		group = "cgroup limit " + strings.Join(limits, " and ")
	}
	memory := ""
	if e.MemoryBytes > 0 {
		memory = unit.Bytes(e.MemoryBytes).String()
	}
	goVersion := e.GoVersion
	if goVersion == "" {
		goVersion = "Go version not known"
	}
	if e.GOOS != "" {
		goVersion += " " + e.GOOS + "/" + e.GOARCH
	}
	return []string{goVersion, procs, memory, group, e.CPUModel}
}
