package gcmodel

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// Trace is a recorded run of a program, as a function of the bytes that it allocated. The
// live heap depends on the program's progress and hardly on the collector, so a trace of one
// setting can be walked under another.
type Trace struct {
	Points []Point // one per cycle, by At
	Bytes  float64 // allocated in all; used when Whole
	// Whole says that the trace is a program's life from its start, which is walked once.
	// Otherwise the trace is the window of a service, which is repeated as often as needed.
	Whole   bool
	Setting Setting
	Procs   int     // GOMAXPROCS; 0 when not known
	Wall    float64 // seconds of the span; 0 when not known
	CPU     float64 // processor seconds of the process in the span; 0 when not known
	Peak    float64 // largest heap in the window, in bytes
	RSS     float64 // largest resident set, in bytes; 0 when not known
	Memory  Memory
	// Unused is the number of bytes by which a cycle grows the heap beyond what is
	// allocated: the runtime counts a span as live when a processor takes it to allocate
	// from, and some of its slots are still free when a cycle ends.
	Unused float64
	// Dies is the part, 0 to 1, of what is allocated while a cycle marks that counts as
	// marked although it is dead, which is lost headroom: all of it in a service whose
	// garbage lives for less than a mark phase, little in a program that builds data for
	// later.
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
	// late is the distance in bytes by which cycles begin after the trigger.
	late float64
	// eager is the ratio of the model's assist demand under the recorded setting to the
	// recorded one; see demand.
	eager float64
	swing swing
	lives float64 // share of allocated bytes that stays alive; see survival
	freer float64 // ratio of the allocation during a cycle without assists to the trace's own estimate; see unhinder
}

// Memory is what the runtime maps beside the objects of the heap, when the heap
// is at its largest.
type Memory struct {
	Fixed float64 // bytes that do not grow with the heap: stacks, tables
	Slack float64 // per byte of heap: free slots of spans in use, and the runtime's metadata
	// Scatter is the part, 0 to 1, of what a cycle frees that is in spans with live objects.
	// The program allocates there before it takes more spans; until then those slots count
	// against a limit.
	Scatter stats.Interval
}

// Point is one cycle of a trace. Sizes are bytes, times processor seconds.
type Point struct {
	At   float64 // bytes allocated from the window's start to the end of marking
	Live float64 // marked, less the dead part of Beside (Trace.Dies): the same under all settings
	// Beside is what was allocated during marking, and Natural what would have been
	// allocated without assists, which slow the program down near the goal.
	Beside, Natural float64
	End             float64 // heap size at the end of marking

	HeapScan, Stacks, Globals float64
	ConsMark                  float64 // bytes allocated per byte marked, as the pacer measures it

	Background, Assist, Idle, Pause float64 // processor seconds of the cycle

	demand   float64 // see the function of that name; 0 when not known
	hindered float64 // part of Natural that assists prevented, 0 to below 1
}

// work is the scan work of the cycle.
func (p Point) work() float64 { return p.HeapScan + p.Stacks + p.Globals }

// charged is the cost of the cycle to the program, without idle marking.
func (p Point) charged() float64 { return p.Background + p.Assist + p.Pause }

// total is the whole cost of the cycle.
func (p Point) total() float64 { return p.charged() + p.Idle }

// scaleCost multiplies the whole cost of the cycle by k.
func (p *Point) scaleCost(k float64) {
	p.Background *= k
	p.Assist *= k
	p.Idle *= k
	p.Pause *= k
}

// marking is the share of processors that mark, in the background and on idle processors,
// during the cycle. It follows from the pacer's own figure:
//
//	ConsMark = Beside ÷ work × (¼ + assist + idle) ÷ (¾ − assist)
//
// A program slowed down by a part h during such marking assists with h × (1 − marking) of
// the work: time spent marking is not spent allocating, and the phase is shorter by it.
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

// mostMarking is below 1: the program still allocates.
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

// Unhindered is the factor by which a program would have allocated more during a mark phase
// without assists. It would have had the processor time of the assists (shares of all
// processors), and the phase would have lasted longer, because background and idle workers
// alone would have done the work.
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

// Check reports why a trace cannot be walked.
func (t *Trace) Check() error {
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

// PerCycle is how many bytes are allocated per cycle on the mean. Allocation after the last
// cycle is not included.
func (t *Trace) PerCycle() float64 {
	n := float64(len(t.Points))
	if t.Whole {
		return t.Points[len(t.Points)-1].At / n
	}
	return t.span() / (n - 1)
}

// marked is what the cycle at p marked.
func (t *Trace) marked(p Point) float64 { return p.Live + t.Dies*p.Beside }

// chance holds the random variables of a walk at a place: z is the deviation of the live
// heap from its expected value, in standard deviations. falls, from 0 to 1, is the position
// between two cycles at which it drops, if it does.
type chance struct {
	z     float64
	falls func(cycle int) float64
}

// at is the program's state after a number of bytes. A service's trace repeats.
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
		// Memory released at the end of a piece of work is released at once: the live heap
		// was never halfway down.
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

// fall is the largest part of the live heap that remains after such a drop.
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

// Drifts reports whether the live heap differs between the start and the end of the window:
// caches fill, or memory leaks. The future of such a service is not known; forecasts then
// cover the window itself.
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
