package ballast

// Stats is what a Tuner sees and does. Sizes are in bytes; those of the heap are
// without the ballast.
type Stats struct {
	Mode Mode
	// Status is "steering", "idle" (there is no memory limit to fill), "deferring"
	// (the operator has set what the mode would), "yielded" (others have changed the
	// setting since) or "stopped".
	Status string

	LiveHeap int64 // after the last collection
	HeapGoal int64 // that is aimed at
	Beside   int64 // memory that is neither live heap nor room for it
	Memory   int64 // to stay within; 0 is none
	// Container is the tightest memory limit of the process's cgroup and those above
	// it; 0 is none.
	Container int64
	// Outside is what of Container is not this process's and cannot be reclaimed: what the
	// kernel has for it, other processes. It is looked at every ten seconds.
	Outside int64
	// Ballast is the size of the object that stands for the ballast, which may be
	// less than Options.Ballast: GOGC does the rest.
	Ballast int64

	GOGC        int   // in force; -1 is off
	MemoryLimit int64 // in force; math.MaxInt64 is none

	Cycles uint64 // collections since the process began
	// Late counts the collections whose end was found by the clock, up to a second
	// later, because the runtime's cleanups were held up.
	Late        uint64
	Adjustments uint64 // of GOGC and of the memory limit

	// GCShare and AssistShare are the collector's part, without idle marking, of the
	// CPU time that the process used between the last collections, 0 to 1.
	GCShare, AssistShare float64
	// Short says that Memory does not suffice for the least room.
	Short bool
	// Alarms counts how often the collector took so much CPU that it was given more
	// room.
	Alarms uint64
}

// Stats returns the state of now.
func (t *Tuner) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.gauge.read()
	if t.lifecycle == running && r.cycles != t.applied.seen {
		t.act(r) // so that what is aimed at belongs to the same collection
		r.gogc, r.limit = t.applied.set.gogc, t.applied.set.limit
	}
	s := t.state(r)
	return Stats{
		Mode: t.options.Mode, Status: t.status(),
		LiveHeap: s.live, HeapGoal: t.applied.plan.goal, Beside: s.beside,
		Memory: t.policy.memory, Container: t.applied.limits.cgroup, Outside: t.applied.limits.outside, Ballast: t.held.object.size,
		GOGC: r.gogc, MemoryLimit: r.limit,
		Cycles: r.cycles, Late: t.counts.ticks, Adjustments: t.counts.gogcSets + t.counts.limitSets,
		GCShare: t.guard.share, AssistShare: t.guard.assist, Short: t.applied.plan.short, Alarms: t.guard.alarms,
	}
}

func (t *Tuner) status() string {
	switch {
	case t.lifecycle == stopped:
		return "stopped"
	case t.lifecycle == yielded:
		return "yielded"
	case t.operator.gogc && (t.operator.limit || t.applied.plan.limit == t.applied.set.limit):
		return "deferring"
	case t.operator.limit && t.options.Mode == Limit:
		return "deferring"
	case t.applied.plan.none():
		return "idle"
	}
	return "steering"
}
