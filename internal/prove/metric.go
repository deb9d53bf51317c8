package prove

import (
	"slices"
	"strings"
)

// Metric is a quantity that runs measure.
type Metric struct {
	Unit   string   // as in Go benchmark text; names the metric
	Label  string   // for people
	Sense  int      // -1: less is better, +1: more is better, 0: neither
	Count  bool     // counted, not timed: the same work gives the same value
	Judged bool     // by default
	kinds  []string // of target that have it
}

// Units of the metrics that are not benchmarks' own.
const (
	unitTime   = "ns/op"
	unitBytes  = "B/op"
	unitAllocs = "allocs/op"
	unitCPUOp  = "cpu-ns/op"
	unitWall   = "sec"
	unitCPU    = "cpu-sec"
	unitReqs   = "req/s"
	unitCPUReq = "cpu-ns/req"
	unitCycles = "gc-cycles"
	unitGCCPU  = "gc-cpu-share"
	unitAssist = "gc-assist-share"
	unitHeap   = "peak-heap-bytes"
	unitRSS    = "peak-RSS-bytes"
	unitPause  = "gc-pause-max-ns"
	unitPauses = "gc-pause-total-ns"
	unitPerSec = "MB/s"

	unitPauseP50 = "gc-pause-p50-ns"
	unitPauseP99 = "gc-pause-p99-ns"
	unitP50      = "latency-p50-ns"
	unitP90      = "latency-p90-ns"
	unitP99      = "latency-p99-ns"
	unitMax      = "latency-max-ns"
	unitFailed   = "failed-req-share"
)

// metrics are all that have a meaning of their own, in the order of reports.
func metrics() []Metric {
	all := []string{KindPackages, KindCommand, KindLoad}
	bench, command, load := all[:1], all[1:2], all[2:]
	return []Metric{
		{unitTime, "time", -1, false, true, bench},
		{unitBytes, "bytes", -1, true, true, bench},
		{unitAllocs, "allocations", -1, true, true, bench},
		{unitCPUOp, "CPU", -1, false, false, bench},
		{unitWall, "time", -1, false, true, command},
		{unitCPU, "CPU", -1, false, true, command},
		{unitReqs, "throughput", +1, false, true, load},
		{unitCPUReq, "CPU per request", -1, false, true, load},
		{unitP50, "latency p50", -1, false, false, load},
		{unitP90, "latency p90", -1, false, false, load},
		{unitP99, "latency p99", -1, false, false, load},
		{unitMax, "longest latency", -1, false, false, load},
		{unitFailed, "failed requests", -1, false, false, load},
		{unitCPU, "CPU", -1, false, false, load},
		{unitCycles, "GC cycles", -1, true, false, all},
		{unitGCCPU, "GC share of CPU", -1, false, false, all},
		{unitAssist, "assist share of CPU", -1, false, false, all},
		{unitPauseP50, "pause p50", -1, false, false, all},
		{unitPauseP99, "pause p99", -1, false, false, all},
		{unitPause, "longest pause", -1, false, false, all},
		{unitPauses, "pauses", -1, false, false, all},
		{unitHeap, "peak heap", -1, false, false, all},
		{unitRSS, "peak RSS", -1, false, false, all},
	}
}

// metricsFor are the metrics of a kind of target, "" for any, with those judged
// that gate names, and behind them the units that only benchmarks know.
func metricsFor(kind string, gate []string, units []string) []Metric {
	var out []Metric
	for _, m := range metrics() {
		if kind != "" && !slices.Contains(m.kinds, kind) || !slices.Contains(units, m.Unit) {
			continue
		}
		if len(gate) > 0 {
			m.Judged = slices.Contains(gate, m.Unit)
		}
		out = append(out, m)
	}
	for _, u := range slices.Sorted(slices.Values(units)) {
		if !slices.ContainsFunc(metrics(), func(m Metric) bool { return m.Unit == u }) {
			out = append(out, Metric{Unit: u, Label: u, Sense: sense(u), Judged: slices.Contains(gate, u)})
		}
	}
	return out
}

// sense guesses what is better of a benchmark's own unit: rates should be
// high, what is spent on an operation low. Of others it is not known.
func sense(u string) int {
	switch {
	case strings.HasSuffix(u, "/s"):
		return +1
	case strings.HasSuffix(u, "/op"):
		return -1
	}
	return 0
}

// Gates lists the units that a target of the kind can be judged by.
func Gates(kind string) []string {
	var out []string
	for _, m := range metrics() {
		if slices.Contains(m.kinds, kind) {
			out = append(out, m.Unit)
		}
	}
	return out
}
