package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// cost is how long commands take on a module, in seconds, of each round.
type cost struct{ bench, within, grown, base []float64 }

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
				to      *[]float64
				planted bool
				args    []string
			}{
				{&t.bench, false, []string{"go", "test", "-run=^$", "-bench=" + benches, "-benchmem", "-benchtime=1s", "-cpu=1,2", c.Pattern()}},
				{&t.within, false, guard("-all")},
				{&t.grown, true, guard()},
				{&t.base, true, guard("-base", "HEAD")},
			} {
				if _, said, err := l.command(ctx, dir, "git", "checkout", "-q", "."); err != nil {
					return fmt.Errorf("git checkout: %w: %s", err, said)
				}
				if step.planted {
					if err := c.Planted.Plant(dir); err != nil {
						return err
					}
				}
				took, said, err := l.command(ctx, dir, step.args[0], step.args[1:]...)
				if want := map[bool]int{true: 3}[step.planted]; code(err) != want {
					return fmt.Errorf("%s: %v: exit code %d, want %d: %s", c.ID, step.args, code(err), want, said)
				}
				*step.to = append(*step.to, took.Seconds())
			}
		}
		bench := middle(t.bench)
		fmt.Printf("%-55s benchmarks %.1fs; within %.1fs, %.2f times; grown %.1fs, %.2f; -base %.1fs, %.2f\n", c.ID, bench,
			middle(t.within), middle(t.within)/bench, middle(t.grown), middle(t.grown)/bench, middle(t.base), middle(t.base)/bench)
	}
	return nil
}

func middle(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
