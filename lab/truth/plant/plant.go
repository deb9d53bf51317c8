package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/mutate"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// Of one module: cases, cases of a mutator, and mutants of a package that are built alone, or in vain.
const (
	mostOfModule  = 40
	mostOfMutator = 3
	mostTries     = 90
	mostFailed    = 12 // one after the other
	mostOfGroup   = 8  // built together
)

// mostOfAll is how many cases of a mutator there may be in all modules for it to be tried in more.
const mostOfAll = 75

// mostTime is how long mutants of a package are tried.
const mostTime = 4 * time.Minute

// rises is the share by which a benchmark must allocate more.
const rises = 0.05

// hot is how often a line runs, in a run of a hundred operations, that may count.
const hot = 100

// plantIn plants in the packages of one module.
func plantIn(ctx context.Context, dir string, targets []*target) error {
	at := filepath.Join(dir, strings.ReplaceAll(targets[0].Module, "/", "_"))
	if err := os.MkdirAll(filepath.Join(at, "work"), 0o755); err != nil {
		return err
	}
	j, err := open(filepath.Join(at, "tried.jsonl"))
	if err != nil {
		return err
	}
	for _, t := range targets {
		if n, _ := j.cases(""); n >= mostOfModule || ctx.Err() != nil {
			continue
		}
		t.Dir, t.Work = filepath.Join(at, "module"), filepath.Join(at, "work")
		why := ""
		if err := t.plant(ctx, j); err != nil {
			why = err.Error()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, _ := j.cases("")
		log.Printf("%s %s: %d cases of %d tries %.200s", t.Module, t.Pattern, n, len(j.rows), why)
	}
	return nil
}

// plant tries mutants of one package.
func (t *target) plant(ctx context.Context, j *journal) error {
	if err := t.Place(); err != nil {
		return err
	}
	p, err := t.prepare(ctx)
	if err != nil || t.only {
		return err
	}
	if err := t.Load(ctx); err != nil {
		return err
	}
	var list []mutate.Mutant
	seen := map[string]bool{}
	for _, s := range t.Files {
		for _, m := range mutate.All(s) {
			if t.all[m.Name] < mostOfAll && !j.has(t.key(m)) && !seen[t.key(m)] && len(benches(m, p.Covers)) > 0 {
				seen[t.key(m)] = true
				list = append(list, m)
			}
		}
	}
	built, failed, start := 0, 0, time.Now()
	for batch := range slices.Chunk(mixed(list), batchSize) {
		batch = slices.DeleteFunc(batch, func(m mutate.Mutant) bool {
			all, of := j.cases(m.Name)
			return all >= mostOfModule || of >= most(m)
		})
		if len(batch) == 0 || built >= mostTries || failed > mostFailed || time.Since(start) > mostTime || ctx.Err() != nil {
			continue
		}
		batch, err := t.screen(ctx, j, p, batch)
		if err != nil {
			return err
		}
		for _, group := range apart(batch, p) {
			group = slices.DeleteFunc(group, func(m mutate.Mutant) bool {
				all, of := j.cases(m.Name)
				return all >= mostOfModule || of >= most(m)
			})
			if len(group) == 0 || ctx.Err() != nil {
				continue
			}
			built++
			got, err := t.tryGroup(ctx, j, group, p)
			if err != nil {
				return err
			}
			if failed += len(group); got > 0 {
				failed = 0
			}
		}
	}
	return nil
}

// most is the number of cases of a mutator in a module.
func most(m mutate.Mutant) int {
	if m.Most > 0 {
		return m.Most
	}
	return mostOfMutator
}

// key names a mutant in the journal.
func (t *target) key(m mutate.Mutant) string {
	return fmt.Sprintf("%s %s:%d %s", t.Pattern, m.Site.File, m.Site.Line, m.Name)
}

// mixed takes mutants in turns from all mutators, in an order that a hash gives.
func mixed(list []mutate.Mutant) []mutate.Mutant {
	drawn := func(m mutate.Mutant) string {
		sum := sha256.Sum256(fmt.Append(nil, m.Name, m.Site, m.Edits))
		return string(sum[:])
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b mutate.Mutant) int { return strings.Compare(drawn(a), drawn(b)) })
	turn := map[string]int{}
	at := make([]int, len(list))
	order := make([]int, len(list))
	for i, m := range list {
		at[i], order[i] = turn[m.Name], i
		turn[m.Name]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	var out []mutate.Mutant
	for _, i := range order {
		out = append(out, list[i])
	}
	return out
}

// benches are the three benchmarks that run a mutant's line most often.
func benches(m mutate.Mutant, all map[string]covered) []string {
	times := func(name string) int { return all[name][m.Site.File][m.Site.Line] }
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if times(name) >= hot {
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(times(b), times(a)) })
	return out[:min(len(out), 3)]
}

// apart parts mutants into groups in which no benchmark of one runs the lines of another: each
// benchmark then measures one of them, as if it were alone.
func apart(list []mutate.Mutant, p *prepared) [][]mutate.Mutant {
	runs := func(m, o mutate.Mutant) bool {
		return slices.ContainsFunc(benches(m, p.Covers), func(b string) bool {
			if p.Covers[b][o.Site.File][o.Site.Line] > 0 {
				return true
			}
			return slices.ContainsFunc(o.Edits, func(e corpus.Edit) bool { return e.File != o.Site.File })
		})
	}
	var out [][]mutate.Mutant
next:
	for _, m := range list {
		for i, group := range out {
			if len(group) < mostOfGroup && fits(group, m) && !slices.ContainsFunc(group, func(o mutate.Mutant) bool { return o.Name == m.Name || runs(m, o) || runs(o, m) }) {
				out[i] = append(group, m)
				continue next
			}
		}
		out = append(out, []mutate.Mutant{m})
	}
	return out
}

// tryGroup tries mutants in one binary, and each alone where that does not build or its tests fail.
// It counts the cases.
func (t *target) tryGroup(ctx context.Context, j *journal, list []mutate.Mutant, p *prepared) (int, error) {
	cases, why, err := t.try(ctx, list, p)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	found := 0
	if err != nil && len(list) > 1 {
		for _, m := range list {
			n, err := t.tryGroup(ctx, j, []mutate.Mutant{m}, p)
			if found += n; err != nil {
				return found, err
			}
		}
		return found, nil
	}
	for i, m := range list {
		if err == nil && cases[i] != nil {
			found++
		}
		if err != nil {
			cases, why = []*corpus.Case{nil}, []error{err}
		}
		if err := j.note(t.key(m), cases[i], why[i]); err != nil {
			return found, err
		}
	}
	return found, nil
}

// try builds mutants, measures them and runs the tests. Those that allocate more are cases.
func (t *target) try(ctx context.Context, list []mutate.Mutant, p *prepared) ([]*corpus.Case, []error, error) {
	bin, err := t.group(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, m := range list {
		names = append(names, benches(m, p.Covers)...)
	}
	runs := [4]amounts{p.Base[0], nil, p.Base[1], nil}
	for _, i := range []int{1, 3} {
		if runs[i], err = t.bench(ctx, bin, "^("+strings.Join(names, "|")+")$"); err != nil {
			return nil, nil, err
		}
		if i == 1 && !worse(runs[0], runs[1]) {
			break
		}
	}
	cases, why := make([]*corpus.Case, len(list)), make([]error, len(list))
	found := false
	for i, m := range list {
		name, share := steepest(benches(m, p.Covers), runs)
		if share < rises {
			why[i] = errors.New("allocates no more")
			continue
		}
		cases[i], found = t.made(m, name, runs), true
	}
	if !found {
		return cases, why, nil
	}
	if _, err := source.Command(ctx, testLimit, t.Folder, bin, "-test.short", "-test.timeout=55s"); err != nil {
		return nil, nil, fmt.Errorf("tests: %w", err)
	}
	return cases, why, nil
}

// steepest is the benchmark of some, or a part of one, that allocates most more.
func steepest(names []string, runs [4]amounts) (string, float64) {
	name, share := "", 0.0
	for bench := range runs[1] {
		of, _, _ := strings.Cut(bench, "/")
		if !slices.Contains(names, of) {
			continue
		}
		if s := rise(bench, runs); s > share || s == share && s > 0 && bench < name {
			name, share = bench, s
		}
	}
	return name, share
}

func worse(base, mutant amounts) bool {
	for name := range mutant {
		if a, ok := base[name]; ok && least(a, mutant[name]) >= rises {
			return true
		}
	}
	return false
}

// rise is the share by which a benchmark allocates more, the least of both pairs of runs.
func rise(name string, runs [4]amounts) float64 {
	for _, r := range runs {
		if _, ok := r[name]; !ok {
			return 0
		}
	}
	return min(least(runs[0][name], runs[1][name]), least(runs[2][name], runs[3][name]),
		least(runs[0][name], runs[3][name]), least(runs[2][name], runs[1][name]))
}

// least is the greater share of both counts.
func least(a, b corpus.Amounts) float64 {
	return max((b.Allocs-a.Allocs)/max(a.Allocs, 1), (b.B-a.B)/max(a.B, 16))
}

// made is the case of a mutant.
func (t *target) made(m mutate.Mutant, bench string, runs [4]amounts) *corpus.Case {
	parts := strings.Split(bench, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	base := t.Module[strings.LastIndex(t.Module, "/")+1:]
	if strings.HasPrefix(base, "v") && len(base) < 4 {
		base = strings.Split(t.Module, "/")[strings.Count(t.Module, "/")-1]
	}
	c := &corpus.Case{
		ID: fmt.Sprintf("planted-%s-%s-%s-%d", base, m.Name,
			strings.TrimSuffix(filepath.Base(m.Site.File), ".go"), m.Site.Line),
		Module: t.Module, Version: t.Version, Package: t.Pattern, Bench: strings.Join(parts, "/"), Benchtime: "100x",
		Functions: m.Functions, Sites: append([]corpus.Site{m.Site}, m.More...), Cure: m.Cure, CureOK: m.OK,
		Planted: &corpus.Planted{Mutator: m.Name, Apart: m.Apart, Edits: m.Edits},
	}
	c.Measured.Before, c.Measured.After = runs[1][bench], runs[0][bench]
	return c
}
