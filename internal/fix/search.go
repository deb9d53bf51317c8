// Package fix looks for edits that make a program allocate less: it takes the candidates of
// package rewrite for the findings of a report, tries each on what was kept before, and keeps
// what package trial shows to be better.
package fix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// Options tunes Search.
type Options struct {
	Review bool          // keep edits, too, whose question only a person can answer
	Only   []string      // codes of cures; none means all
	Budget time.Duration // for trying; 0 means no limit
	Most   int           // findings to look at; 0 means all
	Alone  bool          // try each edit alone, not on top of those that were kept
	Tests  bool          // ask the judge whether the program does the same before an edit is kept
	// TestsOnly leaves out the comparison of calls.
	TestsOnly bool
	// Leave says why a file is not to be edited, "" if it may be; nil allows all.
	Leave    func(file string) string
	Progress func(format string, args ...any)
}

// Outcome is what became of a candidate.
type Outcome string

// The outcomes.
const (
	Kept     Outcome = "kept"
	Review   Outcome = "review"     // allocates less, and has a question that only a person can answer
	NoGain   Outcome = "no gain"    // allocates as much as before, or more of one and less of the other
	NoBuild  Outcome = "no build"   // the edited package does not compile
	Breaks   Outcome = "breaks"     // a test fails with it
	Differs  Outcome = "differs"    // a call shows something else with it
	Overlaps Outcome = "overlaps"   // changes text that a kept edit changes
	NoRun    Outcome = "no run"     // the benchmark fails with it
	NoTime   Outcome = "not tried"  // the budget was spent
	Left     Outcome = "left alone" // the file is not to be edited
	Untested Outcome = "not tested" // no test passes, and no call could be compared
	Slower   Outcome = "slower"     // a benchmark is worse with it
)

// Attempt is a candidate and what became of it.
type Attempt struct {
	Edit          code.Edit
	Finding       *finding.Finding
	Predicted     finding.Remedy // the cure that the report names for the finding
	Bench         trial.Bench
	Before, After trial.Counts  // an operation's; zero if not counted
	Verdict       trial.Verdict // on what it does
	Outcome       Outcome
	Why           string // in one line, where the outcome does not say it
}

// Result is the end of a search.
type Result struct {
	Attempts []Attempt // in the order they were made
	Failing  []string  // tests that fail without any edit
	Findings int       // that were looked at
	NoEdit   int       // of them, those for which no edit is known
}

// Kept are the edits that were kept.
func (r *Result) Kept() []code.Edit {
	var out []code.Edit
	for _, a := range r.Attempts {
		if a.Outcome == Kept {
			out = append(out, a.Edit)
		}
	}
	return out
}

// Files are the files that edits change: their new content by name. Edits must not overlap.
func Files(edits []code.Edit) (trial.Files, error) {
	before, err := originals(edits)
	if err != nil {
		return nil, err
	}
	return edited(before, edits)
}

// originals are the files that edits change, as they are.
func originals(edits []code.Edit) (trial.Files, error) {
	out := trial.Files{}
	for _, e := range edits {
		for _, part := range e.Parts() {
			if _, ok := out[part.File]; ok {
				continue
			}
			text, err := os.ReadFile(part.File)
			if err != nil {
				return nil, err
			}
			out[part.File] = text
		}
	}
	return out, nil
}

// edited makes edits in files.
func edited(before trial.Files, edits []code.Edit) (trial.Files, error) {
	byFile := map[string][]code.Part{}
	for _, e := range edits {
		for _, part := range e.Parts() {
			byFile[part.File] = append(byFile[part.File], part)
		}
	}
	out := trial.Files{}
	for name, list := range byFile {
		text, err := code.Apply(before[name], list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = text
	}
	return out, nil
}

// Tools are what a search makes edits and tries them with.
type Tools struct {
	Program *rewrite.Program
	Judge   *trial.Judge
}

// search is a search under way.
type search struct {
	o      Options
	judge  *trial.Judge
	report *finding.Report
	result *Result
	kept   []code.Edit
	until  time.Time                     // zero for no limit
	counts map[trial.Bench]trial.Counts  // with what is kept
	tried  map[string]bool               // edits by place and kind
	benchs map[string]finding.RunSummary // by name
}

// Search tries the edits for the findings of a recording of benchmarks, in the order of the
// report, until the budget is spent or ctx ends; the result then has what was found until then.
func Search(ctx context.Context, r *finding.Report, t Tools, o Options) (*Result, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	s := &search{o: o, judge: t.Judge, report: r, result: &Result{}, counts: map[trial.Bench]trial.Counts{},
		tried: map[string]bool{}, benchs: map[string]finding.RunSummary{}}
	if r.Diagnosis.Target.Kind != evidence.TargetPackages {
		return nil, errors.New("edits are tried by benchmarks, and this is a recording of something else")
	}
	if o.Budget > 0 {
		s.until = time.Now().Add(o.Budget)
	}
	for _, b := range r.Diagnosis.Runs {
		s.benchs[b.Name] = b
	}
	rows := r.Prescription.Rows
	if o.Most > 0 {
		rows = rows[:min(o.Most, len(rows))]
	}
	for i, row := range rows {
		edits := editsFor(t.Program, row)
		s.result.Findings++
		if len(edits) == 0 {
			s.result.NoEdit++
			continue
		}
		s.o.Progress("finding %d of %d, %s: %d edits to try", i+1, len(rows), row.Site, len(edits))
		for _, e := range edits {
			if err := s.candidate(ctx, row, e); err != nil {
				return s.result, err
			}
		}
	}
	return s.result, nil
}

// editsFor are the edits for all lines that allocate for a row, heaviest line first.
func editsFor(p *rewrite.Program, row finding.Row) []code.Edit {
	sites := []evidence.Site{row.Site}
	for _, at := range row.Allocation.Places {
		if !slices.Contains(sites, at.Site) {
			sites = append(sites, at.Site)
		}
	}
	var out []code.Edit
	for _, at := range sites {
		out = append(out, p.At(place(row, at))...)
	}
	return out
}

// keyOf tells edits from each other.
func keyOf(e code.Edit) string { return fmt.Sprint(e.File, e.Changes, e.Also) }

// place is a line of a finding with the sizes of its blocks and what is known of their life.
func place(row finding.Row, at evidence.Site) code.Place {
	f, life := row.Finding, row.Remedy.Life
	p := code.Place{File: at.File, Line: at.Line, Dies: life.End == finding.EndFrame && life.Frame == 0, Held: life.Ways}
	total := 0.0
	for _, c := range f.Allocation.Sizes {
		total += c.Objects
	}
	if total <= 0 {
		return p
	}
	const grid = 20 // each size as often as its share, to the nearest twentieth
	for _, c := range f.Allocation.Sizes {
		for range int(c.Objects/total*grid + 0.5) {
			p.Sizes = append(p.Sizes, int64(c.Size))
		}
	}
	return p
}

// candidate tries one edit, once, and notes what became of it. The error is that of the context.
func (s *search) candidate(ctx context.Context, row finding.Row, e code.Edit) error {
	key := keyOf(e)
	if s.tried[key] || len(s.o.Only) > 0 && !slices.Contains(s.o.Only, e.Code) {
		return nil
	}
	s.tried[key] = true
	b, ok := s.benchs[row.Run]
	if !ok {
		return nil
	}
	a := Attempt{Edit: e, Finding: row.Finding, Predicted: row.Remedy,
		Bench: trial.Bench{Package: b.Package, Name: b.Name, NsPerOp: b.NsPerOp}}
	for _, part := range e.Parts() {
		if s.o.Leave != nil && a.Why == "" {
			a.Why = s.o.Leave(part.File)
		}
	}
	switch {
	case a.Why != "":
		a.Outcome = Left
	case !s.until.IsZero() && time.Now().After(s.until):
		a.Outcome = NoTime
	default:
		if err := s.try(ctx, &a); err != nil {
			return err
		}
	}
	if a.Outcome == Kept && !s.o.Alone {
		s.kept = append(s.kept, e)
		clear(s.counts)
		a.After.Spread = a.Before.Spread
		s.counts[a.Bench] = a.After
	}
	s.result.Attempts = append(s.result.Attempts, a)
	return nil
}

// try judges an attempt.
func (s *search) try(ctx context.Context, a *Attempt) error {
	files, err := Files(append(slices.Clone(s.kept), a.Edit))
	switch {
	case errors.Is(err, code.ErrOverlap):
		a.Outcome = Overlaps
		return nil
	case err != nil:
		a.Outcome, a.Why = NoBuild, err.Error()
		return nil
	}
	if a.Before, err = s.before(ctx, a.Bench); err != nil {
		return s.failed(ctx, a, NoRun, err)
	}
	if a.After, err = s.judge.Counts(ctx, a.Bench, files); errors.Is(err, trial.ErrBuild) {
		return s.failed(ctx, a, NoBuild, err)
	} else if err != nil {
		return s.failed(ctx, a, NoRun, err)
	}
	if !a.After.Less(a.Before) {
		a.Outcome = NoGain
		return nil
	}
	a.Outcome = Kept
	if s.o.Tests {
		if err := s.hold(ctx, a, files); err != nil {
			return err
		}
	}
	if a.Outcome == Kept && !a.Edit.Safe() && !s.o.Review {
		a.Outcome, a.Why = Review, a.Edit.Open
	}
	return nil
}

// failed notes why an attempt could not be judged, unless the context ended.
func (s *search) failed(ctx context.Context, a *Attempt, o Outcome, err error) error {
	a.Outcome, a.Why = o, err.Error()
	return ctx.Err()
}

// before counts with what is kept, once.
func (s *search) before(ctx context.Context, b trial.Bench) (trial.Counts, error) {
	if c, ok := s.counts[b]; ok {
		return c, nil
	}
	files, err := Files(s.kept)
	if err != nil {
		return trial.Counts{}, err
	}
	c, err := s.judge.Baseline(ctx, b, files)
	if err == nil {
		s.counts[b] = c
	}
	return c, err
}

// hold asks the judge whether the program does the same with an attempt's edit.
func (s *search) hold(ctx context.Context, a *Attempt, files trial.Files) error {
	changed := a.Finding.Site.Package
	q := trial.Question{Files: files, Tests: []string{changed}}
	if !s.o.TestsOnly {
		q.Changed = []string{changed}
	}
	if changed != a.Bench.Package {
		q.Tests = append(q.Tests, a.Bench.Package)
	} else {
		top, _, _ := strings.Cut(a.Bench.Name, "/")
		q.Bench = []string{top}
	}
	var err error
	if a.Verdict, err = s.judge.Holds(ctx, q); err != nil {
		return err
	}
	if outcome, ok := outcomes()[a.Verdict.Fault]; ok {
		a.Outcome, a.Why = outcome, a.Verdict.Why
	}
	for _, path := range q.Tests {
		before, err := s.judge.State(ctx, path)
		if err != nil {
			return err
		}
		for _, name := range before.Failed {
			if !slices.Contains(s.result.Failing, name) {
				s.result.Failing = append(s.result.Failing, name)
			}
		}
	}
	return nil
}

// outcomes are those of attempts with a fault.
func outcomes() map[trial.Fault]Outcome {
	return map[trial.Fault]Outcome{trial.Builds: NoBuild, trial.Fails: Breaks, trial.Differs: Differs, trial.Unknown: Untested}
}
