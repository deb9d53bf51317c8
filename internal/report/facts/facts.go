// Package facts writes the basis of a report: the target, its collections, its heap and its settings.
package facts

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/machine"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Write writes the figures behind the headline, one subject a line.
func Write(p *term.Page, d *finding.Diagnosis) {
	t, e := d.Totals, d.Environment
	row := func(label string, parts ...string) {
		p.Prose("  "+term.PadRight(label, 11), term.JoinKnown(parts), term.Normal)
	}
	row("target", targetName(d.Target))
	if of := ofRun(d); of != "" {
		row("of", of)
	}
	row("collector", cycleFacts(t)...)
	row("heap", heapFacts(t)...)
	if own := t.Heap; own.OwnResident > 0 {
		row("recorder", "its own "+own.OwnLive.String()+" of the live heap and "+own.OwnResident.String()+
			" of the resident set are subtracted")
	}
	if t.Pauses.Max > 0 {
		row("pauses", unit.FormatNanoseconds(float64(t.Pauses.P50))+
			pauseMedian(t.Pauses), unit.FormatNanoseconds(float64(t.Pauses.Max))+" longest", pausesWhole(t))
	} else {
		row("pauses", unseen(t, "not known: needs a gctrace log"))
	}
	row("settings", setting("GOGC", e.GOGC), setting("GOMEMLIMIT", e.GOMEMLIMIT), optional("GODEBUG=", e.GODEBUG),
		optional("GOEXPERIMENT=", e.Experiment),
		optional("huge pages ", e.THP), startedWith(d.Target))
	row("machine", machine.Facts(e)...)
}

// pauseMedian says of which pauses the median is.
func pauseMedian(p finding.PauseTotals) string {
	if p.OfCycles {
		return " median of both in a cycle"
	}
	return " median"
}

// pausesWhole says how long all pauses took, or of how many cycles the pauses are.
func pausesWhole(t finding.Totals) string {
	if n := t.Pauses.Unseen; n > 0 {
		of := t.Cycles.Automatic + t.Cycles.Forced
		return fmt.Sprintf("in the last %d of %d cycles", of-n, of)
	}
	return unit.FormatNanoseconds(float64(t.Pauses.Total)) + " in all"
}

// Listed are the most important of them for one line.
func Listed(d *finding.Diagnosis) []string {
	out := append([]string{targetName(d.Target), ofRun(d)}, cycleFacts(d.Totals)...)
	out = append(out, heapFacts(d.Totals)...)
	return append(out, setting("GOGC", d.Environment.GOGC), d.Environment.GoVersion)
}

// startedWith says that the settings of a running service are those it was started with; "" for others.
func startedWith(t evidence.Target) string {
	if t.Kind != evidence.TargetLive {
		return ""
	}
	return "as it was started; it may have changed them itself"
}

// ofRun says of which of several runs the facts are; "" for one run.
func ofRun(d *finding.Diagnosis) string {
	if len(d.Runs) < 2 || d.Totals.Run == "" {
		return ""
	}
	why := ", which collects most"
	if d.Totals.Cycles.Automatic == 0 {
		why = ", for none of them collects by itself"
	}
	return d.Totals.Run + why + ": cycles, heap, pauses and rates, all of a pass without a profile; shares of CPU are means of all"
}

func cycleFacts(t finding.Totals) []string {
	var parts []string
	if term.Some(t.Cycles.PerSecond) {
		parts = append(parts, unit.FormatScaled(t.Cycles.PerSecond)+" cycles/s")
	}
	if t.Cycles.Automatic > 0 {
		n := unit.FormatScaled(float64(t.Cycles.Automatic)) + " cycles"
		if t.Cycles.Forced > 0 {
			n += " and " + unit.FormatScaled(float64(t.Cycles.Forced)) + " forced"
		}
		parts = append(parts, n)
	}
	if len(parts) == 0 {
		parts = append(parts, unseen(t, "cycles not known: needs a gctrace log"))
		if t.Cycles.Forced > 0 {
			parts[0] = fmt.Sprintf("only %d forced cycles", t.Cycles.Forced)
		}
	}
	if t.CPUSeconds > 0 {
		text := term.SharePercent(t.CollectorShare) + " of CPU"
		if s := t.Cycles.TraceShare; s > 0 {
			text += " (gctrace, by the clock: " + term.FormatPercent(s) + " of all processors)"
		}
		parts = append(parts, text)
	}
	return parts
}

// unseen says why a figure of the cycles is missing: the log holds none, or
// there is no log.
func unseen(t finding.Totals, otherwise string) string {
	if t.Cycles.Logged {
		return "no automatic collection in the window"
	}
	return otherwise
}

func heapFacts(t finding.Totals) []string {
	var parts []string
	if t.Heap.Live > 0 {
		text := t.Heap.Live.String() + " live"
		if t.Heap.LiveMax > 0 {
			text += fmt.Sprintf(" in the median (%v to %v)", t.Heap.LiveMin, t.Heap.LiveMax)
		}
		parts = append(parts, text)
	}
	if t.Heap.Goal > 0 {
		parts = append(parts, "goal "+t.Heap.Goal.String())
	}
	switch {
	case t.Heap.NoGoal && t.Heap.Goal > 0:
		parts = append(parts, "no goal in the end")
	case t.Heap.NoGoal:
		parts = append(parts, "no goal")
	}
	switch peak := t.Heap.Peak; {
	case peak > 0 && !t.Heap.PeakByGoal:
		parts = append(parts, "peak "+peak.String())
	case peak > 0 && peak.String() == t.Heap.Goal.String():
		parts = append(parts, "peak about the goal")
	case peak > 0:
		parts = append(parts, "peak about "+peak.String())
	}
	if len(parts) == 0 {
		parts = append(parts, unseen(t, "live heap and goal not known: needs a gctrace log"))
	}
	if t.Heap.Resident > 0 {
		parts = append(parts, "largest resident set "+t.Heap.Resident.String())
	}
	if term.Some(t.BytesPerSecond) {
		parts = append(parts, "allocates "+unit.FormatBytes(t.BytesPerSecond)+"/s")
	}
	return parts
}

// targetName names the recorded target as the user called it.
func targetName(t evidence.Target) string {
	name := strings.Join(t.Args, " ")
	if name == "" {
		name = strings.Join(t.Packages, " ")
	}
	switch {
	case name == "":
		name = "not known"
	case t.Module != "" && t.Module != name:
		name += " in " + t.Module
	}
	return name
}

func setting(name, value string) string {
	if value == "" {
		return name + " not known"
	}
	return name + "=" + value
}

func optional(lead, value string) string {
	if value == "" {
		return ""
	}
	return lead + value
}
