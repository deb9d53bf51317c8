package run

import (
	"os"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// log reads a part that is a log and ignores others.
func (r *Reader) log(d *Data, part evidence.Part) error {
	if !d.Bench && part.Pass == evidence.PassTiming && (part.Kind == evidence.KindGCTrace || part.Kind == evidence.KindMetrics) &&
		unprofiled(d.Run) {
		return nil // collections and sizes are those of the unprofiled pass
	}
	var read func(*Data, evidence.Part, *os.File) error
	switch part.Kind {
	case evidence.KindBench:
		read = r.benchText
	case evidence.KindGCTrace:
		read = r.gcText
	case evidence.KindMetrics:
		read = r.metricsText
	case evidence.KindMemStats:
		read = r.memStats
	default:
		return nil
	}
	f, err := os.Open(r.B.Path(part))
	if err != nil {
		return err
	}
	defer f.Close()
	return read(d, part, f)
}

// unprofiled reports whether a service has the log of a pass without a profile.
func unprofiled(r evidence.Run) bool {
	return slices.ContainsFunc(r.Parts, func(p evidence.Part) bool {
		return p.Kind == evidence.KindGCTrace && p.Pass == evidence.PassCollector
	})
}

func (r *Reader) benchText(d *Data, part evidence.Part, f *os.File) error {
	log, err := benchlog.Read(part.Path, f)
	if err != nil {
		return err
	}
	for _, b := range log.Results {
		d.Results = append(d.Results, BenchResult{part.Pass, b.Name, b.NsPerOp, b.BytesPerOp, b.AllocsPerOp,
			b.Iterations})
	}
	for _, e := range log.Errors {
		r.Warn("%v", e)
	}
	return nil
}

// gcText reads a gctrace log. A benchmark's cycles count from the start of its
// measured run, which ends with the process: set-up and calibration lie
// before.
func (r *Reader) gcText(d *Data, part evidence.Part, f *os.File) error {
	var cycles []evidence.Cycle
	st, err := gctrace.Scan(part.Path, f, func(c evidence.Cycle) error {
		cycles = append(cycles, c)
		return nil
	})
	if err != nil {
		return err
	}
	cycles, lost := gctrace.WithLost(cycles, st.Malformed)
	switch {
	case lost > 0:
		r.Warn("%s: other output lies in the lines of %d of %d collections, first: %v; each is taken to be like the one before it",
			part.Path, lost, len(cycles), st.Errors[0])
	case st.Malformed > 0:
		r.Warn("%s: %d lines begin like gctrace but cannot be read, first: %v", part.Path, st.Malformed, st.Errors[0])
	}
	if st.Cycles == 0 && (d.Bench || st.Malformed > 0) {
		// Package testing forces collections, so every benchmark's log has some. An empty
		// log does not mean that there were none.
		r.Warn("%s: excluded, because no collection can be read in it", part.Path)
		return nil
	}
	d.Collector.All += len(cycles)
	d.Collector.Ops += part.Ops
	if part.Ops > 0 {
		d.Collector.Logs++
	}
	for _, c := range cycles {
		if c.Forced {
			d.Collector.Forced++
		}
	}
	window := part.Wall
	if d.Bench {
		if ns := d.resultNs(part.Pass); ns > 0 && part.Ops > 0 {
			window = time.Duration(min(ns*float64(part.Ops), float64(part.Wall)))
			all := cycles
			cycles = windowed(cycles, part.Wall, window)
			d.Collector.outside += markTime(all, true) - markTime(cycles, false)
			d.Collector.inside += markTime(cycles, false)
		}
	}
	if window == 0 && len(cycles) > 1 {
		window = cycles[len(cycles)-1].At - cycles[0].At
	}
	d.Collector.observed(d.Run, part, cycles)
	d.Collector.Logged = true
	d.Collector.Cycles = append(d.Collector.Cycles, cycles...)
	d.Collector.Window += window
	return nil
}

// usualOwnResident is the recorder's part of the resident set in recordings that do not
// say it.
const usualOwnResident = 3 * unit.MiB / 2

// observed takes over what a service's log is of, and subtracts the recorder's part of
// the heap from its cycles.
func (l *CollectorLog) observed(r evidence.Run, part evidence.Part, cycles []evidence.Cycle) {
	o := &l.Service
	o.Unprofiled = part.Pass == evidence.PassCollector
	o.OwnLive, o.OwnResident = unit.Bytes(part.OwnLive), unit.Bytes(part.OwnResident)
	if part.PeakRSS > 0 {
		own := o.OwnResident
		if own == 0 && !r.MeasuresItself() {
			own = usualOwnResident
		}
		o.Resident = max(0, unit.Bytes(part.PeakRSS)-own)
	}
	for i := range cycles {
		gctrace.Without(&cycles[i], o.OwnLive)
	}
}

// markTime is the CPU time of cycles, idle marking included; forced says whether forced
// cycles count.
func markTime(cycles []evidence.Cycle, forced bool) time.Duration {
	var sum time.Duration
	for _, c := range cycles {
		if forced || !c.Forced {
			sum += c.CPU() + c.Used.Idle
		}
	}
	return sum
}

// resultNs is the last result of a pass in ns/op. The benchmark text of a pass comes before
// its log in the manifest; otherwise the log counts for the whole process.
func (d *Data) resultNs(pass string) float64 {
	ns := 0.0
	for _, b := range d.Results {
		if b.Pass == pass {
			ns = b.NsPerOp
		}
	}
	return ns
}

func (r *Reader) metricsText(d *Data, part evidence.Part, f *os.File) error {
	var samples []evidence.Metrics
	st, err := metrics.Scan(part.Path, f, func(m evidence.Metrics) error {
		samples = append(samples, m)
		return nil
	})
	if err != nil {
		return err
	}
	if st.Truncated {
		r.Warn("%s: the last sample was cut short", part.Path)
	}
	// If every allocation is recorded, the figures include the cost of recording.
	if part.Pass != evidence.PassAllocation {
		d.Collector.Metrics = samples
	}
	return nil
}

// memStats reads the MemStats tails that a live service printed at the start
// and the end of the window.
func (r *Reader) memStats(d *Data, part evidence.Part, f *os.File) error {
	m, err := metrics.ReadMemStats(part.Path, f)
	if err != nil {
		return err
	}
	l := &d.Collector
	n := len(l.Stats)
	if part.Pass != evidence.PassCollector && n >= 2 && l.Service.Unprofiled {
		// The service was profiled since the last one, or before it.
		if sec := part.Wall.Seconds(); sec > 0 {
			l.Service.Profiled = float64(m.NumGC-l.Stats[n-1].NumGC) / sec
		}
		return nil
	}
	l.Stats = append(l.Stats, m)
	l.Service.Stats = part.Wall
	l.Service.Unprofiled = part.Pass == evidence.PassCollector
	if n == 0 || l.Service.Unprofiled { // the largest so far
		l.Service.Resident = m.MaxRSS
	}
	return nil
}
