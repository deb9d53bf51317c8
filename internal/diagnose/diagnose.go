// Package diagnose turns a recording into findings: it decomposes CPU time
// into what memory management costs, attributes it to the first source line
// the user can change, and says why each value is on the heap.
package diagnose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Options tunes Bundle. The zero value is ready to use.
type Options struct {
	Own     []string // import-path patterns of the code the user can change; none: the main module, then its workspace
	Escapes bool     // ask the compiler why the hottest values escape, where the sources are there
	// Local is the module of the user's working directory. It counts as the target's when
	// the recording names none and holds frames of it.
	Local    evidence.Target
	NoLines  bool     // the costs of lines are not asked for, so no warning says whose they are
	Without  []string // names of corrections to skip, from correct.List
	Progress func(format string, args ...any)
}

// errNoEvidence says that a recording holds nothing to diagnose.
var errNoEvidence = errors.New("the recording holds neither a CPU profile nor an allocation profile nor a gctrace log")

// Session is a recording that has been read: its diagnosis, and answers to
// questions that need the recording itself. Its methods may read the parts
// again, so the bundle must stay open. It is not safe for concurrent use.
type Session struct {
	diagnosis *finding.Diagnosis
	runs      []*runCosts
	sites     []merged // of a finding with an ID, at ID-1
	reader    *run.Reader
}

// Diagnosis returns the result. Callers must not change it.
func (s *Session) Diagnosis() *finding.Diagnosis { return s.diagnosis }

// Open reads a recording. Parts that cannot be read become warnings of the diagnosis; an
// error means that no part could be read.
func Open(ctx context.Context, b *bundle.Bundle, o Options) (*Session, error) {
	m := b.Manifest
	d := &finding.Diagnosis{Target: m.Target, Environment: m.Environment,
		Warnings: append([]string(nil), m.Warnings...)}
	d.Warnings = append(d.Warnings, b.Problems()...)
	warn := func(format string, args ...any) { d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...)) }
	r := &run.Reader{
		B: b, Table: stack.NewTable(m.Environment.GoVersion),
		Kind: alloc.NewKinder(m.Environment.GOROOT, m.Environment.GoVersion), Warn: warn,
	}
	runs, err := readAll(ctx, r, d, o)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, noEvidence(m, d.Warnings)
	}
	d.Environment.GOMEMLIMIT = limitOf(d.Environment, busiest(runs).Collector)
	if g := busiest(runs).Collector.Gogc(); g != "" {
		d.Environment.GOGC = g
	}
	if samples(runs) < finding.FewSamples {
		for _, r := range runs {
			r.withoutShares()
		}
	}
	d.Decomposition, d.Groups = decomposition(runs), groups(runs)
	d.Totals = totals(runs, d.Environment)
	d.Runs = summaries(runs)
	for _, name := range workedOnce(d.Runs) {
		warn("%s takes less than %v ns for an operation: it does its work once, not b.N times, so what it costs for an operation means nothing", name, leastNs)
	}
	for _, what := range m.LeftOut {
		d.Gaps = append(d.Gaps, evidence.Gap{Code: evidence.GapLeftOut, What: what, Adds: "what they cost"})
	}
	d.Gaps = append(d.Gaps, m.Gaps...)
	d.Gaps = append(d.Gaps, missing(runs, d.Target)...)
	all := merge(runs)
	d.Findings, d.Excluded = rank(all, rootOf(d), len(runs))
	addCallers(d.Findings, all, r.Own, rootOf(d))
	d.Lines = lineCosts(runs, rootOf(d))
	if text := hint(all, r.Own, len(runs)); text != "" && !o.NoLines {
		warn("%s", text)
	}
	if len(o.Own) > 0 && len(d.Findings) == 0 {
		warn("no frame that allocates matches -own %s", strings.Join(o.Own, ","))
	}
	explain(ctx, d, o, warn)
	for _, run := range runs {
		run.Forget()
	}
	return &Session{d, runs, all, r}, nil
}

// leastNs is less than a processor needs for anything.
const leastNs = 0.1

// workedOnce lists the benchmarks that do not repeat their work.
func workedOnce(runs []finding.RunSummary) (names []string) {
	for _, r := range runs {
		if r.Pace.NsPerOp > 0 && r.Pace.NsPerOp < leastNs {
			names = append(names, r.Name)
		}
	}
	return names
}

// noEvidence says why there is nothing to diagnose, and what to do where the
// recording gives no reason of its own.
func noEvidence(m evidence.Manifest, warnings []string) error {
	switch {
	case len(warnings) == 0:
		return errNoEvidence
	case !m.Complete && len(m.Warnings) == 0:
		return fmt.Errorf(
			"%w: %s; record it again: an interrupt (^C) keeps what there is, a kill does not", errNoEvidence,
			warnings[0],
		)
	}
	return fmt.Errorf("%w: %s", errNoEvidence, warnings[0])
}

// readAll reads every run of the bundle. A recording that names no module is first read as
// one of the local module. If it holds no frame of that, it is read without any boundary.
func readAll(ctx context.Context, r *run.Reader, d *finding.Diagnosis, o Options) ([]*runCosts, error) {
	if l := o.Local; d.Target.ModuleDir == "" && l.Module != "" && d.Target.Module == l.Module {
		d.Target.ModuleDir, d.Target.Workspace = l.ModuleDir, l.Workspace
	}
	guess := d.Target.Module == "" && o.Local.Module != "" && len(o.Own) == 0
	if guess {
		d.Target.Module, d.Target.ModuleDir, d.Target.Workspace = o.Local.Module, o.Local.ModuleDir, o.Local.Workspace
	}
	r.Own = stack.NewOwnership(d.Target, d.Environment.GOROOT, o.Own)
	var runs []*runCosts
	users := 0
	warned := len(d.Warnings)
	for _, run := range r.B.Manifest.Runs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		data := r.Run(run)
		counts := correct.Apply(data, correct.Options{Processors: d.Environment.GOMAXPROCS, Without: o.Without})
		for _, text := range counts.Warnings {
			r.Warn("%s", text)
		}
		if text := data.Disagreement(); text != "" {
			r.Warn("%s", text)
		}
		if data.CPU.Known || data.Heap.Allocs || data.Heap.InUse || len(data.Collector.Cycles) > 0 {
			runs = append(runs, costs(data, counts, fitCollector(data, d.Environment)))
		}
		for k := range data.Sites.Sites {
			if k.By == stack.OwnerUser {
				users++
			}
		}
	}
	if guess && users == 0 {
		d.Target.Module, d.Target.ModuleDir, d.Target.Workspace = "", "", nil
		d.Warnings = d.Warnings[:warned]
		o.Local = evidence.Target{}
		return readAll(ctx, r, d, o)
	}
	return runs, nil
}

// decomposition averages the buckets of all runs with CPU samples, with equal weights.
func decomposition(runs []*runCosts) []finding.Bucket {
	out := make([]finding.Bucket, 0, stack.BucketCount)
	seen := slices.ContainsFunc(runs, func(r *runCosts) bool { return r.Kernel != nil })
	told := slices.ContainsFunc(runs, func(r *runCosts) bool { return r.CPU.Used > 0 })
	for b := range stack.BucketCount {
		if !seen && slices.Contains(stack.KernelBuckets, b) || !told && (b == stack.BucketCycleScheduler ||
			slices.Contains(correct.UnsampledBuckets, b)) {
			continue // not zero, but not known
		}
		share, ok := meanShare(runs, func(x stack.Bucket) bool { return x == b })
		if !ok {
			return nil
		}
		out = append(
			out,
			finding.Bucket{
				Name: stack.BucketInfo[b].Name, Group: stack.BucketInfo[b].Group, Share: share,
				Memory: stack.BucketInfo[b].Memory, Charged: b != stack.BucketMarkIdle,
			},
		)
	}
	return out
}

// groups adds the charged rows of the decomposition up by group.
func groups(runs []*runCosts) []finding.Bucket {
	var out []finding.Bucket
	for _, name := range stack.Groups() {
		share, ok := meanShare(runs, func(b stack.Bucket) bool {
			return b != stack.BucketMarkIdle && stack.BucketInfo[b].Group == name
		})
		if !ok {
			return nil
		}
		memory := name != stack.GroupApplication
		out = append(out, finding.Bucket{Name: name, Group: name, Share: share, Memory: memory, Charged: true})
	}
	return out
}

// meanShare is the mean over the runs of the share of CPU in some buckets,
// with the relative interval of the pooled samples. It is false without any
// samples.
func meanShare(runs []*runCosts, in func(stack.Bucket) bool) (stats.Interval, bool) {
	var n, mean, samples, total float64
	for _, r := range runs {
		if r.cpu.charged == 0 {
			continue
		}
		n++
		total += r.cpu.charged
		for b, v := range r.cpu.buckets {
			if in(stack.Bucket(b)) {
				mean += v / r.cpu.charged
				samples += v
			}
		}
	}
	if n == 0 {
		return stats.Interval{}, false
	}
	i := stats.Share(samples, total)
	if i.Value > 0 {
		// If the mean over the runs differs from the pooled share, the interval keeps its
		// relative width.
		i = i.Scale(mean / n / i.Value)
	}
	return i, true
}

// missing lists the gaps: what is not known, and what would tell it.
func missing(runs []*runCosts, t evidence.Target) []evidence.Gap {
	var has struct{ cpu, allocs, inUse, cycles, raw, used, lines, cycleCost bool }
	has.raw, has.used = true, true
	for _, r := range runs {
		has.cpu = has.cpu || r.cpu.charged > 0
		has.allocs = has.allocs || r.Heap.Allocs
		has.inUse = has.inUse || r.Heap.InUse
		has.cycles = has.cycles || r.Collector.Logged || len(r.Collector.Stats) > 0
		has.used = has.used && !correct.HiddenBursts(r.Data)
		has.raw = has.raw && (r.Heap.Raw || !r.Heap.Allocs)
		has.cycleCost = has.cycleCost || r.Run.CycleCost != nil || !r.Bench || len(r.Collector.Automatic()) == 0
		has.lines = has.lines || r.Run.CacheMiss != nil || !r.CPU.Known || !r.Heap.Allocs
	}
	var out []evidence.Gap
	add := func(have bool, code evidence.GapCode, what, adds string) {
		if !have {
			out = append(out, evidence.Gap{Code: code, What: what, Adds: adds})
		}
	}
	profile := "a CPU profile"
	if n := samples(runs); n > 0 {
		profile += fmt.Sprintf(" of %d samples or more (record under load, or for longer)", finding.FewSamples)
	}
	add(has.cpu, evidence.GapCPU, profile, "the decomposition of CPU time and what each site costs in CPU")
	add(
		has.allocs, evidence.GapAllocs, "an allocs profile",
		"bytes and objects of each site, and the collector's cost through them",
	)
	add(
		has.inUse, evidence.GapInUse, "a heap profile taken while the program runs",
		"lifetimes, and what retained memory costs the collector",
	)
	add(
		has.cycles, evidence.GapCycles, "a gctrace log (GODEBUG=gctrace=1,gcpacertrace=1)",
		"collection cycles, live heap, goal and pauses",
	)
	add(
		has.raw, evidence.GapRaw, "raw allocation stacks (recorded by heaptrim itself)",
		"the exact kind of every allocation, which pprof hides",
	)
	add(
		has.used, evidence.GapUsed, "the CPU time of the process (Linux; benchmarks and -exec)",
		"unsampled work of the collector in short bursts, some percent of CPU with cycles as frequent "+
			"as here",
	)
	add(
		has.lines, evidence.GapCacheMiss, "what fresh memory costs the caches (benchmarks and -exec, recorded for 4 s "+
			"or more)",
		"the part of a saving that no profile shows",
	)
	add(
		has.cycleCost,
		evidence.GapCycleCost, "the cost of a collection to the whole process (Linux; benchmarks with a longer "+
			"-benchtime, "+
			"whose heap goal depends on GOGC alone)",
		"the program's own gain from fewer collections",
	)
	if t.Kind == evidence.TargetLive || t.Kind == evidence.TargetFiles {
		add(
			t.Module != "" && t.ModuleDir != "", evidence.GapSources, "the module's sources (run heaptrim in the "+
				"module's directory)",
			"the compiler's reason for every escape, and source lines",
		)
	}
	return out
}
