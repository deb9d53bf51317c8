package ballast

import "time"

// level is how far the guard lets memory decide.
type level int

const (
	thrifty  level = iota // no less room than MinGOGC, but within a hard limit
	fair                  // than GOGC=100, within a hard limit
	generous              // than GOGC=100, as if nobody had set anything
)

const (
	// alarmShare of the CPU that the process uses, in the collector without idle
	// marking, is the alarm. By design marking takes 25 % while it runs, so more on
	// the mean means that it runs all the time or that the program assists. Measured:
	// 16 % at GOGC=100 in a program that does nothing but allocate, 45 % in the spiral.
	alarmShare = 0.25
	// spiralShare for spiralTime is the end of it: more is collected than done. Between
	// the two a program still does its work, slower (lab/ballast: all of the load at
	// 35 %, 95 % of it at 52 %), which in a container is better than to be killed.
	spiralShare = 0.5
	spiralTime  = 10 * time.Second
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
// a heap goal near the live heap the collector takes all the CPU that there is, and
// the runtime's own limiter (/gc/limiter/last-enabled) does not see it.
type guard struct {
	level  level
	alarms uint64

	share  float64 // of the last window
	assist float64

	last   reading
	at     time.Duration // of last
	begun  bool
	high   streak // of shares above alarmShare
	spiral streak // above spiralShare
	hold   time.Duration
	until  time.Duration // no lower level before
}

// streak is a run of cycles that have something in common.
type streak struct {
	cycles int
	since  time.Duration
}

func (s *streak) add(holds bool, from time.Duration) {
	switch {
	case !holds:
		*s = streak{}
	case s.cycles == 0:
		*s = streak{1, from}
	default:
		s.cycles++
	}
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
	matters := !forced && gc > slightLoad*(now-from).Seconds()
	g.high.add(matters && g.share > alarmShare, from)
	g.spiral.add(matters && g.share > spiralShare, from)
	switch {
	case g.high.cycles == 0:
		g.relax(now)
	case g.level == thrifty && g.high.cycles >= alarmCycles,
		g.level == fair && g.spiral.cycles >= alarmCycles && now-g.spiral.since >= spiralTime:
		g.level++
		g.alarms++
		g.high, g.spiral = streak{}, streak{}
		g.until = now + g.hold
		g.hold = min(2*g.hold, longHold)
		return true
	case g.level > thrifty:
		g.until = max(g.until, now+g.hold)
	}
	return false
}

func (g *guard) relax(now time.Duration) {
	if g.level == thrifty || now < g.until {
		return
	}
	g.level--
	g.until = now + g.hold
}

func clamp(share float64) float64 { return min(max(share, 0), 1) }
