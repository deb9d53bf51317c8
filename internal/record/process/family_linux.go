package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// Mark is the variable of a process that its descendants inherit, by which they are found when they have
// left its group.
const Mark = "HEAPTRIM_FAMILY"

// Family is the number of processes that belong to p: its group, its descendants, and those with its mark.
func (p *Process) Family() int { return len(p.family()) }

// KillFamily kills all processes that belong to p, and returns when p has ended.
func (p *Process) KillFamily() {
	killGroup(p.Cmd.Process)
	for range 20 { // those that come meanwhile
		list := p.family()
		for _, pid := range list {
			// One that has ended by itself is no error.
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(list) == 0 {
			break
		}
	}
	<-p.Done
}

// relation is what is looked at of a process.
type relation struct{ pid, parent, group int }

func (p *Process) family() []int {
	mark := p.mark()
	var all []relation
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		if r, ok := relationOf(text); ok {
			all = append(all, r)
		}
	}
	own := p.Cmd.Process.Pid
	var out []int
	for grew := true; grew; {
		grew = false
		for _, r := range all {
			if slices.Contains(out, r.pid) || r.pid == os.Getpid() {
				continue
			}
			if r.pid == own || r.group == own || slices.Contains(out, r.parent) || mark != "" && hasMark(r.pid, mark) {
				out, grew = append(out, r.pid), true
			}
		}
	}
	return out
}

// relationOf reads /proc/PID/stat; false for a process that has ended and is only waited for.
func relationOf(text []byte) (relation, bool) {
	open, end := bytes.IndexByte(text, ' '), bytes.LastIndexByte(text, ')')
	if open < 0 || end < 0 {
		return relation{}, false
	}
	f := bytes.Fields(text[end+1:])
	if len(f) < 3 || f[0][0] == 'Z' {
		return relation{}, false
	}
	var r relation
	for at, to := range map[*int]string{&r.pid: string(text[:open]), &r.parent: string(f[1]), &r.group: string(f[2])} {
		n, err := strconv.Atoi(to)
		if err != nil {
			return r, false
		}
		*at = n
	}
	return r, true
}

// mark is the value that p was started with.
func (p *Process) mark() string {
	for _, v := range p.Cmd.Env {
		if len(v) > len(Mark) && v[:len(Mark)+1] == Mark+"=" {
			return v
		}
	}
	return ""
}

func hasMark(pid int, mark string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(bytesToStrings(env), mark)
}

func bytesToStrings(env []byte) []string {
	var out []string
	for part := range bytes.SplitSeq(env, []byte{0}) {
		out = append(out, string(part))
	}
	return out
}
