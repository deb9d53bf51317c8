package gcmodel

import (
	"math"
	"math/rand/v2"
)

// walk is one way through a trace under a setting.
type walk struct {
	cycles   float64
	bytes    float64 // allocated between the first and the last cycle
	peak     float64
	work     Point   // sums of the cycles' processor seconds
	endRatio float64 // sum of the cycles' heap sizes over those of the recording
	pinned   float64 // cycles that assists held at their goal
	squeezed float64 // sum of what cycles allocated less while marking than recorded, over the bytes marked
	regime   Regime
}

// Constants of runtime/mgcpacer.go.
const (
	runwayFactor     = (1 - backgroundShare) / backgroundShare
	maxTriggerRatio  = 61.0 / 64
	largestRunway    = 4 << 20 // defaultHeapMinimum: a trigger may be this near the goal
	consMarkCycles   = 4       // that the pacer remembers, beside the last one
	overshoot        = 1.02    // assists let a cycle end this far above its goal at most
	walkCyclesAtMost = 200_000
	leastSwing       = 0.05 // of the live heap's course remains, whatever is drawn
)

// LeastTrigger is minTriggerRatioDistance of runtime/mgcpacer.go: a cycle
// begins when this part of the headroom is used up, at the earliest.
const LeastTrigger = 45.0 / 64

// pacer is the state that the runtime carries from cycle to cycle.
type pacer struct {
	marked   float64 // heapMarked, ballast included
	last     Point
	consMark []float64
}

// next remembers what the cycle at p showed.
func (c *pacer) next(p Point) {
	c.last = p
	c.consMark = append(c.consMark, p.ConsMark)
	if len(c.consMark) > consMarkCycles {
		c.consMark = c.consMark[1:]
	}
}

// aim computes goal and trigger as commit and trigger of runtime/mgcpacer.go do.
func (c *pacer) aim(t *Trace, s Setting) (goal, trigger float64, r Regime) {
	w := Workload{Live: c.marked - float64(s.Ballast), Stacks: c.last.Stacks, Globals: c.last.Globals, NonHeap: t.nonHeap(s)}
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
	low, high := c.marked+LeastTrigger*room, c.marked+maxTriggerRatio*room
	if goal > largestRunway {
		high = math.Max(high, goal-largestRunway)
	}
	trigger = math.Min(math.Max(goal-runway, low), math.Max(high, low))
	return goal, trigger, h.regime
}

// overage is by how much of a limit the runtime holds more than the limit, on
// the whole, and lowers its goal for it (memoryLimitHeapGoal): memory that is
// freed goes back to the system later than new memory comes. Measured: 0 to 3 %, on
// the programs of lab/whatif and on others before them.
const overage = 0.015

// nonHeap is what counts against a limit beside objects when the heap fills it.
func (t *Trace) nonHeap(s Setting) float64 {
	if s.Limit <= 0 {
		return 0
	}
	room := math.Max(0, float64(s.Limit)-t.Memory.Fixed)
	return math.Min(float64(s.Limit), t.Memory.Fixed+room*t.Memory.Slack/(1+t.Memory.Slack)+overage*float64(s.Limit))
}

// walkOrder says where a walk begins, in bytes, and how many cycles it sees at
// least unless the program ends before. stretch scales the first goal of a
// trace that is walked once: where its cycles fall is chance.
type walkOrder struct {
	from, stretch float64
	least         int
	unhindered    float64
	seed          uint64
}

// walkFrom goes through the trace once.
func (t *Trace) walkFrom(s Setting, o walkOrder) walk {
	var w walk
	c := pacer{last: t.at(o.from)}
	c.marked = c.last.Live + t.Dies*c.last.Beside
	if t.Whole {
		c.marked = 0
	}
	c.marked += float64(s.Ballast)
	end := t.span()
	pos := o.from
	random := rand.New(rand.NewPCG(o.seed, 0))
	for w.cycles < walkCyclesAtMost {
		goal, trigger, regime := c.aim(t, s)
		if math.IsInf(goal, 1) {
			w.peak = math.Max(w.peak, c.marked+math.Max(0, end-pos))
			return w
		}
		if t.once && w.cycles == 0 {
			goal, trigger = c.marked+(goal-c.marked)*o.stretch, c.marked+(trigger-c.marked)*o.stretch
		}
		w.regime = regime
		at := pos + math.Max(0, trigger-c.marked-t.Unused)
		p := t.at(at)
		p.Live = math.Max(p.Live+t.drawn(at, random.Float64()), p.Live*leastSwing)
		beside := p.Beside + math.Max(0, p.Natural-p.Beside)*o.unhindered
		if trigger+beside > goal*overshoot {
			beside = math.Max(0, goal*overshoot-trigger)
		}
		step := math.Max(trigger+beside-c.marked-t.Unused, minRunway)
		if t.once && pos+step > end {
			w.peak = math.Max(w.peak, c.marked+end-pos)
			return w
		}
		pos += step
		w.add(p, cycleShape{goal: goal, trigger: trigger, beside: beside, step: step, marked: c.marked, ballast: float64(s.Ballast)})
		c.marked = p.Live + t.Dies*beside + float64(s.Ballast)
		c.next(p)
		if !t.once && pos-o.from >= end && w.cycles >= float64(o.least) {
			return w
		}
	}
	return w
}

type cycleShape struct{ goal, trigger, beside, step, marked, ballast float64 }

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
	if end >= c.goal*0.97 {
		w.pinned++
	}
	// What assists must do beyond what they did in the recording is taken from
	// background marking, and back: the work is the same.
	more := (p.structural(c.goal-c.trigger) - p.structural(p.Headroom)) * p.total()
	more = math.Min(math.Max(more, -p.Assist), p.Background)
	w.work.Background += p.Background - more
	w.work.Assist += p.Assist + more
	w.work.Idle += p.Idle
	w.work.Pause += p.Pause
}
