//go:build !linux

package process

// Mark is the variable of a process that its descendants inherit.
const Mark = "HEAPTRIM_FAMILY"

// Family is the number of processes that belong to p, 0 where the system does not say.
func (p *Process) Family() int { return 0 }

// KillFamily kills p and its group, and returns when p has ended.
func (p *Process) KillFamily() {
	killGroup(p.Cmd.Process)
	<-p.Done
}
