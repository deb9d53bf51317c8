// Package fix looks for edits that make a program allocate less: it takes the candidates of
// package rewrite for the findings of a report, tries each on what was kept before, and keeps
// what package trial shows to be better.
package fix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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
	Generate  bool // write benchmarks for functions that none reaches; they are not kept
	// Leave says why a file is not to be edited, "" if it may be; nil allows all.
	Leave func(file string) string
	// Meter counts what an operation of a recorded command allocates with a change; nil: only
	// benchmarks can be run again.
	Meter    func(ctx context.Context, files trial.Files) (trial.Counts, error)
	Dropped  func(a Attempt) // told of each attempt that is dropped; nil tells nobody
	Progress func(format string, args ...any)
}

// Outcome is what became of a candidate.
type Outcome string

// The outcomes.
const (
	Kept     Outcome = "kept"
	Review   Outcome = "review"       // allocates less, and has a question that only a person can answer
	NoGain   Outcome = "no gain"      // allocates as much as before, or more of one and less of the other
	NoBuild  Outcome = "no build"     // the edited package does not compile
	Breaks   Outcome = "breaks"       // a test fails with it
	Differs  Outcome = "differs"      // a call shows something else with it
	Overlaps Outcome = "overlaps"     // changes text that a kept edit changes
	NoRun    Outcome = "no run"       // the benchmark fails with it
	NoTime   Outcome = "not tried"    // the budget was spent
	Left     Outcome = "left alone"   // the file is not to be edited
	Untested Outcome = "not tested"   // no test passes and no call could be compared, or none runs what it changes
	Open     Outcome = "not measured" // it holds, and nothing that can be run again shows what it saves
	Refused  Outcome = "refused"      // an outside program changed what it may not
	Slower   Outcome = "slower"       // a benchmark is worse with it
)

// Attempt is a candidate and what became of it.
type Attempt struct {
	Edit          code.Edit
	Patch         *Patch // of an outside program; the Edit then has its place and words only
	Finding       *finding.Finding
	Predicted     finding.Prediction // what the edit is expected to save
	Bench         trial.Bench
	Before, After trial.Counts  // an operation's; zero if not counted
	Verdict       trial.Verdict // on what it does
	Outcome       Outcome
	Why           string // in one line, where the outcome does not say it
}

// Result is the end of a search.
type Result struct {
	Attempts []Attempt     // in the order they were made
	Failing  []string      // tests that fail without any edit
	Findings int           // that were looked at
	NoEdit   []finding.Row // of them, those for which no edit is known

	Generated trial.Files // benchmarks that were written for the search
}

// Kept are the edits that were kept, without those of outside programs.
func (r *Result) Kept() []code.Edit {
	var out []code.Edit
	for _, a := range r.Attempts {
		if a.Outcome == Kept && a.Patch == nil {
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

// Search tries the edits for the findings of a recording, those that promise most first, until the budget is
// spent or ctx ends; it then returns the attempts made so far. Proved edits are tried before those that promise no
// more. Edits for findings of runs that cannot be run again are judged, and not kept.
func Search(ctx context.Context, r *finding.Report, t Tools, o Options) (*Result, error) {
	o = o.withDefaults()
	s := &search{o: o, judge: t.Judge, report: r, result: &Result{}, counts: map[trial.Bench]trial.Counts{},
		tried: map[string]bool{}, benchs: map[string]finding.RunSummary{}}
	if o.Budget > 0 {
		s.until = time.Now().Add(o.Budget)
	}
	for _, b := range r.Diagnosis.Runs {
		s.benchs[b.Name] = b
	}
	rows, lists := mostFirst(r, o.rows(r), offers(t.Program, o.rows(r)))
	for i, row := range rows {
		lists[i] = s.fresh(lists[i])
		s.result.Findings++
		if len(lists[i]) == 0 {
			s.result.NoEdit = append(s.result.NoEdit, row)
		}
	}
	if o.Tests && !o.Alone && s.repeats() {
		err := s.ahead(ctx, rows, lists)
		if err == nil {
			err = s.proved(ctx, rows, lists)
		}
		if err != nil {
			s.leave(rows, lists)
			return s.result, err
		}
	}
	short, cancel := o.within(ctx, time.Until(s.until)-o.Budget/2) // from now until half the budget behind its end
	defer cancel()
	for i, row := range rows {
		if len(lists[i]) == 0 {
			continue
		}
		s.o.Progress("finding %d of %d, %s: %d edits to try%s", i+1, len(rows), spot(row.Site), len(lists[i]), s.left())
		if err := s.row(short, row, lists[i]); err != nil {
			s.leave(rows[i+1:], lists[i+1:])
			if ctx.Err() == nil && short.Err() != nil {
				return s.result, nil
			}
			return s.result, err
		}
	}
	return s.result, nil
}

// ahead tries the edits, to be agreed to, of the findings that promise more than any with an edit that the source proves, and
// takes them off the lists: up to half of the budget, which the proved ones would spend first.
func (s *search) ahead(ctx context.Context, rows []finding.Row, lists [][]code.Edit) error {
	until := time.Now().Add(s.o.Budget / 2)
	for i, row := range rows {
		if slices.ContainsFunc(lists[i], code.Edit.Safe) || !s.o.Review || s.o.Budget <= 0 || time.Now().After(until) {
			return nil
		}
		if edits := lists[i]; len(edits) > 0 {
			lists[i] = nil
			s.o.Progress("finding %d of %d, %s: %d edits to try%s", i+1, len(rows), spot(row.Site), len(edits), s.left())
			if err := s.row(ctx, row, edits); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave ends the edits for findings that there was no time for.
func (s *search) leave(rows []finding.Row, lists [][]code.Edit) {
	for i, row := range rows {
		s.giveUp(s.attempts(row, lists[i]))
	}
}

// giveUp ends the attempts that came to no end.
func (s *search) giveUp(open []*Attempt) {
	for _, a := range open {
		if a.Outcome == "" {
			s.end(a, NoTime)
		}
	}
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if o.Dropped == nil {
		o.Dropped = func(Attempt) {}
	}
	return o
}

// within bounds a context by the budget and some time more, for edits that are under judgement when it ends.
func (o Options) within(ctx context.Context, more time.Duration) (context.Context, context.CancelFunc) {
	if o.Budget <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, o.Budget+more)
}

// rows are the findings to look at.
func (o Options) rows(r *finding.Report) []finding.Row {
	rows := r.Prescription.Rows
	if o.Most > 0 {
		rows = rows[:min(o.Most, len(rows))]
	}
	return rows
}

// spot is a site in words.
func spot(s evidence.Site) string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// left says how much time is left.
func (s *search) left() string {
	if s.until.IsZero() {
		return ""
	}
	return fmt.Sprintf("; %v left", max(time.Until(s.until), 0).Round(time.Second))
}

// fresh are the edits of a list that are wanted and were not tried before.
func (s *search) fresh(edits []code.Edit) []code.Edit {
	var out []code.Edit
	for _, e := range edits {
		key := keyOf(e)
		if s.tried[key] || len(s.o.Only) > 0 && !slices.Contains(s.o.Only, e.Code) {
			continue
		}
		s.tried[key] = true
		out = append(out, e)
	}
	return out
}

// row tries the edits for one finding: all are counted, and the best that the judge lets pass is kept;
// then the others are counted on top of it. Where one saves all that the finding allocates, the others are
// not counted unless the judge rejects it. The error is that of the context.
func (s *search) row(ctx context.Context, row finding.Row, edits []code.Edit) (err error) {
	all := s.attempts(row, edits)
	defer func() {
		if err != nil {
			s.giveUp(all)
		}
	}()
	open := slices.Clone(all)
	if _, ok := s.benchs[row.Run]; !ok || !s.repeats() {
		return s.unmeasured(ctx, open)
	}
	slices.SortStableFunc(open, func(a, b *Attempt) int { return cmp.Compare(min(len(a.Edit.Open), 1), min(len(b.Edit.Open), 1)) })
	return s.each(ctx, open)
}

// attempts returns an attempt for each edit of a finding, except in files that must not be edited.
func (s *search) attempts(row finding.Row, edits []code.Edit) []*Attempt {
	b := s.benchs[row.Run]
	var open []*Attempt
	for _, e := range edits {
		a := &Attempt{Edit: e, Finding: row.Finding, Predicted: predict(s.report, row, e), Bench: trial.Bench{Package: b.Package, Name: b.Name, NsPerOp: b.Pace.NsPerOp}}
		if a.Why = s.o.leaveAny(e); a.Why != "" {
			s.end(a, Left)
			continue
		}
		open = append(open, a)
	}
	return open
}

// each counts the attempts of a finding, and keeps the best that the judge lets pass, until none is left.
func (s *search) each(ctx context.Context, open []*Attempt) error {
	for len(open) > 0 {
		better, rest, err := s.count(ctx, open)
		if err != nil {
			return err
		}
		var kept *Attempt
		open = rest
		for _, a := range better {
			if kept != nil {
				open = append(open, a)
				continue
			}
			if err := s.judgeOne(ctx, a); err != nil {
				s.end(a, NoTime)
				return err
			}
			if a.Outcome == Kept && !s.o.Alone {
				kept = a
			}
		}
		if kept != nil && kept.all() {
			return nil
		}
	}
	return nil
}

// all reports whether an attempt saves all that its finding allocates.
func (a *Attempt) all() bool {
	const most = 0.95
	cost := a.Finding.Cost
	return cost.ObjectsPerOp.Value > 0 && a.Before.Allocs-a.After.Allocs >= most*cost.ObjectsPerOp.Value &&
		a.Before.Bytes-a.After.Bytes >= most*cost.BytesPerOp.Value
}

// spent reports whether there is no time left.
func (s *search) spent() bool { return !s.until.IsZero() && time.Now().After(s.until) }

// leave says why a file is not to be edited.
func (o Options) leave(file string) string {
	if o.Leave == nil {
		return ""
	}
	return o.Leave(file)
}

// leaveAny says why one of the files of an edit is not to be edited.
func (o Options) leaveAny(e code.Edit) string {
	for _, part := range e.Parts() {
		if why := o.leave(part.File); why != "" {
			return why
		}
	}
	return ""
}

// end notes what became of an attempt.
func (s *search) end(a *Attempt, o Outcome) {
	if a.Outcome = o; o == NoTime {
		a.Why = noTime
	}
	s.result.Attempts = append(s.result.Attempts, *a)
	if o != Kept && o != Review && o != Open {
		s.o.Dropped(*a)
	}
}

// count counts what attempts save on top of what was kept, until one saves all that its finding allocates.
// It returns those that save anything, the best first, and those that were not counted.
func (s *search) count(ctx context.Context, list []*Attempt) (better, rest []*Attempt, err error) {
	for i, a := range list {
		if s.spent() {
			s.end(a, NoTime)
			continue
		}
		s.o.Progress("counting %d of %d for %s: %s%s", i+1, len(list), spot(a.Finding.Site), a.Edit.Text, s.left())
		o, err := s.saves(ctx, a)
		if err != nil {
			s.end(a, NoTime)
			return nil, nil, err
		}
		if o != "" {
			s.end(a, o)
			continue
		}
		if better = append(better, a); a.all() {
			rest = list[i+1:]
			break
		}
	}
	slices.SortStableFunc(better, func(a, b *Attempt) int {
		if d := b.gain() - a.gain(); math.Abs(d) > alike {
			return cmp.Compare(d, 0)
		}
		return cmp.Compare(len(a.Edit.Open), len(b.Edit.Open)) // what is proved goes first
	})
	return better, rest, nil
}

// alike is the difference in what is saved, as a fraction, below which edits count as equally good.
const alike = 0.02

// gain is what an attempt saves: of objects and of bytes, as fractions, together.
func (a *Attempt) gain() float64 {
	share := func(before, after float64) float64 {
		if before <= 0 {
			return 0
		}
		return (before - after) / before
	}
	return share(a.Before.Allocs, a.After.Allocs) + share(a.Before.Bytes, a.After.Bytes)
}

// saves counts one attempt. The outcome is empty if it saves something.
func (s *search) saves(ctx context.Context, a *Attempt) (Outcome, error) {
	files, err := Files(append(slices.Clone(s.kept), a.Edit))
	switch {
	case errors.Is(err, code.ErrOverlap):
		return Overlaps, nil
	case err != nil:
		a.Why = err.Error()
		return NoBuild, nil
	}
	failed := func(o Outcome, err error) (Outcome, error) {
		a.Why = err.Error()
		return o, ctx.Err()
	}
	if a.Before, err = s.before(ctx, a.Bench); err != nil {
		return failed(NoRun, err)
	}
	if a.After, err = s.saved(ctx, a.Bench, files, a.Before); errors.Is(err, trial.ErrBuild) {
		return failed(NoBuild, err)
	} else if err != nil {
		return failed(NoRun, err)
	}
	if !a.After.Less(a.Before) {
		return NoGain, nil
	}
	if a.Why = s.worse(ctx, a, files); a.Why != "" {
		return NoGain, ctx.Err()
	}
	return "", nil
}

// judgeOne asks the judge about an attempt that saves something, and keeps it if it holds.
func (s *search) judgeOne(ctx context.Context, a *Attempt) error {
	if s.o.Tests {
		s.o.Progress("judging %s: %s%s", spot(a.Finding.Site), a.Edit.Text, s.left())
		o, err := s.hold(ctx, []*Attempt{a}, s.kept)
		if err != nil {
			return err
		}
		if o != "" {
			s.end(a, o)
			return nil
		}
	}
	if !a.Edit.Safe() && !s.o.Review {
		a.Why = a.Edit.Open
		s.end(a, Review)
		return nil
	}
	if !s.o.Alone {
		s.keep(a)
	}
	s.end(a, Kept)
	return nil
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
	c, err := s.baseline(ctx, b, files)
	if err == nil {
		s.counts[b] = c
	}
	return c, err
}

// hold asks the judge whether the program does the same with the edits of attempts, all of one package, after those
// that held before. The outcome is empty if it does.
func (s *search) hold(ctx context.Context, list []*Attempt, held []code.Edit) (Outcome, error) {
	changed := list[0].Edit.Package
	judged, err := Files(held)
	if err != nil {
		return "", err
	}
	edits := slices.Clone(held)
	for _, a := range list {
		edits = append(edits, a.Edit)
	}
	files, err := Files(edits)
	if err != nil {
		return "", err
	}
	q := trial.Question{Files: files, Judged: judged, Tests: []string{changed}, Proved: true}
	if !s.o.TestsOnly {
		q.Changed = []string{changed}
	}
	for _, a := range list {
		q.Proved = q.Proved && a.Edit.Safe()
		switch top, _, _ := strings.Cut(a.Bench.Name, "/"); {
		case a.Bench.Package == "":
		case changed != a.Bench.Package:
			q.Tests = with(q.Tests, a.Bench.Package)
		case s.o.Meter == nil:
			q.Bench = with(q.Bench, top)
		}
	}
	v, err := s.judge.Holds(ctx, q)
	if err != nil {
		return "", err
	}
	for _, path := range q.Tests {
		before, err := s.judge.State(ctx, path)
		if err != nil {
			return "", err
		}
		s.result.failing(before.Failed)
	}
	if len(list) > 1 && v.Compare.Reached < v.Compare.Blocks {
		v.Compare.Reached = 0 // which edits ran is not known
	}
	for _, a := range list {
		a.Verdict, a.Why = v, v.Why
	}
	return outcomes()[v.Fault], nil
}

// with is a list with a name, once.
func with(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// failing notes tests that fail without any edit.
func (r *Result) failing(names []string) {
	for _, name := range names {
		if !slices.Contains(r.Failing, name) {
			r.Failing = append(r.Failing, name)
		}
	}
}

// outcomes are those of attempts with a fault.
func outcomes() map[trial.Fault]Outcome {
	return map[trial.Fault]Outcome{trial.Builds: NoBuild, trial.Fails: Breaks, trial.Differs: Differs, trial.Unknown: Untested}
}
