package fix

import (
	"cmp"
	"context"
	"maps"
	"math"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/fix/genbench"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// repeats reports whether the runs of the recording can be made again.
func (s *search) repeats() bool {
	return s.report.Diagnosis.Target.Kind == evidence.TargetPackages || s.o.Meter != nil
}

// unmeasured judges edits of which nothing can say what they save.
func (s *search) unmeasured(ctx context.Context, open []*Attempt) error {
	for _, a := range open {
		if s.spent() {
			s.end(a, NoTime)
			continue
		}
		if ok, err := s.generated(ctx, a); err != nil || ok {
			if err != nil {
				return err
			}
			continue
		}
		files, err := Files([]code.Edit{a.Edit})
		if err != nil {
			return err
		}
		s.o.Progress("judging %s: %s%s", spot(a.Finding.Site), a.Edit.Text, s.left())
		a.Bench, a.Why = trial.Bench{}, ""
		if a.Why, err = s.judge.Sound(ctx, a.Edit.Package, files); err != nil {
			return err
		}
		if a.Why != "" {
			s.end(a, NoBuild)
			continue
		}
		o, err := s.hold(ctx, []*Attempt{a}, nil)
		if err != nil {
			return err
		}
		s.end(a, cmp.Or(o, Open))
	}
	return nil
}

// generated tries an edit by a benchmark that is written for its function. It reports false if there is none,
// or none that shows a saving: it may not reach what the edit changes.
func (s *search) generated(ctx context.Context, a *Attempt) (bool, error) {
	if !s.o.Generate {
		return false, nil
	}
	g, ok, err := genbench.For(a.Edit.File, a.Edit.Line)
	if err != nil || !ok {
		return false, err
	}
	all := s.result.Generated
	s.result.Generated = join(all, trial.Files{g.File: g.Text})
	a.Bench = trial.Bench{Package: a.Edit.Package, Name: g.Name}
	s.o.Progress("counting %s: %s by %s%s", spot(a.Finding.Site), a.Edit.Text, g.Name, s.left())
	if o, err := s.saves(ctx, a); err != nil || o != "" {
		s.result.Generated = all
		return false, err
	}
	return true, s.judgeOne(ctx, a)
}

// join is a set of files with others added.
func join(a, b trial.Files) trial.Files {
	out := trial.Files{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// counted is what an operation allocates with a change.
func (s *search) counted(ctx context.Context, b trial.Bench, files trial.Files) (trial.Counts, error) {
	if s.o.Meter != nil {
		return s.o.Meter(ctx, files)
	}
	return s.judge.Counts(ctx, b, join(files, s.result.Generated))
}

// saved is what an operation allocates with a change, counted twice where it seems less than before.
func (s *search) saved(ctx context.Context, b trial.Bench, files trial.Files, before trial.Counts) (trial.Counts, error) {
	c, err := s.counted(ctx, b, files)
	if err != nil || s.o.Meter != nil || !c.Less(before) {
		return c, err
	}
	return s.judge.Again(ctx, b, join(files, s.result.Generated), c)
}

// alikeUnderLoad is the least that two runs under load are taken to differ by, as a fraction.
const alikeUnderLoad = 0.002

// baseline counts twice, so that what varies by itself is known.
func (s *search) baseline(ctx context.Context, b trial.Bench, files trial.Files) (trial.Counts, error) {
	if s.o.Meter == nil {
		return s.judge.Baseline(ctx, b, join(files, s.result.Generated))
	}
	c, err := s.o.Meter(ctx, files)
	if err != nil {
		return c, err
	}
	again, err := s.o.Meter(ctx, files)
	c.Spread = trial.Spread{Allocs: max(math.Abs(c.Allocs-again.Allocs), alikeUnderLoad*c.Allocs),
		Bytes: max(math.Abs(c.Bytes-again.Bytes), alikeUnderLoad*c.Bytes)}
	return c, err
}
