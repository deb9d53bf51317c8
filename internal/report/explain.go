package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// ExplainOptions tunes Explain. The zero value is ready to use.
type ExplainOptions struct {
	// Source reads the file of a site, whose name is relative to the module
	// root where it lies below it. Nil: no source lines are shown.
	Source func(file string) ([]byte, error)
	Width  int // columns of the terminal; 0 means 80, and below 60 counts as 60
	Color  bool
}

// rankError says that a report has no finding of the rank asked for.
type rankError struct {
	Rank, Findings int
}

// Error says which ranks there are.
func (e *rankError) Error() string {
	if e.Findings == 0 {
		return fmt.Sprintf("there is no finding %d: the report has none", e.Rank)
	}
	return fmt.Sprintf("there is no finding %d: the report has 1 to %d", e.Rank, e.Findings)
}

// Explain writes everything about the finding of rank n: what to do and the saving, other
// cures that fit, its cost column by column, what it allocates in which sizes, its lifetime,
// why it is on the heap, its stacks and the source around it. The error is a *RankError if
// there is no such finding.
func Explain(w io.Writer, rep *finding.Report, n int, o ExplainOptions) error {
	for i := range rep.Prescription.Rows {
		if rankOf(rep, i) != n {
			continue
		}
		e := &explainer{term.New(w, o.Width, o.Color), rep, knownOf(rep), rep.Prescription.Rows[i]}
		e.title(n)
		e.whatToDo()
		e.others()
		e.cost()
		e.byRun()
		e.mix()
		e.sizes()
		e.lifetime()
		e.reason()
		e.source(o.Source)
		e.stacks()
		return e.p.Flush()
	}
	return &rankError{n, len(rep.Prescription.Rows)}
}

// explainer writes one finding.
type explainer struct {
	p   *term.Page
	rep *finding.Report
	k   known
	f   finding.Row
}

func (e *explainer) title(n int) {
	f := e.f
	e.p.Line(term.Styled(fmt.Sprintf("#%d  ", n), term.Bold), term.Styled(place(f.Site), term.Bold+";"+term.Cyan),
		term.Styled("  "+f.Title, term.Bold))
	e.p.Line(term.Styled("    "+term.ElideMiddle(term.Clean(f.Site.Function), e.p.Width-4), term.Normal))
	if f.Allocation.Via != "" {
		e.p.Line(term.Styled("    allocates through ", term.Dim),
			term.Styled(term.ElideMiddle(term.Clean(f.Allocation.Via), e.p.Width-22), term.Normal))
	}
}

// cost is the table of columns, each with its interval.
func (e *explainer) cost() {
	remark := ""
	if e.f.Run != "" && len(e.rep.Diagnosis.Runs) > 1 {
		remark = "shares: mean over the runs; amounts: " + e.f.Run
	}
	e.p.Section("What it costs", remark)
	c := e.f.Cost
	share := func(name string, i stats.Interval, known bool) {
		switch {
		case known:
			e.figure(name, term.FormatPercent(i.Value), term.Error(i, term.FormatPercent))
		case e.k.cpu:
			e.figure(name, "not known", "")
		}
	}
	if e.k.cpu {
		share("CPU, all of it", c.Share(), true)
	} else {
		e.figure("CPU", "not known: "+lacksCPU(e.rep.Diagnosis.Totals), "")
	}
	share("  malloc", c.Malloc, e.k.cpu)
	share("  zeroing", c.Zeroing, e.k.cpu)
	share("  copying", c.GrowCopy, e.k.cpu)
	share("  mark assist", c.Assist, e.k.cpu)
	share("  GC, by churn", c.Churn, e.k.churn)
	share("  GC, by retention", c.Retention, e.k.in(e.f.Run, c).retention)
	if c.Retention.Value < 0 {
		text := "Negative: what it keeps alive raises the heap goal, so the program collects less often."
		if c.CPU.Value < 0 {
			text += " That saves more than the rest costs, by " + term.SharePercent(c.CPU.Scale(-1)) + " of CPU."
		}
		e.p.Prose("    ", text, term.Dim)
	}
	if r := e.f.Removal; r != nil {
		share("saved if all of it went", r.CPU, e.k.cpu)
		if text := whyRemoval(*r, c); text != "" && e.k.cpu {
			e.p.Prose("    ", text, term.Dim)
		}
		if r.Caches.High > 0 {
			share("  of it in other code", r.Caches, e.k.cpu)
			for _, text := range e.caches() {
				e.p.Prose("    ", text, term.Dim)
			}
		}
	}
	e.amount("allocates", c.BytesPerOp, func(v float64) string { return unit.FormatBytes(v) + "/op" })
	e.amount("", c.ObjectsPerOp, func(v float64) string {
		return unit.FormatScaled(v) + term.Plural(v, " object") +
			"/op"
	})
	e.amount("at the rate of", c.BytesPerSecond, func(v float64) string { return unit.FormatBytes(v) + "/s" })
	e.amount("", c.ObjectsPerSecond, func(v float64) string {
		return unit.FormatScaled(v) + term.Plural(v, " object") +
			"/s"
	})
	if !e.k.perOp && !e.k.perSecond {
		e.amount("in all", c.Bytes, unit.FormatBytes)
		e.amount("", c.Objects, func(v float64) string { return unit.FormatScaled(v) + term.Plural(v, " object") })
	}
	e.amount("live", c.InUse, unit.FormatBytes)
	e.ofRun()
}

// whyRemoval says why all that a row allocates and keeps would save another amount than the row costs; "" if it would not
// save more, nor less than nothing.
func whyRemoval(r finding.Prediction, c finding.Cost) string {
	here, _ := parted(r)
	switch {
	case r.CPU.Value < 0:
		return "Negative: without what it keeps alive the heap goal is lower, so the program collects more often."
	case here.Value <= c.CPU.Value:
		return ""
	case r.Cycles.Value > 0:
		return "Without it there are fewer cycles, each of which marks what other rows keep alive, too."
	}
	return "Without what it keeps alive each cycle marks less. That saves more than the mean price of a byte, which the row is charged."
}

// ofRun shows, for the run of the row, the basis of the cost of retention, and the factor that
// corrects samples for the profile's own effect on the program, if it is more than a few per cent.
func (e *explainer) ofRun() {
	much := func(times float64) bool { return schema.Finite(times) && times > 0 && math.Abs(times-1) >= 0.05 }
	for _, r := range e.rep.Diagnosis.Runs {
		if r.Name != e.f.Run {
			continue
		}
		if r.Retention.Text != "" && e.k.cpu {
			e.p.Prose("  ", "Retention: "+r.Retention.Text, term.Dim)
		}
		if much(r.CycleScale) {
			e.p.Prose(
				"  ",
				fmt.Sprintf(
					"The CPU profile lies on the program's heap. Without it, the collector does %.2f times the "+
						"work of "+
						"the profiled run; its samples are scaled by that.",
					r.CycleScale,
				),
				term.Dim,
			)
		}
	}
}

// caches explains the part of a saving that no profile shows.
func (e *explainer) caches() (texts []string) {
	known := func(i stats.Interval) bool {
		return schema.Finite(i.Value) && schema.Finite(i.Low) && schema.Finite(i.High)
	}
	for _, r := range e.rep.Diagnosis.Runs {
		if r.Name != e.f.Run {
			continue
		}
		if c := r.FreshLine; c != nil && known(c.NS) {
			texts = append(texts, fmt.Sprintf("Each cache line of fresh memory (%d bytes) causes a cache miss and "+
				"evicts another line. On this machine that cost %.1f ns ±%.1f with %s in use by "+
				"%d%s.",
				evidence.CacheLine, c.NS.Value, term.Half(c.NS), unit.Bytes(c.LiveBytes), c.Threads, term.Plural(
					float64(c.Threads), " thread",
				)))
		}
		if c := r.CycleCost; c != nil && known(c.NS) {
			ms := func(ns float64) string { return unit.FormatScaled(ns/1e6) + " ms" }
			texts = append(texts, fmt.Sprintf("Marking also evicts the program's memory from the caches. A "+
				"collection costs this process %s of CPU time, measured with GOGC at its own value and "+
				"at %g times that (%d pairs). The part beyond the collector's samples slows down the "+
				"program.",
				term.WithError(c.NS, ms), c.Times, c.Pairs))
		}
	}
	return texts
}

// figure is one line of the cost table.
func (e *explainer) figure(name, value, bounds string) {
	e.p.Line(term.Styled("  "+term.PadRight(name, 20), term.Normal), term.Styled(term.PadLeft(value, 16), term.Bold),
		term.Styled("   "+bounds, term.Dim))
}

// amount is a figure that is omitted when it is not known.
func (e *explainer) amount(name string, i stats.Interval, format func(float64) string) {
	if measured(i) && i.Value != 0 {
		e.figure(name, format(i.Value), term.Error(i, format))
	}
}

func (e *explainer) byRun() {
	if len(e.f.ByRun) < 2 {
		return
	}
	e.p.Section("In each run", "")
	name, cpu, bytes, objects := term.NewColumn("run", false), term.NewColumn("CPU %", false), term.NewColumn("B/op",
		true),
		term.NewColumn("objs/op", true)
	t := &term.Table{Columns: []*term.Column{name, cpu, bytes, objects}, Path: name}
	for _, r := range e.f.ByRun {
		name.Add(r.Run)
		share := term.Dash
		if e.k.cpu {
			share = costCell(r.Cost)
		}
		cpu.Add(share)
		bytes.Add(term.Amount(r.Cost.BytesPerOp.Value, unit.FormatBytes))
		objects.Add(term.Amount(r.Cost.ObjectsPerOp.Value, unit.FormatScaled))
		t.Remarks = append(t.Remarks, "")
	}
	t.Write(e.p)
}

func (e *explainer) lifetime() {
	l := e.f.Lifetime
	e.p.Section("How long it lives", "")
	text := "not known"
	switch l.Class {
	case finding.LifetimeShort:
		text = "short: it dies before the next collection"
	case finding.LifetimeCycle:
		text = "for a few collections"
	case finding.LifetimeLong:
		text = "long: for many collections, but bounded"
	case finding.LifetimeLeak:
		text = "leak suspect: its memory is not freed"
	}
	if l.Mean > 0 {
		text += ", on average "
		if l.Class == finding.LifetimeShort {
			text += "at most "
		}
		text += unit.FormatNanoseconds(float64(l.Mean))
	}
	if l.Basis != "" {
		text += " (" + l.Basis + ")"
	}
	e.p.Prose("  ", text, term.Normal)
	if text := lifeText(e.f.Remedy.Life); text != "" {
		e.p.Prose("  ", text, term.Normal)
	}
	if text := callersRemark(e.f); text != "" {
		e.p.Prose("  ", term.FullSentence(strings.TrimPrefix(text, "; ")), term.Normal)
	}
	switch e.f.Allocation.Pointers {
	case finding.Yes:
		e.p.Prose("  ", "The objects hold pointers, so every collection that finds them alive scans them.", term.Dim)
	case finding.No:
		e.p.Prose("  ", "The objects hold no pointers, so the collector never looks inside.", term.Dim)
	}
}

// reason says why the value is on the heap, with the compiler's own steps.
func (e *explainer) reason() {
	e.p.Section("Why it is on the heap", string(e.f.Allocation.Kind))
	r := e.f.Escape
	if r == nil {
		e.p.Prose("  ", needsCompiler, term.Normal)
		return
	}
	e.p.Prose("  ", term.Sentence(r.Text)+".", term.Normal)
	if r.Expr != "" {
		verb := "escapes to heap"
		if r.From != nil {
			verb = string(r.From.Verb)
		}
		e.p.Prose("  ", fmt.Sprintf("The compiler at %s: %s %s", place(r.At), r.Expr, verb), term.Dim)
	}
	for _, step := range r.Flow {
		e.p.Line(term.Styled("    "+step.Dst+" ← "+step.Src, term.Bold))
		for _, edge := range step.Edges {
			at := ""
			if edge.File != "" {
				at = fmt.Sprintf("%s:%d", baseName(edge.File), edge.Line)
			}
			e.p.Line(term.Styled("      from "+edge.Expr+" ", term.Normal), term.Styled("("+edge.Why+")", term.Cyan),
				term.Styled("  "+at, term.Dim))
		}
	}
	if r.From != nil && r.From.Cut {
		e.p.Line(term.Styled("    … the compiler cut its explanation here", term.Dim))
	}
}

// baseName is the last element of a path of either kind of system.
func baseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }
