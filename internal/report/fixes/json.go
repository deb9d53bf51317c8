package fixes

import (
	"io"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// JSON writes all of it in the schema of doc/format/fix.md.
func JSON(w io.Writer, f *fix.Fixes, applied bool, m schema.Meta) error {
	doc := schema.Fix{Schema: schema.FixVersion, Tool: m.Tool, Applied: applied, Findings: f.Findings, NoEdit: len(f.NoEdit),
		Attempts: []schema.FixAttempt{}, Failing: schema.List(f.Result.Failing), Packages: []string{}, Raced: []string{}, Late: []string{}, Fuzzed: []string{},
		Covered: f.Covered(), Diff: string(Diff(f))}
	if !m.Created.IsZero() {
		created := m.Created.UTC()
		doc.Created = &created
	}
	if c := f.Confirmation; c != nil {
		doc.Packages, doc.Passed, doc.Skipped = schema.List(c.Packages), c.Passed, c.Late.Packages
		doc.Late = schema.List(c.Late.Looks)
		doc.Raced, doc.Fuzzed = schema.List(c.Raced), schema.List(c.Fuzzed)
		if c.Proof != nil {
			doc.Times = c.Proof.Verdict.Sentence
		}
	}
	for _, a := range f.Attempts {
		at := schema.FixAttempt{Code: a.Edit.Code, Kind: a.Edit.Kind, File: a.Edit.File, Line: a.Edit.Line, Text: a.Edit.Text,
			Outcome: string(a.Outcome), Why: a.Why, Question: a.Question(), Benchmark: a.Bench.Name,
			Predicted: schema.FixAmounts{Allocs: a.Predicted.ObjectsPerOp.Value, Bytes: a.Predicted.BytesPerOp.Value},
			Before:    schema.FixAmounts{Allocs: a.Before.Allocs, Bytes: a.Before.Bytes},
			After:     schema.FixAmounts{Allocs: a.After.Allocs, Bytes: a.After.Bytes},
			Judged: schema.FixJudged{Tests: a.Verdict.Passed, Calls: a.Verdict.Compare.Calls, TestCalls: a.Verdict.Compare.TestCalls,
				Reached: a.Verdict.Compare.Reached, Parts: a.Verdict.Compare.Blocks}}
		if a.Patch != nil {
			at.By = a.Patch.By
		}
		if a.Outcome == fix.Kept || a.Outcome == fix.Review || a.Outcome == fix.Open {
			var err error
			if at.Diff, err = diffOf(f, a); err != nil {
				return err
			}
		}
		doc.Attempts = append(doc.Attempts, at)
	}
	doc.Without = schema.Rows(f.NoEdit, func(r finding.Row) schema.FixWithout {
		return schema.FixWithout{Code: r.Remedy.Code, Text: r.Remedy.Text, Kind: string(r.Finding.Allocation.Kind), File: r.Site.File, Line: r.Site.Line,
			Function: r.Site.Function, Benchmark: r.Run, Cost: schema.FixAmounts{Allocs: r.Cost.ObjectsPerOp.Value, Bytes: r.Cost.BytesPerOp.Value}}
	})
	return schema.Write(w, doc)
}
