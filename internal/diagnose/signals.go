package diagnose

import (
	"slices"
	"sort"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/kernel"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Signals is the recording of one run without its sites. It belongs to the diagnosis:
// callers must not change it.
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
func (s Signals) Share(of stack.Sign) stats.Interval {
	if s.CPUSeconds == 0 {
		return stats.Interval{}
	}
	return stats.Share(s.run.counts.Sign(of), s.run.cpu.charged)
}

// Where names the functions with most samples of a sign, at most n.
func (s Signals) Where(of stack.Sign, n int) []string {
	by := s.run.Signs.By[of]
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
func (s Signals) Metric(name string) []float64 {
	return run.CollectorLog{Metrics: s.Metrics}.Metric(name)
}

// Signals returns those of every run, in the order of the recording.
func (s *Session) Signals() []Signals {
	out := make([]Signals, 0, len(s.runs))
	for _, r := range s.runs {
		s := Signals{
			Run: r.Run.Name, Benchmark: r.Bench, Environment: s.diagnosis.Environment, Window: r.Collector.Window,
			Logged: r.Collector.Logged,
			Cycles: r.Collector.Cycles, Metrics: r.Collector.Metrics, Kernel: r.Kernel, run: r,
		}
		if r.cpu.charged > 0 {
			s.CPUSeconds, s.Samples = r.cpu.charged*r.CPU.Period, r.cpu.charged
			s.Collector, _ = meanShare(
				[]*runCosts{r},
				func(b stack.Bucket) bool { return stack.BucketInfo[b].Collector || b == stack.BucketAssist },
			)
			s.Scavenge, _ = meanShare([]*runCosts{r}, func(b stack.Bucket) bool { return b == stack.BucketScavenge })
		}
		out = append(out, s)
	}
	return out
}
