package finding

import (
	"cmp"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Finding is one allocation site with its cost.
type Finding struct {
	// number of the site in its diagnosis, from 1; 0 for a finding that is not a single
	// site
	ID         int
	Title      string
	Site       evidence.Site
	Run        string // the benchmark in which the site costs most; amounts are from that run
	Allocation Allocation
	Cost       Cost
	ByRun      []RunCost
	Lifetime   Lifetime
	Escape     *Escape // nil if it is unknown why the value is on the heap
	Stacks     []Stack // the heaviest stacks through the site, heaviest first
	// Removal is the saving if nothing that the site allocates and keeps alive existed,
	// however that is achieved. It is nil for a finding that is not a single site. It may
	// be negative if live memory raises the heap goal.
	Removal *Prediction
}

// Weight is what a finding costs, to compare it with others of its run.
func (f *Finding) Weight() float64 { return cmp.Or(f.Cost.CPU.Value, f.Cost.Bytes.Value) }

// Allocation is what a site allocates, and for whom.
type Allocation struct {
	Kind     Kind
	Via      string      // library function through which the site allocates; empty if it allocates itself
	Mix      []Mix       // by kind and library function, most objects first
	Sizes    []SizeCount // distribution of block sizes, smallest first; empty if unknown
	Pointers Tri         // whether the objects hold pointers
	// Callers are the calls of the site's function in the user's code that cause most of the
	// cost, heaviest first; empty if there are not several that do.
	Callers []Caller
	// Places are the lines that allocate for a finding, heaviest first, where there are several, or
	// where the finding's site is not one of them.
	Places []Place
}

// Cost is the cost of one site. CPU columns are shares of CPU.
type Cost struct {
	CPU       stats.Interval // sum of the columns below
	Malloc    stats.Interval
	Zeroing   stats.Interval
	GrowCopy  stats.Interval // copying into new memory by growslice, conversions and concatenation
	Assist    stats.Interval // mark assist on the site's own stacks
	Churn     stats.Interval // collector cost caused by the allocation rate
	Retention stats.Interval // collector cost caused by live bytes; negative if they add headroom

	BytesPerOp       stats.Interval // 0 if the number of operations is unknown
	ObjectsPerOp     stats.Interval
	BytesPerSecond   stats.Interval // 0 if the length of the window is unknown
	ObjectsPerSecond stats.Interval
	Bytes            stats.Interval // over everything that the profile covers
	Objects          stats.Interval
	InUse            stats.Interval // bytes live at the last collection
	InUseObjects     float64
}

// RunCost is the cost of a finding in one run.
type RunCost struct {
	Run  string
	Cost Cost
}

// Mix is one part of a site's allocations, as shares of its objects and bytes from 0
// to 1, in the run where the site costs most.
type Mix struct {
	Kind    Kind
	Via     string // library function through which it allocates; empty if it allocates itself
	Objects float64
	Bytes   float64
	Sizes   []SizeCount // of its blocks, smallest first; empty if unknown
	Escape  *Escape     // nil if it is unknown why the value is on the heap
	// Pointers tells whether its objects hold pointers.
	Pointers Tri
}

// PointersOf tells whether all that the parts allocate holds pointers, or none of it does.
func PointersOf(parts []Mix) Tri {
	all := Unknown
	for _, m := range parts {
		if m.Pointers == Unknown || all != Unknown && m.Pointers != all {
			return Unknown
		}
		all = m.Pointers
	}
	return all
}

// SizeCount is the number of blocks of one size that a site allocated in the run where
// it costs most. A block is the object, rounded up to its size class if the profile
// records that.
type SizeCount struct {
	Size    unit.Bytes
	Objects float64
}

// Place is a line that allocates for a finding, with its share of the finding's cost from 0 to 1.
type Place struct {
	Site  evidence.Site
	Share float64
}

// Caller is a call of a finding's function, with its share of the site's cost from 0 to 1.
type Caller struct {
	Site  evidence.Site
	Share float64
}

// Stack is one call path of a finding, leaf first, with its share of the
// site's cost from 0 to 1.
type Stack struct {
	Frames []evidence.Frame
	Share  float64
	Kind   Kind   // of what it allocates
	Via    string // library function through which it allocates
}

// Tri is yes, no or unknown.
type Tri int8

// The values of Tri.
const (
	Unknown Tri = iota
	No
	Yes
)

// Kind is the kind of expression that allocates.
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

// LifetimeClass groups sites by the lifetime of their objects.
type LifetimeClass string

// The lifetime classes.
const (
	LifetimeUnknown LifetimeClass = "not known"
	LifetimeShort   LifetimeClass = "short"        // dies before the next cycle
	LifetimeCycle   LifetimeClass = "cycle-long"   // lives for a few cycles
	LifetimeLong    LifetimeClass = "long"         // lives for many cycles, bounded
	LifetimeLeak    LifetimeClass = "leak-suspect" // allocated objects stay alive
)

// Lifetime is the mean lifetime of a site's objects by Little's law.
type Lifetime struct {
	Class LifetimeClass
	Mean  time.Duration // 0 if unknown; an upper bound for short lifetimes
	Basis string        // the evidence, or why it is unknown
}

// Escape says why a value is on the heap.
type Escape struct {
	Text   string           // for people
	Fate   Fate             // the same for programs
	Holder string           // where the value is stored, as a source expression; empty unless Fate is FateStored
	Expr   string           // the compiler's expression; empty if it printed no message
	At     evidence.Site    // position of the escaping expression
	Flow   []evidence.Flow  // the compiler's explanation
	From   *evidence.Escape // nil if the reason follows only from the kind of allocation
}

// Fate is where a value goes in the last step of the compiler's explanation.
type Fate int8

// The fates.
const (
	FateUnknown     Fate = iota // no explanation by the compiler, or one that matches none of the following
	FateUnexplained             // no message from the compiler: the reason follows from the kind of allocation
	FateUnasked                 // the same, but the compiler was not asked, or did not answer
	FateReturned
	FateStored    // in Holder, which outlives the function
	FateInterface // in an interface value that is passed on
	FateKept      // passed to a call that keeps it, or that the compiler cannot analyse
	FateTooLarge  // for the stack
)
