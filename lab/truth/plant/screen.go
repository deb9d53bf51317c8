package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/mutate"
)

// batchSize is the number of mutants that one binary has in a first look.
const batchSize = 24

// lines are allocations by file and line, with those of what a line calls.
type lines map[string]corpus.Amounts

func at(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// profile runs benchmarks with all allocations recorded.
func (t *target) profile(ctx context.Context, bin string, names []string) (lines, error) {
	name := filepath.Join(t.Work, "mem.pprof")
	if _, err := t.bench(ctx, bin, "^("+strings.Join(names, "|")+")$", "-test.memprofile="+name, "-test.memprofilerate=1"); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, err
	}
	out := lines{}
	for _, s := range p.Sample {
		seen := map[string]bool{}
		for _, l := range s.Location {
			for _, l := range l.Line {
				file, ok := strings.CutPrefix(l.Function.Filename, t.Dir+"/")
				key := at(file, int(l.Line))
				if !ok || seen[key] {
					continue
				}
				seen[key] = true
				out[key] = corpus.Amounts{Allocs: out[key].Allocs + float64(s.Value[0]), B: out[key].B + float64(s.Value[1])}
			}
		}
	}
	return out, nil
}

// screen leaves those of the mutants that seem to allocate more. They are built together for
// that: what one of them adds is seen on its lines, or on those of the functions that it names.
func (t *target) screen(ctx context.Context, j *journal, p *prepared, list []mutate.Mutant) ([]mutate.Mutant, error) {
	var out, local []mutate.Mutant
	for _, m := range list {
		switch err := t.CheckWith(m.Edits); {
		case err != nil:
			if err := j.note(t.key(m), nil, err); err != nil {
				return nil, err
			}
		case fits(local, m):
			local = append(local, m)
		default:
			out = append(out, m)
		}
	}
	found, err := t.together(ctx, j, p, local)
	return append(found, out...), err
}

// fits tells whether the edits of a mutant touch none of those of others.
func fits(list []mutate.Mutant, m mutate.Mutant) bool {
	for _, o := range list {
		for _, a := range o.Edits {
			for _, b := range m.Edits {
				if a.File == b.File && a != b && a.Start <= b.End && b.Start <= a.End {
					return false
				}
			}
		}
	}
	return true
}

// together builds mutants into one binary and leaves those whose lines allocate more. Where
// that does not build, it takes halves.
func (t *target) together(ctx context.Context, j *journal, p *prepared, list []mutate.Mutant) ([]mutate.Mutant, error) {
	if len(list) < 3 || ctx.Err() != nil {
		return list, ctx.Err()
	}
	bin, err := t.group(ctx, list)
	if err != nil {
		first, err := t.together(ctx, j, p, list[:len(list)/2])
		if err != nil {
			return nil, err
		}
		second, err := t.together(ctx, j, p, list[len(list)/2:])
		return append(first, second...), err
	}
	got, err := t.profile(ctx, bin, slices.Collect(maps.Keys(p.Covers)))
	if err != nil {
		return list, ctx.Err() // takes too long, or fails by one of them
	}
	var out []mutate.Mutant
	for _, m := range list {
		if t.more(m, p, got, list) {
			out = append(out, m)
		} else if err := j.note(t.key(m), nil, errors.New("allocates no more on its lines")); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t *target) group(ctx context.Context, list []mutate.Mutant) (string, error) {
	var edits []corpus.Edit
	seen := map[corpus.Edit]bool{}
	for _, m := range list {
		for _, e := range m.Edits {
			if !seen[e] {
				seen[e] = true
				edits = append(edits, e)
			}
		}
	}
	return t.Build(ctx, "group", edits)
}

// more tells whether the lines of a mutant may allocate so much more that a benchmark does.
func (t *target) more(m mutate.Mutant, p *prepared, got lines, list []mutate.Mutant) bool {
	own := t.lines(m)
	if m.Remote {
		others := map[string]bool{}
		for _, o := range list {
			if !o.Remote {
				maps.Copy(others, t.lines(o))
			}
		}
		own = t.around(m)
		maps.DeleteFunc(own, func(key string, _ bool) bool { return others[key] })
	}
	var rise corpus.Amounts
	for key := range own {
		rise.Allocs += got[key].Allocs - p.Profile[key].Allocs
		rise.B += got[key].B - p.Profile[key].B
	}
	base := corpus.Amounts{Allocs: math.Inf(1), B: math.Inf(1)}
	for _, b := range benches(m, p.Covers) {
		for name, a := range p.Base[0] {
			if name == b || strings.HasPrefix(name, b+"/") {
				base.Allocs, base.B = min(base.Allocs, max(a.Allocs, 1)), min(base.B, max(a.B, 16))
			}
		}
	}
	const runs, slack = 100, 0.7
	return rise.Allocs >= slack*rises*runs*base.Allocs || rise.B >= slack*rises*runs*base.B
}

// lines are the lines that a mutant edits.
func (t *target) lines(m mutate.Mutant) map[string]bool {
	out := map[string]bool{}
	for _, e := range m.Edits {
		s := t.File(e.File)
		first := strings.Count(string(s.Text[:e.Start]), "\n") + 1
		for i := range strings.Count(string(s.Text[e.Start:e.End]), "\n") + 1 {
			out[at(e.File, first+i)] = true
		}
	}
	return out
}

// Around are the lines of the functions that a mutant edits or names.
func (t *target) around(m mutate.Mutant) map[string]bool {
	out := t.lines(m)
	for _, s := range t.Files {
		for _, d := range s.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !slices.Contains(m.Functions, s.Spell(fn)) {
				continue
			}
			for i := s.Fset.Position(fn.Pos()).Line; i <= s.Fset.Position(fn.End()).Line; i++ {
				out[at(s.Name, i)] = true
			}
		}
	}
	return out
}
