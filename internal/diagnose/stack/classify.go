package stack

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// locClass is what the classifiers need to know of one Location, computed once.
type locClass struct {
	of      *evidence.Location // nil: not computed yet
	rule    int                // first frame rule any of its frames matches
	runtime bool               // only frames of the runtime, or assembly without a package
	zeroing bool               // the innermost frame clears memory
	copying bool               // the innermost frame copies memory
	grow    bool               // passes through growslice
	tool    bool               // the recorder's own work
	signs   signSet            // signs that its frames show
	Frames  []frameClass
}

// frameClass is the owner of one frame.
type frameClass struct {
	Owner    owner
	function string // the same in CPU and heap profiles
	inLoop   bool   // inside a benchmark's measured loop
	bench    bool   // the benchmark driver or the main goroutine
}

type tri uint8

const (
	unknown tri = iota
	no
	yes
)

// Classifier sorts the stacks of one profile. It belongs to that profile: its
// side table is indexed by Location.Index.
type Classifier struct {
	table *Table
	own   *Ownership
	loops []evidence.Loop
	locs  []locClass
	tools []tri    // by Location.Index: the locs' tool; all stacks ask, and this stays in the caches
	above []string // of the last path
}

// NewClassifier returns the classifier of a profile. Loops are the measured ones
// of a benchmark.
func NewClassifier(p *evidence.Profile, t *Table, own *Ownership, loops []evidence.Loop) *Classifier {
	return &Classifier{table: t, own: own, loops: loops, locs: make([]locClass, p.Locations), tools: make([]tri, p.Locations)}
}

// Loc returns the class of a Location.
func (c *Classifier) Loc(l *evidence.Location) *locClass {
	lc := &c.locs[l.Index]
	if lc.of != nil {
		return lc
	}
	*lc = locClass{of: l, rule: len(c.table.rules), runtime: true, Frames: make([]frameClass, len(l.Frames))}
	for i, f := range l.Frames {
		name := strings.TrimSuffix(f.Function, "[...]")
		lc.rule = min(lc.rule, c.table.of(f, name))
		lc.signs |= c.table.signs(name)
		lc.grow = lc.grow || MatchName(name, growFrames)
		fc := &lc.Frames[i]
		fc.Owner, fc.function = c.own.Of(f), AnyTypes(f.Function)
		fc.inLoop = c.inLoop(f)
		lc.tool = lc.tool || evidence.OfRecorder(name)
		// Benchmarks run on goroutines of their own: work of the main goroutine, package
		// initialisation included, is never the measured operation.
		fc.bench = strings.HasPrefix(name, "testing.(*B).run") ||
			strings.HasPrefix(name, "testing.(*B).launch") || name == "runtime.main"
		if fc.Owner != OwnerRuntime {
			lc.runtime = false
		}
	}
	if len(l.Frames) > 0 {
		leaf := l.Frames[0].Function
		lc.zeroing = MatchName(leaf, zeroingLeaves)
		lc.copying = MatchName(leaf, copyLeaves)
	}
	return lc
}

// At returns the Location with an index. Loc must have seen it.
func (c *Classifier) At(index int) *evidence.Location { return c.locs[index].of }

func (c *Classifier) inLoop(f evidence.Frame) bool {
	for _, l := range c.loops {
		if f.Line >= l.First && f.Line <= l.Last && f.File == l.File {
			return true
		}
	}
	return false
}

// Bucket classifies one CPU sample.
func (c *Classifier) Bucket(stack []*evidence.Location) Bucket {
	if len(stack) == 0 {
		return BucketRemainder
	}
	rule, runtimeOnly, grow := len(c.table.rules), true, false
	for _, l := range stack {
		lc := c.Loc(l)
		if lc.tool {
			return BucketTooling
		}
		rule = min(rule, lc.rule)
		runtimeOnly = runtimeOnly && lc.runtime
		grow = grow || lc.grow
	}
	schedulers := len(c.table.rules) - 1
	if rule >= schedulers {
		switch {
		case !runtimeOnly:
			return BucketApp
		case rule == schedulers:
			return BucketScheduler
		}
		return BucketRemainder
	}
	b := c.table.rules[rule].to
	if b != BucketMalloc {
		return b
	}
	leaf := c.Loc(stack[0])
	switch {
	case leaf.zeroing:
		return BucketZeroing
	case leaf.copying && grow:
		return BucketGrowCopy
	}
	return BucketMalloc
}

// Tool reports whether a stack is the recorder's.
func (c *Classifier) Tool(stack []*evidence.Location) bool {
	for _, l := range stack {
		is := c.tools[l.Index]
		if is == unknown {
			is = no
			if c.Loc(l).tool {
				is = yes
			}
			c.tools[l.Index] = is
		}
		if is == yes {
			return true
		}
	}
	return false
}

// SetUp reports whether a stack is a benchmark's set-up or the harness: it
// passes through the benchmark driver but not through a measured loop. Without
// known loops nothing is set-up.
func (c *Classifier) SetUp(stack []*evidence.Location) bool {
	if len(c.loops) == 0 {
		return false
	}
	driver := false
	for _, l := range stack {
		for _, f := range c.Loc(l).Frames {
			if f.inLoop {
				return false
			}
			driver = driver || f.bench
		}
	}
	return driver
}

// WithoutPreemption drops the frame of runtime.asyncPreempt from the leaf of a CPU stack. A
// signal puts that frame there; the time is that of the code it stopped.
func WithoutPreemption(locs []*evidence.Location) []*evidence.Location {
	if len(locs) > 1 && len(locs[0].Frames) == 1 && locs[0].Frames[0].Function == "runtime.asyncPreempt" {
		return locs[1:]
	}
	return locs
}
