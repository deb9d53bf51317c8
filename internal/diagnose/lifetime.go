package diagnose

import (
	"fmt"
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/finding"
)

// Bounds of the lifetime classes, in collection cycles, and the slope of live
// over allocated bytes from which on a site keeps what it allocates.
const (
	shortCycles = 1.0
	longCycles  = 10.0
	leakSlope   = 0.5
	// A slope needs this much new allocation, in multiples of what is live, to
	// tell a filling cache from noise.
	minGrowth = 0.2
)

// lifetimeOf sorts a site by Little's law: mean life = live bytes ÷ bytes per
// unit of time. Counted in cycles it needs no clock: a cycle is headroom bytes
// of allocation, of which the site makes its share.
//
// Heap profiles show what was alive at the last mark, with everything that was
// allocated during it, so that lives below a mark phase's length cannot be
// told apart: they are all "short".
func (r *runCosts) lifetimeOf(t *siteTally) finding.Lifetime {
	switch {
	case !r.hasInUse:
		return finding.Lifetime{Class: finding.LifetimeUnknown, Basis: "not known: needs a heap profile taken while the program runs"}
	case r.collector.logged && len(r.collector.cycles) == 0:
		return finding.Lifetime{Class: finding.LifetimeUnknown, Basis: "not known: no collection ran, so nothing could die"}
	case t.bytes <= 0 && t.inUse.mean() > 0:
		return finding.Lifetime{Class: finding.LifetimeLong, Basis: "in use, and nothing new allocated in the window"}
	case t.bytes <= 0:
		return finding.Lifetime{Class: finding.LifetimeUnknown, Basis: "not known: neither allocated nor in use in the window"}
	}
	live := t.inUse.mean()
	n := t.inUse.n
	if grown := t.lastLive - t.firstLive; n >= 2 && !r.bench && grown > minGrowth*t.lastLive && grown/t.bytes > leakSlope {
		return finding.Lifetime{Class: finding.LifetimeLeak, Basis: fmt.Sprintf("%.0f %% of the bytes allocated between the first and the last of %.0f heap profiles are still in use", 100*grown/t.bytes, n)}
	}
	if !r.model.known || r.collected.Value == 0 {
		return r.lifetimeByClock(t, live)
	}
	share := t.bytes / r.allBytes()
	cycles := live * r.model.live / (share * r.model.marginal.Headroom)
	mean := time.Duration(math.Min(cycles*float64(r.cyclePeriod()), longestLife*float64(time.Second)))
	l := finding.Lifetime{Mean: mean, Basis: fmt.Sprintf("live ÷ allocated: %.2g cycles, from %.0f heap profiles", cycles, n)}
	switch {
	case cycles < shortCycles:
		l.Class = finding.LifetimeShort
	case cycles < longCycles:
		l.Class = finding.LifetimeCycle
	default:
		l.Class = finding.LifetimeLong
	}
	return l
}

// longestLife, in seconds, bounds what live ÷ allocated gives where next to
// nothing was allocated.
const longestLife = 1e9

// lifetimeByClock gives the mean life where the length of a cycle is unknown:
// only a life beyond the whole window can be classed.
func (r *runCosts) lifetimeByClock(t *siteTally, live float64) finding.Lifetime {
	sec := r.secondsOfAllocs()
	if sec <= 0 {
		return finding.Lifetime{Class: finding.LifetimeUnknown, Basis: "not known: needs the length of the window"}
	}
	mean := time.Duration(math.Min(live/(t.bytes/sec), longestLife) * float64(time.Second))
	l := finding.Lifetime{Class: finding.LifetimeUnknown, Mean: mean, Basis: "live ÷ allocation rate; the class needs the collector's log"}
	if mean.Seconds() > sec {
		l.Class = finding.LifetimeLong
	}
	return l
}

// allBytes is what all sites allocated in the window.
func (r *runData) allBytes() float64 {
	total := 0.0
	for _, t := range r.sites.sites {
		total += math.Max(t.bytes, 0)
	}
	return total
}

// cyclePeriod is the mean time between automatic cycles; 0 when not known.
func (r *runData) cyclePeriod() time.Duration {
	n := len(r.collector.automatic())
	if n == 0 {
		return 0
	}
	return r.collector.window / time.Duration(n)
}
