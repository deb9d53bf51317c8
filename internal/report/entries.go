package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// entry is one line of the ranked list: a row, or the head of a function's rows.
type entry struct {
	row   finding.Row // of a head: the first row's, with what all rows of the function save together
	lines int         // of a head: how many rows of the function follow; 0 for a row
	part  bool        // a row below a head
	mark  string      // beside the rank
}

// entries puts a head before the rows of each function that has several, and marks those that
// cannot be told from the one above: heads and single rows, or the rows of one function.
func entries(rows []finding.Row, functions map[string]finding.Prediction) []entry {
	var out []entry
	left := 0
	for i := range rows {
		r := rows[i]
		r.Rank = i + 1
		together, several := functions[r.Site.Function]
		if left == 0 && several && cured(r) {
			for left = 1; i+left < len(rows) && cured(rows[i+left]) && rows[i+left].Site.Function == r.Site.Function; left++ {
			}
			head := entry{row: r, lines: left}
			head.row.Remedy.Saves = together
			out = append(out, head)
		}
		out = append(out, entry{row: r, part: left > 0})
		left = max(left-1, 0)
	}
	return out
}

// first are the entries of the first n rows.
func first(rep *finding.Report, n int) []entry {
	all := entries(rep.Prescription.Rows, rep.Prescription.Functions)
	return slices.DeleteFunc(all, func(e entry) bool { return e.row.Rank > n })
}

// tie sets the marks of entries by the figure that they are ranked by, and by its ± as printed.
func tie(all []entry, of func(finding.Row) (stats.Interval, bool)) {
	var above, aboveInFunction *entry
	for i := range all {
		e := &all[i]
		before := &above
		if e.part {
			before = &aboveInFunction
		} else {
			aboveInFunction = nil
		}
		if *before != nil {
			own, ok := of(e.row)
			if other, known := of((*before).row); ok && known && math.Abs(own.Value-other.Value) <= term.Half(own)+term.Half(other) {
				e.mark = tiedMark
			}
		}
		*before = e
	}
}

// linesText says how many lines of a function follow.
func linesText(n int) string { return fmt.Sprintf("%d%s", n, term.Plural(float64(n), " line")) }
