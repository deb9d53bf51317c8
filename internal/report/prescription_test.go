package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestRankMarksBySaving: with cures the marks compare what they save; a finding
// to leave as it is has none and gives none.
func TestRankMarksBySaving(t *testing.T) {
	f := func(savings []float64, want string) {
		t.Helper()
		rep := sampled()
		for i, s := range savings {
			g := finding.Row{Finding: &finding.Finding{Cost: finding.Cost{CPU: span95(float64(20-i), 0.1)}}}
			g.Remedy.Code, g.Remedy.Saves.CPU = "presize-map", span95(s, 0.5)
			if s == 0 {
				g.Remedy.Code, g.Remedy.Saves.CPU = leaveIt, stats.Interval{}
			}
			rep.Prescription.Rows = append(rep.Prescription.Rows, g)
		}
		c := ranksOf(rep)
		if got := strings.Join(c.Cells, " "); got != want {
			t.Errorf("marks of %v: got %q, want %q", savings, got, want)
		}
	}
	f([]float64{9, 8.5, 2}, "1  2= 3 ")
	f([]float64{5, 4.5, 2, 0}, "1  2= 3  4 ")
	f([]float64{5, 0, 0}, "1  2  3 ")
}

// ranksOf are the ranks with their marks.
func ranksOf(rep *finding.Report) *term.Column {
	all := entries(rep.Prescription.Rows, rep.Prescription.Functions)
	tie(all, knownOf(rep).rankedBy)
	return rankColumn(all)
}

// TestFunctionsOfSeveralLines: a function with several cures has a line of its own with what
// they save together, and is compared by that.
func TestFunctionsOfSeveralLines(t *testing.T) {
	rep := sampled()
	for _, r := range []struct {
		function string
		saves    float64
	}{{"m.a", 6}, {"m.b", 4}, {"m.b", 1.5}, {"m.c", 2}, {"m.b", 0}} {
		g := finding.Row{Finding: &finding.Finding{Site: evidence.Site{Function: r.function, File: "m.go", Line: 7}}}
		g.Remedy.Code, g.Remedy.Saves.CPU = "presize-map", span95(r.saves, 0.6)
		if r.saves == 0 {
			g.Remedy.Code, g.Remedy.Saves.CPU = leaveIt, stats.Interval{}
		}
		rep.Prescription.Rows = append(rep.Prescription.Rows, g)
	}
	rep.Prescription.Functions = map[string]finding.Prediction{"m.b": {CPU: span95(5.2, 0.6)}}
	if got, want := strings.Join(ranksOf(rep).Cells, " "), "1  = 2  3  4  5 "; got != want {
		t.Errorf("ranks %q, want %q", got, want)
	}
	var text, md bytes.Buffer
	if err := Text(&text, rep, TextOptions{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&md, rep); err != nil {
		t.Fatal(err)
	}
	for out, want := range map[string]string{text.String(): "2 lines", md.String(): "| 2 lines | `m.b` |"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("not one %q in\n%s", want, out)
		}
	}
	doc := Document(rep, schema.Meta{})
	if len(doc.Functions) != 1 || doc.Functions[0].Function != "m.b" || !slices.Equal(doc.Functions[0].Ranks, []int{2, 3}) {
		t.Errorf("functions %+v", doc.Functions)
	}
}

// sampled is a report with CPU samples and no rows.
func sampled() *finding.Report {
	rep := empty()
	rep.Diagnosis.Totals.Samples = 100
	return rep
}

func TestOutlook(t *testing.T) {
	row := func(code string, saves float64, cuts ...finding.Cut) finding.Row {
		return finding.Row{
			Finding: &finding.Finding{}, Cuts: cuts,
			Remedy: finding.Remedy{Code: code,
				Saves: finding.Prediction{CPU: span95(saves, 1), BytesPerOp: stats.Exact(64)}},
		}
	}
	cut := func(saves float64) finding.Row {
		return row("presize-map", saves, finding.Cut{Bytes: 1, Finding: &finding.Finding{}})
	}
	whole, leave := row("skip-work", 3), row(leaveIt, 0)
	f := func(samples int64, findings []finding.Row, want string) {
		t.Helper()
		rep := empty()
		rep.Diagnosis.Totals.Samples = samples
		rep.Prescription.Rows, rep.Prescription.Together.CPU = findings, span95(10, 1)
		if got := outlook(rep, knownOf(rep)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(90, nil, "")
	f(90, []finding.Row{leave}, "")
	f(90, []finding.Row{leave, cut(7)}, "By prediction, the first cure saves 7.0 % ±1.0 of CPU.")
	f(90, []finding.Row{cut(7), leave, cut(5)},
		"By prediction, the first cure saves 7.0 % ±1.0 of CPU, all 2 together 10.0 % ±1.0 of CPU.")
	f(90, []finding.Row{cut(7), whole, cut(5)},
		"By prediction, the first cure saves 7.0 % ±1.0 of CPU, 2 of 3 together 10.0 % ±1.0 of CPU.")
	f(0, []finding.Row{cut(7), cut(5)}, "By prediction, the first cure saves 64 B/op.")
}

func TestFindingsShown(t *testing.T) {
	f := func(rows, below int, threshold float64, table, md string) {
		t.Helper()
		rep := &finding.Report{Prescription: &finding.Prescription{Rows: make([]finding.Row, rows), Below: below, Threshold: threshold}}
		if got := findingsShown(rep, 15, tableFlags(15)); got != table {
			t.Errorf("%d rows, %d below %v: the table has %q, want %q", rows, below, threshold, got, table)
		}
		if got := findingsShown(rep, defaultTop, pageFlags); got != md {
			t.Errorf("%d rows, %d below %v: Markdown has %q, want %q", rows, below, threshold, got, md)
		}
	}
	f(15, 0, 0.01, "", "")
	f(16, 0, 0.01, "15 of 16 findings shown. 1 more: -top 16.", "15 of 16 findings shown. 1 more: in the page (-html).")
	f(0, 1, 0.01, "0 of 1 finding shown. 1 below the threshold of 1 %: -threshold 0.",
		"0 of 1 finding shown. 1 below the threshold of 1 %: -threshold 0.")
	f(3, 12, 0.025, "3 of 15 findings shown. 12 below the threshold of 2.5 %: -threshold 0.",
		"3 of 15 findings shown. 12 below the threshold of 2.5 %: -threshold 0.")
	f(58, 44, 0, "15 of 102 findings shown. 43 more: -top 58. 44 below the threshold: -threshold 0 -top 102.",
		"15 of 102 findings shown. 43 more: in the page (-html). 44 below the threshold: -threshold 0, in the page (-html).")
}

// TestSavingsWithoutCPU: without a CPU profile the table shows the bytes that
// the cure takes away, and no share.
func TestSavingsWithoutCPU(t *testing.T) {
	rep := fixture()
	rep.Diagnosis.Totals.CPUSeconds, rep.Diagnosis.Totals.Samples = 0, 0
	var out bytes.Buffer
	if err := Text(&out, rep, TextOptions{Width: 120}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"  #   saves B/op      B/op  objs/op  where", "  1      1.2 KiB   1.2 KiB       24",
		"  2     23.6 KiB  47.2 KiB"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, no := range []string{"costs %", "saves %"} {
		if strings.Contains(text, no) {
			t.Errorf("%q stands in\n%s", no, text)
		}
	}
}

// TestCallersRemark: where a change belongs is where the cure is, or else where the objects end.
func TestCallersRemark(t *testing.T) {
	f := func(code string, l finding.Life, want string) {
		t.Helper()
		row := finding.Row{Finding: &finding.Finding{Allocation: finding.Allocation{Callers: []finding.Caller{
			{Site: evidence.Site{Function: "example.com/m.A"}, Share: 0.62}, {Site: evidence.Site{Function: "example.com/m.B"}, Share: 0.2},
		}}}}
		row.Remedy.Code, row.Remedy.Life = code, l
		if got := callersRemark(row); got != want {
			t.Errorf("%s, %+v: %q, want %q", code, l, got, want)
		}
	}
	f("pool-buffer", finding.Life{End: finding.EndFrame, Frame: 1}, "; one change here serves its callers m.A 62.0 %, m.B 20.0 %")
	f(leaveIt, finding.Life{End: finding.EndFrame, Frame: 1}, "; it dies in its callers, so a change belongs there: m.A 62.0 %, m.B 20.0 %")
	f(leaveIt, finding.Life{End: finding.EndStored}, "; what it makes is kept, so only its callers can ask for less: m.A 62.0 %, m.B 20.0 %")
	f(leaveIt, finding.Life{}, "; its callers are m.A 62.0 %, m.B 20.0 %")
}
