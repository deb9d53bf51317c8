package fix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/fix/repo"
	"github.com/heaptrim/heaptrim/internal/rewrite"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// RunOptions tunes Run.
type RunOptions struct {
	Search  Options
	Confirm ConfirmOptions
	Created time.Time // of the recording: files that are newer are left alone; zero: do not look
	Dirty   bool      // edit files, too, that have changes which are not committed
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
	tools, module, err := open(ctx, r, o.Search.Budget)
	if err != nil {
		return nil, err
	}
	defer tools.Judge.Close()
	f := &Fixes{Module: module}
	o.Search.Leave = func(file string) string { return o.leave(ctx, file) }
	if f.Result, err = Search(ctx, r, tools, o.Search); err != nil {
		return f, err
	}
	tools.Judge.More(o.Confirm.Tests)
	o.Confirm.Dir, o.Confirm.BuildFlags = module, r.Diagnosis.Target.BuildFlags
	if f.Confirmation, err = f.Result.Confirm(ctx, tools.Judge, o.Confirm); err != nil {
		return f, err
	}
	var all []code.Edit
	for _, a := range f.Attempts {
		all = append(all, a.Edit)
	}
	if f.Before, err = originals(all); err != nil {
		return f, err
	}
	f.After, err = edited(f.Before, f.Kept())
	return f, err
}

// open reads the packages of a report's findings, and makes a judge, which is the caller's to
// close. It also returns the folder of the module.
func open(ctx context.Context, r *finding.Report, budget time.Duration) (Tools, string, error) {
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
	judged := trial.Options{Dir: module, BuildFlags: t.BuildFlags}
	if budget > 0 {
		judged.Until = time.Now().Add(budget)
	}
	j, err := trial.New(judged)
	return Tools{p, j}, module, err
}

// leave says why a file is not to be edited; "" if it may be.
func (o RunOptions) leave(ctx context.Context, file string) string {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err.Error()
	case strings.Contains(filepath.ToSlash(file), "/vendor/"):
		return "it is vendored"
	case !o.Created.IsZero() && info.ModTime().Truncate(time.Second).After(o.Created):
		return "it has changed since the recording"
	case !o.Dirty && repo.Dirty(ctx, file):
		return "it has changes that are not committed (-dirty edits it)"
	}
	return ""
}

// Diff is the text of an attempt's file before and after its edit alone.
func (f *Fixes) Diff(a Attempt) (old, edit []byte, err error) {
	files, err := edited(f.Before, []code.Edit{a.Edit})
	return f.Before[a.Edit.File], files[a.Edit.File], err
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
