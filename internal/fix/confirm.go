package fix

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/trial"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// ConfirmOptions tunes Confirm.
type ConfirmOptions struct {
	Dir        string // of the go command
	BuildFlags []string
	Tests      time.Duration // for the tests of packages that only depend on the changed ones; 0: no limit
	Measure    time.Duration // for comparing times; 0: do not
	Race       bool          // run tests with the race detector
	Progress   func(format string, args ...any)
}

// Confirmation is what became of all kept edits together.
type Confirmation struct {
	Packages []string      // whose tests ran: the changed ones and those that depend on them
	Skipped  int           // packages that depend on them, for whose tests there was no time
	Passed   int           // tests
	Failing  []string      // tests that fail without any edit
	Proof    *prove.Result // nil if times were not compared
}

// Confirm looks at all kept edits together: the tests of the changed packages and of those of the
// module that depend on them pass, and no benchmark of the search is worse, by fresh runs that
// the search did not use. Edits that do not hold are dropped, as their attempts then say.
func (r *Result) Confirm(ctx context.Context, j *trial.Judge, o ConfirmOptions) (*Confirmation, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	c := &Confirmation{}
	if err := r.confirmTests(ctx, j, o, c); err != nil {
		return nil, err
	}
	for o.Measure > 0 && len(r.Kept()) > 0 {
		worse, err := r.measure(ctx, o, c)
		if err != nil {
			return nil, err
		}
		if !r.dropWorse(worse) {
			break
		}
	}
	return c, nil
}

// confirmTests runs the tests of all packages that the kept edits can concern, and drops the last
// kept edit for as long as one breaks.
func (r *Result) confirmTests(ctx context.Context, j *trial.Judge, o ConfirmOptions, c *Confirmation) error {
	var changed []string
	for _, a := range r.Attempts {
		if a.Outcome == Kept && !slices.Contains(changed, a.Edit.Package) {
			changed = append(changed, a.Edit.Package)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	packages, err := j.Dependants(ctx, changed)
	if err != nil {
		return err
	}
	var flags []string
	if o.Race {
		flags = []string{"-race"}
	}
	packages = slices.Concat(changed, slices.DeleteFunc(packages, func(p string) bool { return slices.Contains(changed, p) }))
	start := time.Now()
	for i, path := range packages {
		if i >= len(changed) && o.Tests > 0 && time.Since(start) > o.Tests {
			c.Skipped = len(packages) - i
			break
		}
		c.Packages = append(c.Packages, path)
		o.Progress("tests of package %d of %d, %s", i+1, len(packages), path)
		before, err := j.Test(ctx, path, nil, flags...)
		if err != nil {
			return err
		}
		if before.Late {
			c.Skipped = len(packages) - i
			return nil
		}
		c.Failing = append(c.Failing, before.Failed...)
		for {
			files, err := Files(r.Kept())
			if err != nil {
				return err
			}
			after, err := j.Test(ctx, path, files, flags...)
			if err != nil {
				return err
			}
			broken := after.Breaks(before)
			if broken == "" || !r.dropLast(broken) {
				c.Passed += len(after.Passed)
				break
			}
		}
	}
	return nil
}

// dropLast drops the kept edit that was made last.
func (r *Result) dropLast(test string) bool {
	for i := range slices.Backward(r.Attempts) {
		if a := &r.Attempts[i]; a.Outcome == Kept {
			a.Outcome, a.Why = Breaks, test
			return true
		}
	}
	return false
}

// measure compares all kept edits with the code as it is, on the benchmarks that they were kept
// for, and returns the names of those that are worse.
func (r *Result) measure(ctx context.Context, o ConfirmOptions, c *Confirmation) (worse []string, err error) {
	tmp, err := os.MkdirTemp("", "heaptrim-fix-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	files, err := Files(r.Kept())
	if err != nil {
		return nil, err
	}
	overlay, err := version.Overlay(tmp, files)
	if err != nil {
		return nil, err
	}
	var packages, names []string
	for _, a := range r.Attempts {
		if a.Outcome != Kept {
			continue
		}
		top, _, _ := strings.Cut(a.Bench.Name, "/")
		if !slices.Contains(packages, a.Bench.Package) {
			packages = append(packages, a.Bench.Package)
		}
		if top = regexp.QuoteMeta(top); !slices.Contains(names, top) {
			names = append(names, top)
		}
	}
	c.Proof, err = prove.Run(ctx, prove.Options{Dir: o.Dir, Packages: packages, Bench: "^(" + strings.Join(names, "|") + ")$",
		Sides: []sides.Side{{Source: sides.Work}, {Source: sides.Work, Overlay: overlay}}, Budget: o.Measure,
		BuildFlags: o.BuildFlags, Progress: o.Progress})
	if err != nil {
		return nil, fmt.Errorf("compare times: %w", err)
	}
	for _, cmp := range c.Proof.Comparisons {
		if cmp.Outcome == prove.Worse || cmp.Outcome == prove.Mixed {
			worse = append(worse, cmp.Package+" "+cmp.Name)
		}
	}
	return worse, nil
}

// dropWorse drops the edits that were kept for benchmarks that are worse.
func (r *Result) dropWorse(worse []string) bool {
	dropped := false
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Outcome == Kept && slices.Contains(worse, a.Bench.Package+" "+a.Bench.Name) {
			a.Outcome, a.Why = Slower, a.Bench.Name
			dropped = true
		}
	}
	return dropped
}

// Packages are the packages that hold the findings of a report.
func Packages(r *finding.Report) []string {
	var out []string
	for _, row := range r.Prescription.Rows {
		if p := row.Site.Package; p != "" && !strings.HasSuffix(p, "_test") && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
