package fix

import (
	"context"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// next has the edit that is counted first of the next finding that has any, where each is tried alone.
func (s *search) next(rows []finding.Row, lists [][]code.Edit) []*Attempt {
	for i, edits := range lists {
		b, ok := s.benchs[rows[i].Run]
		if len(edits) == 0 || !ok || !s.o.Alone {
			continue
		}
		e := edits[max(slices.IndexFunc(edits, code.Edit.Safe), 0)]
		return []*Attempt{{Edit: e, Bench: trial.Bench{Package: b.Package, Name: b.Name, NsPerOp: b.NsPerOp}}}
	}
	return nil
}

// buildNext begins to build for the first of the attempts that are counted after one, or for that one while what it is compared
// with is counted first: to build takes most of the time of a count, and mostly one processor.
func (s *search) buildNext(ctx context.Context, a *Attempt, list []*Attempt) {
	if _, known := s.counts[a.Bench]; !known {
		list = []*Attempt{a}
	}
	if len(list) == 0 {
		return
	}
	if files, err := Files(append(slices.Clone(s.kept), list[0].Edit)); err == nil {
		s.judge.Ahead(ctx, list[0].Bench, files)
	}
}
