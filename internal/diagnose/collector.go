package diagnose

import (
	"cmp"
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// collectorModel is the pacer's model fitted to one run. Its costs are in
// units of the run's collector cost, its rates in units of the run's
// allocation rate.
type collectorModel struct {
	known    bool
	why      string // basis of the retention column, or why there is none
	workload gcmodel.Workload
	setting  gcmodel.Setting
	marginal gcmodel.Marginal
	scan     scanShare
	// live scales in-use bytes to the measured live heap: heap profiles are samples, and all
	// sites together make up the live heap.
	live float64
}

// scanShare turns live bytes into scan work: pointer-free objects cost none,
// and the others are scaled so that all sites together make up the scan work
// that the pacer counted.
type scanShare struct{ pointerful, unknown float64 }

// site is a tally in the units of the model; share is its part of all bytes
// allocated.
func (m collectorModel) site(t *run.Site, share float64) gcmodel.Site {
	live := t.InUse.Mean() * m.live
	s := gcmodel.Site{AllocRate: share, Live: live}
	marked := m.marked(live, share)
	switch t.Pointerful() {
	case finding.Yes:
		s.Scan = marked * m.scan.pointerful
	case finding.Unknown:
		s.Scan = marked * m.scan.unknown
	}
	return s
}

// marked is the part of a site's live bytes that a cycle has to mark. Objects allocated
// during marking count as alive and are not scanned.
func (m collectorModel) marked(live, share float64) float64 {
	return math.Max(0, live-share*m.workload.MarkAlloc)
}

// churn is the part of the collector's cost that is charged by bytes allocated; the rest is
// retention. Without a model all of it is churn.
func (m collectorModel) churn() float64 {
	if !m.known {
		return 1
	}
	return m.marginal.PerAlloc
}

// limitOf is the memory limit of the environment, or the one that the program set itself, as GOMEMLIMIT takes it.
func limitOf(env evidence.Environment, l run.CollectorLog) string {
	if set := l.MemLimit(); set != "" && (env.GOMEMLIMIT == "" || env.GOMEMLIMIT == "off") {
		return set
	}
	return env.GOMEMLIMIT
}

// fitCollector fits the model to one run.
func fitCollector(d *run.Data, env evidence.Environment) collectorModel {
	var m collectorModel
	cycles := d.Collector.Automatic()
	live, scan, ok := liveAndScan(d, env)
	switch {
	case !ok:
		m.why = "not known: needs a gctrace log or runtime/metrics of the run"
		return m
	case !d.Heap.InUse:
		m.why = "not known: needs a heap profile taken while the program runs"
		return m
	}
	switch g := d.Collector.Gogc(); {
	case g != "":
		env.GOGC = g
	case len(cycles) == 0 && len(d.Collector.Stats) > 0:
		told, _ := d.GoalOf(d.Collector.Stats[len(d.Collector.Stats)-1], env) // without it there is no gogc
		env.GOGC = cmp.Or(told.Gogc, env.GOGC)
	}
	env.GOMEMLIMIT = limitOf(env, d.Collector)
	set, err := run.SettingOf(env)
	if err != nil {
		m.why = "not known: " + err.Error()
		return m
	}
	m.setting = set
	m.workload = gcmodel.Workload{
		AllocRate: 1, Live: live.heap, HeapScan: scan.heap, Stacks: scan.stacks, Globals: scan.globals,
		MarkAlloc: whileMarking(cycles),
		NonHeap:   d.Collector.NonHeap(), CollectorCost: 1,
	}
	m.live = liveScale(d, live.heap)
	shown := pointedBytes(d, m)
	if !scan.counted {
		m.workload.HeapScan = max(live.heap-shown.all+shown.scan(), leastScan*live.heap)
	}
	fit := gcmodel.Fit(cycles)
	m.workload.FixedShare = fit.FixedShare.Value
	m.marginal, err = gcmodel.Prices(m.workload, m.setting)
	if err != nil {
		m.why = "not known: " + err.Error()
		return m
	}
	m.scan = scanShares(shown, m.workload.HeapScan)
	m.known = true
	counted := len(cycles)
	if n := len(d.Collector.Stats); counted == 0 && n >= 2 {
		counted = int(d.Collector.Stats[n-1].NumGC - d.Collector.Stats[0].NumGC)
	}
	m.why = fmt.Sprintf("in-use bytes of %d heap profiles in the run, %d cycles, %s", d.Heap.Snapshots, counted, pace(m.marginal.Regime))
	return m
}

// whileMarking is the number of bytes allocated during marking, from the pacer's lines, or
// else from the cycles', which count in MiB; 0 if these give it with an error above an
// eighth.
func whileMarking(cycles []evidence.Cycle) float64 {
	var all []float64
	var exact run.MeanOf
	for _, c := range cycles {
		all = append(all, float64(c.HeapEnd-c.HeapStart))
		if c.Pacer != nil {
			exact.Add(float64(c.Pacer.End - c.Pacer.Trigger))
		}
	}
	if exact.N > 0 {
		return math.Max(0, exact.Mean())
	}
	const step = 1 << 20
	if v := stats.MedianOf(all); v >= 8*step {
		return v
	}
	return 0
}

// pace says what sets the heap goal in a regime.
func pace(r gcmodel.Regime) string {
	switch r {
	case gcmodel.Proportional:
		return "the heap goal set by GOGC"
	case gcmodel.MinimumHeap:
		return "the heap goal at the runtime's minimum heap"
	case gcmodel.MemoryLimit:
		return "the heap goal set by the memory limit"
	}
	return "the heap goal at the runtime's minimum distance"
}

type liveSize struct{ heap float64 }

type scanSize struct {
	heap, stacks, globals float64
	counted               bool // heap is the collector's own count, not all that is live
}

// liveAndScan returns the medians over the cycles, exact from the pacer's
// lines or from runtime/metrics, in MiB steps from gctrace alone.
func liveAndScan(d *run.Data, env evidence.Environment) (liveSize, scanSize, bool) {
	l := d.Collector
	cycles := l.Automatic()
	var heap, stacks, globals []float64
	live, _ := l.Lives()
	for _, c := range cycles {
		if c.Pacer != nil {
			heap = append(heap, float64(c.Pacer.HeapScan))
			stacks = append(stacks, float64(c.Pacer.StackScan))
			globals = append(globals, float64(c.Pacer.GlobalScan))
		} else {
			stacks = append(stacks, float64(c.Stacks))
			globals = append(globals, float64(c.Globals))
		}
	}
	if v := l.Metric("/gc/scan/heap:bytes"); len(v) > 0 && len(heap) == 0 {
		heap, stacks, globals = v, l.Metric("/gc/scan/stack:bytes"), l.Metric("/gc/scan/globals:bytes")
	}
	if len(live) == 0 && len(l.Stats) > 0 {
		if told, ok := d.GoalOf(l.Stats[len(l.Stats)-1], env); ok {
			live = []float64{told.Live}
		}
	}
	if len(live) == 0 {
		return liveSize{}, scanSize{}, false
	}
	size := scanSize{stats.MedianOf(heap), stats.MedianOf(stacks), stats.MedianOf(globals), len(heap) > 0}
	if len(heap) == 0 {
		size.heap = stats.MedianOf(live)
	}
	return liveSize{stats.MedianOf(live)}, size, true
}

// leastScan is the part of the live heap that counts as scanned where the collector's count is not known and the profiles
// show nearly no pointers: objects without pointers are marked, too.
const leastScan = 0.1

// pointed are the live bytes that the profiles show.
type pointed struct {
	yes, unknown, all float64 // with pointers, with or without, and all
	part              float64 // of the unknown ones that counts as pointers: the share of the known
}

func (p pointed) scan() float64 { return p.yes + p.part*p.unknown }

func pointedBytes(d *run.Data, m collectorModel) pointed {
	p := pointed{part: 1}
	bytes := d.AllBytes()
	for _, t := range d.Sites.Sorted() {
		live := m.marked(t.InUse.Mean()*m.live, t.ShareOf(bytes))
		p.all += live
		switch t.Pointerful() {
		case finding.Yes:
			p.yes += live
		case finding.Unknown:
			p.unknown += live
		}
	}
	if known := p.all - p.unknown; known > 0 {
		p.part = p.yes / known
	}
	return p
}

// maxLiveScale bounds how far in-use bytes are scaled up: a profile that shows less than
// half of the live heap says little about the rest.
const maxLiveScale = 2

// liveScale makes the sites' in-use bytes add up to the live heap that the
// collector itself counted.
func liveScale(d *run.Data, live float64) float64 {
	sum := 0.0
	for _, t := range d.Sites.Sorted() {
		sum += t.InUse.Mean()
	}
	if sum == 0 {
		return 1
	}
	return math.Min(live/sum, maxLiveScale)
}

// scanShares scales the live bytes of pointerful sites to the heap's scan
// work. Sites whose objects may or may not hold pointers get the average.
func scanShares(shown pointed, heapScan float64) scanShare {
	if shown.scan() == 0 {
		return scanShare{}
	}
	k := min(heapScan/shown.scan(), 1)
	return scanShare{k, k * shown.part}
}
