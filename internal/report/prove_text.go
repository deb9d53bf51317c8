package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// ProveText writes a comparison for a reader at a terminal: the verdict, what
// was compared, a row for each metric that is judged, and the others beside.
func ProveText(w io.Writer, r *prove.Result, o PageOptions) error {
	p := newPage(w, o.Width, o.Color)
	said := r.BySide
	if len(said) == 0 {
		said = []prove.Verdict{r.Verdict}
	}
	for _, v := range said {
		p.prose("", v.Sentence, bold+";"+outcomeStyle(v.Outcome))
	}
	p.blank()
	for _, f := range proveFacts(r) {
		p.prose("  "+padRight(f[0], 11), f[1], noStyle)
	}
	proveSubjects(p, r)
	proveList(p, "Left out", r.LeftOut)
	proveList(p, "Warnings", r.Warnings)
	return p.flush()
}

func outcomeStyle(o prove.Outcome) style {
	switch o {
	case prove.Better:
		return green
	case prove.Worse, prove.Mixed:
		return red
	case prove.Unclear, prove.Incomparable:
		return yellow
	}
	return noStyle
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
		out = append(out, [2]string{prove.Letter(i), joinKnown([]string{text, s.Version, s.GoVersion})})
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
	if r.Partial {
		parts = append(parts, "interrupted")
	}
	out = append(out, [2]string{"measured", joinKnown(parts)})
	e := r.Environment
	return append(out, [2]string{"machine", joinKnown(append([]string{e.GOOS + "/" + e.GOARCH}, machineFacts(e)[1:]...))})
}

// proveRows shows one benchmark.
func proveRows(p *page, c prove.Comparison) {
	p.blank()
	remark := plainOutcome(c.Outcome)
	if c.Iterations > 0 {
		remark = joinKnown([]string{remark, fmt.Sprintf("%d iterations a run", c.Iterations)})
	}
	if c.Side > 1 {
		remark = prove.Letter(c.Side) + " against A: " + remark
	}
	p.line(styled(c.Name, bold), styled("  "+remark, outcomeStyle(c.Outcome)))
	for i, f := range c.Failed {
		if f != "" {
			p.prose("  ! ", prove.Letter(i*max(c.Side, 1))+" fails: "+f, red)
		}
	}
	for _, d := range c.Differs {
		p.prose("  ! ", "The work differs, so no call is made: "+d, yellow)
	}
	var beside []string
	for _, ch := range c.Changes {
		if !ch.Judged {
			beside = append(beside, besideText(ch))
			continue
		}
		p.line(styled("  "+padRight(ch.Unit, 10), noStyle),
			styled(
				padLeft(metricValue(ch.Unit, ch.A.Value), 10)+" → "+padRight(metricValue(ch.Unit, ch.B.Value), 10),
				noStyle),

			styled(padLeft(changeText(ch), 20)+"  ", noStyle), styled(
				padRight(plainOutcome(ch.Outcome), 8), outcomeStyle(ch.Outcome)),

			styled("  "+basisText(ch), dim))
	}
	if len(beside) > 0 {
		p.prose("  beside    ", joinKnown(beside), dim)
	}
	for _, w := range proveWarnings(c) {
		p.prose("  ! ", w, yellow)
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

// basisText says what a call rests on.
func basisText(ch prove.Change) string {
	switch {
	case ch.Exact:
		return fmt.Sprintf("exact, %d+%d runs", ch.NA, ch.NB)
	case ch.Apart:
		return fmt.Sprintf("far apart, %d+%d runs", ch.NA, ch.NB)
	case math.IsNaN(ch.Holm):
		return fmt.Sprintf("%d+%d runs", ch.NA, ch.NB)
	}
	return fmt.Sprintf("p=%.2g, adjusted %.2g, benchmath %.2g, %d+%d runs", ch.P, ch.Holm, ch.Rank, ch.NA, ch.NB)
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
		return fmt.Sprintf("%+.1f %%", v*100)
	case math.IsInf(ch.Delta.High, 0) || math.IsInf(ch.Delta.Low, 0):
		return fmt.Sprintf("%+.1f %%", v*100)
	}
	return fmt.Sprintf("%+.1f %%%s", v*100, plusMinus(ch.Delta))
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
		return dash
	case u == "B/op" || strings.HasSuffix(u, "-bytes"):
		return unit.FormatBytes(v)
	case strings.HasSuffix(u, "-share"):
		return percent(v) + " %"
	case u == "ns/op" || strings.Contains(u, "-ns"):
		return unit.FormatNanoseconds(v)
	case u == "sec" || strings.HasSuffix(u, "-sec"):
		return unit.FormatNanoseconds(v * 1e9)
	}
	return unit.FormatScaled(v)
}

func proveList(p *page, title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.section(title, "")
	for _, s := range items {
		p.prose("  - ", s, noStyle)
	}
}

// intervalText is a median with its bounds.
func intervalText(u string, i stats.Interval) string {
	if half(i) == 0 {
		return metricValue(u, i.Value)
	}
	return fmt.Sprintf("%s (%s)", metricValue(u, i.Value), between(i, func(v float64) string { return metricValue(u, v) }))
}
