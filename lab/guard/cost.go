package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/process"
)

// cost is what commands take on a module, in each round.
type cost struct{ bench, within, grown, base []process.Usage }

// costs times guard on modules that were judged before: in each round one run of the benchmarks,
// guard while nothing grew, guard with the regression, and that with -base.
func (l *lab) costs(ctx context.Context, cases []corpus.Case, rounds int) error {
	for _, c := range cases {
		dir := filepath.Join(l.dir, c.ID, "module")
		benches := l.benches(c, dir)
		guard := func(more ...string) []string {
			return append([]string{l.heaptrim, "guard", "-bench", benches}, append(more, c.Pattern())...)
		}
		var t cost
		for range rounds {
			for _, step := range []struct {
				to      *[]process.Usage
				planted bool
				args    []string
			}{
				{&t.bench, false, []string{"go", "test", "-vet=off", "-run=^$", "-bench=" + benches, "-benchmem", "-benchtime=1s", "-cpu=1,2", c.Pattern()}},
				{&t.within, false, guard("-all")},
				{&t.grown, true, guard()},
				{&t.base, true, guard("-base", "HEAD")},
			} {
				took, err := l.time(ctx, c, step.planted, step.args)
				if err != nil {
					return err
				}
				*step.to = append(*step.to, took)
			}
		}
		fmt.Printf("%-55s load average %.1f\n", c.ID, loadAverage())
		for _, kind := range []struct {
			name string
			of   func(process.Usage) float64
		}{
			{"time", func(u process.Usage) float64 { return u.Wall.Seconds() }},
			{"CPU", func(u process.Usage) float64 { return u.CPU.Seconds() }},
		} {
			bench := process.Median(t.bench, kind.of)
			times := func(runs []process.Usage) string {
				took := process.Median(runs, kind.of)
				return fmt.Sprintf("%.1fs, %.2f times", took, took/bench)
			}
			fmt.Printf("  %-4s benchmarks %.1fs; within %s; grown %s; -base %s\n", kind.name, bench, times(t.within), times(t.grown), times(t.base))
		}
	}
	return nil
}

// time runs a command on a module, with the regression of its case or without, and wants the exit code that
// belongs to it.
func (l *lab) time(ctx context.Context, c corpus.Case, planted bool, args []string) (process.Usage, error) {
	dir := filepath.Join(l.dir, c.ID, "module")
	if _, said, err := l.command(ctx, dir, "git", "checkout", "-q", "."); err != nil {
		return process.Usage{}, fmt.Errorf("git checkout: %w: %s", err, said)
	}
	want := 0
	if planted {
		want = 3
		if err := c.Planted.Plant(dir); err != nil {
			return process.Usage{}, err
		}
	}
	took, said, err := l.measured(ctx, dir, args[0], args[1:]...)
	if code(err) != want {
		return process.Usage{}, fmt.Errorf("%s: %v: exit code %d, want %d: %s", c.ID, args, code(err), want, said)
	}
	return took, nil
}

func middle(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
