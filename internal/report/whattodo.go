package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/report/bar"
	"github.com/heaptrim/heaptrim/internal/report/catalogue"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// whatToDo says what to change, what that would save, the evidence for it, and
// what the catalogue has on such a change. Where no cure is named, it says what
// removing the line's allocations would save.
func (e *explainer) whatToDo() {
	f := e.f
	code := cure(f)
	if code == "" {
		if savedText(f.Remedy.Saves, e.k) != "" {
			e.p.Section("What it would save without these allocations", "predicted, not measured")
			e.saves()
		}
		return
	}
	e.p.Section("What to do", f.Remedy.Safety)
	entry, known := cures.Find(code)
	e.p.Line(term.Styled("  "+code, term.Bold+";"+term.Green), term.Styled("  "+entry.Title, term.Bold))
	if f.Remedy.Text != "" {
		e.p.Prose("  ", term.FullSentence(f.Remedy.Text), term.Normal)
	}
	if f.Remedy.Why != "" {
		e.p.Prose("  ", term.FullSentence("Evidence: "+f.Remedy.Why), term.Dim)
	}
	if code == leaveIt {
		return
	}
	if text := recordText(f.Remedy.Rule); text != "" && f.Remedy.Trial == nil {
		e.p.Prose("  ", text, term.Normal)
	}
	e.saves()
	if known {
		catalogue.Example(e.p, entry)
		e.p.Prose("  ", "Limits: "+entry.WhenNot, term.Normal)
	}
}

// recordText says how often a rule was right, or that no known case has it; "" without a rule.
func recordText(rule string) string {
	for _, r := range cures.AllRates() {
		if r.Rule == rule {
			return fmt.Sprintf("Such advice (%q) was right in %d of %d known cases of %d modules (%s).", rule, r.Right, r.Named, r.Modules, cures.Rated)
		}
	}
	if rule == "" {
		return ""
	}
	return fmt.Sprintf("None of the known cases has such advice (%q) yet (%s).", rule, cures.Rated)
}

// saves is the predicted saving with its bounds and its basis.
func (e *explainer) saves() {
	p := e.f.Remedy.Saves
	var parts []string
	if e.k.cpu && measured(p.CPU) {
		parts = append(parts, term.SharePercent(p.CPU)+" of CPU")
	}
	parts = append(parts, savedAmounts(p)...)
	if len(parts) == 0 {
		return
	}
	e.p.Prose("  ", "Saves "+strings.Join(parts, ", ")+", by prediction.", term.Bold)
	if p.Basis != "" {
		e.p.Prose("  ", term.FullSentence("Basis: "+p.Basis), term.Dim)
	}
	if text := sparesMore(e.f.Remedy.Trial, e.f.Cost); text != "" {
		e.p.Prose("  ", text, term.Dim)
	}
}

// sparesMore says that a trial spares more objects than the row's lines allocate; "" if it does not.
func sparesMore(t *finding.Trial, c finding.Cost) string {
	const about = 1.02 // counts of two runs
	if t == nil || c.ObjectsPerOp.Value <= 0 || t.Before.Allocs-t.After.Allocs < max(c.ObjectsPerOp.Value*about, c.ObjectsPerOp.Value+0.5) {
		return ""
	}
	return fmt.Sprintf("The edit spares %s objects/op, more than this allocates: other lines allocate less with it, too. The saving is that of this one.",
		unit.FormatScaled(t.Before.Allocs-t.After.Allocs))
}

// others lists the further cures that fit.
func (e *explainer) others() {
	if len(e.f.Others) == 0 {
		return
	}
	e.p.Section("Other cures that fit", "")
	for _, r := range e.f.Others {
		saves := ""
		if s := savedText(r.Saves, e.k); s != "" {
			saves = "  saves " + s
		}
		e.p.Line(term.Styled("  "+r.Code, term.Green), term.Styled(saves, term.Normal),
			term.Styled(strings.TrimRight("  "+r.Safety, " "), term.Dim))
		if r.Text != "" {
			e.p.Prose("      ", term.FullSentence(r.Text), term.Normal)
		}
	}
}

// mix shows the parts of what the line allocates, when it is more than one.
func (e *explainer) mix() {
	if len(e.f.Allocation.Mix) < 2 {
		return
	}
	e.p.Section("What it allocates", "shares of the line's own")
	objects, bytes := term.NewColumn("objects %", true), term.NewColumn("bytes %", true)
	kind, via := term.NewColumn("kind", false), term.NewColumn("through", false)
	t := &term.Table{Columns: []*term.Column{objects, bytes, kind, via}, Path: via}
	for _, m := range e.f.Allocation.Mix {
		objects.Add(term.Percent(m.Objects))
		bytes.Add(term.Percent(m.Bytes))
		name := string(m.Kind)
		if name == "" {
			name = "not known"
		}
		kind.Add(name)
		via.Add(shortName(m.Via))
		t.Remarks = append(t.Remarks, "")
	}
	t.Write(e.p)
}

// shownSizes bounds the table of block sizes.
const shownSizes = 8

// sizes shows how the sizes of blocks spread: the heaviest ones, smallest
// first.
func (e *explainer) sizes() {
	if len(e.f.Allocation.Sizes) < 2 {
		return
	}
	var objects, bytes float64
	for _, s := range e.f.Allocation.Sizes {
		objects += s.Objects
		bytes += s.Objects * float64(s.Size)
	}
	shown := slices.Clone(e.f.Allocation.Sizes)
	slices.SortStableFunc(shown, func(a, b finding.SizeCount) int {
		return cmp.Compare(b.Objects*float64(b.Size), a.Objects*float64(a.Size))
	})
	shown = shown[:min(shownSizes, len(shown))]
	slices.SortStableFunc(shown, func(a, b finding.SizeCount) int { return cmp.Compare(a.Size, b.Size) })
	remark := ""
	if n := len(e.f.Allocation.Sizes); n > len(shown) {
		first, last := e.f.Allocation.Sizes[0].Size, e.f.Allocation.Sizes[n-1].Size
		remark = fmt.Sprintf("the %d with most bytes, of %d from %s to %s", len(shown), n, first, last)
	}
	e.p.Section("Sizes of its blocks", remark)
	size, count, weight, bar := term.NewColumn("block", true), term.NewColumn(
		"blocks %", true,
	), term.NewColumn("bytes %", true), term.NewColumn("", false)
	t := &term.Table{Columns: []*term.Column{size, count, weight, bar}, Path: bar}
	for _, s := range shown {
		share := s.Objects * float64(s.Size) / bytes
		size.Add(s.Size.String())
		count.Add(term.Percent(s.Objects / objects))
		weight.Add(term.Percent(share))
		bar.Add(shareBar(share, 20))
		t.Remarks = append(t.Remarks, "")
	}
	t.Write(e.p)
}

// shareBar draws a share of n cells.
func shareBar(share float64, n int) string {
	if !term.Some(share) {
		return ""
	}
	return strings.Repeat(bar.Solid, int(min(share, 1)*float64(n)+0.5))
}
