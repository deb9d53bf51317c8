package after

import (
	"context"
	"slices"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/pagefault"
)

// PageFault adds the cost of a page fault on this machine to the runs that also ran
// unprofiled. If it cannot be measured, the recording gets a warning and stays valid.
func PageFault(ctx context.Context, w *bundle.Writer) error {
	alone := func(run evidence.Run) bool {
		return slices.ContainsFunc(run.Parts, func(p evidence.Part) bool { return p.Pass == evidence.PassAlone })
	}
	needed := false
	if err := w.Update(func(m *evidence.Manifest) { needed = slices.ContainsFunc(m.Runs, alone) }); err != nil ||
		!needed {
		return err
	}
	fault, err := pagefault.Measure(ctx)
	if ctx.Err() != nil {
		return err
	}
	return w.Update(func(m *evidence.Manifest) {
		if err != nil {
			m.Warnings = append(m.Warnings, err.Error())
			return
		}
		for i := range m.Runs {
			if alone(m.Runs[i]) {
				m.Runs[i].PageFault = &fault
			}
		}
	})
}
