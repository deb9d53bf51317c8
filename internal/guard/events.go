package guard

import (
	"context"
	"path"
	"slices"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
)

// earlier is a benchmark function at the base.
type earlier struct {
	count.Survey
	pkg    count.Package
	broken bool // the package does not build
}

// events marks the benchmarks that break the same rule at the base.
func (x explanation) events(ctx context.Context, r *Result) error {
	known := map[budget.Subject]earlier{}
	for i := range r.Benches {
		b := &r.Benches[i]
		if !b.Fails() || b.Status == Grew || b.Site != "" {
			continue
		}
		top := budget.Subject{Package: b.Package, Name: b.Top()}
		was, ok := known[top]
		if !ok {
			if err := x.base.open(ctx, x.module); err != nil {
				return err
			}
			var err error
			if was, err = x.earlier(ctx, top); err != nil {
				return err
			}
			known[top] = was
		}
		b.Inherited = x.same(ctx, *b, was)
	}
	return ctx.Err()
}

// earlier runs a benchmark function at the base once. It is empty if there is none.
func (x explanation) earlier(ctx context.Context, top budget.Subject) (earlier, error) {
	p, ok := x.base.pkg(ctx, count.Package{Path: path.Join(x.path, top.Package)})
	if !ok {
		return earlier{}, ctx.Err()
	}
	names, err := x.base.counter.List(ctx, p)
	if err != nil || !slices.Contains(names, top.Name) {
		return earlier{pkg: p, broken: err != nil}, ctx.Err()
	}
	s, err := x.base.counter.Survey(ctx, p, top.Name, count.Run{CPU: x.cpus[0]})
	return earlier{Survey: s, pkg: p}, err
}

// same reports whether a benchmark broke the same rule at the base.
func (x explanation) same(ctx context.Context, b Bench, was earlier) bool {
	ran := slices.ContainsFunc(was.Results, func(r count.Result) bool { return r.Name == b.Name })
	failed := was.broken || was.Failed[b.Name] != "" || was.Failed[b.Top()] != ""
	skipped := slices.Contains(was.Skipped, b.Name)
	var line budget.Line
	var has bool
	if x.base.file != nil {
		line, has = x.base.file.Find(b.Subject, x.env, b.CPU)
	}
	switch b.Status {
	case Status(budget.Failing):
		return failed
	case Status(budget.Skipped):
		return skipped
	case Status(budget.Deleted):
		return has && !ran && !failed && !skipped
	case Status(budget.New), Status(budget.Renamed):
		return ran && !has
	case Shrank:
		if !has || !ran {
			return false
		}
		found, err := x.base.counter.Count(ctx, was.pkg, []string{b.Name}, count.Run{Ops: b.Ops, CPU: b.CPU})
		then, ok := found[b.Name]
		return err == nil && ok && line.Figure.Below(then.Amount)
	}
	return false
}
