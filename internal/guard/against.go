package guard

import (
	"context"
	"errors"
	"math"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
)

// against puts beside each benchmark what the base allocates, by its line there. Benchmarks without a
// line here are counted there, and judged by that: taking a line out hides nothing.
func (m *module) against(ctx context.Context, c *checker, b *base, r *Result) error {
	var unknown []*Bench
	for i := range r.Benches {
		bench := &r.Benches[i]
		if bench.Status == Status(budget.New) {
			unknown = append(unknown, bench)
			continue
		}
		b.byLine(m, bench)
	}
	if len(unknown) == 0 {
		return nil
	}
	if err := b.open(ctx, m); err != nil {
		return err
	}
	x := explanation{c, b}
	return count.Each(unknown, func(bench *Bench) error { return x.unknown(ctx, bench) })
}

// byLine takes what the base allocates from its line. A benchmark within a budget that was raised is
// accepted.
func (b *base) byLine(m *module, bench *Bench) {
	if b.file == nil {
		return
	}
	l, ok := b.file.Find(bench.Subject, m.env, bench.CPU)
	if !ok {
		return
	}
	was := l.Figure.Amount
	bench.Base = &was
	if bench.Status != Within || bench.Line == nil {
		return
	}
	if allocs, bytes := l.Figure.Over(bench.Line.Figure.Amount); allocs || bytes {
		bench.Status = Accepted
	}
}

// unknown counts a benchmark without a line on both sides.
func (x explanation) unknown(ctx context.Context, bench *Bench) error {
	p, ok := x.base.pkg(ctx, x.pkgs[bench.Subject])
	if !ok {
		return nil
	}
	run := count.Run{Ops: bench.Ops, CPU: bench.CPU}
	names := []string{bench.Name}
	var was []budget.Amount
	now := []budget.Amount{bench.Now}
	for round := range again {
		before, err := x.base.counter.Count(ctx, p, names, run)
		if err != nil && !errors.Is(err, count.ErrBuild) {
			return err
		}
		a, ok := before[bench.Name]
		if !ok {
			return nil // it is new
		}
		was = append(was, a.Amount)
		if _, grew := versus(was, now, run.Ops); !grew {
			break
		}
		if round == 0 {
			continue
		}
		after, err := x.counter.Count(ctx, x.pkgs[bench.Subject], names, run)
		if err != nil {
			return err
		}
		if n, ok := after[bench.Name]; ok {
			now = append(now, n.Amount)
		}
	}
	figure, grew := versus(was, now, run.Ops)
	bench.Base, bench.Now = &figure.Amount, count.ExtremesOf(now).Least
	bench.Line = &budget.Line{Subject: bench.Subject, Figure: figure}
	bench.Status, bench.Rule = Within, ""
	if grew {
		bench.Status = Grew
	}
	return nil
}

// versus compares the runs of two versions. A benchmark grew if the least of now is above the figure
// of before by more than the runs of either version differ.
func versus(before, now []budget.Amount, ops int64) (was budget.Figure, grew bool) {
	was = count.FigureOf(before, ops)
	varies := count.FigureOf(now, ops).Tolerance
	was.Tolerance = budget.Amount{Allocs: math.Max(was.Tolerance.Allocs, varies.Allocs), Bytes: math.Max(was.Tolerance.Bytes, varies.Bytes)}
	allocs, bytes := was.Over(count.ExtremesOf(now).Least)
	return was, allocs || bytes
}
