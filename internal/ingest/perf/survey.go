package perf

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Bounds of the tables: a kernel and a large program have some hundred
// thousand functions together.
const (
	maxFunctions = 1 << 20
	maxProcesses = 1 << 16
)

// survey is the first pass: the functions, and what each process has.
type survey struct {
	src       *source
	processes map[processKey]*processTally
	total     int64 // whole samples
	gaps      gapHistogram
}

// processTally is what one process has.
type processTally struct {
	comm           string
	samples        int64   // of any kind that counts
	goStacks       int64   // of those, with a function of the Go runtime
	clock, cycles  int64   // samples
	nanos          float64 // of the clock samples that have a period
	timed          int64   // those
	faults, kernel int64
	first, last    time.Duration
	threads        map[int]time.Duration // time of the last sample of processor time
}

func newSurvey(src *source) *survey {
	src.locations = functions{map[string]*evidence.Location{}, map[string]*evidence.Location{}}
	return &survey{src: src, processes: map[processKey]*processTally{}}
}

func (v *survey) add(s *sample) error {
	v.total++
	kind := kindOf(s.event)
	if kind == otherEvent {
		return nil
	}
	key := keyOf(s)
	p := v.processes[key]
	if p == nil {
		if len(v.processes) == maxProcesses {
			return fmt.Errorf("%s: more than %d processes", v.src.name, maxProcesses)
		}
		p = &processTally{comm: string(s.comm), first: s.time, threads: map[int]time.Duration{}}
		v.processes[key] = p
	}
	p.samples++
	p.first, p.last = min(p.first, s.time), max(p.last, s.time)
	isGo := false
	for _, f := range s.stack {
		isGo = isGo || !f.kernel && bytes.HasPrefix(f.symbol, []byte("runtime."))
		if err := v.function(f); err != nil {
			return err
		}
	}
	if isGo {
		p.goStacks++
	}
	if len(s.stack) > 0 && s.stack[0].kernel {
		p.kernel++
	}
	v.count(p, s, kind)
	return nil
}

func (v *survey) count(p *processTally, s *sample, kind eventKind) {
	switch kind {
	case faultEvent:
		p.faults += max(s.period, 1)
		return
	case clockEvent:
		p.clock++
		if s.period > 0 {
			p.timed++
			p.nanos += float64(s.period)
		}
	case cycleEvent:
		p.cycles++
	}
	if last, ok := p.threads[s.tid]; ok {
		v.gaps.add(s.time - last)
	}
	if len(p.threads) < maxProcesses {
		p.threads[s.tid] = s.time
	}
}

func (v *survey) function(f frame) error {
	if v.src.locations.of(f) != nil {
		return nil
	}
	if v.src.locations.len() == maxFunctions {
		return fmt.Errorf("%s: more than %d functions", v.src.name, maxFunctions)
	}
	v.src.locations.add(f)
	return nil
}

// choose picks the Go process with most stacks.
func (v *survey) choose(st *Stats) error {
	var best processKey
	var tally *processTally
	for k, p := range v.processes {
		if p.goStacks > 0 && (tally == nil || p.goStacks > tally.goStacks || p.goStacks == tally.goStacks && less(k, best)) {
			best, tally = k, p
		}
	}
	switch {
	case len(v.processes) == 0:
		return ErrNoSamples
	case tally == nil:
		return ErrNoGo
	}
	v.src.want = best
	st.CPU, st.Faults, st.Kernel, st.Process = tally.clock+tally.cycles, tally.faults, tally.kernel, tally.comm
	st.Others = v.total - tally.samples
	return nil
}

func less(a, b processKey) bool {
	if a.pid != b.pid {
		return a.pid < b.pid
	}
	return a.comm < b.comm
}

// profile makes the profile of the process that was chosen.
func (v *survey) profile(st *Stats, freq float64) *evidence.Profile {
	t := v.processes[v.src.want]
	period := 0.0
	switch {
	case t.timed > 0:
		period, st.Frequency = t.nanos/float64(t.timed), "the period of the samples"
	case freq > 0:
		period, st.Frequency = 1e9/freq, fmt.Sprintf("%g Hz, by the file's header", freq)
	default:
		if period = v.gaps.typical(); period > 0 {
			st.Frequency = fmt.Sprintf("%.3g Hz, by the time between samples of a thread: no header, no period", 1e9/period)
		}
	}
	v.src.nanos = math.Max(period, 1)
	p := &evidence.Profile{
		Name:      v.src.name,
		Types:     []evidence.ValueType{{Type: ColumnSamples, Unit: "count"}, {Type: ColumnCPU, Unit: "nanoseconds"}, {Type: ColumnFaults, Unit: "count"}},
		PeriodOf:  evidence.ValueType{Type: ColumnCPU, Unit: "nanoseconds"},
		Period:    int64(v.src.nanos),
		Duration:  max(t.last-t.first, 0),
		Samples:   v.src,
		Locations: v.src.locations.len(),
	}
	return p
}

// gapHistogram tells the time between two samples of a busy thread, which is
// the shortest one that is common.
type gapHistogram struct {
	counts [64 * 8]int64
	n      int64
}

func (g *gapHistogram) add(d time.Duration) {
	if d <= 0 {
		return
	}
	g.counts[min(int(math.Log2(float64(d))*8), len(g.counts)-1)]++
	g.n++
}

// typical is the median gap in nanoseconds: 0 when there is none.
func (g *gapHistogram) typical() float64 {
	seen := int64(0)
	for i, n := range g.counts {
		if seen += n; 2*seen >= g.n && g.n > 0 {
			return math.Exp2((float64(i) + 0.5) / 8)
		}
	}
	return 0
}
