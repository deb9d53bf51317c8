// Package tune answers which setting of the collector a program should run
// with: it makes a recording ready for the model, draws the curve of processor
// time against memory, chooses a setting for the memory that there is, and tries
// settings under the user's own load with the engine of prove.
package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Knob is what a setting turns.
type Knob string

// The knobs.
const (
	KnobNone    Knob = "none" // leave it as it is
	KnobGOGC    Knob = "GOGC"
	KnobLimit   Knob = "GOGC=off and GOMEMLIMIT"
	KnobBoth    Knob = "GOGC and GOMEMLIMIT"
	KnobBallast Knob = "ballast"
)

// Options say what to forecast and what memory there is.
type Options struct {
	// Settings are forecast beside those that the program's size suggests.
	Settings []gcmodel.Setting
	// Only leaves the suggested ones out.
	Only       bool
	Constraint Constraint
	// Knee is the least share of CPU that one more doubling of the headroom must
	// save; 0 means 0.01.
	Knee float64
	// Second is the same program under another setting, to learn from both how
	// the cost of a cycle goes with the size of the heap; nil for none.
	Second *Workload
}

// Constraint is the memory that the process may take.
type Constraint struct {
	Max    unit.Bytes // resident, of the process as a whole; 0: none is known
	Source string     // where Max comes from, for people
	Beside unit.Bytes // of Max, what is not the process's: page cache in use, the kernel's
	// Burst is by how much the live heap may grow beyond the recorded one: 2 is
	// double. 0 means 1.
	Burst float64
}

func (c Constraint) burst() float64 { return math.Max(1, c.Burst) }

// room is what is left for the process; 0 without a constraint.
func (c Constraint) room() float64 { return math.Max(0, float64(c.Max-c.Beside)) }

// Plan is the answer for one workload.
type Plan struct {
	Workload   Workload
	Measured   Measured
	Exponent   stats.Interval
	Assumed    bool    // Exponent is of programs in general
	Today      Point   // the recorded setting, forecast by the same model
	Curve      []Point // all settings, by kind and size
	Choice     Choice
	Constraint Constraint
	// Ask is a second recording that is worth its while; nil for none.
	Ask   *Ask
	Notes []string

	point func(gcmodel.Setting) Point
}

// Ask is a recording that the tool asks for, to give beside the first.
type Ask struct {
	Setting gcmodel.Setting
	Env     []string // what it is recorded with
	Why     string
}

// At forecasts any setting for the plan's workload, as the points of its curve.
func (p *Plan) At(s gcmodel.Setting) Point {
	if p.point == nil {
		return Point{Forecast: gcmodel.Forecast{Setting: s}, Refused: "no plan was made"}
	}
	return p.point(s)
}

// Measured is what the recording itself shows.
type Measured struct {
	Cycles    int
	PerCycle  float64 // bytes
	PerSecond float64
	Collector float64 // share of CPU
	Assist    float64
	Idle      float64
	Peak      float64
	RSS       float64
	Live      float64 // mean
	AllocRate float64 // bytes per second
}

// Point is one setting and what it would do.
type Point struct {
	Forecast gcmodel.Forecast
	Refused  string // why there is no forecast; then only Setting is filled in
	Fits     bool   // within the constraint, the interval's upper bound included
}

// Known tells whether there is a forecast.
func (p Point) Known() bool { return p.Refused == "" }

// maker makes a plan.
type maker struct {
	o    Options
	f    *gcmodel.Forecaster
	tall *gcmodel.Forecaster // the program at its burst
	plan *Plan
}

// Make forecasts settings for a workload and chooses one.
func Make(w Workload, o Options) (*Plan, error) {
	f, err := gcmodel.NewForecaster(w.Trace)
	if err != nil {
		return nil, err
	}
	p := &Plan{Workload: w, Constraint: o.Constraint, Measured: measuredOf(w.Trace)}
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
	m := &maker{o: o, f: f, tall: tall, plan: p}
	p.point = m.point
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
	m.notes()
	return p, nil
}

func measuredOf(t *gcmodel.Trace) Measured {
	m := Measured{Cycles: len(t.Points), Peak: t.Peak, RSS: t.RSS, Live: t.MeanLive(), PerCycle: t.PerCycle()}
	n := float64(len(t.Points))
	points := t.Points
	if !t.Whole {
		n--
		points = points[1:]
	}
	if t.Wall > 0 {
		m.PerSecond, m.AllocRate = n/t.Wall, t.Span()/t.Wall
	}
	if t.CPU > 0 {
		for _, p := range points {
			m.Collector += (p.Background + p.Assist + p.Pause) / t.CPU
			m.Assist += p.Assist / t.CPU
			m.Idle += p.Idle / t.CPU
		}
	}
	return m
}

// point forecasts one setting.
func (m *maker) point(s gcmodel.Setting) Point {
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

// fits tells whether a setting keeps the process within its memory, at its
// burst too.
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

// memoryOf is the resident set, or the heap where that is not known.
func memoryOf(v gcmodel.Forecast) stats.Interval {
	if v.RSS.Value > 0 {
		return v.RSS
	}
	return v.Peak
}

// ladder lists the settings that a program of this size could have: GOGC from
// 25 to 1600, and the limits and ballasts that give about the same headroom.
func (m *maker) ladder() []gcmodel.Setting {
	var out []gcmodel.Setting
	for _, g := range gogcSteps() {
		out = append(out, gcmodel.Setting{GOGC: g})
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

// notes says what weakens the plan.
func (m *maker) notes() {
	p := m.plan
	t := p.Workload.Trace
	if p.Workload.Coarse {
		p.Notes = append(p.Notes, "sizes are known to a MiB only: record with GODEBUG=gctrace=1,gcpacertrace=1")
	}
	if p.Workload.Means {
		p.Notes = append(p.Notes, "there is no log of collections: the forecast is of means, and the live heap is "+
			"half of the goal as under GOGC=100; -exec, or GODEBUG=gctrace=1,gcpacertrace=1, tells more")
	}
	if t.Drifts() {
		p.Notes = append(p.Notes, "the live heap changes while it is recorded: the forecast is of that stretch, and "+
			"not of what comes after it")
	}
	if n := len(t.Points); n < fewCycles {
		p.Notes = append(p.Notes, "few collections are recorded: a longer recording narrows the intervals")
	}
	if p.Workload.Capacity {
		p.Notes = append(p.Notes, "the process's CPU time is not recorded: shares are of all its processors, busy "+
			"or not")
	}
	if t.RSS <= 0 {
		p.Notes = append(p.Notes, "the resident set is not recorded: memory is that of the heap")
	}
	switch {
	case p.Ask != nil:
		p.Notes = append(p.Notes, fmt.Sprintf("please record once more with %s and give both (-with): %s",
			strings.Join(p.Ask.Env, " "), p.Ask.Why))
	case p.Assumed:
		p.Notes = append(p.Notes, "how the cost of a cycle goes with the size of the heap is not known from one "+
			"recording: a second one under another GOGC tells (-with)")
	}
	idle, charged := p.Measured.Idle, p.Measured.Collector
	if idle > charged && idle > 0.01 {
		p.Notes = append(p.Notes, "most marking ran on processors with nothing else to do; it is not counted as a "+
			"saving, though neighbours in the container may want those processors")
	}
}

// asked is the second recording that is worth its while, if there is one.
func asked(w Workload, f *gcmodel.Forecaster) *Ask {
	s, ok := f.Ask()
	if !ok || w.Means || w.Capacity {
		return nil
	}
	// A limit is the program's own, or is set already.
	unknown := "how the cost of a cycle depends on the size of the heap is"
	if f.Hinders() {
		unknown = "what the program would allocate during a cycle if it did not have to assist, which counts as " +
			"live afterwards, and how the cost of a cycle goes with the size of the heap are"
	}
	return &Ask{s, []string{"GOGC=" + gogcText(s.GOGC)},
		fmt.Sprintf("the collector takes %.1f %% of CPU, and %s not known from one recording",
			100*measuredOf(w.Trace).Collector, unknown)}
}

const fewCycles = 10

// errNothing says that no setting fits.
var errNothing = errors.New("no setting fits the available memory")
