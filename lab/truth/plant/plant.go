package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// Of one module: cases, cases of a mutator, and mutants that are tried in a package.
const (
	mostOfModule  = 7
	mostOfMutator = 2
	mostTries     = 30
)

// rises is the share by which a benchmark must allocate more.
const rises = 0.05

// hot is how often a line runs, in a run of a hundred operations, that may count.
const hot = 100

// plantIn plants in the packages of one module.
func plantIn(ctx context.Context, dir string, targets []*target) error {
	at := filepath.Join(dir, strings.ReplaceAll(targets[0].module, "/", "_"))
	if err := os.MkdirAll(filepath.Join(at, "work"), 0o755); err != nil {
		return err
	}
	j, err := open(filepath.Join(at, "tried.jsonl"))
	if err != nil {
		return err
	}
	for _, t := range targets {
		if n, _ := j.cases(""); n >= mostOfModule || ctx.Err() != nil || j.has("package "+t.pattern) {
			continue
		}
		t.dir, t.work = filepath.Join(at, "module"), filepath.Join(at, "work")
		why := ""
		if err := t.plant(ctx, j); err != nil {
			why = err.Error()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := j.add(tried{Key: "package " + t.pattern, Why: why}); err != nil {
			return err
		}
		n, _ := j.cases("")
		log.Printf("%s %s: %d cases of %d tries %.200s", t.module, t.pattern, n, len(j.rows), why)
	}
	return nil
}

// plant tries mutants of one package.
func (t *target) plant(ctx context.Context, j *journal) error {
	if _, err := os.Stat(t.dir); err != nil {
		c := corpus.Case{Module: t.module, Package: t.pattern}
		if err := c.Place(t.dir, t.version); err != nil {
			os.RemoveAll(t.dir)
			return err
		}
	}
	sources, err := t.load(ctx)
	if err != nil {
		return err
	}
	bin, err := t.build(ctx, "base", nil)
	if err != nil {
		return err
	}
	benches, err := t.covers(ctx, bin)
	if err != nil {
		return err
	}
	var list []mutant
	for _, s := range sources {
		for _, m := range s.mutants() {
			if len(m.benches(benches)) > 0 {
				list = append(list, m)
			}
		}
	}
	for _, m := range mixed(list) {
		key := fmt.Sprintf("%s %s:%d %s", t.pattern, m.site.File, m.site.Line, m.name)
		all, of := j.cases(m.name)
		if all >= mostOfModule || ctx.Err() != nil {
			break
		}
		if of >= mostOfMutator || j.has(key) {
			continue
		}
		c, err := t.try(ctx, m, bin, m.benches(benches))
		if ctx.Err() != nil {
			break
		}
		row := tried{Key: key, Case: c}
		if err != nil {
			row.Why = err.Error()
		}
		if err := j.add(row); err != nil {
			return err
		}
	}
	return nil
}

// mixed takes mutants in turns from all mutators, the first that each found first.
func mixed(list []mutant) []mutant {
	turn := map[string]int{}
	at := make([]int, len(list))
	order := make([]int, len(list))
	for i, m := range list {
		at[i], order[i] = turn[m.name], i
		turn[m.name]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	var out []mutant
	for _, i := range order[:min(len(order), mostTries)] {
		out = append(out, list[i])
	}
	return out
}

// covers are the lines that each benchmark of the package runs.
func (t *target) covers(ctx context.Context, bin string) (map[string]covered, error) {
	out, err := command(ctx, benchLimit, t.folder, bin, "-test.list=^Benchmark")
	if err != nil {
		return nil, err
	}
	counting, err := t.build(ctx, "cover", nil, "-cover", "-covermode=count")
	if err != nil {
		return nil, err
	}
	all := map[string]covered{}
	for line := range strings.Lines(string(out)) {
		name := strings.TrimSpace(line)
		if !strings.HasPrefix(name, "Benchmark") || len(all) >= 12 || ctx.Err() != nil {
			continue
		}
		if c, err := t.cover(ctx, counting, name); err == nil {
			all[name] = c
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no benchmark that runs in time")
	}
	return all, nil
}

// benches are the three benchmarks that run a mutant's line most often.
func (m mutant) benches(all map[string]covered) []string {
	times := func(name string) int { return all[name][m.site.File][m.site.Line] }
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if times(name) >= hot {
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(times(b), times(a)) })
	return out[:min(len(out), 3)]
}

// try builds a mutant, measures it and runs the tests.
func (t *target) try(ctx context.Context, m mutant, base string, names []string) (*corpus.Case, error) {
	bin, err := t.build(ctx, "mutant", m.edits)
	if err != nil {
		return nil, err
	}
	pattern := "^(" + strings.Join(names, "|") + ")$"
	var runs [4]amounts
	for i, b := range []string{base, bin, base, bin} {
		if runs[i], err = t.bench(ctx, b, pattern); err != nil {
			return nil, err
		}
		if i == 1 && !worse(runs[0], runs[1]) {
			return nil, fmt.Errorf("allocates no more")
		}
	}
	name, share := "", 0.0
	for bench := range runs[0] {
		if s := rise(bench, runs); s > share || s == share && s > 0 && bench < name {
			name, share = bench, s
		}
	}
	if share < rises {
		return nil, fmt.Errorf("allocates more in one of two runs")
	}
	if _, err := command(ctx, testLimit, t.folder, bin, "-test.short", "-test.timeout=55s"); err != nil {
		return nil, fmt.Errorf("tests: %w", err)
	}
	return t.made(m, name, runs), nil
}

func worse(base, mutant amounts) bool {
	for name := range base {
		if least(base[name], mutant[name]) >= rises {
			return true
		}
	}
	return false
}

// rise is the share by which a benchmark allocates more, the least of both pairs of runs.
func rise(name string, runs [4]amounts) float64 {
	return min(least(runs[0][name], runs[1][name]), least(runs[2][name], runs[3][name]),
		least(runs[0][name], runs[3][name]), least(runs[2][name], runs[1][name]))
}

// least is the greater share of both counts.
func least(a, b corpus.Amounts) float64 {
	return max((b.Allocs-a.Allocs)/max(a.Allocs, 1), (b.B-a.B)/max(a.B, 16))
}

// made is the case of a mutant.
func (t *target) made(m mutant, bench string, runs [4]amounts) *corpus.Case {
	parts := strings.Split(bench, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	base := t.module[strings.LastIndex(t.module, "/")+1:]
	if strings.HasPrefix(base, "v") && len(base) < 4 {
		base = strings.Split(t.module, "/")[strings.Count(t.module, "/")-1]
	}
	c := &corpus.Case{
		ID: fmt.Sprintf("planted-%s-%s-%s-%d", base, m.name,
			strings.TrimSuffix(filepath.Base(m.site.File), ".go"), m.site.Line),
		Module: t.module, Version: t.version, Package: t.pattern, Bench: strings.Join(parts, "/"), Benchtime: "100x",
		Functions: []string{m.function}, Sites: []corpus.Site{m.site}, Cure: m.cure, CureOK: m.ok,
		Planted: &corpus.Planted{Mutator: m.name, Apart: m.apart, Edits: m.edits},
	}
	c.Measured.Before, c.Measured.After = runs[1][bench], runs[0][bench]
	return c
}

// publish writes the cases of all journals, no more of a module than one of twenty.
func publish(dir, name string) error {
	journals, err := filepath.Glob(filepath.Join(dir, "*", "tried.jsonl"))
	if err != nil {
		return err
	}
	var byModule [][]corpus.Case
	for _, at := range journals {
		j, err := open(at)
		if err != nil {
			return err
		}
		var of []corpus.Case
		for _, t := range j.rows {
			if t.Case != nil {
				of = append(of, *t.Case)
			}
		}
		byModule = append(byModule, of)
	}
	out := atMost(byModule)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	log.Printf("%d cases", len(out))
	return os.WriteFile(name, text.Bytes(), 0o644)
}

// atMost takes as many cases as leave no module more than a twentieth of all.
func atMost(byModule [][]corpus.Case) []corpus.Case {
	for most := mostOfModule; most > 1; most-- {
		total := 0
		for _, of := range byModule {
			total += min(len(of), most)
		}
		if most*20 > total {
			continue
		}
		return first(byModule, most)
	}
	return first(byModule, 1)
}

func first(byModule [][]corpus.Case, most int) []corpus.Case {
	var out []corpus.Case
	for _, of := range byModule {
		out = append(out, of[:min(len(of), most)]...)
	}
	return out
}
