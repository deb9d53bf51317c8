package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/corpus/bench"
)

// falls is the share by which a benchmark must allocate less.
const falls = 0.05

// packageLimit is how long the benchmarks of one package may take on one side.
const packageLimit = 60 * time.Second

// mostRows are kept of a package of a pair: benchmarks whose fall lies in different functions.
const mostRows = 6

// row is a benchmark that allocates less in the release after, with the functions that do.
type row struct {
	Package   string                    `json:"package"`
	Bench     string                    `json:"bench"`
	From      string                    `json:"bench_from"`
	Before    [2]corpus.Amounts         `json:"before"` // two runs
	After     [2]corpus.Amounts         `json:"after"`
	Functions []function                `json:"functions"` // proposed labels, those that fell most first
	Also      map[string]corpus.Amounts `json:"also,omitempty"`
}

// sides are both releases of a pair, laid out, and the package that is measured.
type sides struct {
	module        string
	before, after bench.Package
	only          []string // benchmarks that a list names; empty: all
}

// lay copies both releases below dir.
func lay(p pair, pattern, dir string) (sides, error) {
	s := sides{module: p.Module}
	for _, side := range []struct {
		version, name string
		to            *bench.Package
	}{{p.Before, "before", &s.before}, {p.After, "after", &s.after}} {
		at := filepath.Join(dir, side.name)
		*side.to = bench.Package{Dir: at, Binary: at + ".test"}
		if err := (corpus.Case{Module: p.Module, Package: pattern}).Copy(at, side.version); err != nil {
			return s, fmt.Errorf("%s: %w", side.version, err)
		}
	}
	return s, nil
}

// in is the package that is measured next.
func (s sides) in(pattern string) sides {
	s.before.Pattern, s.after.Pattern = pattern, pattern
	return s
}

// measure finds the benchmarks of a package that allocate less.
func (s sides) measure(ctx context.Context) ([]row, error) {
	if err := build(ctx, s.after); err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	if err := build(ctx, s.before); err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	rows, err := s.compare(ctx, "before")
	if err != nil {
		return nil, err
	}
	names, err := s.missing(ctx)
	if err != nil || len(names) == 0 {
		return rows, err
	}
	more, err := s.borrow(ctx, names)
	if err != nil {
		log.Printf("%s %s: benchmarks of after: %.150v", s.module, s.after.Pattern, err)
	}
	return append(rows, more...), nil
}

// build makes the test binary, if need be with what go.mod lacks.
func build(ctx context.Context, p bench.Package) error {
	if p.Build(ctx) == nil {
		return nil
	}
	if err := corpus.Tidy(p.Dir); err != nil {
		return err
	}
	return p.Build(ctx)
}

// missing are the benchmarks that only the release after has, by their file.
func (s sides) missing(ctx context.Context) (map[string][]string, error) {
	old, err := s.before.List(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.after.List(ctx)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(s.after.Folder(), "*_test.go"))
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for _, name := range all {
			if !slices.Contains(old, name) && strings.Contains(string(text), "\nfunc "+name+"(") {
				out[filepath.Base(f)] = append(out[filepath.Base(f)], name)
			}
		}
	}
	return out, nil
}

// borrow measures benchmarks of the release after in the one before, a file at a time.
func (s sides) borrow(ctx context.Context, names map[string][]string) ([]row, error) {
	var out []row
	var failed error
	for file, of := range names {
		at := filepath.Join(s.before.Folder(), file)
		was, missed := os.ReadFile(at)
		text, err := os.ReadFile(filepath.Join(s.after.Folder(), file))
		if err != nil {
			return out, err
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			return out, err
		}
		if err = s.before.Build(ctx); err == nil {
			var rows []row
			rows, err = s.compare(ctx, "after-test-file:"+file, of...)
			out = append(out, rows...)
		}
		failed = cmp.Or(failed, err)
		if missed == nil {
			err = os.WriteFile(at, was, 0o644)
		} else {
			err = os.Remove(at)
		}
		if err != nil {
			return out, err
		}
	}
	return out, failed
}

// each runs benchmarks one by one, and leaves out those that take too long.
func each(ctx context.Context, p bench.Package, names []string) map[string]corpus.Amounts {
	ctx, stop := context.WithTimeout(ctx, packageLimit)
	defer stop()
	out := map[string]corpus.Amounts{}
	for _, name := range names {
		got, _ := p.Run(ctx, "^"+name+"$") // one that fails has no amounts
		for k, v := range got {
			out[k] = v
		}
	}
	return out
}

// compare measures benchmarks on both sides, those that are named or all of the release before.
func (s sides) compare(ctx context.Context, from string, names ...string) ([]row, error) {
	if len(names) == 0 {
		var err error
		if names, err = s.before.List(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.only) > 0 {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !s.wanted(n) })
	}
	before := each(ctx, s.before, names)
	after := each(ctx, s.after, names)
	var rows []row
	for name, b := range before {
		if a, ok := after[name]; ok && fall(b, a) >= falls {
			rows = append(rows, row{Package: s.before.Pattern, Bench: name, From: from,
				Before: [2]corpus.Amounts{b}, After: [2]corpus.Amounts{a}})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(fall(b.Before[0], b.After[0]), fall(a.Before[0], a.After[0])), cmp.Compare(a.Bench, b.Bench))
	})
	return s.confirm(ctx, rows), nil
}

// wanted reports whether a list names a benchmark, with or without the word that all begin with.
func (s sides) wanted(name string) bool {
	return slices.ContainsFunc(s.only, func(n string) bool {
		return strings.EqualFold(strings.TrimPrefix(n, "Benchmark"), strings.TrimPrefix(name, "Benchmark"))
	})
}

// fall is the share by which a benchmark allocates less, the greater of both counts; a few
// bytes are what runs differ by.
func fall(before, after corpus.Amounts) float64 {
	share := 0.0
	if before.Allocs-after.Allocs >= 1 {
		share = (before.Allocs - after.Allocs) / before.Allocs
	}
	if before.B-after.B >= 16 {
		share = max(share, (before.B-after.B)/before.B)
	}
	return share
}

// confirm runs both sides once more, and keeps of the benchmarks that fell again those that
// differ in where.
func (s sides) confirm(ctx context.Context, rows []row) []row {
	var out []row
	tops, parts := map[string]int{}, map[string]int{}
	for _, r := range rows {
		whole, _, _ := strings.Cut(r.Bench, "/")
		if parts[whole] >= 3 || len(parts) >= 20 || ctx.Err() != nil {
			continue
		}
		parts[whole]++
		pattern := bench.Exactly(r.Bench)
		b, _ := s.before.Run(ctx, pattern)
		a, _ := s.after.Run(ctx, pattern)
		r.Before[1], r.After[1] = b[r.Bench], a[r.Bench]
		if r.least() < falls {
			continue
		}
		var err error
		if r.Functions, err = s.changes(ctx, pattern); err != nil || len(r.Functions) == 0 {
			continue
		}
		top := r.Functions[0].Name
		if at, ok := tops[top]; ok {
			if out[at].Also == nil {
				out[at].Also = map[string]corpus.Amounts{}
			}
			out[at].Also[r.Bench] = r.Before[0]
			continue
		}
		if len(out) < mostRows {
			tops[top] = len(out)
			out = append(out, r)
		}
	}
	return out
}

// least is the fall that both runs show on either side.
func (r row) least() float64 {
	least := 1.0
	for _, b := range r.Before {
		for _, a := range r.After {
			least = min(least, fall(b, a))
		}
	}
	return least
}
