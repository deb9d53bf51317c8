// Package tune recommends a setting of the collector for a program. It prepares a
// recording for the model, computes the curve of CPU time against memory, chooses a
// setting for the available memory, and tries settings under the user's own load with
// the engine of prove.
package tune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Knob is what a setting changes.
type Knob string

// The knobs.
const (
	KnobNone    Knob = "none" // keep today's setting
	KnobGOGC    Knob = "GOGC"
	KnobLimit   Knob = "GOGC=off and GOMEMLIMIT"
	KnobBoth    Knob = "GOGC and GOMEMLIMIT"
	KnobBallast Knob = "ballast"
)

// Options say what to forecast and how much memory is available.
type Options struct {
	// Settings are forecast in addition to the suggested ones.
	Settings []gcmodel.Setting
	// Only omits the suggested settings.
	Only       bool
	Constraint Constraint
	// Knee is the least share of CPU that one more doubling of the headroom must save; 0
	// means 0.01.
	Knee float64
	// Second is the same program recorded with another setting. Both together show how the
	// cost of a cycle depends on the heap size. It may be nil.
	Second *Workload
}

// Constraint is the memory that the process may take.
type Constraint struct {
	Max    unit.Bytes // resident memory of the whole process; 0: unknown
	Source string     // where Max comes from, for people
	Beside unit.Bytes // part of Max that is not the process's: page cache in use, the kernel's memory
	// Burst is the factor by which the live heap may exceed the recorded one; 0 means 1.
	Burst float64
}

func (c Constraint) burst() float64 { return math.Max(1, c.Burst) }

// room is the memory left for the process; 0 without a constraint.
func (c Constraint) room() float64 { return math.Max(0, float64(c.Max-c.Beside)) }

// Plan is the recommendation for one workload.
type Plan struct {
	Workload   Workload
	Measured   Measured
	Exponent   stats.Interval
	Assumed    bool    // Exponent is a default, not measured
	Today      Point   // the recorded setting, forecast by the same model
	Curve      []Point // all settings, by kind and size
	Choice     Choice
	Constraint Constraint
	// Ask is a second recording that would improve the forecast; nil if there is none.
	Ask   *Ask
	Notes []string

	point func(gcmodel.Setting) Point
}

// Ask is a second recording that the user should make.
type Ask struct {
	Setting gcmodel.Setting
	Env     []string // environment variables to record with
	Why     string
}

// At forecasts any setting for the plan's workload, in the same way as the points of
// its curve.
func (p *Plan) At(s gcmodel.Setting) Point {
	if p.point == nil {
		return Point{Forecast: gcmodel.Forecast{Setting: s}, Refused: "no plan was made"}
	}
	return p.point(s)
}

// Measured is what the recording itself shows.
type Measured struct {
	// Means says that no log counts each collection: figures are means over a window, and Peak
	// is about the heap goal.
	Means     bool
	Cycles    int
	PerCycle  float64 // bytes
	PerSecond float64
	Collector float64 // share of CPU without idle marking, by the collector's clock
	Sampled   float64 // the same by CPU samples; 0: not known
	Assist    float64
	Idle      float64 // time of idle marking, relative to CPU without it
	Peak      float64
	RSS       float64
	Live      float64
	AllocRate float64 // bytes per second
}

// Point is one setting and its forecast.
type Point struct {
	Forecast gcmodel.Forecast
	Refused  string // why there is no forecast; then only Setting is filled in
	Fits     bool   // within the constraint, the interval's upper bound included
}

// Known reports whether there is a forecast.
func (p Point) Known() bool { return p.Refused == "" }

// maker makes a plan.
type maker struct {
	o    Options
	f    *gcmodel.Forecaster
	tall *gcmodel.Forecaster // the program at its burst
	plan *Plan
	made map[gcmodel.Setting]Point
}

// Make forecasts settings for a workload and chooses one.
func Make(w Workload, o Options) (*Plan, error) {
	f, err := gcmodel.NewForecaster(w.Trace)
	if err != nil {
		return nil, err
	}
	p := &Plan{Workload: w, Constraint: o.Constraint, Measured: measuredOf(w)}
	p.Measured.Sampled = w.Sampled.Value
	if o.Second != nil {
		if err := f.Learn(o.Second.Trace); err != nil {
			p.Notes = append(p.Notes, "the second recording does not help: "+err.Error())
		}
	}
	tall := f.Scaled(o.Constraint.burst())
	p.Exponent, p.Assumed = f.Exponent, f.Assumed
	p.Ask = asked(w, f)
	if o.Knee <= 0 {
		o.Knee = 0.01
	}
	m := &maker{o: o, f: f, tall: tall, plan: p, made: map[gcmodel.Setting]Point{}}
	p.point = m.forecast
	p.Today = m.point(w.Trace.Setting)
	settings := slices.Clone(o.Settings)
	if !o.Only {
		settings = append(settings, m.ladder()...)
	}
	for i, s := range settings {
		if !slices.Contains(settings[:i], s) {
			p.Curve = append(p.Curve, m.point(s))
		}
	}
	p.Choice = m.choose()
	if !o.Only {
		p.show(p.Choice.Point)
	}
	if p.Choice.Clock = p.Choice.Saves; w.Sampled.Value > 0 && p.Choice.Saves > 0 {
		p.Choice.Saves = SavedBy(w.Sampled, p.Today.Forecast, p.Choice.Point.Forecast).Value
	}
	m.notes()
	return p, nil
}

// show puts a point into the curve, at its place by kind and size, unless it is there.
func (p *Plan) show(point Point) {
	s := point.Forecast.Setting
	if !point.Known() || s == (gcmodel.Setting{}) || slices.ContainsFunc(p.Curve, func(q Point) bool { return q.Forecast.Setting == s }) {
		return
	}
	kind, size := ordered(s)
	at := len(p.Curve)
	for i, q := range p.Curve {
		if k, n := ordered(q.Forecast.Setting); k == kind && n < size {
			at = i + 1
		}
	}
	p.Curve = slices.Insert(p.Curve, at, point)
}

// ordered is the kind of a setting, by the knob that decides, and its size.
func ordered(s gcmodel.Setting) (Knob, int64) {
	switch {
	case s.GOGC < 0:
		return KnobLimit, int64(s.Limit)
	case s.Ballast > 0:
		return KnobBallast, int64(s.Ballast)
	}
	return KnobGOGC, int64(s.GOGC)
}

// measuredOf is what the recording shows: by the figures of check, where they are known.
func measuredOf(w Workload) Measured {
	t := w.Trace
	m := Measured{Means: w.Means, Cycles: len(t.Points), Peak: t.Peak, RSS: t.RSS, Live: t.MeanLive(), PerCycle: t.PerCycle()}
	n := float64(len(t.Points))
	points := t.Points
	if !t.Whole {
		n--
		points = points[1:]
	}
	if t.Wall > 0 {
		m.PerSecond, m.AllocRate = n/t.Wall, t.Span()/t.Wall
	}
	for _, p := range points {
		m.Collector += p.Background + p.Assist + p.Pause
		m.Assist += p.Assist
		m.Idle += p.Idle
	}
	// On a machine that is not idle, the clock may count more than there was.
	if cpu := t.CPU - m.Idle; cpu > 0 {
		m.Collector, m.Assist, m.Idle = m.Collector/cpu, m.Assist/cpu, m.Idle/cpu
	} else {
		m.Collector, m.Assist, m.Idle = 0, 0, 0
	}
	if told := w.Told; told != nil {
		m.Cycles, m.PerSecond = told.Cycles.Automatic, told.Cycles.PerSecond
		m.Live, m.Peak = cmp.Or(float64(told.Heap.Live), m.Live), cmp.Or(float64(told.Heap.Peak), m.Peak)
		if told.BytesPerSecond > 0 {
			m.AllocRate, m.PerCycle = told.BytesPerSecond, told.BytesPerSecond/told.Cycles.PerSecond
		}
	}
	return m
}

// point forecasts one setting, once.
func (m *maker) point(s gcmodel.Setting) Point {
	out, made := m.made[s]
	if !made {
		out = m.forecast(s)
		m.made[s] = out
	}
	return out
}

func (m *maker) forecast(s gcmodel.Setting) Point {
	out := Point{}
	v, err := m.f.At(s)
	if err != nil {
		out.Forecast.Setting, out.Refused = s, err.Error()
		return out
	}
	out.Forecast = v
	out.Fits = m.fits(s, v)
	return out
}

// fits reports whether a setting keeps the process within its memory, at its burst
// too.
func (m *maker) fits(s gcmodel.Setting, v gcmodel.Forecast) bool {
	room := m.o.Constraint.room()
	if room == 0 {
		return true
	}
	if m.o.Constraint.burst() > 1 {
		tall, err := m.tall.At(s)
		if err != nil {
			return false
		}
		v = tall
	}
	return memoryOf(v).High <= room
}

// memoryOf returns the resident set, or the heap size if that is unknown.
func memoryOf(v gcmodel.Forecast) stats.Interval {
	if v.RSS.Value > 0 {
		return v.RSS
	}
	return v.Peak
}

// ladder lists the suggested settings for a program of this size: GOGC from 25 to
// 1600 with all else as today, and limits and ballasts with about the same headroom.
func (m *maker) ladder() []gcmodel.Setting {
	var out []gcmodel.Setting
	today := m.plan.Today.Forecast.Setting
	for _, g := range gogcSteps() {
		out = append(out, gcmodel.Setting{GOGC: g, Limit: today.Limit, Ballast: today.Ballast})
	}
	t := m.f.Trace()
	live := math.Max(t.PeakLive(), 1<<20)
	for _, k := range []float64{1.2, 1.5, 2, 3, 5, 9, 17} {
		out = append(out, gcmodel.Setting{GOGC: -1,
			Limit: round((live*k*(1+t.Memory.Slack) + t.Memory.Fixed) / (1 - gcmodel.LimitHeadroom))})
	}
	for _, k := range []float64{1, 3, 7, 15} {
		out = append(out, gcmodel.Setting{GOGC: 100, Ballast: round(math.Max(live, 4<<20) * k)})
	}
	return out
}

func gogcSteps() []int { return []int{25, 50, 100, 200, 400, 800, 1600} }

// notes lists what makes the plan less reliable.
func (m *maker) notes() {
	p := m.plan
	t := p.Workload.Trace
	if p.Workload.Coarse {
		p.Notes = append(p.Notes, "sizes are known to a MiB only: record with GODEBUG=gctrace=1,gcpacertrace=1")
	}
	if p.Workload.Means {
		p.Notes = append(p.Notes, "there is no log of collections: the forecast uses means over the window, and the "+
			"live heap follows from the heap goal; use -exec or GODEBUG=gctrace=1,gcpacertrace=1 for a better one")
		if t.RSS > 0 {
			p.Notes = append(p.Notes, "the resident set is the largest since the service began: if its heap was once "+
				"much larger, forecasts of it are too large")
		}
	}
	if t.Drifts() {
		p.Notes = append(p.Notes, "the live heap changes during the recording: the forecast holds for that time, "+
			"not for what follows")
	}
	if n := len(t.Points); n < fewCycles {
		p.Notes = append(p.Notes, "few collections are recorded: record for longer to narrow the intervals")
	}
	if p.Workload.Capacity {
		p.Notes = append(p.Notes, "the process's CPU time is not recorded: shares are of the capacity of all "+
			"its processors, not of their busy time")
	}
	if t.RSS <= 0 {
		p.Notes = append(p.Notes, "the resident set is not recorded: memory figures are those of the heap")
	}
	switch {
	case p.Ask != nil:
		p.Notes = append(p.Notes, fmt.Sprintf("record once more with %s and pass both recordings (-with): %s",
			strings.Join(p.Ask.Env, " "), p.Ask.Why))
	case p.Assumed:
		p.Notes = append(p.Notes, "how the cost of a cycle depends on the size of the heap is not known from one "+
			"recording: add a second one with another GOGC (-with)")
	}
	idle, charged := p.Measured.Idle, p.Measured.Collector
	if idle > charged && idle > 0.01 {
		p.Notes = append(p.Notes, "most marking ran on processors with nothing else to do; it does not count as a "+
			"saving, although other programs in the container may need those processors")
	}
}

// asked returns the second recording that would improve the forecast; nil if there is
// none.
func asked(w Workload, f *gcmodel.Forecaster) *Ask {
	s, ok := f.Ask()
	if !ok || w.Means || w.Capacity {
		return nil
	}
	// A memory limit is not part of the request: the program sets it itself, or it is set
	// already.
	unknown := "how the cost of a cycle depends on the size of the heap is"
	if f.Hinders() {
		unknown = "how much the program would allocate during a cycle without assists, which counts as " +
			"live afterwards, and how the cost of a cycle depends on the size of the heap are"
	}
	return &Ask{s, []string{"GOGC=" + gogcText(s.GOGC)},
		fmt.Sprintf("the collector takes %.1f %% of CPU, and %s not known from one recording",
			100*measuredOf(w).Collector, unknown)}
}

const fewCycles = 10

// errNothing says that no setting fits.
var errNothing = errors.New("no setting fits the available memory")
