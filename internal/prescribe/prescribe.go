// Package prescribe names the cure of each finding and predicts what it saves. It joins
// three sources: the profiles of a site, the compiler's escape decisions, and the source of
// the line (package source). The cures are a catalogue, one file each: data that also feeds
// the documentation, a matcher, and the formula of the prediction.
package prescribe

import (
	"context"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/advice"
	"github.com/heaptrim/heaptrim/internal/prescribe/callees"
	"github.com/heaptrim/heaptrim/internal/prescribe/hot"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
)

// Options tunes Run. The zero value is ready to use.
type Options struct {
	// Threshold is the share of CPU or of bytes that a line must cost, or its cure save, to be shown; 0 means
	// finding.DefaultThreshold, a negative one shows all.
	Threshold float64
	Trials    []finding.Trial // of edits for the findings of the session
	Progress  func(format string, args ...any)
}

// readFindings is how many lines are looked at for work that is not needed.
const readFindings = 120

// Run names the cure of each finding of a session, predicts its saving, ranks the findings
// by it, adds findings on unnecessary work, and drops those below the threshold. If the
// sources cannot be read, the profile alone decides, and a warning says so.
func Run(ctx context.Context, s *diagnose.Session, o Options) *finding.Prescription {
	if o.Threshold == 0 {
		o.Threshold = finding.DefaultThreshold
	}
	d := s.Diagnosis()
	p := &finding.Prescription{Threshold: max(o.Threshold, 0)}
	src, problems := hot.Source(ctx, d, o.Progress, nil)
	p.Warnings = problems
	if more := missingSource(s, src); len(more) > 0 {
		src = nil // or there are two in memory
		if src, problems = hot.Source(ctx, d, o.Progress, more); src == nil {
			p.Warnings = append(p.Warnings, problems...)
		}
	}
	candidates := newCandidates(s, src)
	give(candidates, o.Trials)
	var all []chosen
	slices.SortStableFunc(candidates, func(a, b *candidate) int { return len(b.held) - len(a.held) }) // wholes before parts
	for _, c := range candidates {
		if c.told {
			continue
		}
		row := c.choose(c.proposals())
		row.Remedy.Life = c.Parts[0].Life
		all = append(all, chosen{c, row})
	}
	rows := joinLeft(all)
	for _, l := range waste.Lines(d, src, readFindings) {
		rows = append(rows, skipped(l))
	}
	p.Rows, p.Functions, p.Below = rank.Rows(s, rows, o.Threshold)
	p.Advice = advice.Of(s.Diagnosis())
	p.Together = rank.Together(s, p.Rows)
	return p
}

// newCandidates gathers the evidence on every object.
func newCandidates(s *diagnose.Session, src *source.Program) []*candidate {
	out := objects(s, src)
	var tracer *life.Tracer
	if src != nil {
		tracer = life.New(src)
	}
	for _, c := range out {
		c.live(tracer)
	}
	out = joinOwned(out)
	hold(out)
	return out
}

// give hands each trial to the object of its finding; of several, to the one whose objects are nearest in number to those
// that it saved, and else to the first, which is the heaviest.
func give(candidates []*candidate, trials []finding.Trial) {
	for _, t := range trials {
		var to *candidate
		for _, c := range candidates {
			if t.Finding == c.Finding.ID && (to == nil || t.Holds && c.far(t) < to.far(t)) {
				to = c
			}
		}
		if to != nil {
			to.trials = append(to.trials, t)
		}
	}
}

// far is how much the object's number differs from what a trial saved.
func (c *candidate) far(t finding.Trial) float64 {
	return math.Abs(t.Before.Allocs - t.After.Allocs - c.Finding.Cost.ObjectsPerOp.Value)
}

// missingSource lists the packages of callees whose source would say more of what becomes
// of the objects.
func missingSource(s *diagnose.Session, src *source.Program) []string {
	if src == nil {
		return nil
	}
	tracer := life.New(src)
	for _, c := range objects(s, src) {
		c.live(tracer)
	}
	return callees.Affordable(src.Read, tracer.Missing())
}
