package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TextOptions tunes Text. The zero value is ready to use.
type TextOptions struct {
	Width int  // columns of the terminal; 0 means 80, and below 60 counts as 60
	Color bool // use the terminal's colours; the caller knows whether it is one
	Top   int  // findings shown; 0 means 15
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
	p := newPage(w, o.Width, o.Color)
	k := knownOf(rep)
	headline(p, rep, k)
	facts(p, rep)
	decomposition(p, rep)
	runs(p, rep)
	ranking(p, rep, k, o)
	advice(p, rep, k)
	rules(p, rep.Rules, k)
	setApart(p, rep, k)
	missing(p, rep)
	warnings(p, rep)
	return p.flush()
}

// headline is the one sentence to read when there is time for one, the reason
// for it, and what can be won.
func headline(p *page, rep *finding.Report, k known) {
	t := rep.Diagnosis.Totals
	if !k.cpu {
		p.prose("", "What share of CPU time memory management takes is not known: needs a CPU profile.", bold)
	} else {
		p.line(styled("Memory management takes ", bold), styled(percent(t.MemoryShare.Value)+" %", heat(t.MemoryShare.Value)),
			styled(plusMinus(t.MemoryShare), noStyle), styled(" of CPU time.", bold))
	}
	if t.Why != "" {
		p.prose("", sentence(t.Why), noStyle)
	}
	if s := outlook(rep, k); s != "" {
		p.prose("", s, bold)
	}
	p.blank()
}

// heat is the style of a share of CPU.
func heat(share float64) style {
	switch {
	case share >= 0.2:
		return bold + ";" + red
	case share >= 0.05:
		return bold + ";" + yellow
	}
	return bold + ";" + green
}

// facts are the figures behind the headline, one subject a line.
func facts(p *page, rep *finding.Report) {
	t, e := rep.Diagnosis.Totals, rep.Diagnosis.Environment
	row := func(label string, parts ...string) {
		p.prose("  "+padRight(label, 11), joinKnown(parts), noStyle)
	}
	row("target", targetName(rep.Diagnosis.Target))
	row("collector", cycleFacts(t)...)
	row("heap", heapFacts(t)...)
	if t.Pauses.Max > 0 {
		row("pauses", unit.FormatNanoseconds(float64(t.Pauses.P50))+
			" median", unit.FormatNanoseconds(float64(t.Pauses.Max))+" longest",
			unit.FormatNanoseconds(float64(t.Pauses.Total))+" in all")
	} else {
		row("pauses", unseen(t, "not known: needs a gctrace log"))
	}
	row("settings", setting("GOGC", e.GOGC), setting("GOMEMLIMIT", e.GOMEMLIMIT), optional("GODEBUG=", e.GODEBUG),
		optional("GOEXPERIMENT=", e.Experiment),
		optional("huge pages ", e.THP))
	row("machine", machineFacts(e)...)
}

func cycleFacts(t finding.Totals) []string {
	var parts []string
	if some(t.Cycles.PerSecond) {
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
			parts[0] = fmt.Sprintf("none but %d forced cycles", t.Cycles.Forced)
		}
	}
	if t.CPUSeconds > 0 {
		parts = append(parts, sharePercent(t.CollectorShare)+" of CPU")
	}
	return parts
}

// unseen says why a figure of the cycles is missing: the log holds none, or
// there is no log.
func unseen(t finding.Totals, otherwise string) string {
	if t.Cycles.Logged {
		return "no collection of its own in the window"
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
	if t.Heap.Peak > 0 {
		parts = append(parts, "peak "+t.Heap.Peak.String())
	}
	if len(parts) == 0 {
		parts = append(parts, unseen(t, "live heap and goal not known: needs a gctrace log"))
	}
	if some(t.BytesPerSecond) {
		parts = append(parts, "allocates "+unit.FormatBytes(t.BytesPerSecond)+"/s")
	}
	return parts
}

func machineFacts(e evidence.Environment) []string {
	procs := ""
	switch {
	case e.GOMAXPROCS > 0 && e.NumCPU > 0:
		procs = fmt.Sprintf("GOMAXPROCS %d of %d CPUs", e.GOMAXPROCS, e.NumCPU)
	case e.GOMAXPROCS > 0:
		procs = fmt.Sprintf("GOMAXPROCS %d", e.GOMAXPROCS)
	case e.NumCPU > 0:
		procs = fmt.Sprintf("%d CPUs", e.NumCPU)
	}
	group := ""
	if some(e.CgroupCPU) || e.CgroupLimit > 0 {
		var limits []string
		if some(e.CgroupCPU) {
			limits = append(limits, unit.FormatCount(e.CgroupCPU)+" CPUs")
		}
		if e.CgroupLimit > 0 {
			limits = append(limits, unit.Bytes(e.CgroupLimit).String())
		}
		group = "cgroup limit " + strings.Join(limits, " and ")
	}
	memory := ""
	if e.MemoryBytes > 0 {
		memory = unit.Bytes(e.MemoryBytes).String()
	}
	goVersion := e.GoVersion
	if goVersion == "" {
		goVersion = "Go version not known"
	}
	if e.GOOS != "" {
		goVersion += " " + e.GOOS + "/" + e.GOARCH
	}
	return []string{goVersion, procs, memory, group, e.CPUModel}
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

// joinKnown puts commas between the parts that are there.
func joinKnown(parts []string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// sentence begins with a capital letter.
func sentence(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// fullSentence begins with a capital letter and ends with a stop.
func fullSentence(s string) string {
	s = sentence(strings.TrimSpace(s))
	if s == "" || strings.ContainsRune(".!?:", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}

func missing(p *page, rep *finding.Report) {
	if len(rep.Diagnosis.Gaps) == 0 {
		return
	}
	p.section("Not known", "what the recording lacks, and what it would add")
	for _, m := range rep.Diagnosis.Gaps {
		p.prose("  - ", m.What+": "+m.Adds, noStyle)
	}
}

func warnings(p *page, rep *finding.Report) {
	if len(rep.Warnings) == 0 {
		return
	}
	p.section("Warnings", "")
	for i, s := range rep.Warnings {
		if i == shownWarning {
			p.line(styled(fmt.Sprintf("  … and %d more in the JSON report", len(rep.Warnings)-i), dim))
			break
		}
		p.prose("  ! ", s, yellow)
	}
}
