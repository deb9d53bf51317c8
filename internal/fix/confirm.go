package fix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	Until      time.Time      // when all ends; zero: no limit
	Tests      time.Duration  // for the tests of packages that only depend on the changed ones; 0: no limit
	Measure    time.Duration  // for comparing times
	Each       time.Duration  // for comparing the times of one benchmark, within Measure; 0: do not
	Command    *prove.Command // whose runs are compared in place of benchmarks; nil for none
	Race       bool           // run the tests with the race detector, and functions from several goroutines
	Progress   func(format string, args ...any)
}

// Confirmation is what became of all kept edits together.
type Confirmation struct {
	Packages []string // whose tests ran: the changed ones and those that depend on them
	Passed   int      // tests
	Failing  []string // tests that fail without any edit
	Raced    []string // packages whose tests ran with the race detector
	Fuzzed   []string // fuzz targets that ran
	Late     Late
	Proof    *prove.Result // nil if times were not compared
}

// Late is what there was no time for.
type Late struct {
	Packages int // that depend on the changed ones: their tests
	Looks    []string
}

// confirming is the confirmation of a change under way: of all kept edits, or of one patch.
type confirming struct {
	*Confirmation
	o     ConfirmOptions
	judge *trial.Judge
	subject
	generated trial.Files // benchmarks that both sides have
}

// subject is what is confirmed.
type subject interface {
	// files are the files as the change makes them without its last n parts that concern a package, or any if that
	// is ""; none if nothing is left of it.
	files(path string, n int) (trial.Files, error)
	// drop takes a part of it back that concerns a package, or any if that is "": the one with n such parts behind it. It
	// returns false if there is none.
	drop(path string, n int, o Outcome, why string) bool
	// kept are the attempts that it consists of.
	kept() []Attempt
}

// Confirm looks at all kept edits together: they compile for all platforms of the packages, the tests of
// the changed packages and of those of the module that depend on them pass, also with the race detector,
// and no benchmark of the search is worse, by fresh runs that the search did not use. Edits that do not
// hold are dropped, as their attempts then say.
func (r *Result) Confirm(ctx context.Context, j *trial.Judge, o ConfirmOptions) (*Confirmation, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	c := &confirming{&Confirmation{}, o, j, edits{r}, r.Generated}
	return c.Confirmation, c.run(ctx)
}

// run looks at the change until the time is up. Without the first two looks it is not confirmed.
func (c *confirming) run(ctx context.Context) error {
	limited, cancel := ctx, func() {}
	if !c.o.Until.IsZero() {
		limited, cancel = context.WithDeadline(ctx, c.o.Until)
	}
	defer cancel()
	for _, look := range []struct {
		name   string
		needed bool
		at     func(context.Context) error
	}{
		{"types and vet", true, c.sound}, {"tests with all edits", true, c.tests}, {"tests with the race detector", false, c.races},
		{"calls from several goroutines", false, c.together}, {"fuzz targets", false, c.fuzz}, {"times of benchmarks", false, c.times},
	} {
		if len(c.kept()) == 0 {
			break
		}
		err := look.at(limited)
		switch {
		case err == nil:
		case ctx.Err() != nil || limited.Err() == nil:
			return err
		case look.needed:
			for len(c.kept()) > 0 && c.drop("", 0, NoTime, noTime+" for "+look.name) {
			}
		default:
			c.Late.Looks = append(c.Late.Looks, look.name)
		}
	}
	return nil
}

// edits are the kept edits of a result.
type edits struct{ *Result }

func (e edits) files(path string, n int) (trial.Files, error) {
	kept := e.Kept()
	for i := len(kept) - 1; i >= 0 && n > 0; i-- {
		if path == "" || kept[i].Package == path {
			kept, n = slices.Delete(kept, i, i+1), n-1
		}
	}
	return Files(kept)
}

func (e edits) kept() []Attempt {
	return slices.DeleteFunc(slices.Clone(e.Attempts), func(a Attempt) bool { return a.Outcome != Kept || a.Patch != nil })
}

func (e edits) drop(path string, n int, o Outcome, why string) bool {
	for i := range slices.Backward(e.Attempts) {
		if a := &e.Attempts[i]; a.Outcome == Kept && a.Patch == nil && (path == "" || a.Edit.Package == path) {
			if n == 0 {
				a.Outcome, a.Why = o, why
				return true
			}
			n--
		}
	}
	return false
}

// changed are the packages of what is confirmed.
func (c *confirming) changed() []string {
	var out []string
	for _, a := range c.kept() {
		for _, path := range a.packages() {
			if !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// packages are the packages that an attempt changes.
func (a Attempt) packages() []string {
	if a.Patch != nil {
		return a.Patch.Packages
	}
	return []string{a.Edit.Package}
}

// until drops parts of what is confirmed for as long as a look at the files finds something wrong.
func (c *confirming) until(path string, o Outcome, look func(files trial.Files) (string, error)) error {
	for {
		files, err := c.files(path, 0)
		if err != nil || len(c.kept()) == 0 {
			return err
		}
		wrong, err := look(files)
		if err != nil || wrong == "" {
			return err
		}
		n, wrong, err := c.culprit(path, wrong, look)
		if err != nil || !c.drop(path, n, o, wrong) {
			return err
		}
	}
}

// culprit finds the part with which something goes wrong that is right without it and all that were kept after it, and how
// many these are.
func (c *confirming) culprit(path, wrong string, look func(files trial.Files) (string, error)) (int, string, error) {
	bad, good := 0, 0 // parts to leave out, so that it is still wrong, and so that it is right
	for _, a := range c.kept() {
		if path == "" || slices.Contains(a.packages(), path) {
			good++
		}
	}
	for good-bad > 1 {
		n := (bad + good) / 2
		files, err := c.files(path, n)
		if err != nil {
			return 0, "", err
		}
		switch why, err := look(files); {
		case err != nil:
			return 0, "", err
		case why != "":
			bad, wrong = n, why
		default:
			good = n
		}
	}
	return bad, wrong, nil
}

// sound asks the compiler about other platforms and tags, and go vet.
func (c *confirming) sound(ctx context.Context) error {
	for _, path := range c.changed() {
		c.o.Progress("types and vet of %s", path)
		err := c.until(path, NoBuild, func(files trial.Files) (string, error) { return c.judge.Sound(ctx, path, files) })
		if err != nil {
			return err
		}
	}
	return nil
}

// tests runs the tests of all packages that the kept edits can concern.
func (c *confirming) tests(ctx context.Context) error {
	changed := c.changed()
	packages, err := c.judge.Dependants(ctx, changed)
	if err != nil {
		return err
	}
	packages = slices.Concat(changed, slices.DeleteFunc(packages, func(p string) bool { return slices.Contains(changed, p) }))
	start := time.Now()
	for i, path := range packages {
		if i >= len(changed) && c.o.Tests > 0 && time.Since(start) > c.o.Tests {
			c.Late.Packages = len(packages) - i
			break
		}
		c.o.Progress("tests of package %d of %d, %s", i+1, len(packages), path)
		before, err := c.judge.State(ctx, path)
		if err == nil && before.Late || err != nil && i >= len(changed) && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.Late.Packages = len(packages) - i
			return nil
		}
		if err != nil {
			return err
		}
		c.Confirmation.Failing = append(c.Confirmation.Failing, before.Failed...)
		passed, late := 0, false
		err = c.until("", Breaks, func(files trial.Files) (string, error) {
			after, err := c.judge.Test(ctx, path, files)
			if late = after.Late; err != nil || late {
				return "", err
			}
			passed = len(after.Passed)
			return after.Breaks(before), nil
		})
		if err == nil && late || err != nil && i >= len(changed) && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.Late.Packages = len(packages) - i
			return nil
		}
		if err != nil {
			return err
		}
		c.Confirmation.Packages = append(c.Confirmation.Packages, path)
		c.Passed += passed
	}
	return nil
}

// races runs the tests of the changed packages with the race detector.
func (c *confirming) races(ctx context.Context) error {
	if !c.o.Race {
		return nil
	}
	for _, path := range c.changed() {
		c.o.Progress("%s with the race detector", path)
		before, err := c.judge.Test(ctx, path, nil, "-race")
		if err != nil {
			return err
		}
		tested := !before.Late && len(before.Passed) > 0
		err = c.until(path, Breaks, func(files trial.Files) (string, error) {
			if !tested {
				return "", nil
			}
			after, err := c.judge.Test(ctx, path, files, "-race")
			if err != nil || after.Late {
				return "", err
			}
			return after.Breaks(before), nil
		})
		if err != nil {
			return err
		}
		if tested {
			c.Confirmation.Raced = append(c.Confirmation.Raced, path)
		}
	}
	return nil
}

// together calls functions of the changed packages from several goroutines, with the race detector.
func (c *confirming) together(ctx context.Context) error {
	if !c.o.Race {
		return nil
	}
	for _, path := range c.changed() {
		c.o.Progress("functions of %s from several goroutines", path)
		err := c.until(path, Differs, func(files trial.Files) (string, error) { return c.judge.Raced(ctx, path, files) })
		if err != nil {
			return err
		}
	}
	return nil
}

// fuzz runs the fuzz targets of the changed packages for a moment.
func (c *confirming) fuzz(ctx context.Context) error {
	for _, path := range c.changed() {
		c.o.Progress("fuzz targets of %s", path)
		var ran []string
		err := c.until(path, Breaks, func(files trial.Files) (string, error) {
			f, err := c.judge.Fuzz(ctx, path, files)
			ran = f.Targets
			return f.Fails, err
		})
		if err != nil {
			return err
		}
		c.Fuzzed = append(c.Fuzzed, ran...)
	}
	return nil
}

// times compares the times of benchmarks until no kept edit makes one worse.
func (c *confirming) times(ctx context.Context) error {
	for c.o.Measure > 0 && c.o.Each > 0 && len(c.kept()) > 0 {
		worse, err := worseTwice(func(first []string) ([]string, error) {
			if len(first) > 0 {
				c.o.Progress("worse in %s: comparing once more", Some(first))
			}
			return c.measure(ctx)
		})
		if dropped := c.dropWorse(worse); err != nil || !dropped {
			return err
		}
	}
	return nil
}

// worseTwice are the names of benchmarks that are worse in two measurements: a burst of other work on the machine can
// meet one side alone. The second is made only if the first, which it is handed, has some. If it fails, those of the
// first are returned with its error.
func worseTwice(measure func(first []string) ([]string, error)) ([]string, error) {
	first, err := measure(nil)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	again, err := measure(first)
	if err != nil {
		return first, err
	}
	return slices.DeleteFunc(first, func(name string) bool { return !slices.Contains(again, name) }), nil
}

// measure compares all kept edits with the code as it is, on the benchmarks that they were kept
// for, and returns the names of those that are worse.
func (c *confirming) measure(ctx context.Context) (worse []string, err error) {
	tmp, err := os.MkdirTemp("", "heaptrim-fix-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	files, err := c.files("", 0)
	if err != nil {
		return nil, err
	}
	overlay, err := version.Overlay(tmp, join(files, c.generated))
	if err != nil {
		return nil, err
	}
	before := sides.Side{Source: sides.Work}
	if len(c.generated) > 0 {
		at := filepath.Join(tmp, "before")
		if err := os.Mkdir(at, 0o755); err != nil {
			return nil, err
		}
		if before.Overlay, err = version.Overlay(at, c.generated); err != nil {
			return nil, err
		}
	}
	var packages, names []string
	for _, a := range c.kept() {
		top, _, _ := strings.Cut(a.Bench.Name, "/")
		if !slices.Contains(packages, a.Bench.Package) {
			packages = append(packages, a.Bench.Package)
		}
		if top = regexp.QuoteMeta(top); !slices.Contains(names, top) {
			names = append(names, top)
		}
	}
	measure := c.o.Measure
	if !c.o.Until.IsZero() {
		measure = max(min(measure, time.Until(c.o.Until)/2), 1) // the first rounds may take it twice
	}
	o := prove.Options{Dir: c.o.Dir, Packages: packages, Bench: "^(" + strings.Join(names, "|") + ")$",
		Sides: []sides.Side{before, {Source: sides.Work, Overlay: overlay}}, Budget: min(measure, time.Duration(len(names))*c.o.Each),
		BuildFlags: c.o.BuildFlags, Progress: c.o.Progress}
	if c.o.Command != nil {
		o.Packages, o.Bench, o.Command, o.Budget = nil, "", c.o.Command, measure
	}
	c.Proof, err = prove.Run(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("compare times: %w", err)
	}
	for _, cmp := range c.Proof.Comparisons {
		if outweighs(cmp) {
			worse = append(worse, cmp.Package+" "+cmp.Name)
		}
	}
	return worse, nil
}

// dropWorse drops what was kept for benchmarks that are worse.
func (c *confirming) dropWorse(worse []string) bool {
	if c.o.Command != nil {
		return len(worse) > 0 && c.drop("", 0, Slower, strings.Join(worse, ", "))
	}
	dropped, behind := false, map[string]int{} // parts of a package that stay
	for _, a := range slices.Backward(c.kept()) {
		path := a.packages()[0]
		if !slices.Contains(worse, a.Bench.Package+" "+a.Bench.Name) {
			behind[path]++
			continue
		}
		dropped = c.drop(path, behind[path], Slower, a.Bench.Name) || dropped
	}
	return dropped
}

// Packages are the packages that hold the findings of a report.
func Packages(r *finding.Report) []string {
	var out []string
	add := func(p string) {
		if p != "" && !strings.HasSuffix(p, "_test") && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, row := range r.Prescription.Rows {
		add(row.Site.Package)
		for _, at := range row.Allocation.Places { // in another package than that where the change goes
			add(at.Site.Package)
		}
	}
	return out
}
