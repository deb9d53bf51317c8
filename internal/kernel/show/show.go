// Package show prints what the kernel did for a program's memory, for people.
package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/internal/kernel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Recording is what is known of a recording beside its stacks.
type Recording struct {
	File, Process string
	Frequency     string // where the time that a sample stands for comes from
	Others        int64  // samples left out
	Problems      []string
	Top           int // functions of each class; 0 means 5
}

// Text prints w.
func Text(out io.Writer, r Recording, w *kernel.Work) error {
	var b strings.Builder
	if r.Top <= 0 {
		r.Top = 5
	}
	fmt.Fprintf(&b, "%s: %s", r.File, r.Process)
	if w.Samples > 0 {
		fmt.Fprintf(&b, ", %s samples for %s of processor time", unit.FormatScaled(float64(w.Samples)), unit.FormatNanoseconds(float64(w.Nanos)))
	}
	if w.Faults > 0 {
		fmt.Fprintf(&b, ", %s page faults", unit.FormatScaled(float64(w.Faults)))
	}
	b.WriteString("\n")
	if w.Samples > 0 && r.Frequency != "" {
		fmt.Fprintf(&b, "Time of a sample: %s\n", r.Frequency)
	}
	if r.Others > 0 {
		fmt.Fprintf(&b, "Left out: %s samples of other processes and events\n", unit.FormatScaled(float64(r.Others)))
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "Not read: %s\n", p)
	}
	if w.Samples > 0 {
		fmt.Fprintf(&b, "\n%s of the processor time is spent in the kernel:\n", percent(w.Share))
		for c := kernel.NUMA; c <= kernel.Other; c++ {
			class(&b, r, w, c)
		}
	}
	if w.Faults > 0 {
		b.WriteString("\nWho met the page faults:\n")
		functions(&b, w.ByFault, w.Faults, r.Top)
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func class(b *strings.Builder, r Recording, w *kernel.Work, c kernel.Class) {
	k := w.Class[c]
	if k.Samples == 0 {
		return
	}
	fmt.Fprintf(b, "%s  %s\n", percent(k.Share), c)
	functions(b, k.By, w.Samples, r.Top)
}

func functions(b *strings.Builder, list []kernel.Function, total int64, top int) {
	for i, f := range list {
		if i == top {
			fmt.Fprintf(b, "         and %d more places\n", len(list)-i)
			return
		}
		name := f.Name
		switch {
		case name == "":
			name = "(no function of Go on the stack)"
		case f.Via != "" && f.Via != f.Name:
			name += " in " + f.Via
		}
		fmt.Fprintf(b, "  %5.1f %%  %s\n", 100*float64(f.Count)/float64(total), name)
	}
}

// percent is a share with its interval of 95 %.
func percent(i stats.Interval) string {
	return fmt.Sprintf("%.1f %% [%.1f..%.1f]", 100*i.Value, 100*i.Low, 100*i.High)
}
