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

// unknown counts a benchmark without a line on both sides. It grew if its least here is above the
// most there.
func (x explanation) unknown(ctx context.Context, bench *Bench) error {
	p, ok := x.base.pkg(ctx, x.pkgs[bench.Subject])
	if !ok {
		return nil
	}
	run := count.Run{Ops: bench.Ops, CPU: bench.CPU}
	names := []string{bench.Name}
	var was budget.Figure
	was.Ops = bench.Ops
	for round := range again {
		before, err := x.base.counter.Count(ctx, p, names, run)
		if err != nil && !errors.Is(err, count.ErrBuild) {
			return err
		}
		a, ok := before[bench.Name]
		if !ok {
			return nil // it is new
		}
		was.Allocs, was.Bytes = math.Max(was.Allocs, a.Allocs), math.Max(was.Bytes, a.Bytes)
		allocs, bytes := was.Over(bench.Now)
		if !allocs && !bytes {
			break
		}
		if round > 0 {
			now, err := x.counter.Count(ctx, x.pkgs[bench.Subject], names, run)
			if err != nil {
				return err
			}
			if n, ok := now[bench.Name]; ok {
				bench.Now.Allocs, bench.Now.Bytes = math.Min(bench.Now.Allocs, n.Allocs), math.Min(bench.Now.Bytes, n.Bytes)
			}
		}
	}
	bench.Base = &was.Amount
	bench.Line = &budget.Line{Subject: bench.Subject, Figure: was}
	bench.Status, bench.Rule = Within, ""
	if allocs, bytes := was.Over(bench.Now); allocs || bytes {
		bench.Status = Grew
	}
	return nil
}
