package ballast

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"time"
)

// lifecycle of a Tuner.
type lifecycle int

const (
	running lifecycle = iota
	yielded           // somebody else has set what was ours
	stopped
)

const (
	// refreshTicks between two looks at the container's limit.
	refreshTicks = 10
	// maxNotes bounds what waits to be logged.
	maxNotes = 16
)

// beside follows the memory that is neither live heap nor room for it.
type beside struct {
	unused  int64 // in the last cycle
	lowest  int64 // of unused since
	foreign int64
}

// cycle closes a cycle. Free slots in spans are many after a collection and fewer
// as they are used; those left at the end are not of use to anybody.
func (b *beside) cycle() {
	b.unused, b.lowest = b.lowest, math.MaxInt64
}

func (b *beside) sample(r reading) {
	if b.lowest == 0 {
		b.lowest = math.MaxInt64
	}
	b.lowest = min(b.lowest, r.unused)
}

func (b *beside) bytes(r reading) int64 {
	return r.nonHeap() + min(b.unused, b.lowest) + b.foreign
}

// foreign is memory that the runtime does not know of: C, mmap. The runtime's own
// part is taken for resident, so this errs to the small side.
func (t *Tuner) foreign(r reading) int64 {
	if t.container.anonymous == nil {
		return 0
	}
	return max(0, t.container.anonymous()-(r.mapped-t.held.object.size))
}

// act brings the setting up to date. It is called with the reading of now, after
// each collection and at each tick.
func (t *Tuner) act(r reading) {
	if t.overruled(r) {
		t.yield(r)
		return
	}
	t.applied.beside.sample(r)
	if r.cycles != t.applied.seen {
		t.applied.seen = r.cycles
		t.applied.beside.cycle()
		t.applied.beside.sample(r)
		if t.guard.observe(r, time.Since(t.start)) {
			t.note(slog.LevelWarn, "collector takes too much CPU: room of GOGC=100, within the container", "share", t.guard.share, "assist", t.guard.assist,
				"memory", t.policy.memory, "level", int(t.guard.level))
		}
	}
	s := t.state(r)
	t.applied.plan = t.policy.plan(s)
	want := setting{t.applied.plan.gogc, t.applied.plan.limit}
	if t.applied.plan.none() {
		want = t.applied.before
	}
	sameGOGC, sameLimit := t.applied.plan.near(s, t.applied.set.gogc, t.applied.set.limit)
	if sameGOGC {
		want.gogc = t.applied.set.gogc
	}
	if sameLimit {
		want.limit = t.applied.set.limit
	}
	t.apply(want)
}

func (t *Tuner) state(r reading) state {
	s := state{live: r.live, roots: r.roots, beside: t.applied.beside.bytes(r), foreign: t.applied.beside.foreign,
		object: t.held.object.size, level: t.guard.level}
	if r.cycles > t.held.objectAge {
		s.live = max(0, r.live-s.object)
	}
	return s
}

// yield leaves the field to whoever has changed the setting: a fight would have
// the heap goal jump at each collection.
func (t *Tuner) yield(r reading) {
	t.note(slog.LevelWarn, "ballast yields: the setting was changed by others", "gogc", r.gogc, "gogcSet", t.applied.set.gogc,
		"limit", r.limit, "limitSet", t.applied.set.limit)
	t.lifecycle = yielded
	t.held.object = object{} // another GOGC would multiply it
}

// watch is the Tuner's goroutine: it finds the collections that the sentinel did
// not tell of, follows the container, and logs.
func (t *Tuner) watch(tick time.Duration) {
	defer close(t.done)
	// Tickers run on the monotonic clock: setting the time has no effect.
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-t.stop:
			t.flush()
			return
		case <-ticker.C:
		}
		t.tick()
		if n%refreshTicks == 0 && t.refresh() {
			// Without allocation no collection would come.
			runtime.GC()
		}
		t.flush()
	}
}

func (t *Tuner) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lifecycle != running {
		return
	}
	r := t.gauge.read()
	t.counts.ticks += r.cycles - t.applied.seen
	t.applied.beside.foreign = t.foreign(r)
	t.act(r)
}

// refresh looks at the container's limits again. The last known ones stay in force
// when they cannot be read. It reports whether the process has come to take more
// than it shall.
func (t *Tuner) refresh() bool {
	limits, err := t.container.limits()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lifecycle != running {
		return false
	}
	if err != nil {
		if t.counts.unreadable == 0 {
			t.note(slog.LevelWarn, "memory limit of the container: keeping the last known", "err", err, "container", t.applied.limits.cgroup)
		}
		t.counts.unreadable++
		return false
	}
	t.counts.unreadable = 0
	if limits == t.applied.limits {
		return false
	}
	if limits.cgroup != t.applied.limits.cgroup {
		t.note(slog.LevelInfo, "memory limit of the container has changed", "from", t.applied.limits.cgroup, "to", limits.cgroup)
	}
	t.applied.limits = limits
	before := t.policy.memory
	t.bound()
	r := t.gauge.read()
	t.act(r)
	after := t.policy.memory
	return after > 0 && (before == 0 || after < within(before, deadband)) && r.objects-t.held.object.size+t.applied.beside.bytes(r) > after
}

func (t *Tuner) note(level slog.Level, text string, args ...any) {
	if t.options.Logger != nil && len(t.notes) < maxNotes {
		t.notes = append(t.notes, note{level, text, args})
	}
}

// flush logs. It holds no lock and is never called by the runtime's cleanups, so a
// slow handler delays nobody else.
func (t *Tuner) flush() {
	t.mu.Lock()
	notes := t.notes
	t.notes = nil
	t.mu.Unlock()
	for _, n := range notes {
		t.options.Logger.Log(context.Background(), n.level, n.text, n.args...)
	}
}
