package fix

import (
	"context"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// Verify tries the edits for the findings of a report, each alone, until the budget of o is spent.
// It returns those that came to a verdict, and keeps to the budget.
func Verify(ctx context.Context, r *finding.Report, o Options) ([]finding.Trial, error) {
	limited, cancel := context.WithTimeout(ctx, o.Budget)
	defer cancel()
	tools, _, err := RunOptions{Search: o}.open(limited, r)
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
	for _, a := range res.Attempts {
		switch a.Outcome {
		case Kept, NoGain, Breaks, Untested:
			out = append(out, finding.Trial{Finding: a.Finding.ID, Code: a.Edit.Code, Text: a.Edit.Text, Question: a.Edit.Open,
				Bench: a.Bench.Name, Before: amount(a.Before), After: amount(a.After),
				Holds: (a.Outcome == Kept || a.Outcome == Untested) && !differs(limited, tools.Judge, a), Tested: a.Outcome == Kept})
		}
	}
	return out, nil
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
