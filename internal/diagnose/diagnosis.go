// Package diagnose turns a recording into findings: it decomposes CPU time
// into what memory management costs, attributes it to the first source line
// the user can change, and says why each value is on the heap.
package diagnose

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Diagnosis is everything that a recording says about memory management.
// Shares are of the process's CPU time without idle marking, from 0 to 1.
type Diagnosis struct {
	Target        evidence.Target
	Environment   evidence.Environment
	Totals        Totals
	Decomposition []Bucket
	Findings      []Finding // ranked, highest cost first
	SetApart      []Finding // allocations of benchmark and test code, never ranked with the others
	Runs          []RunSummary
	Missing       []Missing
	Warnings      []string

	Advice         []Advice // for the program as a whole
	BelowThreshold int      // findings left out because neither cost nor saving is worth a line

	// Lines are what the user's own lines cost together with all that they
	// call, heaviest first. A stack counts once for each line on it, so they do
	// not add up.
	Lines []LineCost

	// What the rows came from, for derived profiles.
	runs   []*runCosts
	reader *reader
}

// Totals is the headline. A nil or zero field is not known; Missing says why.
type Totals struct {
	CPUSeconds      float64        // CPU time without idle marking, with what is in no sample where that is known
	Samples         int64          // CPU samples behind it
	MemoryShare     stats.Interval // share of CPU that memory management takes
	CollectorShare  stats.Interval // share of CPU that the collector takes: mark, assist, sweep, write barrier, cycle ends
	IdleMarkShare   stats.Interval // idle marking, as a share of CPU; shown, never charged
	Cycles          int            // collections in the window, without forced ones
	ForcedCycles    int
	Logged          bool // a log of the collector covers the window, so that no cycle means none
	CyclesPerSecond float64
	LiveHeap        unit.Bytes // median bytes marked
	HeapGoal        unit.Bytes // median goal
	NoGoal          bool       // in the end there was no goal: collection was off, and no memory limit was set
	PeakHeap        unit.Bytes
	PauseP50        time.Duration // stop-the-world pauses, both of a cycle
	PauseMax        time.Duration
	PauseTotal      time.Duration
	BytesPerSecond  float64        // allocation rate
	Why             string         // why the program collects as often as it does, in one or two sentences with its own numbers
	RetentionBasis  string         // what the retention column stands on, or why it is not known
	Sites           stats.Interval // churn and retention of all sites, those too small for a row among them; with Remainder, the collector's cost without assists
	Remainder       stats.Interval // collector cost not charged to any site: fixed cost per cycle, roots, shared headroom
}

// Bucket is one row of the decomposition. The shares of all charged buckets
// add up to 1.
type Bucket struct {
	Name    string
	Share   stats.Interval
	Memory  bool // part of what memory management costs
	Charged bool // false only for idle marking
}

// Cost is what one site costs. CPU columns are shares of CPU.
type Cost struct {
	CPU       stats.Interval // sum of the columns below
	Malloc    stats.Interval
	Zeroing   stats.Interval
	GrowCopy  stats.Interval // copying into the new memory, by growslice, conversions and concatenation
	Assist    stats.Interval // mark assist on the site's own stacks
	Churn     stats.Interval // collector cost through the allocation rate
	Retention stats.Interval // collector cost through live bytes; negative when they are headroom

	BytesPerOp       stats.Interval // 0 when operations are not known
	ObjectsPerOp     stats.Interval
	BytesPerSecond   stats.Interval // 0 when the window's length is not known
	ObjectsPerSecond stats.Interval
	Bytes            stats.Interval // in all that the profile covers
	Objects          stats.Interval
	InUse            stats.Interval // bytes live at the last collection
	InUseObjects     float64
}

// Finding is one allocation site with its cost.
type Finding struct {
	Rank       int
	Code       string // of the cure; "unclassified" when none is named
	Title      string
	Site       evidence.Site
	Run        string // the benchmark in which the site costs most; per-operation figures are of that one
	Via        string // the library function through which the site allocates; empty when it allocates itself
	Kind       Kind
	Mix        []Mix       // what the site allocates by kind and library function, most objects first
	Sizes      []SizeCount // how the blocks' sizes spread, smallest first; empty when not known
	Pointers   Tri         // whether the objects hold pointers
	Cost       Cost
	ByRun      []RunCost
	Lifetime   Lifetime
	Escape     *Reason
	Stacks     []Stack // the heaviest stacks through the site, heaviest first
	Remedy     Remedy
	Others     []Remedy // further cures that fit, best first
	Prediction Prediction
	// Removal is what would go with all that the site allocates and keeps alive,
	// whatever brings that about; nil for a finding that is no site of its own.
	// Where live memory raises the heap goal it may be negative.
	Removal *Prediction
	Cut     *Cut // what the remedy takes away; nil when there is none or it is no cut of this site

	from *merged // nil for a finding that is no site of its own
}

// Mix is one part of what a site allocates: shares of its objects and bytes in
// the run where it costs most, from 0 to 1.
type Mix struct {
	Kind    Kind
	Via     string // library function through which it allocates; empty when it allocates itself
	Objects float64
	Bytes   float64
}

// SizeCount says how many blocks of one size a site allocated in the run where
// it costs most. The size is that of the block: the object's, rounded up to its
// size class where the profile says so.
type SizeCount struct {
	Size    unit.Bytes
	Objects float64
}

// Advice is a remedy for the program as a whole, with the measured amounts
// behind it.
type Advice struct {
	Remedy
	Title string
}

// RunCost is the cost of a finding in one run.
type RunCost struct {
	Run  string
	Cost Cost
}

// Stack is one call path of a finding, leaf first, with its share of the
// site's cost from 0 to 1.
type Stack struct {
	Frames []evidence.Frame
	Share  float64
}

// Tri is yes, no or not known.
type Tri int8

// The values of Tri.
const (
	Unknown Tri = iota
	No
	Yes
)

// Kind says what kind of expression allocates.
type Kind string

// The kinds of allocation.
const (
	KindUnknown    Kind = ""
	KindNew        Kind = "new object"
	KindMake       Kind = "make"
	KindGrowth     Kind = "append growth"
	KindMap        Kind = "map"
	KindMapGrowth  Kind = "map growth"
	KindChan       Kind = "channel"
	KindBoxing     Kind = "interface boxing"
	KindConversion Kind = "string/[]byte conversion"
	KindConcat     Kind = "string concatenation"
	KindClosure    Kind = "closure"
	KindGoroutine  Kind = "goroutine"
	KindVariadic   Kind = "variadic slice"
	KindReflect    Kind = "reflection"
	KindString     Kind = "string building"
)

// LifetimeClass sorts sites by how long their objects live.
type LifetimeClass string

// The lifetime classes.
const (
	LifetimeUnknown LifetimeClass = "not known"
	LifetimeShort   LifetimeClass = "short"        // dies before the next cycle
	LifetimeCycle   LifetimeClass = "cycle-long"   // lives for a few cycles
	LifetimeLong    LifetimeClass = "long"         // lives for many cycles, bounded
	LifetimeLeak    LifetimeClass = "leak-suspect" // what is allocated stays
)

// Lifetime is the mean life of a site's objects by Little's law.
type Lifetime struct {
	Class LifetimeClass
	Mean  time.Duration // 0 when not known; an upper bound for short lives
	Basis string        // what it stands on, or why it is not known
}

// Reason says why a value is on the heap.
type Reason struct {
	Text string           // plain words
	Expr string           // the compiler's expression; empty when it printed no message
	At   evidence.Site    // where the escaping expression stands
	Flow []evidence.Flow  // the compiler's explanation
	From *evidence.Escape // nil when the reason comes from the allocation's kind alone
}

// Remedy names the cure of a finding.
type Remedy struct {
	Code   string
	Safety string  // "safe", "review" or "advice"
	Text   string  // what to do here, in one or two sentences
	Why    string  // the evidence for this choice
	Fit    float64 // how surely the evidence points at this cure, from 0 to 1
	Saves  Prediction
}

// Prediction is what removing the finding's allocations would save.
type Prediction struct {
	CPU          stats.Interval // share of CPU
	Caches       stats.Interval // of it, what fresh memory and collections cost the program's own code: through the caches, and in page faults; zero when not known
	BytesPerOp   stats.Interval // exact where every allocation was recorded and the remedy takes all of them away
	ObjectsPerOp stats.Interval
	Cycles       stats.Interval // share of the collection cycles; zero when not known
	Basis        string
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
	ProfilePace     float64             // what the collector costs the work by itself for each unit in its profiled run, as which its samples count; 0 when not known
	PageFaults      *PageFaults         // nil when not known
	CycleCost       *evidence.CycleCost // what a collection costs the process, by a run at two paces; nil when not measured
	FreshLine       *evidence.FreshLine // what fresh memory costs a program of this shape; nil when not measured
}

// PageFaults compares the page faults of a benchmark's profiled run with those of the
// same work by itself.
type PageFaults struct {
	Alone, Profiled float64        // an operation
	NS              stats.Interval // what one costs the machine
	Counts          float64        // samples of code that meets fresh pages first, the allocator's, count so many times
}

// Missing is evidence that the recording lacks and what it would add.
type Missing struct {
	What string
	Adds string
}
