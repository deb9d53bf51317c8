package ballast

import "time"

// level is how far the guard lets memory decide.
type level int

const (
	thrifty level = iota // no less room than MinGOGC, within a hard limit
	fair                 // than GOGC=100, within a hard limit
)

const (
	// alarmShare of the CPU that the process uses, in the collector without idle
	// marking, is the alarm. By design marking takes 25 % while it runs, so more on
	// the mean means that it runs all the time or that the program assists. Measured:
	// 16 % at GOGC=100 in a program that does nothing but allocate, 45 % in the spiral.
	alarmShare = 0.25
	// slightLoad of one CPU keeps nobody from anything. The collection that the runtime
	// makes every two minutes is most of what an idle process does.
	slightLoad = 0.1
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
// a heap goal near the live heap the collector takes all the CPU that there is. The
// runtime's own limiter (runtime/mgclimit.go) acts later, at a share of more than half, and by
// letting the heap grow. So there is no level at which a hard limit is given up: the limiter
// does that.
type guard struct {
	level  level
	alarms uint64

	share  float64 // of the last window
	assist float64

	last  reading
	at    time.Duration // of last
	begun bool
	high  int // cycles in a row above alarmShare
	hold  time.Duration
	until time.Duration // no lower level before
}

// observe takes the reading after a collection, at the time now on any clock that
// only moves forward; if it jumps back, levels last longer. It reports whether the
// level went up.
func (g *guard) observe(r reading, now time.Duration) bool {
	if !g.begun {
		g.begun, g.last, g.at, g.hold = true, r, now, firstHold
		return false
	}
	busy := r.busyCPU - g.last.busyCPU
	if busy < shortestWindow {
		return false
	}
	gc, from := r.gcCPU-g.last.gcCPU, g.at
	forced := r.automatic == g.last.automatic
	g.share = clamp(gc / busy)
	g.assist = clamp((r.assistCPU - g.last.assistCPU) / busy)
	g.last, g.at = r, now
	// What a program forces on itself, more room does not cure.
	if forced || g.share <= alarmShare || gc <= slightLoad*(now-from).Seconds() {
		g.high = 0
		g.relax(now)
		return false
	}
	g.high++
	switch {
	case g.level == thrifty && g.high >= alarmCycles:
		g.level = fair
		g.alarms++
		g.high = 0
		g.until = now + g.hold
		g.hold = min(2*g.hold, longHold)
		return true
	case g.level == fair:
		g.until = max(g.until, now+g.hold)
	}
	return false
}

func (g *guard) relax(now time.Duration) {
	if g.level == thrifty || now < g.until {
		return
	}
	g.level = thrifty
	g.until = now + g.hold
}

func clamp(share float64) float64 { return min(max(share, 0), 1) }
