package gcmodel

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// Trace is a recorded run of a program, laid along the bytes that it allocated.
// What a program keeps alive depends on how far it has come, and hardly on when
// the collector ran, so a trace of one setting can be walked under another.
type Trace struct {
	Points []Point // one per cycle, by At
	Bytes  float64 // allocated in all; used when Whole
	// Whole says that the trace is a program's life from its start, which is
	// walked once. A trace that is not is the window of a service, which goes on
	// as it was and is walked round and round.
	Whole   bool
	Setting Setting
	Procs   int     // GOMAXPROCS; 0 when not known
	Wall    float64 // seconds of the span; 0 when not known
	CPU     float64 // processor seconds of the process in the span; 0 when not known
	Peak    float64 // largest heap in the window, in bytes
	RSS     float64 // largest resident set, in bytes; 0 when not known
	Memory  Memory
	// Unused is how much more than what is allocated a cycle adds to the heap's
	// size, in bytes: the runtime counts a span as live when a processor takes it
	// to allocate from, and some of its slots are still free when a cycle ends.
	Unused float64
	// Dies is the part, 0 to 1, of what is allocated while a cycle marks that
	// counts as marked and is dead all the same, so that it is headroom lost: all
	// of it in a service, whose garbage lives for less than a mark phase; little
	// in a program that builds what it needs later.
	Dies float64

	// once says that the trace is walked once, from its start.
	once bool
	fit  fitted
}

// fitted is what the model has learnt of the program from its trace.
type fitted struct {
	// Unused is made up of bytes that processors hold, and a part of the heap at
	// the cycle's end.
	held, ends float64
	// late is by how much cycles begin behind the trigger, in bytes.
	late float64
	// eager is by what factor the model has cycles demand more of assists under
	// the recorded setting than the recording; see demand.
	eager float64
	swing swing
	lives float64 // part of what is allocated that lives on; see survival
	freer float64 // by what factor more is allocated beside a cycle without assists than the trace itself tells; see unhinder
}

// Memory is what the runtime maps beside the objects of the heap, when the heap
// is at its largest.
type Memory struct {
	Fixed float64 // bytes that do not grow with the heap: stacks, tables
	Slack float64 // per byte of heap: free slots of spans in use, and the runtime's books on them
	// Scatter is the part, 0 to 1, of what a cycle frees that lies in spans with
	// objects that live on. The program allocates there before it takes more
	// spans; until it has, those slots count against a limit.
	Scatter stats.Interval
}

// Point is one cycle of a trace. Sizes are bytes, times processor seconds.
type Point struct {
	At   float64 // bytes allocated from the window's start to the end of marking
	Live float64 // marked, less what Trace.Dies says of Beside: the invariant of all settings
	// Beside is what was allocated while the cycle marked, and Natural what would
	// have been without assists, which hold the program back at the goal.
	Beside, Natural float64
	End             float64 // heap size at the end of marking

	HeapScan, Stacks, Globals float64
	ConsMark                  float64 // bytes allocated per byte marked, as the pacer measures it

	Background, Assist, Idle, Pause float64 // processor seconds of the cycle

	demand   float64 // see the function of that name; 0 when not known
	hindered float64 // part of Natural that assists kept the program from, 0 to below 1
}

// work is the scan work of the cycle.
func (p Point) work() float64 { return p.HeapScan + p.Stacks + p.Globals }

// charged is what the cycle took from the program; idle marking is not in it.
func (p Point) charged() float64 { return p.Background + p.Assist + p.Pause }

// total is all that the cycle took.
func (p Point) total() float64 { return p.charged() + p.Idle }

// scaleCost has all that the cycle took k times as large.
func (p *Point) scaleCost(k float64) {
	p.Background *= k
	p.Assist *= k
	p.Idle *= k
	p.Pause *= k
}

// marking is the part of the processors that mark in the background and where
// they would be idle, while the cycle does. The pacer's own figure tells it:
//
//	ConsMark = Beside ÷ work × (¼ + assist + idle) ÷ (¾ − assist)
//
// A program that is held back by a part h while so many processors mark assists
// with h × (1 − marking) of the work: what its goroutines mark they do not
// allocate, and the phase is shorter by it.
func (p Point) marking() float64 {
	if p.Beside <= 0 || p.work() <= 0 {
		return BackgroundShare
	}
	k := p.ConsMark * p.work() / p.Beside
	per := (1-BackgroundShare)*k - BackgroundShare
	sum := p.Assist + p.Idle + k*p.Assist
	if per <= 0 || sum <= 0 {
		return BackgroundShare
	}
	return math.Min(math.Max(per/sum*(p.Background+p.Idle), BackgroundShare), mostMarking)
}

// mostMarking is below 1: someone allocates.
const mostMarking = 0.95

// mix is the point between p and q at f of 0 to 1.
func (p Point) mix(q Point, f float64) Point {
	l := func(x, y float64) float64 { return x + (y-x)*f }
	return Point{
		At: l(p.At, q.At), Live: l(p.Live, q.Live), Beside: l(p.Beside, q.Beside), Natural: l(p.Natural, q.Natural), End: l(p.End, q.End),
		HeapScan: l(p.HeapScan, q.HeapScan), Stacks: l(p.Stacks, q.Stacks), Globals: l(p.Globals, q.Globals), ConsMark: l(p.ConsMark, q.ConsMark),
		Background: l(p.Background, q.Background), Assist: l(p.Assist, q.Assist), Idle: l(p.Idle, q.Idle), Pause: l(p.Pause, q.Pause),
		demand: l(p.demand, q.demand), hindered: l(p.hindered, q.hindered),
	}
}

// Unhindered is by what factor a program would have allocated more during a mark
// phase without assists. What assists took of the processors, as shares of all
// of them, it would have had for itself, and the phase would have lasted longer,
// because background and idle workers alone had done the work.
func Unhindered(background, assist, idle float64) float64 {
	own := 1 - background - assist
	if own <= 0 || background+idle <= 0 {
		return 1
	}
	longer := (background + assist + idle) / (background + idle)
	return longer * (1 - background) / own
}

// BackgroundShare is the share of all processors that marks in the background:
// gcBackgroundUtilization of runtime/mgcpacer.go.
const BackgroundShare = 0.25

// errShort says that a trace cannot be walked.
var errShort = errors.New("the recording holds fewer than two collections: record for longer, or under more load")

func (t *Trace) check() error {
	if len(t.Points) < 2 {
		return errShort
	}
	last := math.Inf(-1)
	for i, p := range t.Points {
		for _, v := range [...]float64{p.At, p.Live, p.Beside, p.Natural, p.End, p.work(), p.ConsMark, p.charged(), p.Idle} {
			if !(v >= 0 && v <= maxQuantity) {
				return fmt.Errorf("cycle %d of the recording: quantity %v is out of range", i, v)
			}
		}
		if p.At < last {
			return fmt.Errorf("cycle %d of the recording ended before the one before it", i)
		}
		last = p.At
	}
	for _, v := range [...]float64{t.Bytes, t.Wall, t.CPU, t.Peak, t.RSS, t.Memory.Fixed, t.Memory.Slack, t.Unused, t.Dies} {
		if !(v >= 0 && v <= maxQuantity) {
			return fmt.Errorf("the recording: quantity %v is out of range", v)
		}
	}
	if t.span() <= 0 {
		return errShort
	}
	return nil
}

// Span is how many bytes are allocated on a walk through the trace: all of a
// program's life, or from the end of the first cycle of a service's window to
// the end of the last.
func (t *Trace) Span() float64 { return t.span() }

func (t *Trace) span() float64 {
	if t.Whole {
		return math.Max(t.Bytes, t.Points[len(t.Points)-1].At)
	}
	return t.Points[len(t.Points)-1].At - t.Points[0].At
}

// PerCycle is how many bytes are allocated per cycle on the mean. What a program
// allocates after its last cycle is not in it.
func (t *Trace) PerCycle() float64 {
	n := float64(len(t.Points))
	if t.Whole {
		return t.Points[len(t.Points)-1].At / n
	}
	return t.span() / (n - 1)
}

// marked is what the cycle at p marked.
func (t *Trace) marked(p Point) float64 { return p.Live + t.Dies*p.Beside }

// chance is what a walk leaves to chance at a place: z is by how many of its
// deviations the live heap differs there from what is expected, and falls, of 0
// to 1, where between two cycles it falls if it does.
type chance struct {
	z     float64
	falls func(cycle int) float64
}

// at is the program's state after so many bytes. A service's trace repeats.
func (t *Trace) at(bytes float64, c chance) Point {
	ps := t.Points
	bytes = t.place(bytes)
	i := sort.Search(len(ps), func(i int) bool { return ps[i].At >= bytes })
	switch {
	case i == 0:
		return t.before(bytes)
	case i == len(ps):
		return ps[len(ps)-1]
	case ps[i].At == ps[i-1].At:
		return ps[i]
	}
	part := (bytes - ps[i-1].At) / (ps[i].At - ps[i-1].At)
	if ps[i].Live < fall*ps[i-1].Live {
		// What is let go of when a piece of work is done goes together: the live
		// heap was never halfway down.
		if part < c.falls(i) {
			return ps[i-1]
		}
		return ps[i]
	}
	p := ps[i-1].mix(ps[i], part)
	live := t.fit.swing.bridge(ps, span{i - 1, i}, bytes, c.z)
	if was := t.marked(p); was > 0 {
		k := math.Max(0, 1+(live-p.Live)/was)
		p.HeapScan *= k
		cost := 1 + t.fit.swing.grows*(k-1)
		p.Background, p.Assist, p.Idle = p.Background*cost, p.Assist*cost, p.Idle*cost
	}
	p.Live = live
	return p
}

// fall is what part of the live heap remains, at most, where it falls at once.
const fall = 0.5

// place turns bytes of a walk into bytes of the trace.
func (t *Trace) place(bytes float64) float64 {
	switch {
	case t.Whole:
		return bytes
	case t.once:
		return t.Points[0].At + bytes
	}
	return t.Points[0].At + math.Mod(bytes, t.span())
}

// Drifts tells whether the live heap is another one at the end of the window
// than at its start: caches that fill, or a leak. What such a service would do
// beyond the window is not known; forecasts are then of the window itself.
func (t *Trace) Drifts() bool {
	n := len(t.Points) / 3
	if t.Whole || n < 2 {
		return false
	}
	first, last := liveOf(t.Points[:n]), liveOf(t.Points[len(t.Points)-n:])
	mean := (first.mean + last.mean) / 2
	far := math.Abs(last.mean - first.mean)
	return far > leastDrift*mean && far > 2*math.Hypot(first.error, last.error)
}

// leastDrift is the change of the live heap, as a part of it, that counts.
const leastDrift = 0.15

type meanLive struct{ mean, error float64 }

func liveOf(ps []Point) meanLive {
	sum, squares := 0.0, 0.0
	for _, p := range ps {
		sum += p.Live
	}
	n := float64(len(ps))
	for _, p := range ps {
		squares += (p.Live - sum/n) * (p.Live - sum/n)
	}
	return meanLive{sum / n, math.Sqrt(squares / n / math.Max(1, n-1))}
}

// before is the state before the first cycle: a program begins with nothing.
func (t *Trace) before(bytes float64) Point {
	first := t.Points[0]
	if !t.Whole || first.At <= 0 {
		return first
	}
	nothing := Point{Stacks: first.Stacks, Globals: first.Globals, ConsMark: first.ConsMark}
	return nothing.mix(first, math.Max(0, bytes/first.At))
}

// costs are the processor seconds of the cycles of the span; the first cycle of
// a service's window opens it.
func (t *Trace) costs() (background, assist, idle, pause float64) {
	ps := t.Points
	if !t.Whole {
		ps = ps[1:]
	}
	for _, p := range ps {
		background, assist, idle, pause = background+p.Background, assist+p.Assist, idle+p.Idle, pause+p.Pause
	}
	return background, assist, idle, pause
}

// PeakLive is the largest live heap of the trace.
func (t *Trace) PeakLive() float64 {
	most := 0.0
	for _, p := range t.Points {
		most = math.Max(most, t.marked(p))
	}
	return most
}

// MeanLive is the mean live heap of the trace, over its cycles.
func (t *Trace) MeanLive() float64 {
	sum := 0.0
	for _, p := range t.Points {
		sum += t.marked(p)
	}
	return sum / math.Max(1, float64(len(t.Points)))
}
