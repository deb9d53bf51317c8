// Package finding defines the results of a check: the diagnosis of a recording, the
// findings in it, their cures and predictions. It is data only, without files,
// processes or clocks. Stages return these values and reports read them; nobody
// changes what another stage returned.
package finding

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Diagnosis is the memory-management cost found in a recording. Shares are of the
// process's CPU time without idle marking, from 0 to 1.
type Diagnosis struct {
	Target        evidence.Target
	Environment   evidence.Environment
	Totals        Totals
	Decomposition []Bucket
	Groups        []Bucket  // the charged rows of Decomposition in few groups, in the same order for all programs
	Findings      []Finding // highest cost first
	Excluded      []Finding // allocations of benchmark and test code, of stacks without the user's code, and lines without a counted allocation
	Runs          []RunSummary
	Gaps          []evidence.Gap
	Warnings      []string

	// Lines are the costs of the user's own lines, including everything they call,
	// heaviest first. A stack counts once for each line on it, so they do not add up.
	Lines []LineCost
}

// Totals are the main figures. A nil or zero field is unknown; the gaps say why.
type Totals struct {
	Run            string         // that with most collections, of which Cycles, Heap, Pauses and BytesPerSecond are
	CPUSeconds     float64        // CPU time without idle marking, including unsampled time if known
	Samples        int64          // CPU samples behind these figures; below FewSamples, no share is known
	MemoryShare    stats.Interval // memory management's share of CPU
	AssistShare    stats.Interval // mark assists' share of CPU; part of CollectorShare
	CollectorShare stats.Interval // the collector's share of CPU: mark, assist, sweep, write barrier, cycle ends
	IdleMarkShare  stats.Interval // share of CPU for idle marking; shown, but not charged
	BytesPerSecond float64        // allocation rate
	Cycles         CycleTotals
	Heap           HeapTotals
	Pauses         PauseTotals
	Why            string         // why the program collects as often as it does, with its own figures
	Retention      Basis          // of the retention costs
	Sites          stats.Interval // churn and retention of all sites, including those too small for a row
	Remainder      stats.Interval // unattributed collector cost: of live memory that no heap profile shows
}

// FewSamples are the CPU samples of a recording from which on shares of CPU are given: with
// fewer, the error of a share is above a quarter of all CPU.
const FewSamples = 10

// CycleTotals counts the collections of the window.
type CycleTotals struct {
	Automatic int // started by the pacer
	Forced    int
	Logged    bool // a log or MemStats cover the window, so zero cycles means that none ran
	PerSecond float64
	// TraceShare is what GODEBUG=gctrace=1 would show of the window: marking, assists and
	// pauses by the clock, as a share of what all processors could do. It leaves out
	// sweeping and write barriers, and counts idle processors. 0 if unknown.
	TraceShare float64
}

// HeapTotals are sizes of the heap over the collections of the window.
type HeapTotals struct {
	Live unit.Bytes // median bytes marked
	// LiveMin and LiveMax are its ends, without the outermost tenths; 0 where it hardly changes, or few cycles show it.
	LiveMin, LiveMax unit.Bytes

	Goal   unit.Bytes // median goal
	NoGoal bool       // no goal at the end: collection was off, without a memory limit
	Peak   unit.Bytes
	// PeakByGoal means that no log counts the heap at the end of collections, as with most live
	// services: Peak is the goal, or the live heap with what a cycle allocates.
	PeakByGoal bool
	// Tables are mapped by the runtime outside of the heap, such as stacks. Slots are free in
	// the heap's spans. 0 if MemStats do not say them.
	Tables, Slots unit.Bytes
	// Resident is the largest resident set of the process, 0 if not known. Here and above,
	// the recorder's own part is subtracted, which is OwnLive and OwnResident.
	Resident, OwnLive, OwnResident unit.Bytes
}

// PauseTotals are the stop-the-world pauses of the window; each cycle has two, unless OfCycles is set.
type PauseTotals struct {
	P50, Max, Total time.Duration
	OfCycles        bool // both pauses of a cycle count as one, as in MemStats
	Unseen          int  // cycles before the first whose pauses are known: MemStats keeps those of 256
}

// Basis is the evidence for a figure, or why it is unknown.
type Basis struct {
	Known bool
	Text  string
}

// Bucket is one row of the decomposition. The shares of all charged buckets
// add up to 1.
type Bucket struct {
	Name    string
	Group   string // of Diagnosis.Groups; a group has its own name
	Share   stats.Interval
	Memory  bool // part of the cost of memory management
	Charged bool // false only for idle marking
}

// LineCost is the cost of one line of the user's code, including everything it calls.
// Shares are means over the runs. Amounts are from the run in which the line costs
// most.
type LineCost struct {
	Site evidence.Site
	Run  string
	// samples through the line, plus the collector's cost of bytes allocated below it, as
	// a share of CPU
	CPU          stats.Interval
	BytesPerOp   float64 // 0 if the number of operations is unknown
	ObjectsPerOp float64
	BytesShare   float64 // share of all bytes allocated in the run
	OwnBytes     float64 // share of these bytes that are charged to this line as a site
}

// Pace is how long an operation takes; 0 where that is not known.
type Pace struct {
	NsPerOp        float64 // without profiles
	CountedNsPerOp float64 // in the pass whose collections are counted, with what the timer leaves out
}

// RunSummary holds the main figures of one run.
type RunSummary struct {
	Name            string
	Package         string
	Ops             int64
	Pace            Pace
	BytesPerOp      float64
	AllocsPerOp     float64
	CyclesPerKiloOp float64
	MemoryShare     stats.Interval
	CollectorShare  stats.Interval // as in Totals
	CPUSecondsPerOp float64
	RequestsPerSec  float64
	Retention       Basis // of the cost of retention, or why that is not known
	// weight of a collector sample, because a CPU profile changes how often a program collects; 0 if
	// unknown
	CycleScale float64
	CycleCost  *evidence.CycleCost // cost of a collection by runs with two GOGC values; nil if not measured
	FreshLine  *evidence.CacheMiss // cache-miss cost of fresh memory for a program of this shape; nil if not measured
}
