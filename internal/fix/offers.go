package fix

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// offers are the edits for each of the rows. One that several rows have, as those of one line do, is for the first whose
// cure it is, or else for the first.
func offers(p *rewrite.Program, rows []finding.Row) [][]code.Edit {
	lists, whose := make([][]code.Edit, len(rows)), map[string]int{}
	for i, row := range rows {
		lists[i] = editsFor(p, row)
		for _, e := range lists[i] {
			key := keyOf(e)
			if at, there := whose[key]; !there || rows[at].Remedy.Code != e.Code && row.Remedy.Code == e.Code {
				whose[key] = i
			}
		}
	}
	for i := range lists {
		lists[i] = slices.DeleteFunc(lists[i], func(e code.Edit) bool { return whose[keyOf(e)] != i })
	}
	return lists
}

// mostFirst puts the rows in order by what one of their edits promises, and their edits with them. Others stay in the order
// of the report.
func mostFirst(r *finding.Report, rows []finding.Row, lists [][]code.Edit) ([]finding.Row, [][]code.Edit) {
	runs := map[string]finding.RunSummary{}
	for _, run := range r.Diagnosis.Runs {
		runs[run.Name] = run
	}
	order, promises := make([]int, len(rows)), make([]float64, len(rows))
	for i, row := range rows {
		order[i], promises[i] = i, promise(r, runs[row.Run], row, lists[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(promises[b], promises[a]) })
	var sorted []finding.Row
	var edits [][]code.Edit
	for _, i := range order {
		sorted, edits = append(sorted, rows[i]), append(edits, lists[i])
	}
	return sorted, edits
}

// editsFor are the edits for all lines that allocate for a row, heaviest line first, and for the calls
// through which they do on its heaviest stacks.
func editsFor(p *rewrite.Program, row finding.Row) []code.Edit {
	sites := []evidence.Site{row.Site}
	for _, at := range row.Allocation.Places {
		if !slices.Contains(sites, at.Site) {
			sites = append(sites, at.Site)
		}
	}
	var out []code.Edit
	for _, at := range sites {
		out = append(out, p.At(place(row, at))...)
	}
	for _, at := range callsTo(row, sites) {
		out = append(out, p.Through(at)...)
	}
	return out
}

// callsTo are the lines through which the heaviest stacks of a row come to its lines, innermost first.
func callsTo(row finding.Row, sites []evidence.Site) []code.Place {
	const stacks, frames = 3, 16
	var out []code.Place
	for _, stack := range row.Finding.Stacks[:min(stacks, len(row.Finding.Stacks))] {
		for _, f := range stack.Frames[:min(frames, len(stack.Frames))] {
			at := code.Place{File: f.File, Line: f.Line}
			known := f.File == "" || slices.ContainsFunc(sites, func(s evidence.Site) bool { return s.File == f.File && s.Line == f.Line })
			if !known && !slices.ContainsFunc(out, func(p code.Place) bool { return p.File == at.File && p.Line == at.Line }) {
				out = append(out, at)
			}
		}
	}
	return out
}

// promise is the most that one of the edits for a row promises, as shares of the objects and of the bytes that its run
// allocates.
func promise(r *finding.Report, run finding.RunSummary, row finding.Row, edits []code.Edit) (most float64) {
	for _, e := range edits {
		p := predict(r, row, e)
		most = max(most, p.ObjectsPerOp.Value/max(run.AllocsPerOp, 1)+p.BytesPerOp.Value/max(run.BytesPerOp, 1))
	}
	return most
}

// keyOf tells edits from each other.
func keyOf(e code.Edit) string { return fmt.Sprint(e.File, e.Changes, e.Also) }

// place is a line of a finding, with the sizes of its blocks and the facts about their lifetime.
func place(row finding.Row, at evidence.Site) code.Place {
	f, life := row.Finding, row.Remedy.Life
	p := code.Place{File: at.File, Line: at.Line, Dies: life.End == finding.EndFrame && life.Frame == 0, Held: life.Ways.Lines,
		Outlives: life.End == finding.EndStored || life.End == finding.EndShared || life.End == finding.EndResult && life.Frame > 0 || life.Frame > 1,
		Grown:    f.Allocation.Kind == finding.KindGrowth && f.Allocation.Via == "", Table: f.Allocation.Kind == finding.KindMapGrowth}
	total := 0.0
	for _, c := range f.Allocation.Sizes {
		total += c.Objects
	}
	if total <= 0 {
		return p
	}
	const grid = 20 // each size as often as its share, to the nearest twentieth
	for _, c := range f.Allocation.Sizes {
		for range int(c.Objects/total*grid + 0.5) {
			p.Sizes = append(p.Sizes, int64(c.Size))
		}
	}
	return p
}
