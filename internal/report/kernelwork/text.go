// Package kernelwork prints the kernel's work for a program's memory, for people.
package kernelwork

import (
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/kernel"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Recording describes a recording without its stacks.
type Recording struct {
	File, Process string
	Frequency     string // source of the time of a sample
	Others        int64  // samples excluded
	Problems      []string
	Top           int // functions of each class; 0 means 5
}

// Text prints w.
func Text(out io.Writer, r Recording, w *kernel.Work) error {
	p := term.NewLines(out, 0)
	if r.Top <= 0 {
		r.Top = 5
	}
	head := fmt.Sprintf("%s: %s", r.File, r.Process)
	if w.Samples > 0 {
		head += fmt.Sprintf(", %s samples for %s of processor time", unit.FormatScaled(float64(w.Samples)),
			unit.FormatNanoseconds(float64(w.Nanos)))
	}
	if w.Faults > 0 {
		head += fmt.Sprintf(", %s page faults", unit.FormatScaled(float64(w.Faults)))
	}
	p.Linef("%s", head)
	if w.Samples > 0 && r.Frequency != "" {
		p.Linef("Time of a sample: %s", r.Frequency)
	}
	if r.Others > 0 {
		p.Linef("Excluded: %s samples of other processes and events", unit.FormatScaled(float64(r.Others)))
	}
	for _, problem := range r.Problems {
		p.Linef("Not read: %s", problem)
	}
	if w.Samples > 0 {
		p.Blank()
		p.Linef("%s of the processor time is spent in the kernel:", percent(w.Share))
		for c := kernel.NUMA; c <= kernel.Other; c++ {
			class(p, r, w, c)
		}
	}
	if w.Faults > 0 {
		p.Blank()
		p.Linef("Functions with the page faults:")
		functions(p, w.ByFault, w.Faults, r.Top)
	}
	if err := p.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func class(p *term.Page, r Recording, w *kernel.Work, c kernel.Class) {
	k := w.Class[c]
	if k.Samples == 0 {
		return
	}
	p.Linef("%s  %s", percent(k.Share), c)
	functions(p, k.By, w.Samples, r.Top)
}

func functions(p *term.Page, list []kernel.Function, total int64, top int) {
	for i, f := range list {
		if i == top {
			p.Linef("         and %d more places", len(list)-i)
			return
		}
		name := f.Name
		switch {
		case name == "":
			name = "(no function of Go on the stack)"
		case f.Via != "" && f.Via != f.Name:
			name += " in " + f.Via
		}
		p.Linef("  %5.1f %%  %s", 100*float64(f.Count)/float64(total), name)
	}
}

// percent is a share with its interval of 95 %.
func percent(i stats.Interval) string {
	return fmt.Sprintf("%.1f %% [%.1f..%.1f]", 100*i.Value, 100*i.Low, 100*i.High)
}
