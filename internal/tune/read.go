package tune

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Workload is one run of a recording, made ready for the model.
type Workload struct {
	Name  string // of the benchmark, or of the service
	Trace *gcmodel.Trace
	// Coarse says that sizes were read in whole MiB, for want of pacer lines.
	Coarse bool
	// Capacity says that the process's CPU time is not recorded: shares are of
	// all its processors, busy or not.
	Capacity bool
	// Means says that only means of a window are known; see FromDiagnosis.
	Means bool
}

// errNoCycles says that a run shows nothing of the collector.
var errNoCycles = errors.New("no collection is recorded: tune needs a gctrace log " +
	"(GODEBUG=gctrace=1,gcpacertrace=1) of a run with two collections or more")

// Read makes workloads of the runs of a bundle, the one that took most CPU
// first. A run that the model cannot use is named in notes; without any that it
// can, there is an error.
func Read(b *bundle.Bundle) (ws []Workload, notes []string, err error) {
	var last error
	for _, run := range b.Manifest.Runs {
		w, err := readRun(b, run)
		if err != nil {
			last = fmt.Errorf("%s: %w", run.Name, err)
			notes = append(notes, last.Error())
			continue
		}
		ws = append(ws, w)
	}
	if len(ws) == 0 {
		if last == nil {
			last = errNoCycles
		}
		return nil, notes, last
	}
	slices.SortStableFunc(ws, func(a, b Workload) int {
		switch {
		case a.Trace.CPU > b.Trace.CPU:
			return -1
		case a.Trace.CPU < b.Trace.CPU:
			return +1
		}
		return 0
	})
	return ws, notes, nil
}

// evidenceOf is what the parts of one run say, of the pass that logs the
// collector.
type evidenceOf struct {
	env     evidence.Environment
	cycles  []evidence.Cycle
	samples []evidence.Metrics
	wall    time.Duration
	cpu     time.Duration
	rss     int64
	bench   bool
}

func readRun(b *bundle.Bundle, run evidence.Run) (Workload, error) {
	e := evidenceOf{env: b.Manifest.Environment, bench: b.Manifest.Target.Kind == evidence.TargetPackages}
	log, ok := logOf(run)
	if !ok {
		return Workload{}, errNoCycles
	}
	f, err := os.Open(b.Path(log))
	if err != nil {
		return Workload{}, err
	}
	defer f.Close()
	if _, err := gctrace.Scan(log.Path, f, func(c evidence.Cycle) error {
		e.cycles = append(e.cycles, c)
		return nil
	}); err != nil {
		return Workload{}, err
	}
	e.wall, e.cpu, e.rss = log.Wall, log.CPU, log.PeakRSS
	for _, p := range run.Parts {
		if p.Kind == evidence.KindMetrics && p.Pass == log.Pass {
			if err := e.readMetrics(b, p); err != nil {
				return Workload{}, err
			}
		}
	}
	return e.workload(run.Name)
}

// logOf finds the run's log of collections, of the pass that disturbs least.
func logOf(run evidence.Run) (evidence.Part, bool) {
	var found evidence.Part
	for _, p := range run.Parts {
		if p.Kind == evidence.KindGCTrace && (found.Path == "" || p.Pass == evidence.PassCollector) {
			found = p
		}
	}
	return found, found.Path != ""
}

func (e *evidenceOf) readMetrics(b *bundle.Bundle, p evidence.Part) error {
	f, err := os.Open(b.Path(p))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = metrics.Scan(p.Path, f, func(m evidence.Metrics) error {
		e.samples = append(e.samples, m)
		return nil
	})
	return err
}

// Names of runtime/metrics.
const (
	metricCycles  = "/gc/cycles/total:gc-cycles"
	metricAllocs  = "/gc/heap/allocs:bytes"
	metricLive    = "/gc/heap/live:bytes"
	metricGOGC    = "/gc/gogc:percent"
	metricLimit   = "/gc/gomemlimit:bytes"
	metricObjects = "/memory/classes/heap/objects:bytes"
	metricUnused  = "/memory/classes/heap/unused:bytes"
	metricFree    = "/memory/classes/heap/free:bytes"
	metricGone    = "/memory/classes/heap/released:bytes"
	metricTotal   = "/memory/classes/total:bytes"
	metricCPU     = "/cpu/classes/total:cpu-seconds"
	metricIdle    = "/cpu/classes/idle:cpu-seconds"
	metricSpans   = "/memory/classes/metadata/mspan/inuse:bytes"
)

// workload lays the cycles along the bytes allocated.
func (e *evidenceOf) workload(name string) (Workload, error) {
	if e.bench {
		// Set-up and calibration lie before the measured run, at the log's end.
		e.cycles = lastOf(e.cycles, e.wall)
	}
	if automatic(e.cycles) < 2 {
		return Workload{}, errNoCycles
	}
	t := &gcmodel.Trace{Procs: e.procs(), RSS: e.resident(), Whole: !e.bench && e.cycles[0].N == 1, Dies: 1}
	w := Workload{Name: name, Trace: t, Coarse: e.cycles[len(e.cycles)-1].Pacer == nil}
	var err error
	if t.Setting, err = e.setting(); err != nil {
		return w, err
	}
	e.points(t)
	t.Memory = e.memory(t)
	e.window(t)
	e.steady(t)
	cutPauses(t.Points)
	if w.Capacity = t.CPU <= 0; w.Capacity {
		t.CPU = t.Wall * float64(t.Procs)
	}
	_, err = gcmodel.NewForecaster(t)
	return w, err
}

// resident is the largest resident set without the recorder, 0 when not known.
func (e *evidenceOf) resident() float64 { return math.Max(0, float64(e.rss)-recorderResident) }

// recorderResident is what a recorded program has resident of the recorder's code
// and buffers: beside what the runtime maps, the recordings of 15 services of
// lab/whatif had 0 to 4 MiB more than their runs, 1.5 in the median (one of them 14,
// and one 3 less).
const recorderResident = 1.5 * (1 << 20)

func automatic(cycles []evidence.Cycle) int {
	n := 0
	for _, c := range cycles {
		if !c.Forced {
			n++
		}
	}
	return n
}

// lastOf keeps the cycles of the last part of a log; 0 keeps all.
func lastOf(cycles []evidence.Cycle, d time.Duration) []evidence.Cycle {
	if d <= 0 || len(cycles) == 0 {
		return cycles
	}
	from := cycles[len(cycles)-1].At - d
	return slices.DeleteFunc(slices.Clone(cycles), func(c evidence.Cycle) bool { return c.At < from })
}

func (e *evidenceOf) procs() int {
	if n := e.cycles[len(e.cycles)-1].Procs; n > 0 {
		return n
	}
	return e.env.GOMAXPROCS
}

// points makes a point of each cycle that the pacer started. One that was asked
// for only moves on.
func (e *evidenceOf) points(t *gcmodel.Trace) {
	marked := e.marked()
	t.Unused = e.unused(marked)
	if t.Whole {
		t.Dies = 1 - e.survival(marked, t.Unused)
	}
	at, before := 0.0, 0.0
	for i, c := range e.cycles {
		end, trigger := float64(c.HeapEnd), float64(c.HeapStart)
		if c.Pacer != nil {
			end, trigger = float64(c.Pacer.End), float64(c.Pacer.Trigger)
		}
		if i > 0 || t.Whole {
			at += math.Max(0, end-before-t.Unused)
		}
		before = marked[i]
		t.Peak = math.Max(t.Peak, end)
		if c.Forced {
			continue
		}
		t.Points = append(t.Points, pointOf(c,
			cycleSizes{at: at, end: end, trigger: trigger, marked: marked[i], dies: t.Dies}, float64(t.Procs)))
	}
	t.Bytes = at
}

// survival is the part, 0 to 1, of what is allocated that lives on, of a program
// whose whole life is recorded: by what its live heap has grown when it is largest.
func (e *evidenceOf) survival(marked []float64, unused float64) float64 {
	at, before, most, part := 0.0, 0.0, 0.0, 0.0
	for i, c := range e.cycles {
		end := float64(c.HeapEnd)
		if c.Pacer != nil {
			end = float64(c.Pacer.End)
		}
		at += math.Max(0, end-before-unused)
		before = marked[i]
		if marked[i] > most {
			most, part = marked[i], marked[i]/math.Max(at, 1)
		}
	}
	return math.Min(part, 1)
}

// unused compares what cycles added to the heap by the log with what was
// allocated by the runtime's count.
func (e *evidenceOf) unused(marked []float64) float64 {
	n := len(e.samples)
	if n < 2 || e.bench {
		return 0
	}
	first, last := e.samples[0].Values, e.samples[n-1].Values
	cycles := last[metricCycles] - first[metricCycles]
	sum, counted := 0.0, 0.0
	for i := 1; i < len(e.cycles); i++ {
		c := e.cycles[i]
		if c.Pacer == nil || float64(c.N) <= first[metricCycles] || float64(c.N) > last[metricCycles] {
			continue
		}
		sum += float64(c.Pacer.End) - marked[i-1]
		counted++
	}
	if counted < fewCycles || cycles < fewCycles {
		return 0
	}
	return math.Min(math.Max(0, sum/counted-(last[metricAllocs]-first[metricAllocs])/cycles), mostUnused*sum/counted)
}

// mostUnused bounds what is believed to be unused, as a part of a cycle.
const mostUnused = 0.3

type cycleSizes struct{ at, end, trigger, marked, dies float64 }

func pointOf(c evidence.Cycle, s cycleSizes, procs float64) gcmodel.Point {
	beside := math.Max(0, s.end-s.trigger)
	p := gcmodel.Point{
		At: s.at, End: s.end, Beside: beside, Natural: beside, Live: math.Max(0, s.marked-s.dies*beside),
		Stacks: float64(c.Stacks), Globals: float64(c.Globals), HeapScan: s.marked,
		Background: c.Used.Background.Seconds(), Assist: c.Used.Assist.Seconds(), Idle: c.Used.Idle.Seconds(),
		Pause: (c.Used.SweepTermination + c.Used.MarkTermination).Seconds(),
	}
	if c.Pacer != nil {
		p.HeapScan, p.Stacks, p.Globals = float64(c.Pacer.HeapScan), float64(c.Pacer.StackScan),
			float64(c.Pacer.GlobalScan)
		p.ConsMark = math.Max(0, c.Pacer.ConsMark)
	}
	work, mark := p.HeapScan+p.Stacks+p.Globals, c.Wall.ConcurrentMark.Seconds()*procs
	if mark <= 0 || work <= 0 {
		return p
	}
	background, assist, idle := p.Background/mark, p.Assist/mark, p.Idle/mark
	used := math.Min(gcmodel.BackgroundShare+assist, 0.95)
	p.ConsMark = beside * (used + idle) / (work * (1 - used))
	if background > 0 && background+assist < 1 {
		p.Natural = beside * gcmodel.Unhindered(background, assist, idle)
	}
	return p
}

// marked gives the bytes marked by each cycle: exact where a sample of the
// runtime's metrics lies between it and the next, else from the log, which cuts
// to whole MiB, with the mean of what it cut where both are known.
func (e *evidenceOf) marked() []float64 {
	exact := map[int]float64{}
	for _, m := range e.samples {
		if live := m.Values[metricLive]; live > 0 {
			exact[int(m.Values[metricCycles])] = live
		}
	}
	cut, n := float64(unit.MiB)/2, 0.0
	sum := 0.0
	for _, c := range e.cycles {
		if live, ok := exact[c.N]; ok {
			if d := live - float64(c.HeapLive); d >= 0 && d <= float64(unit.MiB) {
				sum += d
				n++
			}
		}
	}
	if n > 0 {
		cut = sum / n
	}
	out := make([]float64, len(e.cycles))
	for i, c := range e.cycles {
		live, ok := exact[c.N]
		if !ok || math.Abs(live-float64(c.HeapLive)) > 2*float64(unit.MiB) {
			live = float64(c.HeapLive) + cut
		}
		out[i] = live
	}
	return out
}

// window fills in time and processor time of the span that the points cover,
// which is less than the window: that begins and ends within a cycle.
func (e *evidenceOf) window(t *gcmodel.Trace) {
	t.Wall, t.CPU = e.wall.Seconds(), e.cpu.Seconds()
	n := len(e.samples)
	if t.Whole {
		if n > 0 {
			t.Bytes = math.Max(t.Bytes, e.samples[n-1].Values[metricAllocs])
			t.Peak = math.Max(t.Peak, e.samples[n-1].Values[metricObjects])
		}
		if t.Wall == 0 {
			t.Wall = e.cycles[len(e.cycles)-1].At.Seconds()
		}
		return
	}
	first, last := e.cycles[0], e.cycles[len(e.cycles)-1]
	part := 0.0
	if n > 1 && !e.bench {
		if all := e.samples[n-1].Values[metricAllocs] - e.samples[0].Values[metricAllocs]; all > 0 {
			part = t.Span() / all
		}
	}
	if part == 0 && t.Wall > 0 {
		part = (last.At - first.At).Seconds() / t.Wall
	}
	part = math.Min(part, 1)
	t.CPU *= part
	t.Wall = (last.At - first.At).Seconds()
}

// steady undoes what other processes do to the runtime's clocks, which go on
// while the program waits for a processor: its own count of busy time against
// the system's says by how much.
func (e *evidenceOf) steady(t *gcmodel.Trace) {
	n := len(e.samples)
	if n < 2 || e.cpu <= 0 {
		return
	}
	first, last := e.samples[0].Values, e.samples[n-1].Values
	if t.Whole {
		first = nil
	}
	busy := last[metricCPU] - last[metricIdle] - (first[metricCPU] - first[metricIdle])
	k := e.cpu.Seconds() / busy
	if !(busy > 0 && k < 1 && k > leastClock) {
		return
	}
	for i := range t.Points {
		p := &t.Points[i]
		p.Background, p.Assist, p.Idle, p.Pause = p.Background*k, p.Assist*k, p.Idle*k, p.Pause*k
	}
}

// cutPauses bounds what single stops of the world took. The runtime counts them
// by the clock and for all processors, so that a program which waits for a
// processor while it stops is charged with that many times over.
func cutPauses(ps []gcmodel.Point) {
	all := make([]float64, len(ps))
	for i, p := range ps {
		all[i] = p.Pause
	}
	most := longPause * median(all)
	for i := range ps {
		ps[i].Pause = math.Min(ps[i].Pause, most)
	}
}

// longPause is how many times the usual a pause may take.
const longPause = 12

// leastClock bounds that correction: a machine that is busier tells nothing.
const leastClock = 0.2

// setting is what the program ran with in the end, which it may have changed
// itself.
func (e *evidenceOf) setting() (gcmodel.Setting, error) {
	s := gcmodel.Setting{GOGC: 100}
	if g := strings.TrimSpace(e.env.GOGC); g == "off" {
		s.GOGC = -1
	} else if g != "" {
		n, err := strconv.Atoi(g)
		if err != nil {
			return s, fmt.Errorf("the recording's GOGC=%q is not a number", g)
		}
		s.GOGC = n
	}
	if l := strings.TrimSpace(e.env.GOMEMLIMIT); l != "" && l != "off" {
		v, err := unit.ParseBytes(l)
		if err != nil {
			return s, fmt.Errorf("the recording's GOMEMLIMIT: %w", err)
		}
		s.Limit = v
	}
	if n := len(e.samples); n > 0 {
		last := e.samples[n-1].Values
		if v, ok := last[metricGOGC]; ok {
			s.GOGC = int(v)
			if v >= math.MaxInt32 {
				s.GOGC = -1
			}
		}
		if v, ok := last[metricLimit]; ok {
			s.Limit = unit.Bytes(v)
			if v >= 1<<60 {
				s.Limit = 0
			}
		}
	}
	return s, nil
}

// What a program has beside its heap where nothing measured it: stacks and the
// runtime's tables, and free slots of a fragmented heap.
const (
	usualFixed = 8 << 20
	usualSlack = 0.06
)

// memory measures what is mapped beside objects while the heap is large.
func (e *evidenceOf) memory(t *gcmodel.Trace) gcmodel.Memory {
	top := 0.0
	for _, m := range e.samples {
		top = math.Max(top, m.Values[metricObjects])
	}
	// Between two samples the heap may have been larger; its free slots were not.
	peak := math.Max(top, t.Peak)
	var fixed, slack, always []float64
	scatter, left, known := e.scatter()
	for _, m := range e.samples {
		v := m.Values
		if !known {
			always = append(always, (v[metricUnused]+v[metricSpans])/math.Max(peak, 1))
		}
		if v[metricObjects] < topShare*top || v[metricTotal] == 0 {
			continue
		}
		grows := v[metricUnused] + v[metricSpans]
		slack = append(slack, grows/peak)
		fixed = append(fixed, v[metricTotal]-v[metricGone]-v[metricFree]-v[metricObjects]-grows)
	}
	if len(fixed) == 0 {
		last := t.Points[len(t.Points)-1]
		return gcmodel.Memory{Fixed: usualFixed + 2*last.Stacks + last.Globals, Slack: usualSlack, Scatter: scatter}
	}
	m := gcmodel.Memory{Fixed: math.Max(0, median(fixed)), Slack: median(slack), Scatter: scatter}
	if known {
		m.Slack = left
	} else {
		m.Slack = math.Max(m.Slack, median(always))
	}
	return m
}

// fills are the cycles of which several samples were taken: the sample with most
// free slots, when the sweeper is through, and the one with the largest heap after
// it.
func (e *evidenceOf) fills() [][2]int {
	var out [][2]int
	of := func(i int, name string) float64 { return e.samples[i].Values[name] }
	for i := 0; i < len(e.samples); {
		cycle, most, last := of(i, metricCycles), i, i
		for ; i < len(e.samples) && of(i, metricCycles) == cycle; i++ {
			if of(i, metricUnused) > of(most, metricUnused) {
				most, last = i, i
			}
			if of(i, metricObjects) > of(last, metricObjects) {
				last = i
			}
		}
		if last > most {
			out = append(out, [2]int{most, last})
		}
	}
	return out
}

// scatter measures Memory.Scatter where cycles last for several samples, by the
// spans that a cycle leaves in use of what it frees; and by the way the free slots
// that remain when the heap is at its largest.
func (e *evidenceOf) scatter() (part stats.Interval, slack float64, known bool) {
	fills := e.fills()
	if len(fills) < fewCycles {
		return usualScatter(), 0, false
	}
	of := func(i int, name string) float64 { return e.samples[i].Values[name] }
	var gone, garbage, end float64
	for k, f := range fills {
		end = math.Max(end, of(f[1], metricObjects))
		if k == 0 || of(f[1], metricCycles) != of(fills[k-1][1], metricCycles)+1 {
			continue
		}
		was := fills[k-1][1]
		gone += of(was, metricObjects) + of(was, metricUnused) - of(f[0], metricObjects) - of(f[0], metricUnused)
		garbage += of(was, metricObjects) - of(f[0], metricLive)
	}
	var left []float64
	for _, f := range fills {
		if of(f[1], metricObjects) > topShare*end {
			left = append(left, (of(f[1], metricUnused)+of(f[1], metricSpans))/of(f[1], metricObjects))
		}
	}
	if garbage <= 0 {
		return usualScatter(), 0, false
	}
	v := math.Min(math.Max(0, 1-gone/garbage), mostScatter)
	return stats.Interval{Value: v, Low: math.Max(0, v-scatterError), High: math.Min(v+scatterError, 1)}, median(left),
		true
}

// usualScatter is what most programs of lab/whatif showed, 0.01 to 0.14. Four
// that replace single entries of what they keep showed 0.5 to 0.9.
func usualScatter() stats.Interval { return stats.Interval{Value: 0.1, Low: 0, High: 0.5} }

const (
	// Also of a heap that hardly lets go of any span in its usual cycles (goja 0,
	// starlark 0.06 of what they free), a first cycle below a limit leaves 0.07 to
	// 0.14 in whole spans.
	mostScatter  = 0.92
	scatterError = 0.05
)

// topShare is how near to the largest heap a sample must lie to count.
const topShare = 0.85

func median(v []float64) float64 {
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
