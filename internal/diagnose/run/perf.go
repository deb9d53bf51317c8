package run

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/perf"
	"github.com/heaptrim/heaptrim/internal/kernel"
)

// CPUPart reports whether a part's samples are the CPU time of a run. Those of perf are,
// unless there is a profile of the runtime's own, whose stacks have lines and inlined calls:
// perf is then used for the kernel only.
func CPUPart(run evidence.Run, part evidence.Part) bool {
	switch part.Kind {
	case evidence.KindCPU:
		return true
	case evidence.KindPerf:
		return !slices.ContainsFunc(run.Parts, func(p evidence.Part) bool { return p.Kind == evidence.KindCPU })
	}
	return false
}

// OpenCPU opens the samples of a part that CPUPart names.
func (r *Reader) OpenCPU(part evidence.Part) (*evidence.Profile, error) {
	if part.Kind == evidence.KindPerf {
		p, _, err := perf.Open(r.B.Path(part))
		return p, err
	}
	return r.open(part)
}

// perf reads the output of perf script: the kernel's work, and CPU samples if there are no
// others.
func (r *Reader) perf(d *Data, part evidence.Part) error {
	p, st, err := perf.Open(r.B.Path(part))
	if err != nil {
		return err
	}
	if st.Malformed > 0 {
		r.Warn("%s: %d lines are not what perf script prints, first: %v", part.Path, st.Malformed, st.Errors[0])
	}
	if st.Truncated {
		r.Warn("%s: the last sample was cut short", part.Path)
	}
	w, err := kernel.Analyze(p, perf.KernelFile, kernel.Columns{
		Samples: p.Column(perf.ColumnSamples), CPU: p.Column(perf.ColumnCPU), Faults: p.Column(perf.ColumnFaults)})
	if err != nil {
		return err
	}
	if d.Kernel == nil || w.Samples > d.Kernel.Samples {
		if d.Kernel != nil && w.Faults == 0 {
			w.Faults, w.ByFault = d.Kernel.Faults, d.Kernel.ByFault
		}
		d.Kernel = w
	} else if w.Faults > 0 {
		d.Kernel.Faults, d.Kernel.ByFault = w.Faults, w.ByFault
	}
	if w.Samples == 0 || !CPUPart(d.Run, part) {
		return nil
	}
	return r.addProfile(d, part, p)
}
