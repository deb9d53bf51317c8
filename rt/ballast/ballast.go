package ballast

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// ErrActive is returned by Set while another Tuner is at work.
var ErrActive = errors.New("ballast: already set: call Stop first")

// active is the one Tuner of the process. It has to be a package variable because
// what it guards, GOGC and the memory limit, belongs to the process: two tuners
// would undo each other's work in turn.
var active atomic.Pointer[Tuner]

// Tuner steers the collector from Set to Stop. Its methods are for concurrent use.
type Tuner struct {
	options    Options
	operator   operator
	container  container
	start      time.Time
	stop, done chan struct{}

	mu     sync.Mutex // of all below
	gauge  *gauge
	policy policy
	guard  guard
	held   heldObject

	applied applied

	lifecycle lifecycle
	counts    counts
	notes     []note
}

// heldObject is the ballast, and when it was made.
type heldObject struct {
	object    object
	objectAge uint64 // collections before the object was made
}

// applied is what was decided at the last collection, and what of it is in force.
type applied struct {
	before setting
	set    setting // by us, or found and left alone
	plan   plan
	limits limits
	beside beside
	seen   uint64 // collections that were acted upon
}

// setting is the pair that belongs to the process.
type setting struct {
	gogc  int
	limit int64
}

// operator is what the operator has set explicitly. It is left alone.
type operator struct {
	gogc, limit bool
}

type counts struct {
	sentinel  uint64 // collections that ours told of
	ticks     uint64 // collections that the ticker had to find
	gogcSets  uint64
	limitSets uint64
	// unreadable counts the failures in a row to read the container's limits.
	unreadable uint64
}

type note struct {
	level slog.Level
	text  string
	args  []any
}

// Set has the collector steered as o says, until Stop. Call it once, first thing in
// main: a ballast wants memory that nobody has used before.
//
// An explicit GOGC or GOMEMLIMIT of the operator wins: what is in the environment is
// not changed, and a memory limit that is in force bounds all modes. With GOGC set,
// Set turns off no collection and makes no ballast.
//
// An error means that nothing was changed: [ErrActive], options that make no sense, or
// a container whose limit is needed and cannot be read.
func Set(o Options) (*Tuner, error) {
	return set(o, container{root: os.DirFS("/"), anonymous: anonymous}, time.Second)
}

func set(o Options, c container, tick time.Duration) (*Tuner, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	t := &Tuner{
		options: o, container: c, start: time.Now(),
		stop: make(chan struct{}), done: make(chan struct{}), gauge: newGauge(),
	}
	if !active.CompareAndSwap(nil, t) {
		return nil, ErrActive
	}
	if err := t.begin(); err != nil {
		active.Store(nil)
		return nil, err
	}
	t.flush()
	go t.watch(tick)
	return t, nil
}

func (t *Tuner) begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.gauge.read()
	t.applied.before = setting{r.gogc, r.limit}
	t.applied.set = t.applied.before
	// A limit that the program has set before is as good as the operator's.
	t.operator = operator{gogc: os.Getenv("GOGC") != "", limit: r.limit != math.MaxInt64}
	limits, err := t.container.limits()
	if err != nil && t.needsContainer() {
		return fmt.Errorf("ballast: memory limit of the container: %w; MaxMemory says it instead", err)
	}
	t.applied.limits = limits
	t.policy = policy{
		mode: t.options.Mode, ballast: t.options.Ballast, headroom: t.options.Headroom, minGOGC: t.options.MinGOGC,
	}
	t.bound()
	if t.options.Mode == Limit && t.policy.memory == 0 {
		return errors.New("ballast: mode limit needs MaxMemory: there is no limit of a container to take it from")
	}
	t.makeObject(r)
	t.applied.seen = r.cycles
	t.applied.beside.foreign = t.foreign(t.gauge.read())
	t.note(slog.LevelInfo, "ballast set", "mode", t.options.Mode, "memory", t.policy.memory, "object", t.held.object.size,
		"container", t.applied.limits.cgroup, "operatorGOGC", t.operator.gogc, "operatorLimit", t.operator.limit)
	t.act(t.gauge.read())
	t.arm()
	return nil
}

func (t *Tuner) needsContainer() bool {
	return t.options.MaxMemory == 0 && !t.operator.limit && t.options.Mode != Classic && t.options.Headroom == 0
}

// bound puts what is known of limits into the policy.
func (t *Tuner) bound() {
	o, p := t.options, &t.policy
	p.hard = t.applied.limits.hard()
	p.memory = o.MaxMemory
	if t.operator.limit {
		p.memory = t.applied.set.limit
	}
	if l := t.applied.limits.container(); l > 0 {
		p.memory = tighter(p.memory, within(l, o.Reserve))
	}
	if p.memory > 0 || o.Mode == Classic || o.Headroom > 0 {
		p.memory = tighter(p.memory, within(t.applied.limits.machine, o.Reserve))
	}
}

// tighter returns the smaller of two limits, of which 0 is none.
func tighter(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// makeObject makes the ballast's object, without a collection for each piece.
func (t *Tuner) makeObject(r reading) {
	// The object would count against a limit that is not ours to raise, and would be
	// multiplied by a GOGC that is not ours.
	if t.options.Mode != Classic || t.operator.gogc || t.operator.limit {
		return
	}
	debug.SetGCPercent(gogcOff)
	t.held.object = newObject(t.options.Ballast)
	t.held.objectAge = r.cycles
	debug.SetGCPercent(t.applied.before.gogc)
}

// Stop undoes Set: GOGC and the memory limit are again what they were, unless
// somebody else has changed them since, and the ballast is gone. When it returns,
// nothing of the Tuner runs. It may be called twice, but not by Options.Logger.
func (t *Tuner) Stop() {
	t.mu.Lock()
	first := t.lifecycle != stopped
	if first {
		if t.lifecycle == running && !t.overruled(t.gauge.read()) {
			t.apply(t.applied.before)
		}
		t.lifecycle = stopped
		t.held.object = object{}
		t.note(slog.LevelInfo, "ballast stopped")
		close(t.stop)
	}
	t.mu.Unlock()
	<-t.done
	if first {
		active.CompareAndSwap(t, nil)
	}
}

// apply makes s the setting of the process, but for what belongs to the operator.
func (t *Tuner) apply(s setting) {
	if !t.operator.gogc && s.gogc != t.applied.set.gogc {
		debug.SetGCPercent(s.gogc)
		t.applied.set.gogc = s.gogc
		t.counts.gogcSets++
	}
	if !t.operator.limit && s.limit != t.applied.set.limit {
		debug.SetMemoryLimit(s.limit)
		t.applied.set.limit = s.limit
		t.counts.limitSets++
	}
}

// overruled reports whether the setting in force is not the one that was set.
func (t *Tuner) overruled(r reading) bool {
	return r.gogc != t.applied.set.gogc || r.limit != t.applied.set.limit
}

// sentinel is garbage from the start; its cleanup tells that a collection has ended.
// The pointer keeps it out of the allocator's blocks of tiny objects, whose ends
// are not their own.
type sentinel struct {
	_ *sentinel
}

// arm makes the next sentinel. There is one at a time, and it cannot be lost: a
// cleanup runs after the collection that finds its object dead, or waits behind
// cleanups of others that block; then the ticker does its work. In a process that
// keeps all its CPUs busy, cleanups run tens of milliseconds late, so at ten
// collections a second and more it tells of each second one.
func (t *Tuner) arm() { runtime.AddCleanup(new(sentinel), (*Tuner).collected, t) }

// collected is the cleanup.
func (t *Tuner) collected() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lifecycle != running {
		return
	}
	if r := t.gauge.read(); r.cycles != t.applied.seen {
		t.counts.sentinel += r.cycles - t.applied.seen
		t.act(r)
	}
	t.arm()
}
