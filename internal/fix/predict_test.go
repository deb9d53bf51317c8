package fix

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// allocates is what recordings say of a line.
type allocates struct {
	line           int
	via            string
	objects, bytes float64 // an operation's
	share          float64 // of via, of both
	blocks, of     float64 // sampled blocks of 16 bytes, and the objects that they are taken for
}

func (a allocates) finding() finding.Finding {
	f := finding.Finding{Run: "B", Site: evidence.Site{Function: "p.F", File: "p.go", Line: a.line}}
	f.Cost.ObjectsPerOp, f.Cost.BytesPerOp = stats.Exact(a.objects), stats.Exact(a.bytes)
	f.Allocation.Mix = []finding.Mix{{Via: a.via, Objects: a.share, Bytes: a.share}}
	if a.blocks > 0 {
		f.Cost.Objects = stats.Exact(a.of)
		f.Allocation.Sizes = []finding.SizeCount{{Size: unit.Bytes(tinyBlock), Objects: a.blocks}}
	}
	return f
}

// TestPredict holds predictions against what edits saved that were kept in public modules: their benchmarks
// were recorded, and counted before and after the edit.
func TestPredict(t *testing.T) {
	const text, write = "bytes.(*Buffer).String", "bytes.(*Buffer).Write"
	cases := []struct {
		name           string
		code           string
		changes        int
		lines          []allocates // the edit's first
		objects, bytes float64     // that it saved
	}{
		{"raymond eval.go:790", "avoid-conversion", 2, []allocates{{line: 790, via: text, objects: 7.62, bytes: 119.8, share: 0.34}, {line: 784, via: write, objects: 5, bytes: 320, share: 1}}, 5, 319.5},
		{"raymond eval.go:606", "keep-on-stack", 1, []allocates{{line: 606, objects: 1, bytes: 96, share: 1}}, 1, 96.3},
		{"govaluate parsing.go:331", "avoid-conversion", 2, []allocates{{line: 331, via: text, objects: 10.93, bytes: 183.9, share: 1}, {line: 323, via: write, objects: 27.03, bytes: 1730, share: 1}}, 7, 1504},
		{"ansi truncate.go:106", "avoid-conversion", 2, []allocates{{line: 106, via: text, objects: 0.125, bytes: 2, share: 1}, {line: 91, via: write, objects: 1, bytes: 64, share: 1}}, 1.266, 59.5},
		{"memdb index.go:854", "keep-on-stack", 1, []allocates{{line: 854, objects: 6.178, bytes: 64, share: 1, blocks: 42860, of: 66187}}, 4, 88},
		{"memdb index.go:794", "keep-on-stack", 1, []allocates{{line: 794, objects: 1, bytes: 80, share: 1}}, 1, 80},
		{"goavro canonical.go:56", "keep-on-stack", 1, []allocates{{line: 56, objects: 1.002, bytes: 80.1, share: 1}}, 0.998, 78.5},
		{"nanoid gonanoid.go:94", "keep-on-stack", 1, []allocates{{line: 94, objects: 1, bytes: 96, share: 1}}, 1, 96},
	}
	for _, c := range cases {
		r := &finding.Report{Diagnosis: &finding.Diagnosis{}}
		for _, a := range c.lines {
			r.Diagnosis.Findings = append(r.Diagnosis.Findings, a.finding())
		}
		row := finding.Row{Finding: &r.Diagnosis.Findings[0], Remedy: finding.Remedy{Code: "leave-it"}}
		p := predict(r, row, code.Edit{Code: c.code, Line: c.lines[0].line, File: "/m/p.go", Changes: make([]code.Change, c.changes)})
		for what, x := range map[string]struct {
			saved float64
			of    stats.Interval
		}{"objects": {c.objects, p.ObjectsPerOp}, "bytes": {c.bytes, p.BytesPerOp}} {
			if x.saved < x.of.Low || x.saved > x.of.High || x.of.Value <= 0 {
				t.Errorf("%s: %v %s saved, predicted %+v", c.name, x.saved, what, x.of)
			}
		}
	}
}

// TestPredictNamed takes the report's figure where it names the same cure, and no more than there is.
func TestPredictNamed(t *testing.T) {
	f := allocates{line: 3, objects: 4, bytes: 64, share: 1}.finding()
	r := &finding.Report{Diagnosis: &finding.Diagnosis{}}
	r.Diagnosis.Runs = []finding.RunSummary{{Name: "B", Ops: 1, AllocsPerOp: 4, BytesPerOp: 64}}
	named := finding.Prediction{ObjectsPerOp: stats.Exact(3), BytesPerOp: stats.Exact(40)}
	row := finding.Row{Finding: &f, Remedy: finding.Remedy{Code: "presize-slice", Saves: named}}
	if p := predict(r, row, code.Edit{Code: "presize-slice", Line: 3}); p != named {
		t.Errorf("%+v, the report names %+v", p, named)
	}
	p := predict(r, row, code.Edit{Code: "shrink-layout", Line: 3})
	if p.ObjectsPerOp.Low != 0 || p.ObjectsPerOp.High != 4 {
		t.Errorf("an edit of another cure saves %+v of 4 objects", p.ObjectsPerOp)
	}
}

// TestChoose leaves what a benchmark's name does not fit.
func TestChoose(t *testing.T) {
	r := &finding.Report{Prescription: &finding.Prescription{}}
	for _, run := range []string{"BenchmarkA", "BenchmarkA/x", "BenchmarkA/y", "BenchmarkB/x"} {
		r.Prescription.Rows = append(r.Prescription.Rows, finding.Row{Finding: &finding.Finding{Run: run}})
	}
	if err := Choose(r, "A/x"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range r.Prescription.Rows {
		got = append(got, row.Run)
	}
	if len(got) != 2 || got[0] != "BenchmarkA" || got[1] != "BenchmarkA/x" {
		t.Errorf("chosen: %v", got)
	}
	if Choose(r, "(") == nil {
		t.Error("( is taken for an expression")
	}
}
