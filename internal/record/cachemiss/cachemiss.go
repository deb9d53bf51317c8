// Package cachemiss measures how much fresh memory slows down the rest of a program on
// this machine through cache misses.
//
// An allocation brings new cache lines into the caches, and each of them evicts
// another line. If the program uses the evicted line again, it has to wait for it. It
// also waits for the fresh line, but hardly when that is cleared: a processor
// continues while writes are pending, up to a limit. No profile shows the cause: the
// samples belong to the code that waits.
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

// Shape describes how the rest of a program uses memory.
type Shape struct {
	Threads   int   // that use it at the same time; Measure takes at least 1 and at most GOMAXPROCS
	LiveBytes int64 // used repeatedly by all threads together; Measure takes at least 64 KiB and at most MaxLive
	// FreshBytes are allocated by all threads together before the same memory is allocated
	// again: what a program allocates between two collections. Measure takes at least 64
	// KiB and at most MaxFresh.
	FreshBytes int64
}

// MaxLive is the most memory that Measure uses repeatedly. The caches of most machines
// hold so little of a larger memory that a fresh line evicts nothing of it.
const MaxLive = 128 << 20

// MaxFresh is the most fresh memory: no cache keeps a line for longer than that.
const MaxFresh = 64 << 20

const (
	least = 64 << 10
	hot   = 8 << 10 // bytes that are written instead of fresh ones and stay in the nearest cache
	batch = 16      // warm lines used, and then lines written and read, between two clock readings
)

// phase is the length of each half of a comparison. As much time again passes first,
// while the caches fill: a shared cache of 8 MiB takes 7 ms.
const phase = 12 * time.Millisecond

// Comparison is how long one comparison takes.
const Comparison = 4 * phase

// line is a cache line of the usual size.
type line [evidence.CacheLine / 8]uint64

// parts are the shares of the live heap that a program may use repeatedly: all of it,
// or down to a half. Near the size of a cache the cost differs tenfold between these
// shares, and no recording tells which one is true.
var parts = [...]float64{0.5, math.Sqrt2 / 2, 1}

// Measure makes n comparisons, at least one for each part of the shape's live bytes. A
// comparison times warm lines, used at random, each after the previous one. In between
// it writes and reads as many other lines: of fresh memory in one half, of the same
// few lines all the time in the other.
//
// Measure returns the median difference per line as the mean over the parts, with
// bounds from their quartiles, and the shape that was used. It holds the shape's
// memory while it runs. When ctx ends, it returns ctx's error.
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

// touch gives every page its own memory: pages that were never written all map to one
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
	next  int    // index in fresh
	at    uint64 // state of the generator, from which the index in live is computed
	took  []time.Duration
}

// together runs all users at once, each with at most the given number of bytes of its
// fresh memory. It returns their mean time per warm line in nanoseconds.
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

// work runs for one phase and returns its time per warm line in the median batch. The
// median ignores batches that another program interrupted.
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

// again uses a batch of warm lines. Each index depends on the content of the line
// before, so the processor has to wait for it. The generator is Knuth's MMIX.
func (u *user) again() {
	at, n := u.at, uint64(len(u.live))
	for range batch {
		at = at*6364136223846793005 + 1442695040888963407 + u.live[(at>>32)*n>>32][0]
	}
	u.at = at
}

// write fills the next batch of other lines and reads it again, as a program does with
// memory that it allocates.
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
