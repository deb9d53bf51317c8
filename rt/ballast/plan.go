package ballast

import "math"

const (
	gogcOff = -1
	// highestGOGC keeps the runtime's own products within 64 bits.
	highestGOGC = 1 << 30
	// The runtime collects no heap below 4 MiB at GOGC=100, and scales that by GOGC:
	// for a small live heap this, not the live heap, decides.
	heapMinimum = 4 << 20
	// slack is what the heap goal stays below the memory. Between 95 % and 100 % of
	// a memory limit the runtime hands pages back as fast as they are used; marking
	// ends about a percent behind the goal.
	slack = 0.06
	// hardSlack is what the memory limit stays below one that kills, and limitSlack what
	// the runtime by itself keeps its heap goal below a memory limit
	// (runtime/mgcpacer.go, memoryLimitHeapGoalHeadroomPercent). More would not save anybody: in
	// lab/ballast, of 260 to 390 MiB, marking ended 5 MiB below the goal to 4 above, until
	// collections took more than half of the CPU time. Then the runtime's CPU limiter stops
	// assists, and it ends up to 55 MiB above; 5 or 10 % of reserve bring that on sooner, and
	// are exceeded as well.
	hardSlack  = 0.01
	limitSlack = 0.03
	// deadband is by how much a setting must be wrong to be changed: the live heap of
	// a steady program varies by less.
	deadband = 0.02
)

// none says that there is nothing to aim for: the setting stays as it was.
func (p plan) none() bool { return p.goal == math.MaxInt64 }

// policy is what to aim for; it is fixed but for the two memory sizes.
type policy struct {
	mode     Mode
	ballast  int64 // asked for
	headroom int64
	memory   int64 // to stay within; 0 is no bound
	hard     int64 // beyond which the process is killed; 0 if not known
	minGOGC  int
}

// state is what a plan is made from. Sizes are in bytes and without the ballast.
type state struct {
	live    int64
	roots   int64
	beside  int64 // memory of the process that is neither live heap nor room for it
	foreign int64 // of that, what the runtime does not know of
	object  int64 // size of the ballast's object
	level   level // of the guard
}

// plan is what to set.
type plan struct {
	gogc  int
	limit int64
	goal  int64 // of the heap, without the ballast
	// short says that memory would not suffice for the least room.
	short bool
}

// plan returns the setting for s.
func (p policy) plan(s state) plan {
	goal := int64(math.MaxInt64)
	switch {
	case p.mode == Classic:
		goal = s.room(100) + p.ballast
	case p.headroom > 0:
		goal = s.live + p.headroom
	}
	var short bool
	if p.memory > 0 {
		fits := within(p.memory, slack) - s.beside
		short = fits < s.room(p.minGOGC)
		goal = min(goal, fits)
	}
	goal = max(goal, p.least(s))
	if goal == math.MaxInt64 {
		return plan{limit: math.MaxInt64, goal: goal}
	}
	out := plan{gogc: s.gogc(goal), limit: math.MaxInt64, goal: goal, short: short}
	if p.memory > 0 {
		// Behind the steering, the limit holds what comes between two readings. It
		// makes way for the goal, for at a limit below that the runtime does nothing
		// but collect.
		limit := max(p.memory, int64(float64(goal+s.beside)/(1-slack)))
		if most := within(p.hard, hardSlack); p.hard > 0 && limit > most {
			// Nearest to being killed, the runtime's own count at every moment is better than
			// ours after each collection, so GOGC is not in its way.
			limit = most
			out.goal = max(s.live, min(goal, within(most, limitSlack)-s.beside))
		}
		// The runtime takes a negative limit for a question.
		out.limit = max(minBytes, limit+s.object-s.foreign)
	}
	if p.mode == Limit {
		out.gogc = gogcOff
	}
	return out
}

// least returns the smallest goal that the guard allows. A limit that kills may leave
// less, for less room is better than to be killed.
func (p policy) least(s state) int64 {
	least := s.room(p.minGOGC)
	if s.level == fair {
		least = max(least, s.room(100))
	}
	return least
}

// within returns size less a share of it.
func within(size int64, share float64) int64 { return int64(float64(size) * (1 - share)) }

// room returns the heap goal of GOGC=percent without a ballast.
func (s state) room(percent int) int64 {
	return s.live + int64(float64(s.live+s.roots)*float64(percent)/100)
}

// gogc returns what has the runtime collect at goal. Its rule (runtime/mgcpacer.go,
// commit) is live + (live + roots) · GOGC/100, and not below 4 MiB · GOGC/100; the
// ballast's object is among the live.
func (s state) gogc(goal int64) int {
	base := float64(s.live + s.roots + s.object)
	percent := float64(goal-s.live) / max(base, 1) * 100
	percent = min(percent, float64(goal+s.object)/heapMinimum*100, highestGOGC)
	return max(1, int(math.Round(percent)))
}

// goal is the inverse of gogc.
func (s state) goal(gogc int) int64 {
	percent := float64(gogc) / 100
	return max(s.live+int64(float64(s.live+s.roots+s.object)*percent), int64(heapMinimum*percent)-s.object)
}

// near says whether the setting is as good as the plan's.
func (p plan) near(s state, gogc int, limit int64) (sameGOGC, sameLimit bool) {
	sameGOGC = gogc == p.gogc
	if !sameGOGC && gogc > 0 && p.gogc > 0 {
		// GOGC is whole percents, which is coarse over a large ballast.
		sameGOGC = math.Abs(float64(s.goal(gogc)-s.goal(p.gogc))) <= deadband*float64(p.goal)
	}
	sameLimit = limit == p.limit
	if !sameLimit && limit != math.MaxInt64 && p.limit != math.MaxInt64 {
		sameLimit = math.Abs(float64(limit-p.limit)) <= deadband*float64(p.limit)
	}
	return sameGOGC, sameLimit
}
