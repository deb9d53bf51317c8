package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// collectorLog is what the logs of one run say of the collector.
type collectorLog struct {
	cycles []evidence.Cycle // of the window, forced ones included
	window time.Duration    // 0: not known
	logged bool             // there is a log, which may hold no cycle
	all    int              // cycles of the whole process, a benchmark's set-up and forced ones included
	forced int              // of all
	ops    int64            // operations of a benchmark behind all
	logs   int              // processes behind all
	// Processor time of a benchmark's cycles: those of its measured run, and
	// those of its set-up and the ones that package testing forces.
	inside, outside time.Duration
	metrics         []evidence.Metrics
	stats           []metrics.MemStats // at the start and the end of a live service's window
}

// automatic returns the cycles that the pacer started.
func (l collectorLog) automatic() []evidence.Cycle {
	var out []evidence.Cycle
	for _, c := range l.cycles {
		if !c.Forced {
			out = append(out, c)
		}
	}
	return out
}

// allocRate is what the program allocated per second as the runtime itself
// counts it; 0 when not known.
func (l collectorLog) allocRate() float64 {
	const name = "/gc/heap/allocs:bytes"
	n := len(l.metrics)
	if n < 2 {
		return 0
	}
	first, last := l.metrics[0], l.metrics[n-1]
	if sec := (last.At - first.At).Seconds(); sec > 0 && last.Values[name] > 0 {
		return (last.Values[name] - first.Values[name]) / sec
	}
	return 0
}

// gogc is the setting that the program ran with in the end, which it may have
// changed itself; "" when not known.
func (l collectorLog) gogc() string {
	v := l.metric("/gc/gogc:percent")
	if len(v) == 0 {
		return ""
	}
	if last := v[len(v)-1]; last < maxPercent {
		return strconv.Itoa(int(last))
	}
	return "off"
}

// The runtime reports "off" as the largest number there is.
const (
	maxPercent = 1 << 31
	maxHeap    = 1 << 60
)

// goals are the heap goals that were sampled, without those of a program that
// has none.
func (l collectorLog) goals() []float64 {
	return slices.DeleteFunc(l.metric("/gc/heap/goal:bytes"), func(v float64) bool { return v >= maxHeap })
}

// part is the share of the collector's work that belongs to the measured run;
// 1 when the log does not tell.
func (l collectorLog) part() float64 {
	if l.inside+l.outside <= 0 {
		return 1
	}
	return float64(l.inside) / float64(l.inside+l.outside)
}

// windowed keeps the cycles that ended in the last d before end.
func windowed(cycles []evidence.Cycle, end, d time.Duration) []evidence.Cycle {
	var out []evidence.Cycle
	for _, c := range cycles {
		if c.At >= end-d && c.At <= end {
			out = append(out, c)
		}
	}
	return out
}

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
	// live scales in-use bytes to the live heap that was measured: heap profiles
	// are samples, and all sites together keep alive what is alive.
	live float64
}

// scanShare turns live bytes into scan work: pointer-free objects cost none,
// and the others are scaled so that all sites together make up the scan work
// that the pacer counted.
type scanShare struct{ pointerful, unknown float64 }

// site is a tally in the units of the model; share is its part of all bytes
// allocated.
func (m collectorModel) site(t *siteTally, share float64) gcmodel.Site {
	live := t.inUse.mean() * m.live
	s := gcmodel.Site{AllocRate: share, Live: live}
	marked := m.marked(live, share)
	switch t.pointerful() {
	case finding.Yes:
		s.Scan = marked * m.scan.pointerful
	case finding.Unknown:
		s.Scan = marked * m.scan.unknown
	}
	return s
}

// marked is what of a site's live bytes a cycle has to mark. Objects that are
// allocated while it marks count as alive, and nobody looks into them.
func (m collectorModel) marked(live, share float64) float64 {
	return math.Max(0, live-share*m.workload.MarkAlloc)
}

// churn is the part of the collector's cost that goes by bytes allocated; the
// rest is retention. Without a model all of it does.
func (m collectorModel) churn() float64 {
	if !m.known {
		return 1
	}
	return m.marginal.PerAlloc
}

// pointerful is the vote on whether the site's objects hold pointers.
func (t *siteTally) pointerful() finding.Tri {
	switch {
	case t.pointers[finding.Yes] > t.pointers[finding.No]:
		return finding.Yes
	case t.pointers[finding.No] > 0:
		return finding.No
	}
	return finding.Unknown
}

// fitCollector fits the model to one run.
func fitCollector(d *runData, env evidence.Environment) collectorModel {
	var m collectorModel
	cycles := d.collector.automatic()
	live, scan, ok := liveAndScan(d, env)
	switch {
	case !ok:
		m.why = "not known: needs a gctrace log or runtime/metrics of the run"
		return m
	case !d.hasInUse:
		m.why = "not known: needs a heap profile taken while the program runs"
		return m
	}
	switch g := d.collector.gogc(); {
	case g != "":
		env.GOGC = g
	case len(cycles) == 0 && len(d.collector.stats) > 0:
		told, _ := d.goalOf(d.collector.stats[len(d.collector.stats)-1], env) // none has no gogc
		env.GOGC = cmp.Or(told.gogc, env.GOGC)
	}
	set, err := settingOf(env)
	if err != nil {
		m.why = "not known: " + err.Error()
		return m
	}
	m.setting = set
	m.workload = gcmodel.Workload{
		AllocRate: 1, Live: live.heap, HeapScan: scan.heap, Stacks: scan.stacks, Globals: scan.globals,
		MarkAlloc: whileMarking(cycles),
		NonHeap:   d.collector.nonHeap(), CollectorCost: 1,
	}
	fit := gcmodel.Fit(cycles)
	m.workload.FixedShare = fit.FixedShare.Value
	m.marginal, err = gcmodel.Prices(m.workload, m.setting)
	if err != nil {
		m.why = "not known: " + err.Error()
		return m
	}
	m.live = liveScale(d, live.heap)
	m.scan = scanShares(d, m, scan.heap)
	m.known = true
	m.why = fmt.Sprintf("in-use bytes of %d heap profiles in the run, %d cycles, %s", d.snapshots, len(cycles), pace(m.marginal.Regime))
	return m
}

// whileMarking is how much is allocated while a cycle marks, in bytes: by the
// pacer's lines, or else by the cycles', which count in MiB; 0 where these do not
// tell it to within an eighth.
func whileMarking(cycles []evidence.Cycle) float64 {
	var all []float64
	var exact meanOf
	for _, c := range cycles {
		all = append(all, float64(c.HeapEnd-c.HeapStart))
		if c.Pacer != nil {
			exact.add(float64(c.Pacer.End - c.Pacer.Trigger))
		}
	}
	if exact.n > 0 {
		return math.Max(0, exact.mean())
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

type scanSize struct{ heap, stacks, globals float64 }

// liveAndScan returns the medians over the cycles, exact from the pacer's
// lines or from runtime/metrics, in MiB steps from gctrace alone.
func liveAndScan(d *runData, env evidence.Environment) (liveSize, scanSize, bool) {
	l := d.collector
	cycles := l.automatic()
	var heap, stacks, globals, live []float64
	for _, c := range cycles {
		live = append(live, roundedUp(c.HeapLive))
		if c.Pacer != nil {
			heap = append(heap, float64(c.Pacer.HeapScan))
			stacks = append(stacks, float64(c.Pacer.StackScan))
			globals = append(globals, float64(c.Pacer.GlobalScan))
		} else {
			stacks = append(stacks, float64(c.Stacks))
			globals = append(globals, float64(c.Globals))
		}
	}
	if len(live) == 0 {
		live = l.metric("/gc/heap/live:bytes")
	}
	if v := l.metric("/gc/scan/heap:bytes"); len(v) > 0 && len(heap) == 0 {
		heap, stacks, globals = v, l.metric("/gc/scan/stack:bytes"), l.metric("/gc/scan/globals:bytes")
	}
	if len(live) == 0 && len(l.stats) > 0 {
		if told, ok := d.goalOf(l.stats[len(l.stats)-1], env); ok {
			live = []float64{told.live}
		}
	}
	if len(live) == 0 {
		return liveSize{}, scanSize{}, false
	}
	size := scanSize{stats.MedianOf(heap), stats.MedianOf(stacks), stats.MedianOf(globals)}
	if len(heap) == 0 {
		size.heap = stats.MedianOf(live)
	}
	return liveSize{stats.MedianOf(live)}, size, true
}

// roundedUp undoes what gctrace does to sizes: it cuts them to whole MiB, so
// the middle of the step is the best guess.
func roundedUp(b unit.Bytes) float64 { return float64(b) + float64(unit.MiB)/2 }

// metric returns a metric's samples.
func (l collectorLog) metric(name string) []float64 {
	var v []float64
	for _, m := range l.metrics {
		if x, ok := m.Values[name]; ok {
			v = append(v, x)
		}
	}
	return v
}

// nonHeap is the memory that counts against a limit and is not heap objects.
func (l collectorLog) nonHeap() float64 {
	part := func(name string) float64 { return stats.MedianOf(l.metric(name)) }
	total := part("/memory/classes/total:bytes")
	if total == 0 {
		return 0
	}
	return total - part("/memory/classes/heap/released:bytes") - part("/memory/classes/heap/free:bytes") - part("/memory/classes/heap/objects:bytes")
}

// maxLiveScale bounds how far in-use bytes are scaled up: a profile that shows
// less than half of the live heap says little of the rest.
const maxLiveScale = 2

// liveScale makes the sites' in-use bytes add up to the live heap that the
// collector itself counted.
func liveScale(d *runData, live float64) float64 {
	sum := 0.0
	for _, t := range d.sites.sites {
		sum += t.inUse.mean()
	}
	if sum == 0 {
		return 1
	}
	return math.Min(live/sum, maxLiveScale)
}

// scanShares scales the live bytes of pointerful sites to the heap's scan
// work. Sites whose objects may or may not hold pointers get the average.
func scanShares(d *runData, m collectorModel, heapScan float64) scanShare {
	var yes, unknown, all float64
	bytes := d.allBytes()
	for _, t := range d.sites.sites {
		live := m.marked(t.inUse.mean()*m.live, t.shareOf(bytes))
		all += live
		switch t.pointerful() {
		case finding.Yes:
			yes += live
		case finding.Unknown:
			unknown += live
		}
	}
	if yes+unknown == 0 {
		return scanShare{}
	}
	// Unknown ones count by the share of pointerful bytes among the known.
	part := 1.0
	if known := all - unknown; known > 0 {
		part = yes / known
	}
	if yes+part*unknown == 0 {
		return scanShare{}
	}
	k := min(heapScan/(yes+part*unknown), 1)
	return scanShare{k, k * part}
}

// settingOf reads the collector's settings as the runtime does.
func settingOf(env evidence.Environment) (gcmodel.Setting, error) {
	s := gcmodel.Setting{GOGC: 100}
	switch g := strings.TrimSpace(env.GOGC); g {
	case "":
	case "off":
		s.GOGC = -1
	default:
		n, err := strconv.Atoi(g)
		if err != nil {
			return s, fmt.Errorf("GOGC=%q is not a number", g)
		}
		s.GOGC = n
	}
	if l := strings.TrimSpace(env.GOMEMLIMIT); l != "" && l != "off" {
		v, err := unit.ParseBytes(l)
		if err != nil {
			return s, fmt.Errorf("GOMEMLIMIT: %w", err)
		}
		s.Limit = v
	}
	return s, nil
}
