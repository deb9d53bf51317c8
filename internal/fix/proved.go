package fix

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// proving is the part of a search that tries first what the source proves. All that saves something is counted first, each
// on top of the others; then the judge looks at the edits of a package together. Where they do not hold, it looks at
// each half.
type proving struct {
	*search
	open []*group // that the judge has not looked at
}

// group is the edits of one finding.
type group struct {
	counted []*Attempt // that save something; the search goes on as if they were kept
	spare   []*Attempt // change the same text as others, or were not needed
	whole   bool       // one saves all that the finding allocates
}

// proved tries the edits that the source proves, and those that overlap them, and takes both off the lists.
func (s *search) proved(ctx context.Context, rows []finding.Row, lists [][]code.Edit) (err error) {
	p := &proving{search: s}
	defer func() { p.giveUp() }()
	look, most := time.Now().Add(s.o.Budget/2), 0.0
	for i, row := range rows {
		if _, ok := s.benchs[row.Run]; !ok {
			continue
		}
		var edits []code.Edit
		if edits, lists[i] = s.first(lists[i]); len(edits) == 0 {
			continue
		}
		worth := promise(s.report, s.benchs[row.Run], row, edits)
		if s.o.Budget > 0 && p.counts() && (worth < little*most || time.Now().After(look)) {
			look, most = s.until, 0
			if err := p.settle(ctx); err != nil {
				return err
			}
		}
		s.o.Progress("finding %d of %d, %s: %d edits to try first%s", i+1, len(rows), spot(row.Site), len(edits), s.left())
		all := s.attempts(row, edits)
		if err := p.row(ctx, slices.Clone(all)); err != nil {
			p.open[len(p.open)-1].spare = all
			return err
		}
		most = max(most, worth)
	}
	return p.settle(ctx)
}

// first parts the edits of a finding into those that the source proves, which are tried first, and the others. Where edits
// with a question may be kept, those that change the text of a proved one go with it: one of them alone can be kept, the better.
func (s *search) first(edits []code.Edit) (first, others []code.Edit) {
	for _, e := range edits {
		if e.Safe() {
			first = append(first, e)
		}
	}
	proved := slices.Clip(first)
	for _, e := range edits {
		switch {
		case e.Safe():
		case s.o.Review && slices.ContainsFunc(proved, func(p code.Edit) bool { return overlap(p, e) }):
			first = append(first, e)
		default:
			others = append(others, e)
		}
	}
	return first, others
}

// overlap reports whether edits change the same text.
func overlap(edits ...code.Edit) bool {
	_, err := Files(edits)
	return errors.Is(err, code.ErrOverlap)
}

// little is a part of the most that an edit promised. Before edits that promise less than that are tried, the judge looks at
// those that were counted: a budget is not spent on the rest first.
const little = 0.05

// counts reports whether something was counted that the judge has not looked at.
func (p *proving) counts() bool {
	return slices.ContainsFunc(p.open, func(g *group) bool { return len(g.counted) > 0 })
}

// row counts the attempts of a finding.
func (p *proving) row(ctx context.Context, open []*Attempt) error {
	g := &group{}
	p.open = append(p.open, g)
	for {
		open = slices.DeleteFunc(open, func(a *Attempt) bool {
			over := p.overlaps(a)
			if over {
				g.spare = append(g.spare, a)
			}
			return over
		})
		better, rest, err := p.count(ctx, open)
		if err != nil || len(better) == 0 {
			return err
		}
		a := better[0]
		g.counted = append(g.counted, a)
		p.keep(a)
		open = append(better[1:], rest...)
		if a.all() {
			g.spare, g.whole = append(g.spare, open...), true
			return nil
		}
	}
}

// overlaps reports whether an attempt changes text that a kept edit changes.
func (p *proving) overlaps(a *Attempt) bool { return overlap(append(slices.Clone(p.kept), a.Edit)...) }

// settle judges the edits that were counted.
func (p *proving) settle(ctx context.Context) error {
	var packages []string
	waiting := map[string][]*Attempt{}
	for _, g := range p.open {
		for _, a := range g.counted {
			p.unkeep(a)
			packages = with(packages, a.Edit.Package)
			waiting[a.Edit.Package] = append(waiting[a.Edit.Package], a)
		}
	}
	if p.o.Budget > 0 {
		p.judge.More(max(time.Until(p.until), p.o.Budget, forVerdict))
	}
	for _, path := range packages {
		if err := p.together(ctx, waiting[path]); err != nil {
			return err
		}
	}
	groups := p.open
	p.open = nil
	for i, g := range groups {
		held := slices.ContainsFunc(g.counted, func(a *Attempt) bool { return a.Outcome == Kept })
		var again []*Attempt
		for _, a := range g.spare {
			switch {
			case p.overlaps(a):
				p.end(a, Overlaps)
			case !g.whole || !held:
				again = append(again, a)
			}
		}
		if err := p.each(ctx, slices.Clone(again)); err != nil {
			p.open = groups[i:] // for giveUp
			return err
		}
	}
	return nil
}

// together asks the judge about the attempts of a package: all of them, then halves of what does not hold.
func (p *proving) together(ctx context.Context, list []*Attempt) error {
	p.o.Progress("judging %d edits of %s%s", len(list), list[0].Edit.Package, p.left())
	o, err := p.hold(ctx, list, p.kept)
	switch {
	case err != nil:
		return err
	case o == "":
		for _, a := range list {
			p.keep(a)
			p.end(a, Kept)
		}
		return nil
	case len(list) == 1:
		p.end(list[0], o)
		return nil
	}
	for _, half := range [][]*Attempt{list[:len(list)/2], list[len(list)/2:]} {
		if p.spent() {
			for _, a := range half {
				a.Verdict, a.Why = trial.Verdict{}, ""
				p.end(a, NoTime)
			}
			continue
		}
		if err := p.together(ctx, half); err != nil {
			return err
		}
	}
	return nil
}

// keep lets the search go on with an attempt's edit: one count may be high by chance, so that what follows is held
// against two new ones.
func (s *search) keep(a *Attempt) {
	s.kept = append(s.kept, a.Edit)
	clear(s.counts)
}

// unkeep takes an edit back.
func (s *search) unkeep(a *Attempt) {
	s.kept = slices.DeleteFunc(s.kept, func(e code.Edit) bool { return keyOf(e) == keyOf(a.Edit) })
	clear(s.counts)
}

// giveUp ends what no verdict was reached on.
func (p *proving) giveUp() {
	for _, g := range p.open {
		for _, a := range g.counted {
			if a.Outcome == "" {
				p.unkeep(a)
				p.end(a, NoTime)
			}
		}
		p.search.giveUp(g.spare)
	}
}
