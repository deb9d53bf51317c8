package kernelwork

import (
	"errors"
	"io"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/perf"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// Profile writes the samples as they are, the kernel's frames
// included.
func Profile(w io.Writer, p *evidence.Profile, stats *perf.Stats) error {
	out, err := pprof.NewWriter(w, pprof.Header{
		Types: p.Types, DefaultType: perf.ColumnCPU, PeriodOf: p.PeriodOf, Period: p.Period, Duration: p.Duration, Program: stats.Process,
		Comments: []string{"made from perf: physical frames, those of the kernel in the file " + perf.KernelFile},
	})
	if err != nil {
		return err
	}
	var stack [][]evidence.Frame
	err = p.Samples.Scan(func(s evidence.Sample) error {
		stack = stack[:0]
		for _, l := range s.Stack {
			stack = append(stack, l.Frames)
		}
		return out.Add(stack, s.Values)
	})
	return errors.Join(err, out.Close())
}
