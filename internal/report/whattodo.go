package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe"
)

// whatToDo says what to change, what that would save, the evidence for it, and
// what the catalogue has on such a change. Where no cure is named, it says what
// the line's allocations are worth.
func (e *explainer) whatToDo() {
	f := e.f
	code := cure(f)
	if code == "" {
		if savedText(f.Remedy.Saves, e.k) != "" {
			e.p.section("What it would save without these allocations", "predicted, not measured")
			e.saves()
		}
		return
	}
	e.p.section("What to do", f.Remedy.Safety)
	entry, known := prescribe.Find(code)
	e.p.line(styled("  "+code, bold+";"+green), styled("  "+entry.Title, bold))
	if f.Remedy.Text != "" {
		e.p.prose("  ", fullSentence(f.Remedy.Text), noStyle)
	}
	if f.Remedy.Why != "" {
		e.p.prose("  ", fullSentence("Evidence: "+f.Remedy.Why), dim)
	}
	if code == leaveIt {
		return
	}
	e.saves()
	if known {
		example(e.p, entry)
		e.p.prose("  ", "Limits: "+entry.Not, noStyle)
	}
}

// saves is the predicted saving with its bounds, and what it stands on.
func (e *explainer) saves() {
	p := e.f.Remedy.Saves
	var parts []string
	if e.k.cpu && measured(p.CPU) {
		share := formatPercent(p.CPU.Value) + " of CPU"
		if b := between(p.CPU, formatPercent); b != "" {
			share += " (" + b + ")"
		}
		parts = append(parts, share)
	}
	parts = append(parts, savedAmounts(p)...)
	if len(parts) == 0 {
		return
	}
	e.p.prose("  ", "Saves "+strings.Join(parts, ", ")+", by prediction.", bold)
	if p.Basis != "" {
		e.p.prose("  ", fullSentence("Basis: "+p.Basis), dim)
	}
}

// others lists the further cures that fit.
func (e *explainer) others() {
	if len(e.f.Others) == 0 {
		return
	}
	e.p.section("Other cures that fit", "")
	for _, r := range e.f.Others {
		saves := ""
		if s := savedText(r.Saves, e.k); s != "" {
			saves = "  saves " + s
		}
		e.p.line(styled("  "+r.Code, green), styled(saves, noStyle), styled(optional("  ", r.Safety), dim))
		if r.Text != "" {
			e.p.prose("      ", fullSentence(r.Text), noStyle)
		}
	}
}

// mix shows the parts of what the line allocates, when it is more than one.
func (e *explainer) mix() {
	if len(e.f.Allocation.Mix) < 2 {
		return
	}
	e.p.section("What it allocates", "shares of the line's own")
	objects, bytes := newColumn("objects %", true), newColumn("bytes %", true)
	kind, via := newColumn("kind", false), newColumn("through", false)
	t := &table{columns: []*column{objects, bytes, kind, via}, path: via}
	for _, m := range e.f.Allocation.Mix {
		objects.add(percent(m.Objects))
		bytes.add(percent(m.Bytes))
		name := string(m.Kind)
		if name == "" {
			name = "not known"
		}
		kind.add(name)
		via.add(shortName(m.Via))
		t.remarks = append(t.remarks, "")
	}
	t.write(e.p)
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
	e.p.section("Sizes of its blocks", remark)
	size, count, weight, bar := newColumn("block", true), newColumn(
		"objects %", true,
	), newColumn("bytes %", true), newColumn("", false)
	t := &table{columns: []*column{size, count, weight, bar}, path: bar}
	for _, s := range shown {
		share := s.Objects * float64(s.Size) / bytes
		size.add(s.Size.String())
		count.add(percent(s.Objects / objects))
		weight.add(percent(share))
		bar.add(shareBar(share, 20))
		t.remarks = append(t.remarks, "")
	}
	t.write(e.p)
}

// shareBar draws a share of n cells.
func shareBar(share float64, n int) string {
	if !some(share) {
		return ""
	}
	return strings.Repeat(memoryGlyphs[0], int(min(share, 1)*float64(n)+0.5))
}
