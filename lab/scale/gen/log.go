package gen

import (
	"fmt"
	"io"
	"math"
)

// GCTrace writes the log of GODEBUG=gctrace=1 of a program with so many cycles, whose heap
// grows and shrinks.
func GCTrace(w io.Writer, cycles int) error {
	at := 0.0
	for i := range cycles {
		live := 20 + 10*math.Sin(float64(i)/500)
		at += 0.05 + 0.01*math.Sin(float64(i)/7)
		if _, err := fmt.Fprintf(w, "gc %d @%.3fs 4%%: 0.018+%.1f+0.011 ms clock, 0.036+0.35/%.1f/0.12+0.022 ms cpu, "+
			"%d->%d->%d MB, %d MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i+1, at, 1+live/20, 1+live/20,
			int(1.9*live), int(2*live), int(live), int(2*live)); err != nil {
			return err
		}
	}
	return nil
}

// Perf writes what perf script prints of so many samples.
func (p *Program) Perf(w io.Writer, samples int) error {
	p.start()
	fault := []string{"ffffffff81000c82 asm_exc_page_fault+0x22 ([kernel.kallsyms])"}
	for i := range samples {
		if _, err := fmt.Fprintf(w, "service  4711 [000] %d.%06d:   10101010 cpu-clock:pppH: \n", i/100, i%100*10000); err != nil {
			return err
		}
		lines := []string(nil)
		if i%5 == 0 {
			lines = fault
		}
		for _, l := range lines {
			fmt.Fprintf(w, "\t%s\n", l)
		}
		for _, frames := range p.stack(nil, lineAlloc) {
			f := frames[len(frames)-1]
			fmt.Fprintf(w, "\t%16x %s+0x%x (/srv/service)\n", 0x400000+f.Line, f.Function, f.Line)
		}
		if _, err := fmt.Fprint(w, "\t          46f1a1 runtime.goexit.abi0+0x1 (/srv/service)\n\n"); err != nil {
			return err
		}
	}
	return nil
}
