// Package gclog prints the summary of a collector's log, as text for people and
// as JSON for programs.
package gclog

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/heaptrim/heaptrim/internal/cycles"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Log is a log with what was read of it.
type Log struct {
	File    string
	Lines   int // of any kind
	Unread  int // lines that begin like gctrace but are damaged
	Errors  []string
	Summary *cycles.Summary
}

// Text prints l for people.
func Text(w io.Writer, l *Log) error {
	p := term.NewLines(w, 0)
	s := l.Summary
	p.Linef("%s: %s%s in %s, %s", l.File, plural(s.Count.Cycles, "collection"), kinds(s), within(s),
		plural(l.Lines, "line"))
	if s.Count.Processes > 1 {
		p.Linef("%d processes wrote this log; each cycle follows the ones of its own process.", s.Count.Processes)
	}
	if s.Count.Lost > 0 {
		p.Linef("Missing from the log: %s. Time and growth across such a gap are not known.",
			plural(s.Count.Lost, "cycle"))
	}
	unread(p, l)
	if s.Count.Cycles > 0 {
		figures(p, s)
		phases(p, s)
		pauses(p, s)
		timeline(p, s)
	}
	if err := p.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// within is the time that rates are of, and when the log ends if that is later: the program ran before its first cycle.
func within(s *cycles.Summary) string {
	if s.Span <= 0 || nanos(float64(s.Ends)) == nanos(float64(s.Span)) {
		return nanos(float64(s.Ends))
	}
	return fmt.Sprintf("%s, the last %s after the start", nanos(float64(s.Span)), nanos(float64(s.Ends)))
}

// Cycle prints one cycle on a line, with the step from the previous one.
func Cycle(w io.Writer, c evidence.Cycle, step cycles.Step) error {
	note := ""
	switch {
	case c.Forced:
		note = ", forced"
	case c.Periodic:
		note = ", periodic"
	}
	since := ""
	if step.Known {
		since = fmt.Sprintf(", %s after the last, %v allocated", nanos(float64(step.Between)), step.Grown)
	}
	_, err := fmt.Fprintf(w, "gc %d at %s%s%s: heap %v → %v, live %v, goal %v; stops %s + %s, mark %s; CPU %s, "+
		"assist %s, idle %s\n",
		c.N, nanos(float64(c.At)), note, since, c.HeapStart, c.HeapEnd, c.HeapLive, c.Goal,
		nanos(float64(c.Wall.SweepTermination)), nanos(float64(c.Wall.MarkTermination)),
		nanos(float64(c.Wall.ConcurrentMark)),
		nanos(float64(c.CPU())), nanos(float64(c.Used.Assist)), nanos(float64(c.Used.Idle)))
	return err
}

func kinds(s *cycles.Summary) string {
	var parts []string
	if s.Count.Forced > 0 {
		parts = append(parts, fmt.Sprintf("%d forced", s.Count.Forced))
	}
	if s.Count.Periodic > 0 {
		parts = append(parts, fmt.Sprintf("%d periodic", s.Count.Periodic))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func unread(p *term.Page, l *Log) {
	if l.Unread == 0 {
		return
	}
	p.Linef("Not read: %s like the start of a gctrace record, but damaged.", plural(l.Unread, "line"))
	for _, e := range l.Errors {
		p.Linef("  %s", e)
	}
	if more := l.Unread - len(l.Errors); more > 0 {
		p.Linef("  and %d more", more)
	}
}

func figures(p *term.Page, s *cycles.Summary) {
	p.Blank()
	if s.Span > 0 {
		p.Linef("Collector    %.3g %% of the time of %s, without %s of idle marking", 100*s.CPU.Share, procs(s),
			nanos(float64(s.CPU.Idle)))
		p.Linef("             %s assists, %s workers, %s in stops", nanos(float64(s.CPU.Assist)),
			nanos(float64(s.CPU.Background)), nanos(float64(s.CPU.Stopped)))
		p.Linef("Allocation   %s/s by the growth of the heap, to the next MiB in each cycle, free slots of spans in use included", unit.FormatBytes(s.AllocRate))
	}
	p.Linef("Live heap    %v at first, %v at last, %v to %v", s.Heap.LiveFirst, s.Heap.LiveLast, s.Heap.LiveMin,
		s.Heap.LiveMax)
	over := ""
	if s.Steps.OverGoal > 0 {
		over = fmt.Sprintf("; %s ended above it", plural(s.Steps.OverGoal, "cycle"))
	}
	p.Linef("Heap         %v at its largest, goal up to %v%s", s.Heap.Peak, s.Heap.GoalMax, over)
}

func procs(s *cycles.Summary) string {
	if s.MinProcs == s.MaxProcs {
		return fmt.Sprintf("%d Ps", s.MaxProcs)
	}
	return fmt.Sprintf("%d to %d Ps", s.MinProcs, s.MaxProcs)
}

// phases is the table of distributions.
func phases(p *term.Page, s *cycles.Summary) {
	p.Blank()
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Join([]string{"", "median", "p90", "p99", "longest", "total", ""}, "\t"))
	times := func(name string, d cycles.Distribution) {
		if d.Count > 0 {
			fmt.Fprintln(t, strings.Join([]string{name, nanos(d.P50), nanos(d.P90), nanos(d.P99), nanos(d.Max),
				nanos(d.Total), ""}, "\t"))
		}
	}
	sizes := func(name string, d cycles.Distribution) {
		if d.Count > 0 {
			fmt.Fprintln(t, strings.Join([]string{name, size(d.P50), size(d.P90), size(d.P99), size(d.Max),
				size(d.Total), ""}, "\t"))
		}
	}
	times("stop for sweep termination", s.Phases.SweepTermination)
	times("concurrent mark", s.Phases.Mark)
	times("stop for mark termination", s.Phases.MarkTermination)
	times("between cycles", s.Steps.Between)
	sizes("allocated per cycle", s.Steps.Grown)
	sizes("of that while marking", s.Steps.InMark)
	t.Flush() // to a builder, which takes all
	for l := range strings.Lines(b.String()) {
		p.Linef("%s", strings.TrimRight(l, " \n"))
	}
}

const barWidth = 40

// pauses is the histogram of the stops.
func pauses(p *term.Page, s *cycles.Summary) {
	p.Blank()
	p.Linef("Stops of the world, two in a cycle: %s in all", nanos(s.Phases.Pause.Total))
	top := int64(1)
	for _, b := range s.Phases.Pauses {
		top = max(top, b.Count)
	}
	for _, b := range s.Phases.Pauses {
		p.Linef("  up to %8s %9s%s", nanos(float64(b.UpTo)), count(b.Count), bar(float64(b.Count)/float64(top)))
	}
}

// timeline has a row for each step of time; steps without a cycle are skipped.
func timeline(p *term.Page, s *cycles.Summary) {
	p.Blank()
	p.Linef("Over time, in steps of %s; the bar is the largest heap:", nanos(float64(s.Width)))
	p.Linef("  %9s %8s %10s %10s %10s %10s", "at", "cycles", "worst stop", "assist", "live", "heap")
	var top unit.Bytes = 1
	for _, r := range s.Rows {
		top = max(top, r.HeapPeak)
	}
	quiet := 0
	for _, r := range s.Rows {
		if r.Cycles == 0 {
			quiet++
			continue
		}
		if quiet > 0 {
			p.Linef("  %9s", fmt.Sprintf("(%s without a cycle)", nanos(float64(quiet)*float64(s.Width))))
			quiet = 0
		}
		p.Linef("  %9s %8d %10s %10s %10v %10v%s", nanos(float64(r.At)), r.Cycles, nanos(float64(r.Pause)),
			nanos(float64(r.Assist)),
			r.Live, r.HeapPeak, bar(float64(r.HeapPeak)/float64(top)))
	}
}

// bar draws a share of the whole width after a space; a share above zero is visible.
func bar(share float64) string {
	if share <= 0 {
		return ""
	}
	n := max(int(share*barWidth+0.5), 1)
	return " " + strings.Repeat("█", min(n, barWidth))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return unit.FormatScaled(float64(n)) + " " + noun + "s"
}

func nanos(ns float64) string {
	switch {
	case ns >= float64(48*time.Hour):
		return unit.FormatCount(ns/float64(24*time.Hour)) + " days"
	case ns >= float64(10*time.Minute):
		return time.Duration(ns).Round(time.Second).String()
	}
	return unit.FormatNanoseconds(ns)
}

func size(b float64) string { return unit.FormatBytes(b) }

func count(n int64) string { return unit.FormatScaled(float64(n)) }
