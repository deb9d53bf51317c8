package trace

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// howToSample is what to do about a trace without CPU samples.
const howToSample = "record a CPU profile while tracing, which leaves its samples in the trace too: " +
	"go test -trace trace.out -cpuprofile cpu.out, or /debug/pprof/profile during /debug/pprof/trace, or " +
	"heaptrim record -trace"

// causes prints the lines that allocated while the collector delayed others.
func (p *tracePrinter) causes() {
	c := p.Delayed.Causes
	p.linef("")
	if c.Samples == 0 {
		p.linef("Allocating lines during GC: not known: %s.", howToSample)
		return
	}
	p.linef("Allocating lines during GC, from %s CPU samples, %s in mark phases, of which %s were allocating "+
		"(delays then: %s):",
		unit.FormatCount(float64(c.Samples)), unit.FormatCount(float64(c.Mark)), unit.FormatCount(
			float64(c.Allocating.Mark),
		), paidIn(c.Paid))
	if c.Allocating.Mark == 0 {
		p.linef("not known: no sample in a mark phase was in the allocator. Trace for longer.")
		return
	}
	p.row("in marking", "of it", "others delayed", "whole trace", "phases", "assists then", "parked then", "  site")
	for _, s := range c.Sites[:min(len(c.Sites), p.top)] {
		if s.Allocating.Mark == 0 {
			break
		}
		p.row(fmt.Sprint(s.Allocating.Mark), shareBounds(s.Share), fmt.Sprint(
			s.Allocating.Others,
		), fmt.Sprint(s.Allocating.All), fmt.Sprint(s.Phases),
			nanos(s.Paid[latency.AssistCPU]), nanos(s.Paid[latency.AssistParked]), "  "+siteName(s))
	}
	if c.Unlisted > 0 {
		p.linef("and %d samples of sites beyond the limit", c.Unlisted)
	}
	p.linef(
		"Samples count time in the allocator, not bytes. Phases are those in which the site was seen. Delays in " +
			"them are of all goroutines.",
	)
}

// shareBounds shows a share with its 95 % interval.
func shareBounds(i stats.Interval) string {
	return fmt.Sprintf("%.0f %% (%.0f–%.0f)", 100*i.Value, 100*i.Low, 100*i.High)
}

func siteName(s latency.Site) string {
	if s.Func == "" {
		return "(the runtime)"
	}
	return fmt.Sprintf("%s %s:%d", term.Clean(s.Func), term.Clean(path.Base(strings.ReplaceAll(s.File, `\`, "/"))),
		s.Line)
}

// paidIn lists the delays of goroutines in mark phases.
func paidIn(s latency.Split) string {
	var list []string
	for p := range latency.Parts {
		if s[p] > 0 {
			list = append(list, nanos(s[p])+" "+p.String())
		}
	}
	return cmp.Or(strings.Join(list, ", "), "nothing")
}
