package after

import (
	"context"
	"slices"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/pagefault"
)

// PageFault adds what a page fault costs here to the runs that were made
// alone, too. A machine that does not tell it is no reason to lose a recording.
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
