package fix

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/fix/repo"
	"github.com/heaptrim/heaptrim/internal/rewrite"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// RunOptions tunes Run.
type RunOptions struct {
	// Until is when all ends. Search.Budget, Confirm.Tests and Confirm.Measure are then parts of
	// the time until that; zero: no end, and these as they are set.
	Until   time.Time
	Search  Options
	Confirm ConfirmOptions
	Created time.Time         // of the recording: files that are newer are left alone; zero: do not look
	Sources map[string]string // hashes of files when they were recorded, by names relative to the module
	Dirty   bool              // edit files, too, that have changes which are not committed
	Skip    string            // regular expression of tests that are not to run, or Failing
	Memory  string            // folder in which the results of trials are kept; "" for none
	Outside *Outside          // asked about findings without an edit; nil for nobody
}

// Fixes is the end of a run: what was tried, and the new content of files.
type Fixes struct {
	*Result
	*Confirmation
	Module string      // its folder
	Before trial.Files // the files of all attempts as they are without edits
	After  trial.Files // the same with the kept edits
}

// Run searches edits for the findings of a report and confirms those that were kept. Nothing of
// the user's is written to.
func Run(ctx context.Context, r *finding.Report, o RunOptions) (*Fixes, error) {
	if _, err := regexp.Compile(o.Skip); err != nil {
		return nil, fmt.Errorf("-skip: %w", err)
	}
	o.Search = o.Search.withDefaults()
	ends := o.divide(time.Now())
	if o.Sources == nil {
		o.Sources = r.Diagnosis.Target.Sources
	}
	limited, cancel := ends.search(ctx, o.Search)
	defer cancel()
	late := func(err error) error {
		if err != nil && ctx.Err() == nil && limited.Err() != nil {
			err = fmt.Errorf("the budget was spent on the tests without any edit: raise -budget (%w)", limited.Err())
		}
		return err
	}
	tools, module, err := o.open(limited, r)
	if err != nil {
		return nil, late(err)
	}
	defer tools.Judge.Close()
	f := &Fixes{Module: module}
	o.Search.Leave = func(file string) string { return o.leave(ctx, module, file) }
	left, err := o.state(limited, r, tools)
	if err != nil {
		return nil, late(err)
	}
	f.Result, err = Search(limited, r, tools, o.Search)
	f.failing(left)
	if err != nil && (ctx.Err() != nil || limited.Err() == nil) {
		return f, err
	}
	tools.Judge.More(o.Confirm.Tests)
	o.Confirm.Dir, o.Confirm.BuildFlags = module, r.Diagnosis.Target.BuildFlags
	o.Confirm.Until = ends.confirmed
	if f.Confirmation, err = f.Result.Confirm(ctx, tools.Judge, o.Confirm); err != nil {
		return f, err
	}
	if o.Outside != nil {
		o.Confirm.Until = o.Until
		if err := f.ask(ctx, r, tools, o); err != nil {
			return f, err
		}
	}
	return f, f.sum()
}

// ends are when the stages of a run end; zero without an end of all.
type ends struct{ searched, confirmed time.Time }

// divide spreads the time until the end: half of it for trying, a quarter for verdicts on what is
// tried by then, a quarter to confirm all together. An outside program has half of it for itself.
func (o *RunOptions) divide(now time.Time) ends {
	if o.Until.IsZero() {
		return ends{}
	}
	left := max(o.Until.Sub(now), 1)
	if o.Outside != nil {
		left /= 2
	}
	o.Search.Budget, o.Confirm.Tests, o.Confirm.Measure = max(left/2, 1), max(left/4, 1), max(left/4, 1)
	return ends{now.Add(left * 3 / 4), now.Add(left)}
}

// search is the context of the search.
func (e ends) search(ctx context.Context, o Options) (context.Context, context.CancelFunc) {
	if e.searched.IsZero() {
		return o.within(ctx, max(o.Budget, forVerdict))
	}
	return context.WithDeadline(ctx, e.searched)
}

// noTime is why nothing is known of an edit.
const noTime = "no time left"

// Choose leaves of a report the findings of the benchmarks that an expression names, as go test has it: one for
// each level, between slashes.
func Choose(r *finding.Report, bench string) error {
	var levels []*regexp.Regexp
	for part := range strings.SplitSeq(bench, "/") {
		re, err := regexp.Compile(part)
		if err != nil {
			return err
		}
		levels = append(levels, re)
	}
	r.Prescription.Rows = slices.DeleteFunc(r.Prescription.Rows, func(row finding.Row) bool {
		for i, name := range strings.Split(row.Run, "/") {
			if i < len(levels) && !levels[i].MatchString(name) {
				return true
			}
		}
		return false
	})
	return nil
}

// forVerdict is how much time proved edits that were counted within the budget get for their verdict, or as much as the
// budget again.
const forVerdict = time.Minute

// Failing, as RunOptions.Skip, leaves out the tests that fail without any edit.
const Failing = "failing"

// Some lists the first of some names, and how many there are beside them.
func Some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// ErrFailing means that tests which fail without any edit run what would be edited.
var ErrFailing = errors.New("tests fail without any edit, and run what would be edited")

// state looks at the tests as they are: one that fails and runs what would be edited stops the search, as
// it could not judge an edit, unless Skip leaves such tests out, which are returned.
func (o RunOptions) state(ctx context.Context, r *finding.Report, t Tools) (left []string, err error) {
	places := map[string][]trial.Place{}
	var order []string
	for _, row := range o.Search.rows(r) {
		for _, e := range editsFor(t.Program, row) {
			if o.Search.leaveAny(e) != "" {
				continue
			}
			if places[e.Package] == nil {
				order = append(order, e.Package)
			}
			places[e.Package] = append(places[e.Package], trial.Place{File: e.File, Line: e.Line})
		}
	}
	for _, path := range order {
		o.Search.Progress("tests of %s as they are", path)
		failing, err := t.Judge.Concerned(ctx, path, places[path])
		if err == nil && len(failing) > 0 && o.Skip == Failing {
			left = append(left, failing...)
			t.Judge.LeaveOut(failing)
			failing, err = t.Judge.Concerned(ctx, path, places[path])
		}
		if err != nil {
			return nil, err
		}
		if len(failing) > 0 {
			return nil, fmt.Errorf("%w: %s (%s); mend them, or leave them out: -skip %s", ErrFailing, Some(failing), path, Failing)
		}
	}
	return left, nil
}

// open reads the packages of a report's findings, and makes a judge, which is the caller's to
// close. It also returns the folder of the module.
func (o RunOptions) open(ctx context.Context, r *finding.Report) (Tools, string, error) {
	t := r.Diagnosis.Target
	if t.ModuleDir == "" {
		return Tools{}, "", errors.New("the recording does not say where its module is")
	}
	module, err := filepath.Abs(t.ModuleDir)
	if err != nil {
		return Tools{}, "", err
	}
	p, err := rewrite.Load(ctx, rewrite.Request{Dir: module, Packages: Packages(r), BuildFlags: t.BuildFlags})
	if err != nil {
		return Tools{}, "", err
	}
	judged := trial.Options{Dir: module, BuildFlags: t.BuildFlags, Memory: o.Memory,
		Left: func(text string) { o.Search.withDefaults().Progress("%s", text) }}
	if o.Skip != Failing {
		judged.Skip = o.Skip
	}
	if o.Search.Budget > 0 {
		judged.Until = time.Now().Add(o.Search.Budget)
	}
	j, err := trial.New(judged)
	return Tools{p, j}, module, err
}

// leave says why a file is not to be edited; "" if it may be.
func (o RunOptions) leave(ctx context.Context, module, file string) string {
	info, err := os.Stat(file)
	was, known := "", false
	if rel, no := filepath.Rel(module, file); no == nil {
		was, known = o.Sources[filepath.ToSlash(rel)]
	}
	switch {
	case err != nil:
		return err.Error()
	case strings.Contains(filepath.ToSlash(file), "/vendor/"):
		return "it is vendored"
	case known && was != hashOf(file):
		return "it has changed since the recording"
	case !known && !o.Created.IsZero() && info.ModTime().Truncate(time.Second).After(o.Created):
		return "it has changed since the recording"
	case !o.Dirty && repo.Dirty(ctx, file):
		return "it has changes that are not committed (-dirty edits it)"
	}
	return ""
}

// Tried counts the attempts with one of the outcomes.
func (r *Result) Tried(outcomes ...Outcome) int {
	n := 0
	for _, a := range r.Attempts {
		if slices.Contains(outcomes, a.Outcome) {
			n++
		}
	}
	return n
}

// At is the place of an attempt, relative to a folder.
func (a Attempt) At(dir string) string {
	name := a.Edit.File
	if rel, err := filepath.Rel(dir, name); err == nil && !strings.HasPrefix(rel, "..") {
		name = filepath.ToSlash(rel)
	}
	return fmt.Sprintf("%s:%d", name, a.Edit.Line)
}

// hashOf is the hash of a file's content, as recordings have it; empty if it cannot be read.
func hashOf(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// Question is what an attempt rests on and nothing has proved.
func (a Attempt) Question() string {
	if a.Patch != nil && a.Outcome != Refused {
		return "it was made by " + a.Patch.By + ": only its trial speaks for it"
	}
	return a.Edit.Open
}

// DefaultMemory is the folder in the user's cache that keeps what trials showed; "" without one.
func DefaultMemory() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "heaptrim", "trials")
}
