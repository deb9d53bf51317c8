package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/bar"
	"github.com/heaptrim/heaptrim/internal/report/machine"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TextOptions tunes Text. The zero value is ready to use.
type TextOptions struct {
	Width int  // columns of the terminal; 0 means 80, and below 60 counts as 60
	Color bool // use the terminal's colours; the caller knows whether it is one
	Top   int  // findings shown; 0 means 15
	Rows  bool // all rows of where CPU time goes, not their groups
}

// How many rows the lesser lists show.
const (
	defaultTop   = 15
	shownApart   = 3
	shownRuns    = 12
	shownWarning = 12
)

// Text writes a diagnosis for a reader at a terminal: the headline, where CPU
// time goes, what to change, ranked, and what is not known. No line is wider
// than the terminal.
func Text(w io.Writer, rep *finding.Report, o TextOptions) error {
	if o.Top <= 0 {
		o.Top = defaultTop
	}
	p := term.New(w, o.Width, o.Color)
	k := knownOf(rep)
	headline(p, rep, k)
	facts(p, rep)
	bar.Draw(p, rep.Diagnosis, o.Rows)
	runs(p, rep)
	advice(p, rep, k)
	ranking(p, rep, k, o)
	rules(p, rep.Rules, k)
	excluded(p, rep, k)
	missing(p, rep)
	warnings(p, rep)
	return p.Flush()
}

// headline is the most important sentence, the reason for it, and the possible saving.
func headline(p *term.Page, rep *finding.Report, k known) {
	t := rep.Diagnosis.Totals
	if !k.cpu {
		p.Prose("", "What share of CPU time memory management takes is not known: "+lacksCPU(t)+".", term.Bold)
	} else {
		p.Line(term.Styled("Memory management takes ", term.Bold),
			term.Styled(term.Percent(t.MemoryShare.Value)+" %", heat(t.MemoryShare.Value)),
			term.Styled(term.PlusMinus(t.MemoryShare), term.Normal), term.Styled(" of CPU time.", term.Bold))
	}
	if t.Why != "" {
		p.Prose("", term.Sentence(t.Why), term.Normal)
	}
	if s := outlook(rep, k); s != "" {
		p.Prose("", s, term.Bold)
	}
	p.Blank()
}

// heat is the style of a share of CPU.
func heat(share float64) term.Style {
	switch {
	case share >= 0.2:
		return term.Bold + ";" + term.Red
	case share >= 0.05:
		return term.Bold + ";" + term.Yellow
	}
	return term.Bold + ";" + term.Green
}

// facts are the figures behind the headline, one subject a line.
func facts(p *term.Page, rep *finding.Report) {
	t, e := rep.Diagnosis.Totals, rep.Diagnosis.Environment
	row := func(label string, parts ...string) {
		p.Prose("  "+term.PadRight(label, 11), term.JoinKnown(parts), term.Normal)
	}
	row("target", targetName(rep.Diagnosis.Target))
	if of := ofRun(rep.Diagnosis); of != "" {
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
			" median", unit.FormatNanoseconds(float64(t.Pauses.Max))+" longest",
			unit.FormatNanoseconds(float64(t.Pauses.Total))+" in all")
	} else {
		row("pauses", unseen(t, "not known: needs a gctrace log"))
	}
	row("settings", setting("GOGC", e.GOGC), setting("GOMEMLIMIT", e.GOMEMLIMIT), optional("GODEBUG=", e.GODEBUG),
		optional("GOEXPERIMENT=", e.Experiment),
		optional("huge pages ", e.THP), startedWith(rep.Diagnosis.Target))
	row("machine", machine.Facts(e)...)
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
	return d.Totals.Run + ", which collects most: cycles, heap, pauses and rates; shares of CPU are means of all"
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
		parts = append(parts, t.Heap.Live.String()+" live")
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

// targetName says what was recorded, as the user called it.
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

func missing(p *term.Page, rep *finding.Report) {
	if len(rep.Diagnosis.Gaps) == 0 {
		return
	}
	p.Section("Not known", "what is missing, and what it would show")
	for _, m := range rep.Diagnosis.Gaps {
		p.Prose("  - ", m.What+": "+m.Adds, term.Normal)
	}
}

func warnings(p *term.Page, rep *finding.Report) {
	if len(rep.Warnings) == 0 {
		return
	}
	p.Section("Warnings", "")
	for i, s := range rep.Warnings {
		if i == shownWarning {
			p.Line(term.Styled(fmt.Sprintf("  … and %d more in the JSON report", len(rep.Warnings)-i), term.Dim))
			break
		}
		p.Prose("  ! ", s, term.Yellow)
	}
}
