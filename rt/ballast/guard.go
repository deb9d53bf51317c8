package ballast

import "time"

// level is how far the guard lets memory decide.
type level int

const (
	thrifty  level = iota // memory first: below MinGOGC, if a hard limit asks for it
	fair                  // not below MinGOGC
	generous              // not below GOGC=100, as if nobody had set anything
)

const (
	// alarmShare of the CPU that the process uses, in the collector without idle
	// marking, is the alarm. By design marking takes 25 % while it runs, so more on
	// the mean means that it runs all the time or that the program assists. Measured:
	// 16 % at GOGC=100 in a program that does nothing but allocate, 45 % in the spiral.
	alarmShare = 0.25
	// alarmCycles in a row make one alarm: one cycle may be a burst.
	alarmCycles = 2
	// shortestWindow of CPU seconds tells a share.
	shortestWindow = 0.05
	// firstHold is how long the guard stays at a level before it tries the one below;
	// each alarm doubles it.
	firstHold = time.Minute
	longHold  = time.Hour
)

// guard watches what the collector costs. It is the way out of the death spiral: at
// a heap goal near the live heap the collector takes all the CPU that there is, and
// the runtime's own limiter (/gc/limiter/last-enabled) does not see it.
type guard struct {
	level level
	// lowest is where calm ends: thrifty with a hard limit, else fair.
	lowest level
	alarms uint64

	share  float64 // of the last window
	assist float64

	last   reading
	begun  bool
	streak int
	hold   time.Duration
	until  time.Duration // no lower level before
}

// observe takes the reading after a collection, at the time now on any clock that
// only moves forward; if it jumps back, levels last longer. It reports whether the
// level went up.
func (g *guard) observe(r reading, now time.Duration) bool {
	if !g.begun {
		g.begun, g.last, g.hold = true, r, firstHold
		return false
	}
	busy := r.busyCPU - g.last.busyCPU
	if busy < shortestWindow {
		return false
	}
	forced := r.automatic == g.last.automatic
	g.share = clamp((r.gcCPU - g.last.gcCPU) / busy)
	g.assist = clamp((r.assistCPU - g.last.assistCPU) / busy)
	g.last = r
	if forced || g.share <= alarmShare {
		// What a program forces on itself, more room does not cure.
		g.streak = 0
		g.relax(now)
		return false
	}
	g.streak++
	if g.streak < alarmCycles {
		return false
	}
	g.streak = 0
	g.until = now + g.hold
	if g.level == generous {
		return false
	}
	g.level++
	g.alarms++
	g.hold = min(2*g.hold, longHold)
	return true
}

func (g *guard) relax(now time.Duration) {
	if g.level <= g.lowest || now < g.until {
		return
	}
	g.level--
	g.until = now + g.hold
}

// bound sets the lowest level.
func (g *guard) bound(lowest level) {
	g.lowest = lowest
	g.level = max(g.level, lowest)
}

func clamp(share float64) float64 { return min(max(share, 0), 1) }
