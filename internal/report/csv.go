package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// csvColumn is one column: its name, which holds the unit, and its cell.
type csvColumn struct {
	name string
	cell func(f finding.Row, k known) string
}

// CSV writes a header and one row a finding, first the ranked ones, then the excluded ones.
// A figure that is not known is an empty cell. Text that a spreadsheet would read as a
// formula gets an apostrophe in front.
func CSV(w io.Writer, rep *finding.Report) error {
	columns := csvColumns()
	out := csv.NewWriter(w)
	row := make([]string, 0, len(columns)+1)
	for _, c := range columns {
		row = append(row, c.name)
	}
	out.Write(append(row, "set_apart")) // errors stick until Error
	k := knownOf(rep)
	write := func(f finding.Row, apart string) {
		row = row[:0]
		for _, c := range columns {
			row = append(row, c.cell(f, k))
		}
		out.Write(append(row, apart))
	}
	for i, f := range rep.Prescription.Rows {
		f.Rank = rankOf(rep, i)
		write(f, "no")
	}
	for i := range rep.Diagnosis.Excluded {
		write(finding.Unranked(&rep.Diagnosis.Excluded[i]), "yes")
	}
	out.Flush()
	return out.Error()
}

// csvColumns lists the columns in their order.
func csvColumns() []csvColumn {
	all := []csvColumn{
		{"rank", func(f finding.Row, _ known) string { return csvCount(f.Rank) }},
		text("code", codeOf),
		text("title", func(f finding.Row) string { return f.Title }),
		text("function", func(f finding.Row) string { return f.Site.Function }),
		text("package", func(f finding.Row) string { return f.Site.Package }),
		text("file", func(f finding.Row) string { return f.Site.File }),
		{"line", func(f finding.Row, _ known) string { return csvCount(f.Site.Line) }},
		text("run", func(f finding.Row) string { return f.Run }),
		text("via", func(f finding.Row) string { return f.Allocation.Via }),
		text("kind", func(f finding.Row) string { return string(f.Allocation.Kind) }),
	}
	cpu := func(k known) bool { return k.cpu }
	never := func(known) bool { return false }
	for _, q := range []struct {
		name  string
		scale float64
		of    func(c finding.Cost) stats.Interval
		zero  func(known) bool
	}{
		{"cpu_percent", 100, func(c finding.Cost) stats.Interval { return c.Share() }, cpu},
		{"malloc_percent", 100, func(c finding.Cost) stats.Interval { return c.Malloc }, cpu},
		{"zeroing_percent", 100, func(c finding.Cost) stats.Interval { return c.Zeroing }, cpu},
		{"growcopy_percent", 100, func(c finding.Cost) stats.Interval { return c.GrowCopy }, cpu},
		{"assist_percent", 100, func(c finding.Cost) stats.Interval { return c.Assist }, cpu},
		{"churn_percent", 100, func(c finding.Cost) stats.Interval { return c.Churn },
			func(k known) bool { return k.churn }},
		{
			"retention_percent", 100, func(c finding.Cost) stats.Interval { return c.Retention },
			func(k known) bool { return k.retention },
		},
		{"bytes_per_op", 1, func(c finding.Cost) stats.Interval { return c.BytesPerOp }, never},
		{"objects_per_op", 1, func(c finding.Cost) stats.Interval { return c.ObjectsPerOp }, never},
		{"bytes_per_s", 1, func(c finding.Cost) stats.Interval { return c.BytesPerSecond }, never},
		{"objects_per_s", 1, func(c finding.Cost) stats.Interval { return c.ObjectsPerSecond }, never},
		{"in_use_bytes", 1, func(c finding.Cost) stats.Interval { return c.InUse },
			func(k known) bool { return k.inUse }},
	} {
		at := func(part func(*schema.Interval) float64) func(finding.Row, known) string {
			return func(f finding.Row, k known) string {
				return csvNumber(schema.NewInterval(q.of(f.Cost), q.zero(k.in(f.Run, f.Cost))), part, q.scale)
			}
		}
		all = append(all,
			csvColumn{q.name, at(func(i *schema.Interval) float64 { return i.Value })},
			csvColumn{q.name + "_low", at(func(i *schema.Interval) float64 { return i.Low })},
			csvColumn{q.name + "_high", at(func(i *schema.Interval) float64 { return i.High })})
	}
	return append(all,
		text("lifetime", func(f finding.Row) string { return string(f.Lifetime.Class) }),
		csvColumn{"lifetime_mean_ns", func(f finding.Row, _ known) string { return csvCount(int(f.Lifetime.Mean)) }},
		text("why_on_heap", whyOnHeap),
		text("remedy", func(f finding.Row) string { return f.Remedy.Code }),
		text("remedy_safety", func(f finding.Row) string { return f.Remedy.Safety }),
		text("remedy_text", func(f finding.Row) string { return f.Remedy.Text }),
		predictedCPU("", func(i *schema.Interval) float64 { return i.Value }),
		predictedCPU("_low", func(i *schema.Interval) float64 { return i.Low }),
		predictedCPU("_high", func(i *schema.Interval) float64 { return i.High }),
		csvColumn{"predicted_caches_percent_saved", func(f finding.Row, _ known) string {
			return csvNumber(schema.NewInterval(f.Remedy.Saves.Caches, false), func(i *schema.Interval) float64 { return i.Value }, 100)
		}},
		predictedAmount("bytes", "", func(p finding.Prediction) float64 { return p.BytesPerOp.Value }),
		predictedAmount("bytes", "_low", func(p finding.Prediction) float64 { return p.BytesPerOp.Low }),
		predictedAmount("bytes", "_high", func(p finding.Prediction) float64 { return p.BytesPerOp.High }),
		predictedAmount("objects", "", func(p finding.Prediction) float64 { return p.ObjectsPerOp.Value }),
		predictedAmount("objects", "_low", func(p finding.Prediction) float64 { return p.ObjectsPerOp.Low }),
		predictedAmount("objects", "_high", func(p finding.Prediction) float64 { return p.ObjectsPerOp.High }))
}

// predictedCPU is a column of the predicted saving of CPU.
func predictedCPU(suffix string, part func(*schema.Interval) float64) csvColumn {
	return csvColumn{"predicted_cpu_percent_saved" + suffix, func(f finding.Row, _ known) string {
		return csvNumber(schema.NewInterval(f.Remedy.Saves.CPU, false), part, 100)
	}}
}

// predictedAmount is a column of a predicted saving for each operation.
func predictedAmount(what, suffix string, of func(finding.Prediction) float64) csvColumn {
	return csvColumn{"predicted_" + what + "_per_op_saved" + suffix, func(f finding.Row, _ known) string {
		v := of(f.Remedy.Saves)
		return csvNumber(schema.NewInterval(stats.Exact(v), false), func(i *schema.Interval) float64 { return i.Value },
			1)
	}}
}

// text is a column of text.
func text(name string, of func(finding.Row) string) csvColumn {
	return csvColumn{name, func(f finding.Row, _ known) string { return csvText(of(f)) }}
}

// csvText keeps a spreadsheet from running a name as a formula.
func csvText(s string) string {
	s = term.Clean(s)
	if t := strings.TrimLeft(s, " "); t != "" && strings.ContainsRune("=+-@|%\t\r", rune(t[0])) {
		return "'" + s
	}
	return s
}

func csvCount(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func csvNumber(i *schema.Interval, part func(*schema.Interval) float64, scale float64) string {
	if i == nil || !schema.Finite(part(i)*scale) {
		return ""
	}
	return strconv.FormatFloat(part(i)*scale, 'g', 6, 64)
}
