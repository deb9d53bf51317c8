package finding

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Finding is one allocation site with its cost.
type Finding struct {
	// number of the site in the session that found it, from 1; 0 for a finding that is no site of its own
	ID         int
	Title      string
	Site       evidence.Site
	Run        string // the benchmark in which the site costs most; amounts are of that one
	Allocation Allocation
	Cost       Cost
	ByRun      []RunCost
	Lifetime   Lifetime
	Escape     *Escape // nil where nothing says why the value is on the heap
	Stacks     []Stack // the heaviest stacks through the site, heaviest first
	// Removal is what would go with all that the site allocates and keeps alive,
	// whatever brings that about; nil for a finding that is no site of its own.
	// Where live memory raises the heap goal it may be negative.
	Removal *Prediction
}

// Allocation is what a site allocates.
type Allocation struct {
	Kind     Kind
	Via      string      // the library function through which the site allocates; empty when it allocates itself
	Mix      []Mix       // by kind and library function, most objects first
	Sizes    []SizeCount // how the blocks' sizes spread, smallest first; empty when not known
	Pointers Tri         // whether the objects hold pointers
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

// RunCost is the cost of a finding in one run.
type RunCost struct {
	Run  string
	Cost Cost
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

// LargestSmall is the size of the largest objects that share spans with others: the
// runtime's maxSmallSize.
const LargestSmall = 32 * unit.KiB

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

// Escape says why a value is on the heap.
type Escape struct {
	Text   string           // plain words
	Fate   Fate             // the same for programs
	Holder string           // where the value is stored, as an expression of the source; empty when Fate is no Stored
	Expr   string           // the compiler's expression; empty when it printed no message
	At     evidence.Site    // where the escaping expression stands
	Flow   []evidence.Flow  // the compiler's explanation
	From   *evidence.Escape // nil when the reason comes from the allocation's kind alone
}

// Fate is where the last step of the compiler's explanation takes a value.
type Fate int8

// The fates.
const (
	FateUnknown     Fate = iota // the compiler gave no explanation, or one without a row below
	FateUnexplained             // the compiler said nothing: the reason is that of the allocation's kind
	FateReturned
	FateStored    // in Holder, which outlives the function
	FateInterface // in an interface value that goes further
	FateKept      // passed to a call that keeps it, or that the compiler cannot see through
	FateTooLarge  // for the stack
)
