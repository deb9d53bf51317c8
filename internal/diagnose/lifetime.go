package diagnose

import (
	"fmt"
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// Bounds of the lifetime classes, in collection cycles, and the slope of live over allocated
// bytes above which a site is a leak suspect.
const (
	shortCycles = 1.0
	longCycles  = 10.0
	leakSlope   = 0.5
	// A slope needs this much new allocation, in multiples of the live bytes, to distinguish
	// a filling cache from noise.
	minGrowth = 0.2
)

// lifetimeOf sorts a site by Little's law: mean life = live bytes ÷ bytes per
// unit of time. Counted in cycles it needs no clock: a cycle is headroom bytes
// of allocation, of which the site makes its share.
//
// Heap profiles show what was alive at the last mark, with everything allocated during it.
// So lifetimes below the length of a mark phase cannot be distinguished: they are all
// "short".
func (r *runCosts) lifetimeOf(t *run.Site) finding.Lifetime {
	switch {
	case !r.Heap.InUse:
		return finding.Lifetime{
			Class: finding.LifetimeUnknown, Basis: "not known: needs a heap profile taken while the program runs",
		}
	case r.Collector.Logged && len(r.Collector.Cycles) == 0:
		return finding.Lifetime{Class: finding.LifetimeUnknown,
			Basis: "not known: no collection ran, so nothing could die"}
	case t.Bytes <= 0 && t.InUse.Mean() > 0:
		return finding.Lifetime{Class: finding.LifetimeLong, Basis: "in use, and nothing new allocated in the window"}
	case t.Bytes <= 0:
		return finding.Lifetime{
			Class: finding.LifetimeUnknown, Basis: "not known: neither allocated nor in use in the window",
		}
	}
	live := t.InUse.Mean() * r.liveScale()
	n := t.InUse.N
	if grown := t.LastLive - t.FirstLive; n >= 2 && !r.Bench && grown > minGrowth*t.LastLive &&
		grown/t.Bytes > leakSlope {
		return finding.Lifetime{
			Class: finding.LifetimeLeak,
			Basis: fmt.Sprintf(
				"%.0f %% of the bytes allocated between the first and the last of %.0f heap profiles are still in use",
				100*grown/t.Bytes, n,
			),
		}
	}
	if !r.model.known || r.cpu.collected.Value == 0 {
		return r.lifetimeByClock(t, live)
	}
	cycles := live / (t.Bytes / r.AllBytes() * r.perCycle())
	mean := time.Duration(math.Min(cycles*r.cyclePeriod()*float64(time.Second), longestLife*float64(time.Second)))
	l := finding.Lifetime{
		Mean: mean, Basis: fmt.Sprintf("live ÷ allocated: %.2g cycles, from %.0f heap profiles", cycles, n),
	}
	if k := r.liveScale(); 1-k > muchScaled {
		l.Basis += fmt.Sprintf(", which are samples: their sum, %.0f %% of the live heap, is scaled to it", 100/k)
	}
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

// perCycle are the bytes that the run allocates from one collection to the next: as counted, or else the headroom.
func (r *runCosts) perCycle() float64 {
	if sec, period := r.secondsAlone(), r.cyclePeriod(); sec > 0 && period > 0 {
		return r.AllBytes() / sec * period
	}
	return r.model.marginal.Headroom
}

// cyclePeriod is the mean time between automatic cycles, in seconds, as it is reported; 0 when not known.
func (r *runCosts) cyclePeriod() float64 {
	if p := r.CyclePeriod(); p > 0 {
		return p.Seconds() / r.cycleScale()
	}
	if automatic, _, window := countedByStats(r.Data); automatic > 0 {
		return window.Seconds() / float64(automatic)
	}
	return 0
}

// cycleScale is by which factor a program collects more often than was counted, for the profile lay on its heap.
func (r *runCosts) cycleScale() float64 {
	if !r.Bench && !r.Collector.Service.Unprofiled && r.counts != nil && r.counts.CycleKnown && r.counts.CycleScale > 0 {
		return r.counts.CycleScale
	}
	return 1
}

// muchScaled is by which part the profiles' live heap may differ from the runtime's before it is said.
const muchScaled = 0.1

// longestLife, in seconds, bounds live ÷ allocated for sites that allocated hardly anything.
const longestLife = 1e9

// lifetimeByClock gives the mean life where the length of a cycle is unknown:
// only a life beyond the whole window can be classed.
func (r *runCosts) lifetimeByClock(t *run.Site, live float64) finding.Lifetime {
	sec := r.SecondsOfAllocs()
	if sec <= 0 {
		return finding.Lifetime{Class: finding.LifetimeUnknown, Basis: "not known: needs the length of the window"}
	}
	mean := time.Duration(math.Min(live/(t.Bytes/sec), longestLife) * float64(time.Second))
	l := finding.Lifetime{
		Class: finding.LifetimeUnknown, Mean: mean,
		Basis: "live ÷ allocation rate; the class needs the collector's log",
	}
	if mean.Seconds() > sec {
		l.Class = finding.LifetimeLong
	}
	return l
}
