package gcmodel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// Forecast is a recorded program under another setting. Shares are of the
// process's CPU time under that setting, without idle marking.
type Forecast struct {
	Setting Setting
	Regime  Regime

	Cycles    stats.Interval // in the recorded window
	PerCycle  stats.Interval // bytes allocated per cycle
	PerSecond stats.Interval // cycles; zero when the window's length is not known
	Collector stats.Interval // share of CPU that the collector takes from the program
	Dedicated stats.Interval // of Collector: background workers and pauses
	Assist    stats.Interval // of Collector: assists
	Idle      stats.Interval // time spent marking on idle processors, relative to that CPU time, of which it is no part
	CPU       stats.Interval // process CPU seconds for the work of the window without idle marking, divided by the recorded ones
	Peak      stats.Interval // largest heap, bytes, ballast included
	RSS       stats.Interval // largest resident set, bytes; zero when the recorded one is not known

	Pinned  float64 // share of cycles that assists hold at the goal, 0 to 1
	Assumed bool    // the exponent is not this program's own: see Forecaster.Exponent
}

// ErrLimiter says that a memory limit leaves so little room that the collector
// runs nearly without pause, up to the runtime's limiter of half the CPU. There
// is no steady state to compute.
var ErrLimiter = errors.New("limiter territory")

// ErrUnknown says that a recording cannot predict a setting: the bounds of the forecast are
// too far apart.
var ErrUnknown = errors.New("not known from this recording")

// safeRatio is the least ratio of what a memory limit leaves for the heap to the
// largest live heap at which a forecast is made. Below it, small changes of
// either decide between little and half of the CPU.
const safeRatio = 1.3

// Forecaster answers what-if questions of one trace.
type Forecaster struct {
	trace  *Trace // as recorded
	course *Trace // that walks follow
	// Exponent says how the cost of a cycle grows with the size of the heap if the live
	// objects stay the same: cost ∝ size^Exponent. It comes from the caches and differs
	// between programs.
	Exponent stats.Interval
	// Assumed says that Exponent is that of programs in general.
	Assumed bool

	other *Forecaster // of a second trace; nil for none

	// Error of the model under the recorded setting.
	perCycle float64 // bytes per cycle, recorded ÷ forecast
}

// generalExponent is the range measured on fifteen programs of lab/whatif, for the work of a
// cycle: about 0 in most, 0.2 to 0.3 in three.
var generalExponent = stats.Interval{Value: 0.1, Low: -0.1, High: 0.3}

// NewForecaster checks a trace. It keeps t, which must not change afterwards.
func NewForecaster(t *Trace) (*Forecaster, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	f := &Forecaster{trace: t, course: t.course(), Exponent: generalExponent, Assumed: true, perCycle: 1}
	f.calibrate()
	return f, nil
}

// calibrate compares the model with the recording under the recorded setting and keeps the
// ratio as a factor, within bounds.
func (f *Forecaster) calibrate() {
	t := f.course
	recorded := t.PerCycle()
	per, _ := f.meanStep(f.walks(t.Setting))
	f.perCycle = math.Min(math.Max(recorded/per, 1/mostOff), mostOff)
	f.calibrateDemand()
}

// calibrateDemand scales demands so that assists do the recorded part of the work under the
// recorded setting. Demands are means of ratios, and cycles differ.
func (f *Forecaster) calibrateDemand() {
	background, assist, idle, _ := f.trace.costs()
	var sum Point
	for _, w := range f.walks(f.course.Setting) {
		sum.Background += w.work.Background
		sum.Assist += w.work.Assist
		sum.Idle += w.work.Idle
	}
	model, recorded := sum.Assist/(sum.Background+sum.Assist+sum.Idle), assist/(background+assist+idle)
	if !(model > 0 && recorded > 0) {
		return
	}
	f.course.fit.eager = math.Min(math.Max(model/recorded, 1/mostDemandOff), mostDemandOff)
}

// Largest corrections of calibration: bytes per cycle, and demands.
const (
	mostOff       = 1.15
	mostDemandOff = 2
)

// meanStep is the mean of bytes per cycle over walks, and that of each; 0 without cycles.
// The first cycle of a service's window began before it, so it does not count if the window
// is walked once.
func (f *Forecaster) meanStep(ws []walk) (per float64, each []float64) {
	var cycles, bytes float64
	for _, w := range ws {
		n, b := w.cycles, w.bytes
		if f.course.once && !f.course.Whole && n > 1 {
			n, b = n-1, b-w.first
		}
		if n > 0 {
			each = append(each, b/n)
		}
		cycles, bytes = cycles+n, bytes+b
	}
	if cycles == 0 {
		return 0, nil
	}
	return bytes / cycles, each
}

// Trace is the trace that the forecaster was made of.
func (f *Forecaster) Trace() *Trace { return f.trace }

// LimitRatio is the heap size that a setting's limit allows, divided by the largest live
// heap; infinite without a limit.
func (f *Forecaster) LimitRatio(s Setting) float64 {
	if s.Limit <= 0 {
		return math.Inf(1)
	}
	live := f.trace.PeakLive() + float64(s.Ballast)
	if live <= 0 {
		return math.Inf(1)
	}
	// A heap hardly larger than its live objects has free slots in proportion, and at least
	// those that processors hold.
	_, held := f.trace.beside(0)
	slots := math.Max(live*f.trace.Memory.Slack, held)
	room := float64(s.Limit) - f.trace.Memory.Fixed
	// The runtime keeps more than its three per cent of a small limit free.
	room -= math.Max(0, limitHeadroomMin-LimitHeadroom*room)
	return math.Max(0, room) / (live + slots)
}

// At forecasts one setting. It fails with ErrNeverCollects if the collector would not run at
// all, with ErrLimiter below SafeRatio, and with ErrUnknown if its bounds would be farther
// apart than settings are.
func (f *Forecaster) At(s Setting) (Forecast, error) {
	if s.GOGC < 0 && s.Limit <= 0 {
		return Forecast{}, ErrNeverCollects
	}
	if s.GOGC == 0 || s.GOGC > maxGOGC || s.Limit < 0 || s.Ballast < 0 || s.Ballast > maxBallast {
		return Forecast{}, fmt.Errorf("setting %+v is out of range", s)
	}
	if r := f.LimitRatio(s); r < safeRatio {
		return Forecast{}, fmt.Errorf("%w: the limit leaves %.2f × the largest live heap, below %.1f", ErrLimiter, r, safeRatio)
	}
	out := Forecast{Setting: s, Assumed: f.Assumed}
	ws := f.walks(s)
	f.counts(&out, ws)
	f.costs(&out, ws)
	f.sizes(&out, ws)
	f.loosen(&out)
	out = f.blend(out)
	if i := out.PerCycle; !math.IsInf(i.High, 0) && i.High > tooWide*i.Low {
		return Forecast{}, fmt.Errorf("%w: bytes per cycle may be anything from %.0f to %.0f MiB; record the program with this setting to know", ErrUnknown, i.Low/(1<<20), i.High/(1<<20))
	}
	return out, nil
}

// tooWide is the largest ratio of the bounds of bytes per cycle in a useful forecast: a
// doubling of GOGC changes them by a factor of two.
const tooWide = 3

// loosen widens the figures that depend on the bytes allocated during a cycle, if assists
// hid that number and no second trace shows it.
func (f *Forecaster) loosen(out *Forecast) {
	if f.other != nil || !f.Hinders() {
		return
	}
	g := *f
	g.course = f.trace.course()
	g.course.unhinder(looseFreer)
	g.course.fit.eager = f.course.fit.eager
	more := Forecast{Setting: out.Setting}
	ws := g.walks(out.Setting)
	g.counts(&more, ws)
	g.sizes(&more, ws)
	out.PerCycle.High = math.Max(out.PerCycle.High, more.PerCycle.Value)
	out.Cycles.Low = math.Min(out.Cycles.Low, more.Cycles.Value)
	out.Peak.High = math.Max(out.Peak.High, more.Peak.Value)
	out.RSS.High = math.Max(out.RSS.High, more.RSS.Value)
}

// looseFreer is the assumed ratio of the allocation during a cycle without assists to the
// recorded one. In programs of lab/whatif with much assist work, second traces showed 1.2 to
// 5 times as much.
const looseFreer = 5

const (
	maxGOGC    = 1_000_000
	maxBallast = 1 << 50
	// phases is the number of walks with different positions of the cycles.
	phases = 24
	// leastCycles is the least number of cycles in a walk through a service's window.
	leastCycles = 2
	// partCycles is the number of cycles of each walk from which on the walks share the trace: where in the work
	// so many cycles are evens out within each.
	partCycles = 100
)

// walks goes through the trace from different points, or with different first cycles,
// because the position of a cycle in the work is chance.
func (f *Forecaster) walks(s Setting) []walk { return f.walksAt(s, f.course.Memory.Scatter.Value) }

// walksAt has Memory.Scatter at another value.
func (f *Forecaster) walksAt(s Setting, scatter float64) []walk {
	out := make([]walk, phases)
	span := f.course.span()
	shared := span/f.room(s) >= phases*partCycles
	peak := 0.0
	for i := range out {
		part := (float64(i) + 0.5) / phases
		o := walkOrder{stretch: 1, exponent: f.Exponent.Value, scatter: scatter, seed: uint64(i)}
		switch {
		case shared:
			o.from, o.length = float64(i)/phases*span, span/phases
		case f.course.once:
			o.stretch = f.stretch(part)
		default:
			o.from, o.least = part*span, leastCycles
		}
		out[i] = f.course.walkFrom(s, o)
		peak = math.Max(peak, out[i].peak)
	}
	for i := range out {
		if shared {
			out[i].peak = peak
		}
	}
	return out
}

// stretch scales the first goal of a walk. A program begins with the runtime's first goal,
// up to small variations; what a service had allocated before its window is chance.
func (f *Forecaster) stretch(part float64) float64 {
	if f.course.Whole {
		return 0.9 + 0.2*part
	}
	return 0.7 + 0.6*part
}

// counts fills in how often the collector runs.
func (f *Forecaster) counts(out *Forecast, ws []walk) {
	var cycles, pinned, squeezed float64
	for _, w := range ws {
		cycles += w.cycles
		squeezed += w.squeezed
		pinned += w.pinned
		out.Regime = w.regime
	}
	span := f.course.span()
	if cycles == 0 {
		out.Cycles = stats.Interval{High: 1}
		out.PerCycle = stats.Interval{Value: span, Low: span / 2, High: math.Inf(1)}
		return
	}
	out.Pinned = pinned / cycles
	step, each := f.meanStep(ws)
	far := f.far(out.Setting)
	correction := math.Pow(f.perCycle, 1/far)
	per := step * correction
	rel, passes := spread(each, per), float64(len(ws))
	if ws[0].part {
		rel, passes = rel/math.Sqrt(passes), 1
	}
	off := math.Hypot(math.Hypot(rel, far*pacerError), (far-1)*swingError*f.course.fit.swing.relative())
	if out.Regime == MemoryLimit {
		// The headroom is a difference: an error of the goal counts more the nearer the goal
		// is to the live heap.
		goal := per + f.trace.MeanLive() + float64(out.Setting.Ballast)
		off = math.Hypot(off, limitError*goal/per)
	}
	out.PerCycle = widen(per, off)
	// Memory allocated during marking is assumed dead afterwards. If it is less than
	// recorded, some of the rest may have been alive; the heap and its headroom are then
	// larger than in the walk.
	out.PerCycle.High = per * (1 + math.Hypot(off, squeezed/cycles))
	if out.Regime == MemoryLimit {
		f.scatters(out, per)
		// Free slots depend on how large the heap was when the objects were made; below a
		// limit alone the program fills them first.
		_, slots := f.trace.nonHeap(out.Setting)
		out.PerCycle.Low = per / (1 + math.Hypot(per/out.PerCycle.Low-1, slotsError*slots/per))
	}
	out.Cycles = inverse(out.PerCycle, span)
	if f.course.once {
		n := cycles / passes / correction
		out.Cycles = stats.Interval{Value: n, Low: math.Max(0, math.Min(out.Cycles.Low, n-1)), High: math.Max(out.Cycles.High, n+1)}
	}
}

// scatters widens bytes per cycle below a limit by the uncertainty of fragmentation.
func (f *Forecaster) scatters(out *Forecast, per float64) {
	at := func(scatter float64) float64 {
		step, _ := f.meanStep(f.walksAt(out.Setting, scatter))
		return step / per
	}
	i := f.course.Memory.Scatter
	less, more := math.Min(at(i.High), 1), math.Max(at(i.Low), 1)
	if less > 0 {
		out.PerCycle.Low = per / (1 + math.Hypot(per/out.PerCycle.Low-1, 1/less-1))
	}
	out.PerCycle.High = per * (1 + math.Hypot(out.PerCycle.High/per-1, more-1))
}

// costs fills in processor time, and with it the rate of cycles.
func (f *Forecaster) costs(out *Forecast, ws []walk) {
	var sum Point
	var cycles, ratio float64
	for _, w := range ws {
		cycles += w.cycles
		ratio += w.endRatio
		sum.Background += w.work.Background
		sum.Assist += w.work.Assist
		sum.Idle += w.work.Idle
		sum.Pause += w.work.Pause
	}
	if cycles == 0 || f.trace.CPU <= 0 {
		out.CPU = stats.Exact(1)
		out.PerSecond = f.perSecond(out)
		return
	}
	ratio /= cycles
	perCycle := 1 / cycles * out.Cycles.Value
	grow := func(e float64) float64 { return math.Pow(ratio, e) }
	e := f.Exponent
	k := stats.Interval{Value: grow(e.Value), Low: math.Min(grow(e.Low), grow(e.High)), High: math.Max(grow(e.Low), grow(e.High))}
	rel := math.Hypot(math.Hypot(f.costScatter(), stats.Z95*runError), costError*f.far(out.Setting))
	rel = math.Hypot(rel, (out.Cycles.High-out.Cycles.Low)/2/math.Max(out.Cycles.Value, 1e-9))
	// The share of idle processors in the work varies from run to run.
	part := func(seconds, error float64) stats.Interval {
		v := seconds * perCycle
		return stats.Interval{
			Value: v * k.Value,
			Low:   math.Max(0, v*(k.Value-math.Hypot(k.Value-k.Low, k.Value*error))),
			High:  v * (k.Value + math.Hypot(k.High-k.Value, k.Value*error)),
		}
	}
	// Background workers do what idle processors do not.
	split := 0.0
	if rest := sum.Background + sum.Idle; rest > 0 {
		split = splitError * sum.Idle / rest
	}
	f.shares(out, [3]stats.Interval{
		part(sum.Background+sum.Pause, math.Hypot(rel, split)),
		part(sum.Assist, math.Hypot(rel, assistError)),
		part(sum.Idle, math.Hypot(rel, idleError)),
	})
	out.PerSecond = f.perSecond(out)
}

// shares turns processor seconds into shares of the process's CPU, which changes with them
// and with the cost of cycles to the program, while its own work stays.
func (f *Forecaster) shares(out *Forecast, parts [3]stats.Interval) {
	background, assist, idle, pause := f.trace.costs()
	was, is := background+assist+pause, parts[0].Value+parts[1].Value
	own := math.Max(f.trace.CPU-idle-was, f.trace.CPU*leastOwn)
	now := own + was
	own = math.Max(own+besideCost*(is+parts[2].Value-was-idle), own*leastWork)
	all := own + is
	share := func(i stats.Interval) stats.Interval {
		rest := all - i.Value
		return stats.Interval{Value: i.Value / all, Low: i.Low / (rest + i.Low), High: i.High / (rest + i.High)}
	}
	out.Dedicated, out.Assist, out.Idle = share(parts[0]), share(parts[1]), parts[2].Scale(1/all)
	sum := stats.Interval{Value: parts[0].Value + parts[1].Value}
	low := math.Hypot(parts[0].Value-parts[0].Low, parts[1].Value-parts[1].Low)
	high := math.Hypot(parts[0].High-parts[0].Value, parts[1].High-parts[1].Value)
	sum.Low, sum.High = math.Max(0, sum.Value-low), sum.Value+high
	out.Collector = share(sum)
	out.CPU = stats.Interval{Value: all / now, Low: (all - low) / now, High: (all + high) / now}
}

// perSecond is the rate of cycles. A program that waits for its users keeps its rate; one
// that uses all processors becomes faster by the saving.
func (f *Forecaster) perSecond(out *Forecast) stats.Interval {
	if f.trace.Wall <= 0 {
		return stats.Interval{}
	}
	rate := out.Cycles.Scale(1 / f.trace.Wall)
	if out.CPU.Value <= 0 || !f.Saturated() {
		return rate
	}
	return stats.Interval{Value: rate.Value / out.CPU.Value, Low: rate.Low / out.CPU.High, High: rate.High / math.Max(out.CPU.Low, 1e-3)}
}

// Saturated reports whether the program used all its processors, so that savings become
// throughput. Processors that mark because they are idle are not used.
func (f *Forecaster) Saturated() bool {
	t := f.trace
	_, _, idle, _ := t.costs()
	return t.Procs > 0 && t.Wall > 0 && t.CPU-idle >= saturated*t.Wall*float64(t.Procs)
}

// sizes fills in the heap and the resident set at their largest.
func (f *Forecaster) sizes(out *Forecast, ws []walk) {
	peaks := make([]float64, len(ws))
	for i, w := range ws {
		peaks[i] = w.peak
		if w.regime == MemoryLimit {
			// The largest heap includes the mean overage.
			peaks[i] += overage * float64(out.Setting.Limit)
		}
	}
	slices.Sort(peaks)
	mid := peaks[len(peaks)/2]
	error := f.far(out.Setting) * peakError
	out.Peak = stats.Interval{
		Value: mid,
		Low:   mid - math.Hypot(mid-peaks[1], mid*error),
		High:  mid + math.Hypot(peaks[len(peaks)-2]-mid, mid*error),
	}
	if most := limitMost(out.Setting); out.Setting.Limit > 0 {
		out.Peak.High = math.Max(out.Peak.Value, math.Min(out.Peak.High, most-f.trace.Memory.Fixed+float64(out.Setting.Ballast)))
	}
	f.resident(out)
}

// resident fills in the resident set: the recorded one, plus what the runtime maps in
// addition for a heap of that size.
func (f *Forecaster) resident(out *Forecast) {
	if f.trace.RSS <= 0 {
		return
	}
	here := f.trace.Peak
	mapped := func(heap float64) float64 {
		fixed, slots := f.trace.beside(heap)
		return heap + fixed + slots
	}
	resident := func(peak float64) float64 {
		return math.Max(f.trace.RSS+mapped(math.Max(0, peak-float64(out.Setting.Ballast)))-mapped(here), 0)
	}
	v := resident(out.Peak.Value)
	slack := math.Abs(out.Peak.Value-float64(out.Setting.Ballast)-here) * slackError
	out.RSS = stats.Interval{
		Value: v,
		Low:   math.Max(0, v-math.Hypot(v-resident(out.Peak.Low), math.Hypot(slack, v*residentError))),
		High:  v + math.Hypot(resident(out.Peak.High)-v, math.Hypot(slack, v*residentError)),
	}
	out.RSS.High = math.Max(out.RSS.Value, math.Min(out.RSS.High, limitMost(out.Setting)+f.Outside()))
}

// Outside is the resident memory that is not the runtime's, such as the program's file and C memory: bytes that a
// memory limit does not count; 0 where the resident set is not known.
func (f *Forecaster) Outside() float64 {
	return math.Max(0, f.trace.RSS-f.trace.Peak*(1+f.trace.Memory.Slack)-f.trace.Memory.Fixed)
}

// limitMost is the largest amount that the runtime maps: it stays below the limit except for
// moments.
func limitMost(s Setting) float64 {
	if s.Limit <= 0 {
		return math.Inf(1)
	}
	return float64(s.Limit) * (1 + momentary)
}

// Errors of a forecast beyond those that the trace itself shows, as fractions; the first
// four grow with the distance from the recorded setting (far).
const (
	pacerError    = 0.08
	swingError    = 0.2 // of the live heap's deviation; grows with far - 1
	costError     = 0.1
	peakError     = 0.07
	limitError    = 0.05 // of the goal below a limit, by free slots that come and go
	slotsError    = 0.5  // of free slots below a limit
	assistError   = 0.5
	idleError     = 0.5
	splitError    = 0.6 // of the background's part if all the rest is idle marking
	slackError    = 0.15
	residentError = 0.05
	momentary     = 0.03 // of a limit: excess held before memory is returned
	leastOwn      = 0.02 // of CPU is the program's own, even if the clocks show less
	leastWork     = 0.25 // of the program's own CPU remains without any cycle
	saturated     = 0.85
)

// besideCost is the cost of a cycle to the program, as a fraction of the cost that the
// collector's clocks count: sweeping, write barriers, taking spans again, and cache
// pollution by marking. In all programs of lab/whatif but one, the program's own CPU per
// byte allocated rose with the cycles per byte, by 0.2 to 1.2 of the cost of a cycle. The
// medians were 0.39, 0.36 and 0.57 for the programs tuned, held out and later.
const besideCost = 0.4

// far is the distance of a setting from the recorded one: 1, plus ½ for each doubling or
// halving of the headroom; 3 if that is not known.
func (f *Forecaster) far(s Setting) float64 {
	a, b := f.room(f.trace.Setting), f.room(s)
	if a <= 0 || b <= 0 || math.IsInf(a, 1) || math.IsInf(b, 1) {
		return 3
	}
	return 1 + math.Abs(math.Log2(b/a))/2
}

// room is the headroom under a setting, with the mean live heap.
func (f *Forecaster) room(s Setting) float64 {
	nonHeap, _ := f.trace.nonHeap(s)
	w := Workload{Live: f.trace.MeanLive(), NonHeap: nonHeap}
	return headroomOf(w, s).bytes(w, s)
}

// costScatter is the standard error of the mean cost of a cycle, as a fraction.
func (f *Forecaster) costScatter() float64 {
	var each []float64
	sum := 0.0
	for _, p := range f.trace.Points {
		each = append(each, p.total())
		sum += p.total()
	}
	n := float64(len(each))
	if sum <= 0 {
		return 0
	}
	return stats.Z95 * spread(each, sum/n) / math.Sqrt(n)
}

// spread is the standard deviation of values around mid, as a fraction of it.
func spread(values []float64, mid float64) float64 {
	if len(values) < 2 || mid <= 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += (v - mid) * (v - mid)
	}
	return math.Sqrt(sum/float64(len(values)-1)) / mid
}

func widen(v, rel float64) stats.Interval {
	return stats.Interval{Value: v, Low: v / (1 + rel), High: v * (1 + rel)}
}

func inverse(i stats.Interval, of float64) stats.Interval {
	return stats.Interval{Value: of / i.Value, Low: of / i.High, High: of / i.Low}
}
