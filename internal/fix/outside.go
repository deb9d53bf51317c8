package fix

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/fix/hands"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// Outside is a program that is asked about findings without an edit of their own.
type Outside struct {
	hands.Program
	// Brief is what the program gets on its standard input about a finding.
	Brief func(b Briefed) ([]byte, error)
}

// Briefed is what a brief is made of.
type Briefed struct {
	Row     finding.Row
	Run     finding.RunSummary
	Module  string   // its folder
	Path    string   // of the module
	Folders []string // that may be changed, relative to the module
	Program hands.Program
}

// asking is the search by an outside program under way.
type asking struct {
	fixes   *Fixes
	judge   *trial.Judge
	o       RunOptions
	now     trial.Files // with all that is kept
	folders map[string]string
	tool    gocmd.Tool
	work    string // of the workspace; "" for none
	runs    map[string]finding.RunSummary
	module  string // path
	s       *search
}

// ask hands each finding that has no kept edit to the outside program, and judges what it does. What holds
// is kept on top of the rest.
func (f *Fixes) ask(ctx context.Context, r *finding.Report, t Tools, o RunOptions) error {
	s := &search{o: o.Search, judge: t.Judge, report: r, result: f.Result, counts: map[trial.Bench]trial.Counts{}, benchs: map[string]finding.RunSummary{}}
	for _, b := range r.Diagnosis.Runs {
		s.benchs[b.Name] = b
	}
	if err := f.sum(); err != nil {
		return err
	}
	a := &asking{fixes: f, judge: t.Judge, o: o, now: maps.Clone(f.After), folders: map[string]string{}, runs: s.benchs, module: r.Diagnosis.Target.Module, tool: gocmd.Tool{Dir: f.Module, Flags: r.Diagnosis.Target.BuildFlags}, s: s}
	var err error
	if a.work, err = a.tool.Setting(ctx, "GOWORK"); err != nil {
		return err
	}
	if a.work == "off" {
		a.work = ""
	}
	until := time.Now().Add(o.Search.Budget)
	limited, cancel := ctx, func() {}
	if !o.Until.IsZero() {
		until = o.Until
		limited, cancel = context.WithDeadline(ctx, until)
	}
	defer cancel()
	for _, row := range o.Search.rows(r) {
		b, ok := s.benchs[row.Run]
		if !ok || f.answered(row) {
			continue
		}
		at := &Attempt{Finding: row.Finding, Predicted: row.Remedy.Saves, Bench: trial.Bench{Package: b.Package, Name: b.Name, NsPerOp: b.Pace.NsPerOp},
			Edit: code.Edit{Code: row.Remedy.Code, Kind: "outside program", File: a.file(row.Site.File), Line: row.Site.Line, Package: row.Site.Package,
				Text: "what " + o.Outside.Command + " makes of it"}}
		if o.Search.Budget > 0 && time.Now().After(until) {
			s.end(at, NoTime)
			continue
		}
		o.Search.Progress("asking %s about %s", o.Outside.Command, spot(row.Site))
		outcome, err := a.one(limited, row, at)
		if err != nil && ctx.Err() == nil && limited.Err() != nil {
			outcome, err = NoTime, nil
		}
		if err != nil {
			return err
		}
		if outcome != "" {
			s.end(at, outcome)
		}
	}
	return nil
}

// answered reports whether an edit for a finding is kept or waits for a person.
func (f *Fixes) answered(row finding.Row) bool {
	return slices.ContainsFunc(f.Attempts, func(a Attempt) bool {
		return a.Finding.ID == row.ID && (a.Outcome == Kept || a.Outcome == Review)
	})
}

// file is the absolute name of a file of the module.
func (a *asking) file(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.fixes.Module, filepath.FromSlash(name))
}

// one asks about one finding. The outcome is empty if the program changed nothing.
func (a *asking) one(ctx context.Context, row finding.Row, at *Attempt) (Outcome, error) {
	if at.Why = a.o.Search.leave(at.Edit.File); at.Why != "" {
		return Left, nil
	}
	packages := a.packages(row)
	var folders []string
	for _, path := range packages {
		dir, err := a.folder(ctx, path)
		if err != nil {
			return "", err
		}
		folders = append(folders, dir)
	}
	tmp, err := os.MkdirTemp("", "heaptrim-with-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	before, after, err := a.change(ctx, row, folders, tmp)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, hands.ErrRefused), errors.Is(err, hands.ErrFailed):
		at.Why = err.Error()
		return Refused, nil
	case err != nil:
		return "", err
	case len(after) == 0:
		return "", nil
	}
	at.Patch = &Patch{By: a.o.Outside.Command, Packages: packages, Before: before, After: after}
	return a.judged(ctx, at)
}

// change lets the program work and returns what it changed.
func (a *asking) change(ctx context.Context, row finding.Row, folders []string, tmp string) (before, after map[string][]byte, err error) {
	dir, home := filepath.Join(tmp, "copy"), filepath.Join(tmp, "home")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(home, 0o755)); err != nil {
		return nil, nil, err
	}
	c, err := hands.New(ctx, hands.Original{Module: a.fixes.Module, Workspace: a.work, Files: a.now}, dir)
	if err != nil {
		return nil, nil, err
	}
	brief, err := a.o.Outside.Brief(Briefed{Row: row, Run: a.runs[row.Run], Module: a.fixes.Module, Path: a.module, Folders: folders, Program: a.o.Outside.Limits()})
	if err != nil {
		return nil, nil, err
	}
	said, err := c.Run(ctx, a.o.Outside.Program, brief, home)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s", err, gocmd.LastLines(strings.TrimSpace(said), 3))
	}
	return c.Changes(folders)
}

// packages are those of the module that a finding concerns: of its site, of the lines that allocate for it,
// and of its heaviest stack.
func (a *asking) packages(row finding.Row) []string {
	out := []string{row.Site.Package}
	add := func(at evidence.Site) {
		if at.Package != "" && at.Package != row.Site.Package && !strings.HasSuffix(at.Package, "_test") && !slices.Contains(out, at.Package) && a.own(at.Package) {
			out = append(out, at.Package)
		}
	}
	for _, p := range row.Allocation.Places {
		add(p.Site)
	}
	if row.Remedy.Life.At.Package != "" {
		add(row.Remedy.Life.At)
	}
	return out
}

// own reports whether a package is of the module.
func (a *asking) own(path string) bool {
	m := a.module
	return path == m || strings.HasPrefix(path, m+"/")
}

// folder is where a package is, relative to the module.
func (a *asking) folder(ctx context.Context, path string) (string, error) {
	if dir, ok := a.folders[path]; ok {
		return dir, nil
	}
	list, err := a.tool.Packages(ctx, []string{path})
	if err == nil {
		err = gocmd.NotFound(list)
	}
	if err != nil {
		return "", err
	}
	dir, err := filepath.Rel(a.fixes.Module, list[0].Dir)
	a.folders[path] = filepath.ToSlash(dir)
	return a.folders[path], err
}

// judged judges a patch as edits are judged: it saves something, shows the same, and makes nothing worse.
func (a *asking) judged(ctx context.Context, at *Attempt) (Outcome, error) {
	files := maps.Clone(a.now)
	maps.Copy(files, at.Patch.After)
	failed := func(o Outcome, err error) (Outcome, error) {
		at.Why = err.Error()
		return o, ctx.Err()
	}
	var err error
	q := trial.Question{Files: files, Judged: a.now, Changed: at.Patch.Packages, Tests: slices.Clone(at.Patch.Packages)}
	if a.s.repeats() {
		if at.Before, err = a.s.baseline(ctx, at.Bench, a.now); err != nil {
			return failed(NoRun, err)
		}
		if at.After, err = a.s.saved(ctx, at.Bench, files, at.Before); errors.Is(err, trial.ErrBuild) {
			return failed(NoBuild, err)
		} else if err != nil {
			return failed(NoRun, err)
		}
		if !at.After.Less(at.Before) {
			return NoGain, nil
		}
		if !slices.Contains(q.Tests, at.Bench.Package) {
			q.Tests = append(q.Tests, at.Bench.Package)
		}
	}
	if at.Verdict, err = a.judge.Holds(ctx, q); err != nil {
		return "", err
	}
	if at.Why = at.Verdict.Why; at.Verdict.Fault != "" {
		return outcomes()[at.Verdict.Fault], nil
	}
	if !a.s.repeats() {
		return Open, nil
	}
	at.Outcome = Kept
	p := &patched{at, files}
	c := &confirming{&Confirmation{}, a.o.Confirm, a.judge, p, nil}
	if err := c.run(ctx); err != nil || at.Outcome != Kept {
		return at.Outcome, err
	}
	a.fixes.Confirmation.join(c.Confirmation)
	if !a.o.Search.Review {
		return Review, nil
	}
	a.now = files
	return Kept, nil
}

// patched is a patch on top of all that is kept.
type patched struct {
	*Attempt
	all trial.Files
}

func (p *patched) files(string, int) (trial.Files, error) { return p.all, nil }

func (p *patched) kept() []Attempt {
	if p.Outcome != Kept {
		return nil
	}
	return []Attempt{*p.Attempt}
}

func (p *patched) drop(_ string, _ int, o Outcome, why string) bool {
	p.Outcome, p.Why = o, why
	return true
}

// join adds what another confirmation looked at.
func (c *Confirmation) join(o *Confirmation) {
	union := func(a, b []string) []string {
		for _, name := range b {
			if !slices.Contains(a, name) {
				a = append(a, name)
			}
		}
		return a
	}
	c.Packages, c.Raced, c.Fuzzed = union(c.Packages, o.Packages), union(c.Raced, o.Raced), union(c.Fuzzed, o.Fuzzed)
	c.Late.Looks = union(c.Late.Looks, o.Late.Looks)
	c.Passed = max(c.Passed, o.Passed)
	if c.Proof == nil {
		c.Proof = o.Proof
	}
}
