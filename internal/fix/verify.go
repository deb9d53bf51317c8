package fix

import (
	"context"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// Verify tries the edits for the findings of a report, each alone, until the budget of the search is spent. It
// uses Search and Memory: an edit that was tried before on the same code is not tried again.
// It returns those that came to a verdict, then those that there was no time for, and keeps to the budget.
// Of a recording that is not of benchmarks it returns the edits as not tried.
func Verify(ctx context.Context, r *finding.Report, run RunOptions) ([]finding.Trial, error) {
	o := run.Search
	limited, cancel := context.WithTimeout(ctx, o.Budget)
	defer cancel()
	if t := r.Diagnosis.Target; t.Kind != evidence.TargetPackages {
		p, err := rewrite.Load(limited, rewrite.Request{Dir: t.ModuleDir, Packages: Packages(r), BuildFlags: t.BuildFlags})
		if err != nil {
			return nil, err
		}
		return untried(r, p, map[string]bool{}, o.Most), nil
	}
	tools, _, err := run.open(limited, r)
	if err != nil {
		return nil, err
	}
	defer tools.Judge.Close()
	o.Alone, o.Review, o.TestsOnly = true, true, true
	res, err := Search(limited, r, tools, o)
	if err != nil && (ctx.Err() != nil || limited.Err() == nil) {
		return nil, err
	}
	var out []finding.Trial
	done := map[string]bool{}
	for _, a := range res.Attempts {
		t := trialOf(a.Finding, a.Edit)
		switch a.Outcome {
		case Kept, NoGain, Breaks, Untested:
			t.Tried, t.Bench, t.Before, t.After, t.Tested = true, a.Bench.Name, amount(a.Before), amount(a.After), a.Outcome == Kept
			t.Holds = a.Outcome == Kept || a.Outcome == Untested
			switch {
			case a.Outcome == NoGain && !strings.HasPrefix(a.Edit.Code, "presize-"): // another size may be better
				t.Fault = a.Why
			case a.Outcome == Breaks:
				t.Fault = "a test fails with it"
			case t.Holds && differs(limited, tools.Judge, a):
				t.Holds, t.Fault = false, "a call shows something else with it"
			}
			out = append(out, t)
			done[keyOf(a.Edit)] = true
		case NoBuild, NoRun, Left:
			done[keyOf(a.Edit)] = true
		}
	}
	return append(out, untried(r, tools.Program, done, o.Most)...), nil
}

// untried are the edits for the first rows of a report that are not done.
func untried(r *finding.Report, p *rewrite.Program, done map[string]bool, most int) []finding.Trial {
	var out []finding.Trial
	rows := r.Prescription.Rows[:min(most, len(r.Prescription.Rows))]
	for i, edits := range offers(p, rows) {
		for _, e := range edits {
			if key := keyOf(e); !done[key] {
				done[key] = true
				out = append(out, trialOf(rows[i].Finding, e))
			}
		}
	}
	return out
}

func trialOf(f *finding.Finding, e code.Edit) finding.Trial {
	return finding.Trial{Finding: f.ID, Code: e.Code, Kind: e.Kind, Text: e.Text, Question: e.Open, Gone: e.Gone}
}

// differs reports whether calls are seen to show something else with an attempt's edit, in the time
// that is left.
func differs(ctx context.Context, j *trial.Judge, a Attempt) bool {
	files, err := Files([]code.Edit{a.Edit})
	if err != nil || ctx.Err() != nil {
		return false
	}
	v, err := j.Holds(ctx, trial.Question{Files: files, Changed: []string{a.Edit.Package}})
	return err == nil && v.Fault == trial.Differs
}

func amount(c trial.Counts) finding.Amount { return finding.Amount{Allocs: c.Allocs, Bytes: c.Bytes} }
