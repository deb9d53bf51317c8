package report

import (
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/bar"
	"github.com/heaptrim/heaptrim/internal/report/facts"
	"github.com/heaptrim/heaptrim/internal/report/term"
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
	facts.Write(p, rep.Diagnosis)
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
