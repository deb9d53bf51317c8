// Package finding holds what a check says: the diagnosis of a recording, the
// findings in it, their cures and predictions. It is data only: no open file,
// no process, no clock. Stages return these values, reports read them, and
// nobody changes what another stage returned.
package finding

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Diagnosis is what a recording says about memory management. Shares are of
// the process's CPU time without idle marking, from 0 to 1.
type Diagnosis struct {
	Target        evidence.Target
	Environment   evidence.Environment
	Totals        Totals
	Decomposition []Bucket
	Findings      []Finding // highest cost first
	Excluded      []Finding // allocations of benchmark and test code, and those without a frame of the user's
	Runs          []RunSummary
	Gaps          []evidence.Gap
	Warnings      []string

	// Lines are what the user's own lines cost together with all that they
	// call, heaviest first. A stack counts once for each line on it, so they do
	// not add up.
	Lines []LineCost
}

// Totals is the headline. A nil or zero field is not known; the gaps say why.
type Totals struct {
	CPUSeconds     float64        // CPU time without idle marking, with unsampled time where it is known
	Samples        int64          // CPU samples behind it
	MemoryShare    stats.Interval // share of CPU that memory management takes
	AssistShare    stats.Interval // of CPU time: mark assists; they are the collector's
	CollectorShare stats.Interval // of it the collector's: mark, assist, sweep, write barrier, cycle ends
	IdleMarkShare  stats.Interval // idle marking, as a share of CPU; shown, never charged
	BytesPerSecond float64        // allocation rate
	Cycles         CycleTotals
	Heap           HeapTotals
	Pauses         PauseTotals
	Why            string         // why the program collects as often as it does, with its own numbers
	Retention      Basis          // of the retention column
	Sites          stats.Interval // churn and retention of all sites, also those too small for a row
	Remainder      stats.Interval // collector cost without a site: fixed cost per cycle, roots, shared headroom
}

// CycleTotals counts the collections of the window.
type CycleTotals struct {
	Automatic int // those that the pacer started
	Forced    int
	Logged    bool // a log of the collector covers the window, so that no cycle means none
	PerSecond float64
}

// HeapTotals are sizes of the heap over the collections of the window.
type HeapTotals struct {
	Live   unit.Bytes // median bytes marked
	Goal   unit.Bytes // median goal
	NoGoal bool       // in the end there was no goal: collection was off, without a memory limit
	Peak   unit.Bytes
}

// PauseTotals are the stop-the-world pauses of the window, both of a cycle.
type PauseTotals struct{ P50, Max, Total time.Duration }

// Basis is what a figure stands on, or why it is not known.
type Basis struct {
	Known bool
	Text  string
}

// Bucket is one row of the decomposition. The shares of all charged buckets
// add up to 1.
type Bucket struct {
	Name    string
	Share   stats.Interval
	Memory  bool // part of what memory management costs
	Charged bool // false only for idle marking
}

// LineCost is what one line of the user's code costs together with all that it
// calls. Shares are means over the runs; amounts are of the run in which the
// line costs most.
type LineCost struct {
	Site evidence.Site
	Run  string
	// samples through the line, and the collector's cost of bytes allocated below it, as a share of
	// CPU
	CPU          stats.Interval
	BytesPerOp   float64 // 0 when operations are not known
	ObjectsPerOp float64
	BytesShare   float64 // of all bytes allocated in the run
	OwnBytes     float64 // share of its bytes that the line is charged for as a site
}

// RunSummary is the headline of one run.
type RunSummary struct {
	Name            string
	Package         string
	Ops             int64
	NsPerOp         float64
	BytesPerOp      float64
	AllocsPerOp     float64
	CyclesPerKiloOp float64
	MemoryShare     stats.Interval
	CPUSecondsPerOp float64
	RequestsPerSec  float64
	// a sample of the collector counts so many times, because a CPU profile changes how often a
	// program collects; 0 when not known
	CycleScale float64
	PageFaults *PageFaults         // nil when not known
	CycleCost  *evidence.CycleCost // what a collection costs the process, by a run at two paces; nil when not measured
	FreshLine  *evidence.CacheMiss // what fresh memory costs a program of this shape; nil when not measured
}

// PageFaults compares the page faults of a benchmark's profiled run with those
// of the same work without a profile.
type PageFaults struct {
	Unprofiled, Profiled float64        // an operation
	NS                   stats.Interval // what one costs the machine
	// a sample of code that meets fresh pages first, the allocator's, counts so many times
	FaultScale float64
}
