package fix

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestOffers has two rows on one line: the slice that grows, and the texts in it. Each gets the edits of its own
// cure, and the capacity follows from the blocks of the slice.
func TestOffers(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.26\n", "p.go": `package p

import "fmt"

func Lines(next func() (int, bool)) []string {
	var lines []string
	for n, ok := next(); ok; n, ok = next() {
		lines = append(lines, fmt.Sprintf("line %d", n))
	}
	return lines
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := rewrite.Load(t.Context(), rewrite.Request{Dir: dir, Packages: []string{"."}})
	if err != nil {
		t.Fatal(err)
	}
	row := func(code, via string, kind finding.Kind, size unit.Bytes) finding.Row {
		r := finding.Row{Finding: &finding.Finding{Site: evidence.Site{File: "p.go", Line: 8},
			Allocation: finding.Allocation{Kind: kind, Via: via, Sizes: []finding.SizeCount{{Size: size, Objects: 1}}}}}
		r.Remedy.Code = code
		return r
	}
	for _, textFirst := range []bool{false, true} {
		rows := []finding.Row{row("presize-slice", "", finding.KindGrowth, 9472), row("avoid-conversion", "fmt.Sprintf", finding.KindString, 96)}
		slice, text := 0, 1
		if textFirst {
			rows[0], rows[1] = rows[1], rows[0]
			slice, text = 1, 0
		}
		lists := offers(p, rows)
		if len(lists[slice]) == 0 || len(lists[text]) == 0 {
			t.Fatalf("text first %v: %d edits for the slice, %d for the text", textFirst, len(lists[slice]), len(lists[text]))
		}
		for _, e := range lists[slice] {
			if e.Code != "presize-slice" || e.Text != "make `lines` with capacity 592" {
				t.Errorf("text first %v: for the slice: %s %q", textFirst, e.Code, e.Text)
			}
		}
		for _, e := range lists[text] {
			if e.Code == "presize-slice" || e.Code == "keep-on-stack" {
				t.Errorf("text first %v: for the text: %s %q", textFirst, e.Code, e.Text)
			}
		}
	}
}

// TestOutlives: only memory that is known to leave the caller outlives it; memory of an unknown life could stay on its stack.
func TestOutlives(t *testing.T) {
	for _, c := range []struct {
		life finding.Life
		want bool
	}{
		{finding.Life{End: finding.EndFrame, Frame: 1}, false},
		{finding.Life{End: finding.EndResult}, false}, // of a function that other modules call
		{finding.Life{End: finding.EndResult, Frame: 1}, true},
		{finding.Life{End: finding.EndFrame, Frame: 2}, true},
		{finding.Life{Frame: 2, Unknown: "what a call does with it"}, true}, // its caller has handed it out already
		{finding.Life{End: finding.EndStored}, true},
		{finding.Life{End: finding.EndShared}, true},
		{finding.Life{}, false},
	} {
		row := finding.Row{Finding: &finding.Finding{}}
		row.Remedy.Life = c.life
		if p := place(row, evidence.Site{}); p.Outlives != c.want {
			t.Errorf("%+v outlives its callers: %v", c.life, p.Outlives)
		}
	}
}

// TestMostFirst: rows whose edits promise more come first, and rows without edits stay in the order of the report.
func TestMostFirst(t *testing.T) {
	r := &finding.Report{Diagnosis: &finding.Diagnosis{Runs: []finding.RunSummary{{Name: "B", Ops: 1, AllocsPerOp: 100, BytesPerOp: 1000}}}}
	row := func(line int, objects, bytes float64) finding.Row {
		f := &finding.Finding{Run: "B", Site: evidence.Site{Line: line}}
		f.Cost.ObjectsPerOp.Value, f.Cost.BytesPerOp.Value = objects, bytes
		return finding.Row{Finding: f}
	}
	edit := []code.Edit{{Code: "keep-on-stack"}}
	rows, lists := mostFirst(r, []finding.Row{row(1, 50, 100), row(2, 5, 10), row(3, 20, 600), row(4, 10, 10)}, [][]code.Edit{nil, edit, edit, nil})
	var got []int
	for i, row := range rows {
		got = append(got, row.Site.Line)
		if with := row.Site.Line == 2 || row.Site.Line == 3; (len(lists[i]) > 0) != with {
			t.Errorf("line %d has %d edits", row.Site.Line, len(lists[i]))
		}
	}
	if want := []int{3, 2, 1, 4}; !slices.Equal(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
}
