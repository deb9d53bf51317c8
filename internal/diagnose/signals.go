package diagnose

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/kernel"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Sign is something that shows on the stack of a CPU sample beside the bucket
// that the sample is in.
type Sign int

// The signs.
const (
	SignFinalizer   Sign = iota // registers, queues or runs a finalizer or a cleanup
	SignStackScan               // marks from a goroutine's stack
	SignStackGrowth             // copies a goroutine's stack to a larger one
	SignStackShrink             // copies it to a smaller one
	signCount
)

// signSet is a set of Signs, a bit for each.
type signSet uint8

// signNames tell the signs, Go 1.21 to 1.27. Copying a stack is told by
// growing and shrinking together: see signTally.
var signNames = [signCount][]string{
	SignFinalizer: {"runtime.runFinalizers*", "runtime.runfinq*", "runtime.runCleanups*", "runtime.callCleanup*", "runtime.SetFinalizer*", "runtime.AddCleanup*",
		"runtime.addfinalizer", "runtime.addCleanup", "runtime.queuefinalizer", "runtime.(*cleanupQueue)*", "runtime.createfing"},
	SignStackScan:   {"runtime.scanstack"},
	SignStackGrowth: {"runtime.copystack"},
	SignStackShrink: {"runtime.shrinkstack"},
}

// signs returns what a function is a sign of.
func (t *frameTable) signs(function string) signSet {
	var out signSet
	for s, names := range signNames {
		if matchName(function, names) {
			out |= 1 << s
		}
	}
	return out
}

// signTally counts CPU samples by sign, and by the function that the user can
// name: the innermost one outside the standard library.
type signTally struct {
	samples [signCount]float64
	by      [signCount]map[string]float64
}

func (t *signTally) add(c *classifier, stack []*evidence.Location, n float64) {
	var set signSet
	for _, l := range stack {
		set |= c.loc(l).signs
	}
	if set == 0 {
		return
	}
	if set&(1<<SignStackShrink) != 0 {
		set &^= 1 << SignStackGrowth
	}
	name := c.named(stack)
	for s := range t.samples {
		if set&(1<<s) == 0 {
			continue
		}
		t.samples[s] += n
		if t.by[s] == nil {
			t.by[s] = map[string]float64{}
		}
		t.by[s][name] += n
	}
}

// named is the innermost function of the user's or another module's; "" on a
// stack without any.
func (c *classifier) named(stack []*evidence.Location) string {
	for _, l := range stack {
		for i, f := range c.loc(l).frames {
			if f.owner != ownerRuntime && f.owner != ownerStd {
				return strings.TrimSuffix(l.Frames[i].Function, "[...]")
			}
		}
	}
	return ""
}

// Signals is what the recording of one run holds beside its sites. It belongs
// to the diagnosis: callers must not change it.
type Signals struct {
	Run         string
	Benchmark   bool
	Environment evidence.Environment
	Window      time.Duration      // that the collector's log is of; 0: not known
	Logged      bool               // there is a gctrace log, which may hold no cycle
	Cycles      []evidence.Cycle   // of the window, forced ones included
	Metrics     []evidence.Metrics // samples of runtime/metrics
	Kernel      *kernel.Work       // nil without a recording of perf

	CPUSeconds float64        // sampled, without idle marking; 0 without CPU samples
	Samples    float64        // behind it
	Collector  stats.Interval // share of that: the collector, assists included
	Scavenge   stats.Interval // and giving memory back

	run *runCosts
}

// Share is the part of the run's CPU that shows a sign, zero without CPU
// samples.
func (s Signals) Share(of Sign) stats.Interval {
	if s.CPUSeconds == 0 {
		return stats.Interval{}
	}
	return stats.Share(s.run.signs.samples[of], s.run.charged)
}

// Where names the functions in which a sign shows most, at most n.
func (s Signals) Where(of Sign, n int) []string {
	by := s.run.signs.by[of]
	var names []string
	for name := range by {
		if name != "" {
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool {
		if by[names[i]] != by[names[j]] {
			return by[names[i]] > by[names[j]]
		}
		return names[i] < names[j]
	})
	return slices.Clip(names[:min(n, len(names))])
}

// Metric returns the samples of one metric, in order.
func (s Signals) Metric(name string) []float64 { return collectorLog{metrics: s.Metrics}.metric(name) }

// Signals returns those of every run, in the order of the recording.
func (s *Session) Signals() []Signals {
	out := make([]Signals, 0, len(s.runs))
	for _, r := range s.runs {
		s := Signals{
			Run: r.run.Name, Benchmark: r.bench, Environment: s.diagnosis.Environment, Window: r.collector.window, Logged: r.collector.logged,
			Cycles: r.collector.cycles, Metrics: r.collector.metrics, Kernel: r.kernel, run: r,
		}
		if r.charged > 0 {
			s.CPUSeconds, s.Samples = r.charged*r.period, r.charged
			s.Collector, _ = meanShare([]*runCosts{r}, func(b bucket) bool { return bucketInfo[b].collector || b == bucketAssist })
			s.Scavenge, _ = meanShare([]*runCosts{r}, func(b bucket) bool { return b == bucketScavenge })
		}
		out = append(out, s)
	}
	return out
}
