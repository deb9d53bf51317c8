package run

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// CollectorLog is the collector's part of the logs of one run.
type CollectorLog struct {
	Cycles []evidence.Cycle // of the window, forced ones included
	Window time.Duration    // 0: not known
	Logged bool             // there is a log, which may hold no cycle
	All    int              // cycles of the whole process, a benchmark's set-up and forced ones included
	Forced int              // of All
	Ops    int64            // operations of a benchmark behind All
	Logs   int              // processes behind All
	// Processor time of a benchmark's cycles: those of its measured run, and
	// those of its set-up and the ones that package testing forces.
	inside, outside time.Duration
	Metrics         []evidence.Metrics
	Stats           []metrics.MemStats // at the start and the end of a live service's window
	Service         Observed
}

// Observed is how a service was observed; zero for a benchmark.
type Observed struct {
	Unprofiled  bool          // collections are those of a pass without a profile
	Profiled    float64       // collections a second while the service was profiled; 0: not known
	Stats       time.Duration // between the first and the last MemStats; 0: not known
	Resident    unit.Bytes    // largest resident set, without the recorder's part; 0: not known
	OwnLive     unit.Bytes    // of the recorder, subtracted from sizes of the heap
	OwnResident unit.Bytes    // of the recorder, subtracted from Resident
}

// Automatic returns the cycles that the pacer started.
func (l CollectorLog) Automatic() []evidence.Cycle {
	var out []evidence.Cycle
	for _, c := range l.Cycles {
		if !c.Forced {
			out = append(out, c)
		}
	}
	return out
}

// Lives are the sizes of the live heap, and Goals the heap goals of the same moments: by
// samples of the runtime's metrics, which are exact, or by cycles, in whole MiB.
func (l CollectorLog) Lives() (live, goals []float64) {
	live, goals = l.sampledCycles()
	auto := l.Automatic()
	if len(live) >= fewSamples || len(auto) <= len(live) {
		if len(goals) == 0 {
			goals = l.Goals()
		}
		if len(goals) > 0 || len(auto) == 0 {
			return live, goals
		}
	}
	live, goals = nil, nil
	for _, c := range auto {
		live, goals = append(live, RoundedUp(c.HeapLive)), append(goals, float64(c.Goal))
	}
	return live, goals
}

// fewSamples is the least number of sampled cycles whose median is better than that of all,
// in MiB.
const fewSamples = 10

// sampledCycles are the live heap and the goal after each cycle that was followed by a
// sample. A program that has turned collection off has no goal. A short distance to the
// next cycle is rarely hit by a sample, and it is short where much is live; so what was hit
// stands for several.
func (l CollectorLog) sampledCycles() (live, goals []float64) {
	stands := l.standsFor()
	last := -1.0
	for _, m := range l.Metrics {
		v, ok := m.Values["/gc/heap/live:bytes"]
		n, counted := m.Values["/gc/cycles/total:gc-cycles"]
		if !ok || counted && n == last || counted && n == 0 {
			continue
		}
		last = n
		goal, set := m.Values["/gc/heap/goal:bytes"]
		c := evidence.Cycle{HeapLive: unit.Bytes(v), Goal: unit.Bytes(math.Min(goal, MaxHeap))}
		gctrace.Without(&c, l.Service.OwnLive)
		for range max(1, stands[int(n)]) {
			live = append(live, float64(c.HeapLive))
			if set && goal < MaxHeap {
				goals = append(goals, float64(c.Goal))
			}
		}
	}
	return live, goals
}

// standsFor returns by number of how many cycles of its length one is hit by a sample.
func (l CollectorLog) standsFor() map[int]int {
	n := len(l.Metrics)
	if n < 2 {
		return nil
	}
	const most = 50
	period := (l.Metrics[n-1].At - l.Metrics[0].At) / time.Duration(n-1)
	out := map[int]int{}
	for i, c := range l.Cycles[:max(0, len(l.Cycles)-1)] {
		if d := l.Cycles[i+1].At - c.At; d > 0 && d < period {
			out[c.N] = int(math.Min(most, math.Round(float64(period)/float64(d))))
		}
	}
	return out
}

// allocRate is the bytes allocated per second by the runtime's own count; 0 when not known.
func (l CollectorLog) allocRate() float64 {
	const name = "/gc/heap/allocs:bytes"
	if m := len(l.Stats); m >= 2 && l.Service.Stats > 0 {
		return float64(l.Stats[m-1].TotalAlloc-l.Stats[0].TotalAlloc) / l.Service.Stats.Seconds()
	}
	n := len(l.Metrics)
	if n < 2 {
		return 0
	}
	first, last := l.Metrics[0], l.Metrics[n-1]
	if sec := (last.At - first.At).Seconds(); sec > 0 && last.Values[name] > 0 {
		return (last.Values[name] - first.Values[name]) / sec
	}
	return 0
}

// Gogc is the setting of the program at the end, which it may have changed itself; "" when
// not known.
func (l CollectorLog) Gogc() string {
	v := l.Metric("/gc/gogc:percent")
	if len(v) == 0 {
		return ""
	}
	if last := v[len(v)-1]; last < maxPercent {
		return strconv.Itoa(int(last))
	}
	return "off"
}

// MemLimit is the memory limit of the program at the end, which it may have set itself, as GOMEMLIMIT takes it, in MiB;
// "" when not known.
func (l CollectorLog) MemLimit() string {
	v := l.Metric("/gc/gomemlimit:bytes")
	if len(v) == 0 {
		return ""
	}
	if last := v[len(v)-1]; last < MaxHeap {
		return strconv.FormatInt(int64(last)>>20, 10) + "MiB"
	}
	return "off"
}

// The runtime reports "off" as the largest number there is.
const (
	maxPercent = 1 << 31
	MaxHeap    = 1 << 60
)

// Goals are the heap goals that were sampled, without those of a program that
// has none.
func (l CollectorLog) Goals() []float64 {
	return slices.DeleteFunc(l.Metric("/gc/heap/goal:bytes"), func(v float64) bool { return v >= MaxHeap })
}

// Part is the share of the collector's work that belongs to the measured run; 1 if the log
// does not show it.
func (l CollectorLog) Part() float64 {
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

// RoundedUp corrects sizes that gctrace cut to whole MiB: the middle of the step is the best
// guess.
func RoundedUp(b unit.Bytes) float64 { return float64(b) + float64(unit.MiB)/2 }

// Metric returns a metric's samples.
func (l CollectorLog) Metric(name string) []float64 {
	var v []float64
	for _, m := range l.Metrics {
		if x, ok := m.Values[name]; ok {
			v = append(v, x)
		}
	}
	return v
}

// NonHeap is the memory other than heap objects that counts against a limit; 0 when not known.
func (l CollectorLog) NonHeap() float64 {
	part := func(name string) float64 { return stats.MedianOf(l.Metric(name)) }
	total := part("/memory/classes/total:bytes")
	if total == 0 {
		tables, slots := l.Mapped()
		return tables + slots
	}
	return total - part(
		"/memory/classes/heap/released:bytes",
	) - part("/memory/classes/heap/free:bytes") - part("/memory/classes/heap/objects:bytes")
}

// Mapped is what a service's MemStats show beside heap objects: stacks and tables of the runtime,
// and free slots of the heap's spans. Medians, in bytes; 0 when not known.
func (l CollectorLog) Mapped() (tables, slots float64) {
	var outside, free []float64
	for _, m := range l.Stats {
		if m.Sys > m.HeapSys && m.HeapInuse >= m.HeapAlloc {
			outside, free = append(outside, float64(m.Sys-m.HeapSys)), append(free, float64(m.HeapInuse-m.HeapAlloc))
		}
	}
	return stats.MedianOf(outside), stats.MedianOf(free)
}

// SettingOf reads the collector's settings as the runtime does.
func SettingOf(env evidence.Environment) (gcmodel.Setting, error) {
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
