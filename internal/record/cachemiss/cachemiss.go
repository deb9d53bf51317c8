// Package cachemiss measures what fresh memory costs the rest of a program on
// this machine. An allocation brings cache lines into the caches that were not
// there, and for each of them another one has to go; where the program would
// have used that again, it waits. It waits for the fresh line, too, but hardly
// where that is cleared: a processor goes on while its writes are under way, until
// it has too many of them. No profile shows whose fault that was: the samples
// are the waiting code's.
package cachemiss

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Shape is how the rest of a program uses memory.
type Shape struct {
	Threads   int   // that use it at a time; at least 1 and at most GOMAXPROCS are taken
	LiveBytes int64 // used over again by all threads together; at least 64 KiB and at most MaxLive are taken
	// FreshBytes are allocated by all threads together before the same memory
	// comes round again: what a program allocates between two collections. At
	// least 64 KiB and at most MaxFresh are taken.
	FreshBytes int64
}

// MaxLive is the most memory that Measure uses over again. Beyond it the caches
// of most machines hold so little of it that a fresh line displaces nothing.
const MaxLive = 128 << 20

// MaxFresh is the most fresh memory: no cache keeps a line for as long as that.
const MaxFresh = 64 << 20

const (
	least = 64 << 10
	hot   = 8 << 10 // bytes that are written instead of fresh ones, and stay in the nearest cache
	batch = 16      // lines used again, and then lines written and read, between two looks at the clock
)

// phase is how long each half of a comparison takes, after as long again in
// which the caches fill: a shared cache of 8 MiB takes 7 ms.
const phase = 12 * time.Millisecond

// Comparison is how long one comparison takes.
const Comparison = 4 * phase

// line is a cache line of the usual size.
type line [evidence.CacheLine / 8]uint64

// parts are how much of its live heap a program is taken to use over again: all
// of it, or down to a half. Near the size of a cache the cost differs by the
// tenfold between them, and no recording tells them apart.
var parts = [...]float64{0.5, math.Sqrt2 / 2, 1}

// Measure makes n comparisons, at least one of each part of the shape's live
// bytes, of the time that lines take which are used over again, at random and
// each after the one before, with as many other lines written and read in
// between: of fresh memory, and of the same few all the time. It returns the
// median difference a line as the mean over the parts, with bounds from their
// quartiles, and the shape that was taken. It holds the shape's memory while it
// runs, and ends with ctx's error when ctx does.
func Measure(ctx context.Context, s Shape, n int) (evidence.CacheMiss, error) {
	s.Threads = min(max(s.Threads, 1), runtime.GOMAXPROCS(0))
	s.LiveBytes = min(max(s.LiveBytes, least), MaxLive)
	s.FreshBytes = min(max(s.FreshBytes, least), MaxFresh)
	live := make([]line, s.LiveBytes/evidence.CacheLine)
	touch(live)
	users := make([]*user, s.Threads)
	for i := range users {
		users[i] = &user{fresh: make([]line, max(s.FreshBytes/int64(s.Threads), hot)/evidence.CacheLine),
			at: uint64(i) << 40}
		touch(users[i].fresh)
	}
	var costs, uses [len(parts)][]float64
	for i := range max(n, len(parts)) {
		if err := ctx.Err(); err != nil {
			return evidence.CacheMiss{}, fmt.Errorf("measure what fresh memory costs: %w", err)
		}
		p := i % len(parts)
		for _, u := range users {
			u.live = live[:int(parts[p]*float64(len(live)))]
		}
		alone := together(users, hot)
		beside := together(users, MaxFresh)
		costs[p] = append(costs[p], beside-alone)
		uses[p] = append(uses[p], beside)
	}
	out := evidence.CacheMiss{Threads: s.Threads, LiveBytes: s.LiveBytes, FreshBytes: s.FreshBytes}
	for p, c := range costs {
		slices.Sort(c)
		slices.Sort(uses[p])
		out.UseNS += uses[p][len(uses[p])/2] / float64(len(parts))
		at := func(share float64) float64 { return c[int(share*float64(len(c)-1))] }
		out.NS = out.NS.Add(stats.Interval{Value: at(0.5), Low: at(0.25),
			High: at(0.75)}.Scale(1 / float64(len(parts))))
	}
	ns := &out.NS
	ns.Value, ns.Low, ns.High = max(ns.Value, 0), max(ns.Low, 0), max(ns.High, 0)
	out.UseNS = max(out.UseNS, ns.Value)
	return out, nil
}

// touch gives every page its own memory: what was never written is all one
// page of zeros.
func touch(lines []line) {
	const page = 4096 / evidence.CacheLine
	for i := 0; i < len(lines); i += page {
		lines[i][1] = 1
	}
}

// user is one thread's work.
type user struct {
	live  []line // shared, read only
	fresh []line
	next  int    // in fresh
	at    uint64 // where in live it is
	took  []time.Duration
}

// together has all users work at once, each with at most so many bytes of its
// fresh memory, and returns their mean time per line used again, in nanoseconds.
func together(users []*user, bytes int) float64 {
	per := make([]float64, len(users))
	var wg sync.WaitGroup
	for i, u := range users {
		others := u.fresh[:min(len(u.fresh), bytes/evidence.CacheLine)]
		wg.Go(func() {
			u.work(others)
			per[i] = u.work(others)
		})
	}
	wg.Wait()
	sum := 0.0
	for _, v := range per {
		sum += v
	}
	return sum / float64(len(per))
}

// work goes on for a phase and returns its time per line used again, by the
// median batch: on a busy machine some last for as long as another program runs
// in between.
func (u *user) work(others []line) float64 {
	u.took = u.took[:0]
	for begin := time.Now(); len(u.took) == 0 || time.Since(begin) < phase; {
		for range 32 {
			start := time.Now()
			u.again()
			u.write(others)
			u.took = append(u.took, time.Since(start))
		}
	}
	slices.Sort(u.took)
	return float64(u.took[len(u.took)/2]) / batch
}

// again uses a batch of lines. Each place is computed with what the one before
// held, so that the processor has to wait for it; the generator is Knuth's
// MMIX.
func (u *user) again() {
	at, n := u.at, uint64(len(u.live))
	for range batch {
		at = at*6364136223846793005 + 1442695040888963407 + u.live[(at>>32)*n>>32][0]
	}
	u.at = at
}

// write fills a batch of the next ones of other lines and reads it again, as a
// program does with what it allocates.
func (u *user) write(others []line) {
	if u.next+batch > len(others) {
		u.next = 0
	}
	now := others[u.next : u.next+batch]
	for i := range now {
		now[i] = line{}
	}
	for i := range now {
		u.at += now[i][2]
	}
	u.next += batch
}
