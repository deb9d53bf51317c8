package evidence

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/unit"
)

// Cycle is one garbage collection as gctrace reports it, with the pacer's
// exact figures where gcpacertrace was on too.
type Cycle struct {
	N      int           // number of the cycle, from 1
	At     time.Duration // since the program started, at the end of the cycle
	Forced bool          // runtime.GC, debug.FreeOSMemory and the like
	// Periodic says that the cycle was started because two minutes had passed
	// without one.
	Periodic bool

	Wall PhaseWall

	Used PhaseCPU

	HeapStart unit.Bytes // heap size when the cycle began
	HeapEnd   unit.Bytes // heap size when marking ended
	HeapLive  unit.Bytes // bytes marked
	Goal      unit.Bytes // heap goal of this cycle
	Stacks    unit.Bytes // scannable stack; 0 before Go 1.18
	Globals   unit.Bytes // scannable globals; 0 before Go 1.18
	Procs     int        // GOMAXPROCS

	Pacer *Pacer // nil when gcpacertrace was off
}

// PhaseCPU is CPU time of a cycle, summed over all Ps.
type PhaseCPU struct {
	// CPU time, summed over all Ps. Idle marking is separate from Background:
	// it ran on Ps that had nothing else to do.
	SweepTermination, Assist, Background, Idle, MarkTermination time.Duration
}

// PhaseWall is the wall-clock time of the phases of a cycle.
type PhaseWall struct {
	// Wall-clock time of the phases.
	SweepTermination, ConcurrentMark, MarkTermination time.Duration
}

// CPU is the processor time the cycle took from the program: assists,
// dedicated and fractional workers and both pauses, without idle marking.
func (c Cycle) CPU() time.Duration {
	return c.Used.SweepTermination + c.Used.Assist + c.Used.Background + c.Used.MarkTermination
}

// Pacer holds the exact byte counts that gcpacertrace prints for a cycle.
type Pacer struct {
	HeapScan, StackScan, GlobalScan unit.Bytes // scan work done
	Trigger                         unit.Bytes // heap size that started the cycle
	End                             unit.Bytes // heap size when marking ended
	ConsMark                        float64    // cons/mark ratio
}

// MetricRSS is the name, among those of runtime/metrics, of the process's
// resident set as the operating system counts it.
const MetricRSS = "/process/rss:bytes"

// Metrics is one sample of runtime/metrics: names of the package's own
// spelling, counters and gauges only (no histograms), and MetricRSS.
type Metrics struct {
	At     time.Duration // since the recorder started
	Values map[string]float64
}
