package latency

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Causes is the allocating lines during GC: code that allocated while others were delayed.
// It comes from CPU samples, which a trace holds if a CPU profile was recorded at the same
// time. A sample counts time in the allocator, not bytes: small objects have more samples
// per byte than large ones.
type Causes struct {
	Samples    int    // CPU samples in the whole trace; 0 if no profile was recorded
	Mark       int    // of Samples: in mark phases
	Allocating Tally  // of Samples: in the allocator and working for the caller
	Paid       Split  // delays in all mark phases; see Window
	Sites      []Site // by samples in mark phases, most first
	Unlisted   int    // samples in the allocator whose sites exceed the limit
}

// Tally counts samples.
type Tally struct {
	All    int
	Mark   int // in mark phases
	Others int // while another goroutine was in an assist, or was stopping the world
}

// Site is a line that allocates: the innermost one of the user's own code, see Options.Own.
// If none is on the stack it is the innermost one of another module, else of the standard
// library.
type Site struct {
	Func string // "" where the runtime allocated for itself
	File string
	Line int

	Allocating Tally
	// Paying is the number of samples in an allocation of the site that assisted, swept or
	// began a cycle. Allocating does not include them.
	Paying int
	// Share is the site's part of all sites' samples in mark phases.
	Share  stats.Interval
	Phases int   // mark phases in which the site was seen allocating
	Paid   Split // delays of all goroutines in these phases
}

// maxSites limits the list of sites.
const maxSites = 10_000

// sites gathers Causes.
type sites struct {
	causes Causes
	own    boundary
	known  map[siteKey]*site
	stacks map[exectrace.Stack]seen // of this generation
	phase  []*site                  // seen allocating in the last mark phase
}

type siteKey struct {
	file string
	line int
	fn   string
}

type site struct {
	Site
	inPhase bool
}

// seen is the classification of a stack.
type seen struct {
	site *site // nil: beyond the limit
	does work
}

// work is the activity in a sample.
type work int

const (
	elsewhere  work = iota
	allocating      // in the allocator
	paying          // in the allocator, but working for the collector
)

// sample processes a CPU sample.
func (a *account) sample(ev *exectrace.Event) {
	c := &a.sites.causes
	c.Samples++
	if a.pause.marking {
		c.Mark++
	}
	s := a.sites.look(ev.Stack, a.names)
	if s.does == paying && s.site != nil {
		s.site.Paying++
	}
	if s.does != allocating {
		return
	}
	others := a.pause.assisting + a.pause.stopping
	if g := a.goroutines.Find(ev.Goroutine); g != nil {
		if g.in.assist {
			others--
		}
		if g.in.stop {
			others--
		}
	}
	c.Allocating.add(a.pause.marking, others > 0)
	if s.site == nil {
		c.Unlisted++
		return
	}
	s.site.Allocating.add(a.pause.marking, others > 0)
	if a.pause.marking && !s.site.inPhase && a.report.Unlisted == 0 {
		s.site.inPhase = true
		a.sites.phase = append(a.sites.phase, s.site)
	}
}

func (t *Tally) add(mark, others bool) {
	t.All++
	if mark {
		t.Mark++
	}
	if others {
		t.Others++
	}
}

// look finds the site of a stack.
func (l *sites) look(s exectrace.Stack, n *exectrace.Names) seen {
	if k, ok := l.stacks[s]; ok {
		return k
	}
	f, does := classify(n.Frames(s), l.own)
	k := seen{does: does}
	if does != elsewhere {
		key := siteKey{f.File, f.Line, f.Func}
		k.site = l.known[key]
		if k.site == nil && len(l.known) < maxSites {
			k.site = &site{Site: Site{Func: f.Func, File: f.File, Line: f.Line}}
			l.known[key] = k.site
		}
	}
	l.stacks[s] = k
	return k
}

// charge adds the delays in a mark phase to the sites seen in it. It is called when that
// phase is complete.
func (l *sites) charge(w *Window) {
	l.causes.Paid.Add(&w.Paid)
	for _, s := range l.phase {
		s.inPhase = false
		s.Phases++
		s.Paid.Add(&w.Paid)
	}
	l.phase = l.phase[:0]
}

func (l *sites) finish() Causes {
	c := l.causes
	for _, s := range l.known {
		s.Share = stats.Share(float64(s.Allocating.Mark), float64(c.Allocating.Mark))
		c.Sites = append(c.Sites, s.Site)
	}
	slices.SortFunc(c.Sites, func(x, y Site) int {
		return cmp.Or(cmp.Compare(y.Allocating.Mark, x.Allocating.Mark), cmp.Compare(y.Allocating.All, x.Allocating.All),
			cmp.Compare(y.Paying, x.Paying), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Func, y.Func))
	})
	return c
}

// Names of functions; a star matches any end.
var (
	// inRuntime are the functions between an allocating line and the allocator. Names
	// without a package are assembly functions of the runtime.
	inRuntime = [...]string{"runtime.*", "internal/runtime/*", "internal/bytealg.*", "reflect.unsafe_New*"}
	// allocators are taken from the source of Go 1.22 to 1.27. Conversions allocate what
	// they fill. Map assignments are not listed: without an allocator frame below it, an
	// assignment only looks for a slot.
	allocators = [...]string{
		"runtime.mallocgc*", "runtime.mallocTiny*", "runtime.mallocNoscan*", "runtime.mallocScan*", "runtime.newobject", "runtime.newarray",
		"runtime.makeslice*", "runtime.growslice*", "runtime.rawbyteslice", "runtime.rawruneslice", "runtime.rawstring*",
		"runtime.slicebytetostring", "runtime.stringtoslicebyte", "runtime.stringtoslicerune", "runtime.slicerunetostring",
		"runtime.concatstring*", "runtime.concatbyte*", "runtime.convT*",
	}
	// collectors are the functions that an allocation may have to run for the collector.
	collectors = [...]string{
		"runtime.gcAssistAlloc*", "runtime.gcParkAssist", "runtime.deductAssistCredit", "runtime.deductSweepCredit", "runtime.sweepone",
		"runtime.(*sweepLocked).sweep*", "runtime.(*mspan).sweep*", "runtime.(*mheap).reclaim*", "runtime.gcStart*",
	}
)

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if start, open := strings.CutSuffix(p, "*"); open {
			return strings.HasPrefix(name, start)
		}
		return name == p
	})
}

// classify returns the activity of a sample. If that is in the allocator, it also
// returns the line it worked for: of the frames around the allocator the one closest
// to the user's code.
func classify(stack iter.Seq[exectrace.Frame], own boundary) (exectrace.Frame, work) {
	var site nearest // stays empty if the runtime allocates for itself
	var allocates, pays bool
	for f := range stack {
		if !site.any {
			allocates = allocates || matches(f.Func, allocators[:])
			pays = pays || matches(f.Func, collectors[:])
		}
		if site.any || strings.Contains(f.Func, ".") && !matches(f.Func, inRuntime[:]) {
			site.see(f, own.of(f.Func))
		}
		if site.whose == users {
			break
		}
	}
	switch {
	case !allocates: // the collector may also work in the background
		return site.frame, elsewhere
	case pays:
		return site.frame, paying
	}
	return site.frame, allocating
}
