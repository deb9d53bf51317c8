package diagnose

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// locClass is what the classifiers need to know of one Location, computed once.
type locClass struct {
	known   bool
	rule    int     // first frame rule any of its frames matches
	runtime bool    // only frames of the runtime, or assembly without a package
	zeroing bool    // the innermost frame clears memory
	copying bool    // the innermost frame copies memory
	grow    bool    // passes through growslice
	tool    bool    // the recorder's own work
	signs   signSet // what its frames are signs of
	frames  []frameClass
}

// frameClass is the owner of one frame.
type frameClass struct {
	owner  owner
	inLoop bool // inside a benchmark's measured loop
	bench  bool // the benchmark driver or the main goroutine
}

// classifier sorts the stacks of one profile. It belongs to that profile: its
// side table is indexed by Location.Index.
type classifier struct {
	table *frameTable
	own   *ownership
	loops []evidence.Loop
	locs  []locClass
}

func newClassifier(p *evidence.Profile, t *frameTable, own *ownership, loops []evidence.Loop) *classifier {
	return &classifier{table: t, own: own, loops: loops, locs: make([]locClass, p.Locations)}
}

func (c *classifier) loc(l *evidence.Location) *locClass {
	lc := &c.locs[l.Index]
	if lc.known {
		return lc
	}
	*lc = locClass{known: true, rule: len(c.table.rules), runtime: true, frames: make([]frameClass, len(l.Frames))}
	for i, f := range l.Frames {
		name := strings.TrimSuffix(f.Function, "[...]")
		lc.rule = min(lc.rule, c.table.of(f, name))
		lc.signs |= c.table.signs(name)
		lc.grow = lc.grow || matchName(name, growFrames)
		fc := &lc.frames[i]
		fc.owner = c.own.of(f)
		fc.inLoop = c.inLoop(f)
		lc.tool = lc.tool || evidence.OfRecorder(name)
		// Benchmarks run on goroutines of their own: what the main goroutine does,
		// package initialisation included, is never the measured operation.
		fc.bench = strings.HasPrefix(name, "testing.(*B).run") || strings.HasPrefix(name, "testing.(*B).launch") || name == "runtime.main"
		if fc.owner != ownerRuntime {
			lc.runtime = false
		}
	}
	if len(l.Frames) > 0 {
		leaf := l.Frames[0].Function
		lc.zeroing = matchName(leaf, zeroingLeaves)
		lc.copying = matchName(leaf, copyLeaves)
	}
	return lc
}

func (c *classifier) inLoop(f evidence.Frame) bool {
	for _, l := range c.loops {
		if f.Line >= l.First && f.Line <= l.Last && f.File == l.File {
			return true
		}
	}
	return false
}

// bucket classifies one CPU sample.
func (c *classifier) bucket(stack []*evidence.Location) bucket {
	if len(stack) == 0 {
		return bucketRemainder
	}
	rule, runtimeOnly, grow := len(c.table.rules), true, false
	for _, l := range stack {
		lc := c.loc(l)
		if lc.tool {
			return bucketTooling
		}
		rule = min(rule, lc.rule)
		runtimeOnly = runtimeOnly && lc.runtime
		grow = grow || lc.grow
	}
	schedulers := len(c.table.rules) - 1
	if rule >= schedulers {
		switch {
		case !runtimeOnly:
			return bucketApp
		case rule == schedulers:
			return bucketScheduler
		}
		return bucketRemainder
	}
	b := c.table.rules[rule].to
	if b != bucketMalloc {
		return b
	}
	leaf := c.loc(stack[0])
	switch {
	case leaf.zeroing:
		return bucketZeroing
	case leaf.copying && grow:
		return bucketGrowCopy
	}
	return bucketMalloc
}

// tool reports whether a stack is the recorder's.
func (c *classifier) tool(stack []*evidence.Location) bool {
	for _, l := range stack {
		if c.loc(l).tool {
			return true
		}
	}
	return false
}

// setUp reports whether a stack is a benchmark's set-up or the harness: it
// passes through the benchmark driver but not through a measured loop. Without
// known loops nothing is set-up.
func (c *classifier) setUp(stack []*evidence.Location) bool {
	if len(c.loops) == 0 {
		return false
	}
	driver := false
	for _, l := range stack {
		for _, f := range c.loc(l).frames {
			if f.inLoop {
				return false
			}
			driver = driver || f.bench
		}
	}
	return driver
}
