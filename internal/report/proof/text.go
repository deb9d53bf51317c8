// Package proof shows a comparison of versions: as text, Markdown and JSON.
package proof

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/report/machine"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Text writes a comparison for a reader at a terminal: the verdict, what was compared, a row
// for each judged metric, and the others below.
func Text(w io.Writer, r *prove.Result, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	said := r.BySide
	if len(said) == 0 {
		said = []prove.Verdict{r.Verdict}
	}
	for _, v := range said {
		p.Prose("", v.Sentence, term.Bold+";"+outcomeStyle(v.Outcome))
	}
	p.Blank()
	for _, f := range proveFacts(r) {
		p.Prose("  "+term.PadRight(f[0], 11), f[1], term.Normal)
	}
	proveSubjects(p, r)
	proveList(p, "Left out", r.LeftOut)
	proveList(p, "Warnings", r.Warnings)
	return p.Flush()
}

func outcomeStyle(o prove.Outcome) term.Style {
	switch o {
	case prove.Better:
		return term.Green
	case prove.Worse, prove.Mixed:
		return term.Red
	case prove.Unclear, prove.Incomparable:
		return term.Yellow
	}
	return term.Normal
}

// proveFacts say what was compared and how, as label and text.
func proveFacts(r *prove.Result) [][2]string {
	var out [][2]string
	for i, s := range r.Sides {
		text := s.Spec
		if s.Commit != "" {
			text += " (" + s.Commit[:min(12, len(s.Commit))]
			if s.Dirty {
				text += " and changes"
			}
			text += ")"
		}
		out = append(out, [2]string{prove.Letter(i), term.JoinKnown([]string{text, s.Version, s.GoVersion})})
	}
	pairs, most := math.MaxInt, 0
	for _, c := range r.Comparisons {
		pairs, most = min(pairs, c.Pairs), max(most, c.Pairs)
	}
	count := fmt.Sprintf("%d", most)
	if pairs < most {
		count = fmt.Sprintf("%d to %d", pairs, most)
	}
	how := count + " pairs of runs"
	if r.Target.RunTime > 0 {
		how += " of " + unit.FormatNanoseconds(float64(r.Target.RunTime))
	}
	parts := []string{how + " in turns", unit.FormatNanoseconds(float64(r.Measured)) + " in all"}
	if r.ClearAfter > 0 && r.ClearAfter < most {
		parts = append(parts, fmt.Sprintf("clear after %d pairs", r.ClearAfter))
	}
	if r.Partial {
		parts = append(parts, "interrupted")
	}
	out = append(out, [2]string{"measured", term.JoinKnown(parts)})
	e := r.Environment
	return append(out, [2]string{"machine",
		term.JoinKnown(append([]string{e.GOOS + "/" + e.GOARCH}, machine.Facts(e)[1:]...))})
}

// proveRows shows one benchmark.
func proveRows(p *term.Page, c prove.Comparison) {
	p.Blank()
	remark := plainOutcome(c.Outcome)
	if c.Iterations > 0 {
		remark = term.JoinKnown([]string{remark, fmt.Sprintf("%d iterations a run", c.Iterations)})
	}
	if c.Side > 1 {
		remark = prove.Letter(c.Side) + " against A: " + remark
	}
	p.Line(term.Styled(c.Name, term.Bold), term.Styled("  "+remark, outcomeStyle(c.Outcome)))
	for i, f := range c.Failed {
		if f != "" {
			p.Prose("  ! ", prove.Letter(i*max(c.Side, 1))+" fails: "+f, term.Red)
		}
	}
	for _, d := range c.Differs {
		p.Prose("  ! ", "The work differs, so no call is made: "+d, term.Yellow)
	}
	var beside []string
	for _, ch := range c.Changes {
		if !ch.Judged {
			beside = append(beside, besideText(ch))
			continue
		}
		p.Line(term.Styled("  "+term.PadRight(ch.Unit, 10), term.Normal),
			term.Styled(
				term.PadLeft(metricValue(ch.Unit, ch.A.Value), 10)+" → "+term.PadRight(metricValue(ch.Unit, ch.B.Value),
					10),
				term.Normal),

			term.Styled(term.PadLeft(changeText(ch), 20)+"  ", term.Normal), term.Styled(
				term.PadRight(plainOutcome(ch.Outcome), 8), outcomeStyle(ch.Outcome)),

			term.Styled("  "+basisText(ch), term.Dim))
	}
	if len(beside) > 0 {
		p.Prose("  beside    ", term.JoinKnown(beside), term.Dim)
	}
	for _, w := range proveWarnings(c) {
		p.Prose("  ! ", w, term.Yellow)
	}
}

func proveWarnings(c prove.Comparison) []string {
	out := append([]string{}, c.Warnings...)
	for _, ch := range c.Changes {
		for _, w := range ch.Warnings {
			out = append(out, ch.Unit+": "+w)
		}
	}
	return out
}

func plainOutcome(o prove.Outcome) string { return string(o) }

// significant is the p-value below which a difference is there, whether it counts or not.
const significant = 0.05

// basisText is the basis of a call.
func basisText(ch prove.Change) string {
	switch {
	case ch.Exact:
		return fmt.Sprintf("exact, %d+%d runs", ch.Runs.A, ch.Runs.B)
	case ch.Separated:
		return fmt.Sprintf("far apart, %d+%d runs", ch.Runs.A, ch.Runs.B)
	case ch.Outcome == prove.Same && ch.Tests.P < significant:
		return fmt.Sprintf("too small to count, %d+%d runs", ch.Runs.A, ch.Runs.B)
	case math.IsNaN(ch.Tests.AdjustedP):
		return fmt.Sprintf("%d+%d runs", ch.Runs.A, ch.Runs.B)
	}
	return fmt.Sprintf("p=%.2g, adjusted %.2g, benchmath %.2g, %d+%d runs", ch.Tests.P, ch.Tests.AdjustedP,
		ch.Tests.RankSumP, ch.Runs.A, ch.Runs.B)
}

// changeText is a change in percent with its error.
func changeText(ch prove.Change) string {
	v := ch.Delta.Value
	switch {
	case math.IsNaN(v), math.IsInf(v, 0):
		if ch.A.Value == ch.B.Value {
			return "0 %"
		}
		return "from nothing"
	case v == 0 && ch.Exact:
		return "0 %"
	case ch.Exact:
		return signed(v)
	case math.IsInf(ch.Delta.High, 0) || math.IsInf(ch.Delta.Low, 0):
		return signed(v)
	}
	return signed(v) + term.PlusMinus(ch.Delta)
}

// signed is a change in percent with its sign, if it has one at one digit.
func signed(share float64) string {
	if v := math.Round(1000*share) / 10; v != 0 {
		return fmt.Sprintf("%+.1f %%", v)
	}
	return "0.0 %"
}

func besideText(ch prove.Change) string {
	text := ch.Label + " " + metricValue(ch.Unit, ch.A.Value)
	if ch.A.Value != ch.B.Value {
		text += " → " + metricValue(ch.Unit, ch.B.Value)
	}
	return text
}

// metricValue prints a value in the scale that suits its unit.
func metricValue(u string, v float64) string {
	switch {
	case !schema.Finite(v):
		return term.Dash
	case u == "B/op" || strings.HasSuffix(u, "-bytes"):
		return unit.FormatBytes(v)
	case strings.HasSuffix(u, "-share"):
		return term.Percent(v) + " %"
	case u == "ns/op" || strings.Contains(u, "-ns"):
		return unit.FormatNanoseconds(v)
	case u == "sec" || strings.HasSuffix(u, "-sec"):
		return unit.FormatNanoseconds(v * 1e9)
	}
	return unit.FormatScaled(v)
}

func proveList(p *term.Page, title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.Section(title, "")
	for _, s := range items {
		p.Prose("  - ", s, term.Normal)
	}
}

// intervalText is a median with its error.
func intervalText(u string, i stats.Interval) string {
	return term.WithError(i, func(v float64) string { return metricValue(u, v) })
}
