package trace

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// briefRows is how many requests, or groups, a report on something else shows.
const briefRows = 3

// Brief prints in a few lines which goroutines the collector delayed in t. It ends
// a report on a whole recording. Lines have width cells, and at least 60. A trace
// that was read for its summary only prints nothing. The report above has perSecond
// collections a second, 0 if that is not known.
func Brief(w io.Writer, t *latency.Trace, perSecond float64, width int) error {
	if t.Delayed == nil {
		return nil
	}
	s, p := t.Summary, t.Delayed
	var b strings.Builder
	fmt.Fprintf(
		&b, "\nGoroutines that the collector delayed, from a trace of %s after the other measurements\n", nanos(p.Length),
	)
	var longest time.Duration
	stops := 0
	for _, x := range s.Pauses {
		longest, stops = max(longest, x.Max), stops+x.Count
	}
	all := together(p.Groups)
	fmt.Fprintf(&b, "  marking %s of the time; assists %s on CPU and %s parked; %d stops of the world, %s, longest %s\n",
		share(p.Mark, p.Length), nanos(all[latency.AssistCPU]), nanos(all[latency.AssistParked]), stops, nanos(p.STW), nanos(longest))
	b.WriteString(anotherRate(s.Cycles.Count, p.Length, perSecond))
	if t.Problem != "" {
		fmt.Fprintf(&b, "  The trace is incomplete: %s. The figures cover the part before.\n", term.Clean(t.Problem))
	}
	if len(p.Requests) > 0 {
		briefRequests(&b, p.Requests)
	} else {
		briefGroups(&b, p.Groups)
	}
	if _, err := io.WriteString(w, narrow(b.String(), max(width, 60))); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// anotherRate says that a trace with cycles in its length has another rate of them than the report above; "" if not.
func anotherRate(cycles int, length time.Duration, perSecond float64) string {
	const about = 1.2
	if cycles == 0 || length <= 0 || perSecond <= 0 {
		return ""
	}
	traced := float64(cycles) / length.Seconds()
	if traced > perSecond/about && traced < perSecond*about {
		return ""
	}
	return fmt.Sprintf("  The trace has %s cycles/s, the measurements above %s: it is of another time, and of a program that is traced\n",
		unit.FormatScaled(traced), unit.FormatScaled(perSecond))
}

// narrow breaks the lines of text that have more than width cells; continuation lines are
// indented by two more.
func narrow(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if term.Cells(line) <= width {
			fmt.Fprintln(&b, line)
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for i, part := range term.Wrap(line, width-len(indent)-2) {
			if i == 1 {
				indent += "  "
			}
			fmt.Fprintln(&b, indent+part)
		}
	}
	return b.String()
}

func briefRequests(b *strings.Builder, kinds []latency.Requests) {
	for _, q := range kinds[:min(len(kinds), briefRows)] {
		fmt.Fprintf(b, "  %s: %s, p50 %s, p99 %s; of the slowest %d, %s is memory management, %s waiting for a "+
			"processor while marking\n",
			term.Clean(q.Name), unit.FormatCount(float64(q.Count)), nanos(q.P50), nanos(q.P99), q.SlowN,
			share(q.Slow.Memory(), q.Slow.Total()), share(q.Slow[latency.WaitMark], q.Slow.Total()))
		fmt.Fprintf(b, "    %s\n", parts(q.Slow))
	}
	if more := len(kinds) - briefRows; more > 0 {
		fmt.Fprintf(b, "  and %d more kinds of request\n", more)
	}
}

func briefGroups(b *strings.Builder, groups []latency.Group) {
	shown, others, system := divided(groups, briefRows)
	row := func(name string, s latency.Split) {
		if s.Memory() > 0 {
			fmt.Fprintf(b, "  %s: assists %s on CPU, %s parked, sweeping %s, stopped %s, waiting while marking %s\n", name,
				nanos(s[latency.AssistCPU]), nanos(s[latency.AssistParked]), nanos(s[latency.Sweep]),
				nanos(s[latency.STW]), nanos(s[latency.WaitMark]))
		}
	}
	all := together(shown, others)
	if all.Memory() == 0 {
		b.WriteString("  the collector delayed no goroutine of the program\n")
	} else {
		b.WriteString("  By where goroutines start, the times of all of them added up:\n")
	}
	for _, g := range shown {
		name := cmp.Or(term.Clean(g.Start), "(start not known)")
		if g.Handler != "" {
			name += " in " + term.Clean(g.Handler)
		}
		row(name, g.Split)
	}
	row("others", together(others))
	if s := together(system); s[latency.AssistCPU]+s[latency.AssistParked] > 0 {
		row("the runtime and heaptrim's recorder", s)
	}
}
