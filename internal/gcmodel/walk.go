package gcmodel

import (
	"math"
	"math/rand/v2"
)

// walk is one way through a trace under a setting.
type walk struct {
	cycles   float64
	bytes    float64 // allocated between the first and the last cycle
	first    float64 // bytes allocated up to the end of the first
	peak     float64
	work     Point   // sums of the cycles' processor seconds
	endRatio float64 // sum of the cycles' heap sizes over those of the recording
	pinned   float64 // cycles that assists held at their goal
	squeezed float64 // reductions of allocation during marking, summed, divided by the bytes marked
	regime   Regime
	part     bool // through a part of the trace; the walks beside it go through the rest
}

// Constants of runtime/mgcpacer.go.
const (
	runwayFactor    = (1 - BackgroundShare) / BackgroundShare
	leastTrigger    = 45.0 / 64 // minTriggerRatioDistance: least part of the headroom used up when a cycle begins
	maxTriggerRatio = 61.0 / 64
	largestRunway   = 4 << 20 // defaultHeapMinimum: a trigger may be this near the goal
	consMarkCycles  = 4       // that the pacer remembers, in addition to the last one
)

const (
	walkCyclesAtMost = 200_000
	overshoot        = 1.02 // assists let a cycle end this far above its goal at most
	atGoal           = 0.97 // of its goal: from here on assists are assumed to limit a cycle
	mostDemand       = 4    // of a cycle's work: one that goes beyond its goal may do it several times over
)

// pacer is the state that the runtime carries from cycle to cycle.
type pacer struct {
	nonHeap  float64 // see Workload; of the setting that it paces for
	slots    float64 // of nonHeap, free slots when the heap fills the limit
	spans    float64 // bytes of the spans in use after the last cycle, free slots too
	marked   float64 // heapMarked, ballast included
	last     Point
	consMark []float64
}

// next records the figures of the cycle at p.
func (c *pacer) next(p Point) {
	c.last = p
	c.consMark = append(c.consMark, p.ConsMark)
	if len(c.consMark) > consMarkCycles {
		c.consMark = c.consMark[1:]
	}
}

// aim is goal and trigger of the next cycle. Below a limit the goal depends on the free
// slots in spans in use (memoryLimitHeapGoal is recomputed at each check). While the program
// fills slots that garbage left, goal and heap grow together, and the trigger is where they
// meet.
func (c *pacer) aim(s Setting) (goal, trigger float64, r Regime) {
	goal, trigger, r = c.aimAt(s, c.nonHeap)
	if r != MemoryLimit || c.spans <= trigger+c.slots {
		return goal, trigger, r
	}
	low, high := c.marked, trigger
	for range 40 {
		heap := (low + high) / 2
		goal, trigger, r = c.aimAt(s, c.nonHeap+math.Max(0, c.spans-heap-c.slots))
		if trigger > heap {
			low = heap
		} else {
			high = heap
		}
	}
	return goal, math.Max(trigger, c.marked), r
}

// scatter updates the number of bytes in spans after a cycle that ended at heap size end
// with marked bytes live.
func (c *pacer) scatter(end, marked, part float64) {
	c.spans = math.Max(c.spans, end) - (1-part)*math.Max(0, end-marked)
}

// aimAt computes goal and trigger as commit and trigger of runtime/mgcpacer.go do.
func (c *pacer) aimAt(s Setting, nonHeap float64) (goal, trigger float64, r Regime) {
	w := Workload{Live: c.marked - float64(s.Ballast), Stacks: c.last.Stacks, Globals: c.last.Globals, NonHeap: nonHeap}
	h := headroomOf(w, s)
	room := h.bytes(w, s)
	if s.Limit > 0 {
		room = math.Max(room, minRunway)
	}
	goal = c.marked + room
	most := c.last.ConsMark
	for _, v := range c.consMark {
		most = math.Max(most, v)
	}
	runway := most * runwayFactor * c.last.work()
	low, high := c.marked+leastTrigger*room, c.marked+maxTriggerRatio*room
	if h.regime != MemoryLimit {
		low = math.Max(low, c.marked+sweepDistance)
	}
	if goal > largestRunway {
		high = math.Max(high, goal-largestRunway)
	}
	trigger = math.Min(math.Max(goal-runway, low), math.Max(high, low))
	return goal, trigger, h.regime
}

// Memory that counts against a limit besides objects, as measured on the programs of
// lab/whatif. In a steady state, the goal by the runtime's formula and its own metrics was
// within half a per cent of the limit for services, and within 1 to 2 % for programs that
// grow.
const (
	overage = 0.005 // of the limit: mean excess that the runtime holds
	books   = 0.015 // of the largest heap: tables that do not shrink
	// Free slots of spans in use grow with the size of the heap to this power: they are
	// filled before fresh spans are taken.
	slotPower = 0.65
	// heldPerProc is the free memory in a processor's current spans, one for each size class
	// in use, for any size of the heap: a program that has allocated nothing yet has 0.6 to
	// 1.3 MiB with two processors, and pprof 1.5 MiB with heaps from 1 to 18.
	heldPerProc = 768 << 10
)

// nonHeap is the memory besides objects that counts against a limit when the heap fills it.
func (t *Trace) nonHeap(s Setting) (all, slots float64) {
	if s.Limit <= 0 {
		return 0, 0
	}
	limit := float64(s.Limit)
	beside := func(heap float64) float64 {
		fixed, free := t.beside(heap)
		slots = free
		return fixed + slots + overage*limit
	}
	// The heap depends on the memory left for it, which depends on the heap: weakly, so a
	// few rounds suffice.
	heap := math.Max(0, limit-t.Memory.Fixed)
	for range 8 {
		heap = (heap + math.Max(0, limit-beside(heap))) / 2
	}
	return math.Min(limit, beside(heap)), slots
}

// pacer begins where the program has done nothing.
func (t *Trace) pacer(s Setting) pacer {
	var c pacer
	c.nonHeap, c.slots = t.nonHeap(s)
	return c
}

// beside is the memory mapped besides objects for a heap that has reached a given size:
// tables, stacks, and free slots of its spans.
func (t *Trace) beside(heap float64) (fixed, slots float64) {
	fixed, slots = t.Memory.Fixed, heap*t.Memory.Slack
	if t.Peak > 0 {
		fixed += math.Max(-fixed/4, books*(heap-t.Peak))
		slots = t.Peak * t.Memory.Slack
		held := math.Min(slots, heldPerProc*math.Max(1, float64(t.Procs)))
		slots = held + (slots-held)*math.Pow(math.Max(heap, 0)/t.Peak, slotPower)
	}
	return fixed, slots
}

// walkOrder says where a walk begins, in bytes, and its least number of cycles unless the
// program ends earlier. stretch scales the first goal of a trace that is walked once: the
// positions of its cycles are chance.
type walkOrder struct {
	from, stretch float64
	length        float64 // bytes after which a walk through a part of the trace ends; 0: all of it
	least         int
	exponent      float64 // of the cost of a cycle; see Forecaster
	scatter       float64 // see Memory
	seed          uint64
}

// walkFrom goes through the trace once.
func (t *Trace) walkFrom(s Setting, o walkOrder) walk {
	w := walk{part: o.length > 0}
	random := rand.New(rand.NewPCG(o.seed, 0))
	falls := func(cycle int) float64 { return rand.New(rand.NewPCG(o.seed, uint64(cycle))).Float64() }
	c := t.pacer(s)
	c.last = t.at(o.from, chance{falls: falls})
	c.marked = t.marked(c.last)
	begins := t.Whole && o.from == 0
	if begins {
		c.marked = 0
	}
	c.marked += float64(s.Ballast)
	if !begins && s.Limit > 0 {
		// A service has run for a while.
		if goal, _, _ := c.aim(s); !math.IsInf(goal, 0) {
			c.scatter(goal, c.marked, o.scatter)
		}
	}
	end, length := t.span(), t.span()
	if w.part {
		end, length = math.Min(end, o.from+o.length), o.length
	}
	pos := o.from
	for w.cycles < walkCyclesAtMost {
		goal, trigger, regime := c.aim(s)
		if math.IsInf(goal, 1) {
			w.peak = math.Max(w.peak, c.marked+math.Max(0, end-pos))
			return w
		}
		if t.once && w.cycles == 0 {
			goal, trigger = c.marked+(goal-c.marked)*o.stretch, c.marked+(trigger-c.marked)*o.stretch
		}
		trigger += t.fit.late
		w.regime = regime
		draw := chance{random.NormFloat64(), falls}
		p := t.at(pos+t.used(math.Max(0, trigger-c.marked), trigger-float64(s.Ballast)), draw)
		// A cycle's figures are those of its end, whose distance from the trigger they give.
		at := aimed{goal, trigger, o.exponent}
		_, beside, _ := c.mark(p, s, at)
		p = t.at(pos+t.used(math.Max(0, trigger+beside-c.marked), trigger+beside-float64(s.Ballast)), draw)
		free, beside, runway := c.mark(p, s, at)
		p = t.rescan(p, beside)
		held := 0.0
		if beside < free {
			held = heldBack(free/p.free(runway)*p.natural()/t.fit.freer, beside)
		}
		step := math.Max(t.used(trigger+beside-c.marked, trigger+beside-float64(s.Ballast)), minRunway)
		if t.once && pos+step > end {
			w.peak = math.Max(w.peak, c.marked+end-pos)
			return w
		}
		pos += step
		if w.cycles == 0 {
			w.first = step
		}
		w.add(p, cycleShape{goal: goal, held: held, demand: demand(beside, runway) / t.fit.eager, trigger: trigger, beside: beside, step: step, marked: c.marked, ballast: float64(s.Ballast)})
		c.marked = p.Live + t.Dies*beside + float64(s.Ballast)
		c.scatter(trigger+beside, c.marked, o.scatter)
		if more := beside * t.fit.freer / math.Max(p.natural(), 1); t.fit.freer > 1 && more > 1 {
			p.ConsMark *= more // as the pacer measures it when the phase lasts so much longer
		}
		c.next(p)
		if !t.once && pos-o.from >= length && w.cycles >= float64(o.least) {
			return w
		}
	}
	return w
}

// mark is what the program allocates during a cycle that begins at trigger: free without the
// limit at the goal, beside with assists, and the distance to where assists stop it.
func (c *pacer) mark(p Point, s Setting, at aimed) (free, beside, runway float64) {
	most := c.most(s, p, at.goal, at.trigger)
	runway = most/overshoot - at.trigger
	free = p.free(runway)
	if p.End > 0 {
		// A mark phase that costs more lasts longer.
		free *= math.Pow(math.Max((at.trigger+free-float64(s.Ballast))/p.End, 1e-3), at.exponent)
	}
	return free, math.Max(0, math.Min(free, most-at.trigger)), runway
}

// aimed is where a cycle begins and should end; for exponent see Forecaster.
type aimed struct{ goal, trigger, exponent float64 }

// most is the largest heap at which assists stop a cycle. They divide the distance to the
// goal by the expected work, that of the cycle before. If there is more work, revise of
// runtime/mgcpacer.go extends the goal at the same rate, to twice the distance under
// GOGC=100.
func (c *pacer) most(s Setting, p Point, goal, trigger float64) float64 {
	most := goal
	if expected := c.last.work(); expected > 0 && p.work() > expected {
		most = trigger + (goal-trigger)*p.work()/expected
		if s.GOGC >= 0 {
			most = math.Min(most, math.Max(goal*(1+float64(s.GOGC)/100), goal))
		}
	}
	return most * overshoot
}

// cycleShape is a cycle of a walk. held is the part of the allocation without assists that
// they prevent when they stop the program at the goal; demand is the function of that name.
type cycleShape struct{ goal, held, demand, trigger, beside, step, marked, ballast float64 }

func (w *walk) add(p Point, c cycleShape) {
	end := c.trigger + c.beside
	w.cycles++
	w.bytes += c.step
	w.peak = math.Max(w.peak, end)
	if p.End > 0 {
		w.endRatio += math.Max(1e-3, (end-c.ballast)/p.End)
	} else {
		w.endRatio++
	}
	if c.marked > 0 {
		w.squeezed += math.Min(1, math.Max(0, p.Beside-c.beside)/c.marked)
	}
	if end >= c.goal*atGoal {
		w.pinned++
	}
	// The work is the same for all markers: background and idle marking share the rest at
	// their own rates.
	rest := p.Background + p.Idle
	more := math.Min(math.Max(p.assistsMore(c), -p.Assist), rest)
	keep := 1.0
	if rest > 0 {
		keep = 1 - more/rest
	}
	w.work.Background += p.Background * keep
	w.work.Idle += p.Idle * keep
	w.work.Assist += p.Assist + more
	w.work.Pause += p.Pause
}

// assistsMore is the additional assist work against the recording, in processor seconds. It
// is proportional to the demand; if assists stop the program at the goal, it is at least the
// time that prevents the held part of the allocation.
func (p Point) assistsMore(c cycleShape) float64 {
	more := 0.0
	if p.demand > 0 {
		more = p.Assist * (c.demand/p.demand - 1)
	}
	if c.held > 0 {
		more = math.Max(more, c.held*(1-p.marking())*p.total()-p.Assist)
	}
	return more
}

// free is what is allocated during the cycle at p for a given distance from trigger to goal,
// without the limit at the goal. Allocation during marking falls in proportion to the
// assists' share of the work, and that share rises with the allocation:
//
//	beside = natural − (natural − recorded) × demand ÷ recorded demand
//	demand = beside ÷ runway
func (p Point) free(runway float64) float64 {
	natural := p.natural()
	if p.demand <= 0 {
		return natural
	}
	return natural / (1 + (natural-p.Beside)/(math.Max(runway, minRunway)*p.demand))
}

// rescan is the cycle at p with another amount of allocation during it. Memory allocated
// during marking counts as marked and is not scanned. If it is less, the cycle has to scan
// the objects among it that live.
func (t *Trace) rescan(p Point, beside float64) Point {
	was, is := p.Live-t.fit.lives*p.Beside, p.Live-t.fit.lives*beside
	if was <= 0 || is <= 0 {
		return p
	}
	k := math.Min(math.Max(is/was, 1/mostRescan), mostRescan)
	p.Background, p.Assist, p.Idle = p.Background*k, p.Assist*k, p.Idle*k
	return p
}

// mostRescan bounds the resulting change of scan work.
const mostRescan = 2.0

// natural is what is allocated during the cycle without assists.
func (p Point) natural() float64 { return p.Beside / (1 - p.hindered) }

// demand is the part of a cycle's work that the pacer wants done in step with the allocation
// during it. Assists divide the work by the distance from trigger to goal (assistWorkPerByte
// of runtime/mgcpacer.go), and do what background workers have not done when it is due. It
// is above 1 if a cycle ended beyond its goal.
func demand(beside, runway float64) float64 {
	return math.Min(mostDemand, beside/math.Max(runway, minRunway))
}

// heldBack is the part of a program's allocation during marking that assists prevent.
func heldBack(free, beside float64) float64 {
	if free <= 0 {
		return 0
	}
	return math.Max(0, 1-beside/free)
}
