// Package detect finds avoidable costs of the collector and the kernel that belong to no
// line: finalizers, goroutines' stacks, NUMA balancing, memory given back and taken again,
// more workers than processors, forced collections, and others. A detector gives its
// evidence, an amount, and what to do. Without the evidence it needs, it is silent.
package detect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Detector is one entry of the list.
type Detector struct {
	Name  string
	Needs string // the evidence without which it is silent
	find  func(*diagnose.Signals) (finding.Detection, bool)
}

// Detectors lists all of them.
func Detectors() []Detector {
	const log, cpu, metrics = "a gctrace log", "CPU samples", "runtime/metrics"
	return []Detector{
		{"finalizers", cpu, finalizers},
		{"finalizer-backlog", metrics, backlog},
		{"stack-scan", cpu, stackScan},
		{"stack-growth", cpu, stackGrowth},
		{"stack-shrink", cpu, stackShrink},
		{"numa-balancing", "CPU samples of perf", numa},
		{"huge-page-work", "CPU samples of perf", hugePages},
		{"refault", cpu + ", " + metrics, refault},
		{"worker-surplus", log + ", the number of processors", workers},
		{"forced-collections", log, forced},
		{"periodic-collections", log, periodic},
		{"tiny-heap", log, tinyHeap},
		{"limiter", metrics, limiter},
	}
}

// leastShare is the least share of CPU, or of time if CPU is not known, that is reported:
// the threshold of a cure.
const leastShare = finding.DefaultThreshold

// Run asks every detector about every run and returns what each found in the
// run where it is worst, in the order of Detectors.
func Run(signals []diagnose.Signals) []finding.Detection {
	var out []finding.Detection
	for _, d := range Detectors() {
		var worst *finding.Detection
		for i := range signals {
			found, ok := d.find(&signals[i])
			if ok && (worst == nil || found.Amount > worst.Amount) {
				found.Detector, found.Run = d.Name, signals[i].Run
				worst = &found
			}
		}
		if worst != nil {
			out = append(out, *worst)
		}
	}
	return out
}

// Advice turns detections into advice on the program as a whole and appends it to the
// existing advice. If more headroom is advised already, a heap that is too small adds to its
// reasons. What saves most comes first. runs is the number of runs in the recording.
func Advice(already []finding.Advice, found []finding.Detection, runs int) []finding.Advice {
	advice := slices.Clone(already)
	for _, f := range found {
		safety := string(cures.Advice)
		if c, ok := cures.Find(f.Code); ok {
			safety = string(c.Safety)
		}
		why := f.Evidence
		if runs > 1 {
			why = f.Run + ": " + why
		}
		if f.Detector == "tiny-heap" && addWhy(advice, f.Code, why) {
			continue
		}
		advice = append(advice, finding.Advice{
			Title: f.Title,
			Remedy: finding.Remedy{
				Code: f.Code, Safety: safety, Text: f.Text, Why: why, Saves: finding.Prediction{CPU: f.Saves, Basis: f.Basis},
			},
		})
	}
	slices.SortStableFunc(advice, func(a, b finding.Advice) int {
		return cmp.Compare(b.Remedy.Saves.CPU.Value, a.Remedy.Saves.CPU.Value)
	})
	return advice
}

// addWhy adds a reason to the advice that names the same cure.
func addWhy(advice []finding.Advice, code, why string) bool {
	for i := range advice {
		if advice[i].Remedy.Code == code {
			advice[i].Remedy.Why += "; " + why
			return true
		}
	}
	return false
}

// fewSamples are too few for a report, whatever their share.
const fewSamples = 5

// worth reports whether a share of a number of samples is large enough, not based on a few samples, and
// larger than its uncertainty as percent prints it.
func worth(share stats.Interval, samples float64) bool {
	return share.Value >= leastShare && share.Low >= leastShare/2 && share.Value*samples >= fewSamples && halfWidth(share) < share.Value
}

// halfWidth is the larger half of an interval.
func halfWidth(i stats.Interval) float64 { return max(i.High-i.Value, i.Value-i.Low) }

// percent prints a share with the larger half of its interval.
func percent(i stats.Interval) string {
	if h := halfWidth(i); h > 0 {
		return fmt.Sprintf("%.1f %% ±%.1f", 100*i.Value, 100*h)
	}
	return fmt.Sprintf("%.1f %%", 100*i.Value)
}

// where joins the functions in which a sign shows.
func where(s *diagnose.Signals, sign stack.Sign) string {
	names := s.Where(sign, 3)
	if len(names) == 0 {
		return ""
	}
	return ", most under " + strings.Join(names, ", ")
}

// cyclesCPU is the CPU time of cycles, without idle marking.
func cyclesCPU(list []evidence.Cycle, which func(evidence.Cycle) bool) (sum time.Duration, n int) {
	for _, c := range list {
		if which(c) {
			sum += c.CPU()
			n++
		}
	}
	return sum, n
}

func every(evidence.Cycle) bool { return true }

// collected is the share that some cycles take: of the sampled CPU by their
// part of the collector's, or of the time of all Ps where nothing was sampled.
func collected(s *diagnose.Signals, which func(evidence.Cycle) bool) (share stats.Interval, of string, n int) {
	part, n := cyclesCPU(s.Cycles, which)
	all, _ := cyclesCPU(s.Cycles, every)
	switch {
	case n == 0 || all == 0:
		return stats.Interval{}, "", n
	case s.CPUSeconds > 0:
		return s.Collector.Scale(float64(part) / float64(all)), "of CPU", n
	case s.Window > 0:
		procs := float64(max(s.Cycles[0].Procs, 1))
		return stats.Exact(float64(part) / (float64(s.Window) * procs)), fmt.Sprintf("of the time of %.0f Ps", procs), n
	}
	return stats.Interval{}, "", n
}

// rise is the growth of a counter over the recording, and how long that is.
func rise(s *diagnose.Signals, name string) (growth float64, length time.Duration, ok bool) {
	var first, last *evidence.Metrics
	for i := range s.Metrics {
		if _, has := s.Metrics[i].Values[name]; has {
			if first == nil {
				first = &s.Metrics[i]
			}
			last = &s.Metrics[i]
		}
	}
	if first == last {
		return 0, 0, false
	}
	return last.Values[name] - first.Values[name], last.At - first.At, last.At > first.At
}

// last is the newest sample of a gauge.
func last(s *diagnose.Signals, name string) (float64, bool) {
	v := s.Metric(name)
	if len(v) == 0 {
		return 0, false
	}
	return v[len(v)-1], true
}
