// Package trace shows the collector's work in an execution trace and the goroutines that it
// delayed: as text, in a few lines below another report, and as JSON.
package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Text prints t for people, with top rows of each table; 0 stands for 10.
func Text(w io.Writer, t *latency.Trace, top int) error {
	if top <= 0 {
		top = 10
	}
	p := &tracePrinter{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns), *t,
		top}
	p.summary()
	p.goroutines()
	if t.Delayed != nil {
		p.groups()
		p.causes()
		p.requests()
	}
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("write the trace report: %w", err)
	}
	return nil
}

// tracePrinter prints a trace in tables. All cells but the
// last are aligned to the right.
type tracePrinter struct {
	w *tabwriter.Writer
	latency.Trace
	top int
}

func (p *tracePrinter) linef(format string, args ...any) {
	p.w.Flush() // an error is returned by the last flush too
	fmt.Fprintf(p.w, format+"\n", args...)
	p.w.Flush()
}

func (p *tracePrinter) row(cells ...string) {
	fmt.Fprintln(p.w, strings.Join(cells, "\t"))
}

func (p *tracePrinter) summary() {
	s := p.Summary
	p.linef("%s: trace in format go %s, %s in %s, %s events", term.Clean(p.File), s.Read.Version,
		unit.Bytes(s.Read.Bytes),
		nanos(s.Length), unit.FormatCount(float64(s.Read.Events)))
	if p.Problem != "" {
		p.linef("Incomplete: %s. The figures cover the part before.", term.Clean(p.Problem))
	}
	p.linef("")
	p.linef("Mark phases  %d, %s, %s of the time", s.Cycles.Count, nanos(s.Cycles.Mark), share(s.Cycles.Mark, s.Length))
	sweep := s.Sweep.Time
	if p.Delayed != nil {
		all := together(p.Delayed.Groups)
		sweep = all[latency.Sweep]
		p.linef("Assists      %d: %s on CPU, %s parked", s.Assist.Count, nanos(all[latency.AssistCPU]), nanos(all[latency.AssistParked]))
	} else {
		p.linef("Assists      %d: %s on CPU, %s parked until running again, %s preempted", s.Assist.Count,
			nanos(s.Assist.OnCPU), nanos(s.Assist.Parked), nanos(s.Assist.Waiting))
	}
	p.linef(
		"Workers      %s dedicated, %s fractional, %s idle", nanos(s.Workers.Dedicated), nanos(s.Workers.Fractional),
		nanos(s.Workers.Idle),
	)
	p.linef(
		"Sweeping     %d times by allocations: %s, %s swept, %s reclaimed", s.Sweep.Count, nanos(sweep),
		s.Sweep.Swept, s.Sweep.Reclaimed,
	)
	if l := s.Heap.Live; l.Samples > 0 {
		p.linef("Heap         %s to %s, at the end %s", l.Min, l.Max, l.Last)
	}
	if g := s.Heap.Goal; g.Samples > 0 {
		p.linef("Goal         %s to %s, at the end %s", g.Min, g.Max, g.Last)
	}
	if len(s.Pauses) == 0 {
		return
	}
	p.linef("")
	p.row("stops", "total", "longest", "  reason")
	for _, x := range s.Pauses[:min(len(s.Pauses), p.top)] {
		p.row(fmt.Sprint(x.Count), nanos(x.Total), nanos(x.Max), "  "+term.Clean(x.Reason))
	}
}

func (p *tracePrinter) goroutines() {
	paid := func(g *exectrace.Goroutine) time.Duration { return g.Assist.OnCPU + g.Assist.Parked + g.Sweep.Time }
	var list []*exectrace.Goroutine // the longest first: there may be very many, and few are printed
	for i := range p.Summary.Delayed {
		g := &p.Summary.Delayed[i]
		place, _ := slices.BinarySearchFunc(list, g, func(a, b *exectrace.Goroutine) int { return cmp.Or(cmp.Compare(paid(b), paid(a)), -1) })
		if paid(g) == 0 || place >= p.top {
			continue
		}
		list = slices.Insert(list[:min(len(list), p.top-1)], place, g)
	}
	if len(list) == 0 || p.Delayed != nil {
		return
	}
	p.linef("")
	p.row("goroutine", "assists", "on CPU", "parked", "sweep", "")
	row := func(name string, a exectrace.Assist, sweep time.Duration) {
		p.row(name, fmt.Sprint(a.Count), nanos(a.OnCPU), nanos(a.Parked), nanos(sweep), "")
	}
	others, sweep := p.Summary.Assist, p.Summary.Sweep.Time
	for _, g := range list {
		row(fmt.Sprint(g.ID), g.Assist, g.Sweep.Time)
		others.Count, others.OnCPU, others.Parked = others.Count-g.Assist.Count, others.OnCPU-g.Assist.OnCPU, others.Parked-g.Assist.Parked
		sweep -= g.Sweep.Time
	}
	if others.Count > 0 || others.OnCPU+others.Parked+sweep > 0 {
		row("others", others, sweep)
	}
	p.linef("Times on CPU and of sweeping include stops of the world. Without -summary, stops are a column of their own.")
}

func (p *tracePrinter) groups() {
	p.linef("")
	p.linef("Delayed goroutines, by the function they began in (%s goroutines):",
		unit.FormatCount(float64(p.Delayed.Goroutines)))
	p.row("assist", "parked", "sweep", "stopped", "wait in mark", "other wait", "running*", "  goroutines")
	shown, others, system := divided(p.Delayed.Groups, p.top)
	for _, g := range shown {
		name := cmp.Or(term.Clean(g.Start), "(start not known)")
		switch {
		case g.Handler != "":
			name += " in " + term.Clean(g.Handler)
		case g.Goroutines > 1:
			name = fmt.Sprintf("%s, %d", name, g.Goroutines)
		}
		p.split(g.Split, name)
	}
	if len(others) > 0 {
		p.split(together(others), fmt.Sprintf("others, %d rows: -top shows them", len(others)))
	}
	all := together(shown, others)
	if s := together(system); s != (latency.Split{}) {
		p.split(s, "goroutines of the runtime and of heaptrim's recorder")
		all.Add(&s)
	}
	p.split(all, "all")
	p.linef("parked lasts until the goroutine may run again; waiting for a processor then counts as wait. stopped counts each " +
		"goroutine that waits.")
	p.linef(
		"* includes time descheduled by the system. Only traces that heaptrim recorded separate it, from about " +
			"10 ms on.",
	)
}

// split is a row of the table of groups.
func (p *tracePrinter) split(s latency.Split, name string) {
	p.row(nanos(s[latency.AssistCPU]), nanos(s[latency.AssistParked]), nanos(s[latency.Sweep]), nanos(s[latency.STW]),
		nanos(s[latency.WaitMark]), nanos(s[latency.WaitOutside]), nanos(s[latency.Running]), "  "+name)
}

// divided parts the groups of the program, of which at most top are shown, from those of the
// runtime and the recorder.
func divided(groups []latency.Group, top int) (shown, others, system []latency.Group) {
	for _, g := range groups {
		switch {
		case g.System:
			system = append(system, g)
		case len(shown) < top:
			shown = append(shown, g)
		default:
			others = append(others, g)
		}
	}
	return shown, others, system
}

// together is the time of all groups.
func together(lists ...[]latency.Group) latency.Split {
	var all latency.Split
	for _, list := range lists {
		for i := range list {
			all.Add(&list[i].Split)
		}
	}
	return all
}

func (p *tracePrinter) requests() {
	kinds := p.Delayed.Requests
	if len(kinds) == 0 {
		p.linef("")
		p.linef("No tasks or regions began and ended in the trace, so there are no requests to split.")
		return
	}
	for _, q := range kinds[:min(len(kinds), p.top)] {
		p.linef("")
		p.linef(
			"%s %q: %d, half within %s, p90 %s, p99 %s, longest %s", q.Kind, term.Clean(q.Name), q.Count, nanos(q.P50),
			nanos(q.P90), nanos(q.P99), nanos(q.Max),
		)
		p.linef("  all:          %s", parts(q.All))
		p.linef("  slowest %4d: %s", q.SlowN, parts(q.Slow))
		for _, r := range q.Slowest[:min(len(q.Slowest), 3)] {
			p.linef("  %s at %s on goroutine %d: %s", nanos(r.Length), nanos(r.Start), r.Goroutine, parts(r.Split))
		}
		if most := q.MostGC; len(most) > 0 {
			r := most[0]
			p.linef(
				"  most memory management: %s at %s on goroutine %d: %s", nanos(r.Length), nanos(r.Start), r.Goroutine,
				parts(r.Split),
			)
		}
	}
}

// parts lists the parts of a time, largest first; parts below one in a thousand are omitted.
func parts(s latency.Split) string {
	total := s.Total()
	order := make([]latency.Part, 0, latency.Parts)
	for p := range latency.Parts {
		if s[p]*1000 >= total && s[p] > 0 {
			order = append(order, p)
		}
	}
	slices.SortStableFunc(order, func(a, b latency.Part) int { return cmp.Compare(s[b], s[a]) })
	texts := schema.Rows(order, func(p latency.Part) string { return share(s[p], total) + " " + p.String() })
	return cmp.Or(strings.Join(texts, ", "), "nothing")
}

func share(part, whole time.Duration) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func nanos(d time.Duration) string { return unit.FormatNanoseconds(float64(d)) }
