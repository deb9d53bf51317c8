package guard

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
)

// function is a benchmark function, with all benchmarks below it.
type function struct {
	pkg    count.Package
	folder string // as the file names the package
	top    string
}

func (f function) subject(name string) budget.Subject {
	return budget.Subject{Package: f.folder, Name: name}
}

// functions builds the packages and lists their benchmark functions. Packages that do not build
// are in the map, with the reason.
func (m *module) functions(ctx context.Context, c *count.Counter, packages []gocmd.Package) ([]function, map[string]error, error) {
	var mu sync.Mutex
	var all []function
	broken := map[string]error{}
	err := count.Each(packages, func(p gocmd.Package) error {
		at := count.Package{Path: p.ImportPath, Dir: p.Dir}
		names, err := c.List(ctx, at)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			broken[m.folder(p.Dir)] = err
			return nil
		}
		for _, name := range names {
			if m.bench.MatchString(name) {
				all = append(all, function{at, m.folder(p.Dir), name})
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b function) int { return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.top, b.top)) })
	return all, broken, err
}

// selected reports whether -bench wants a benchmark, level by level as go test does.
func (m *module) selected(name string) bool {
	patterns := strings.Split(m.o.Bench, "/")
	for i, part := range strings.Split(name, "/") {
		if i >= len(patterns) {
			break
		}
		if ok, err := regexp.MatchString(patterns[i], part); err != nil || !ok {
			return false
		}
	}
	return true
}

// survey runs every benchmark of a function once. If some fail where the binary's paths are
// shortened, and do not with full ones, the function's package is plain.
func (m *module) survey(ctx context.Context, c *count.Counter, f *function, cpu int) (count.Survey, error) {
	s, err := c.Survey(ctx, f.pkg, f.top, count.Run{CPU: cpu})
	if err != nil || len(s.Failed) == 0 || f.pkg.Plain {
		return m.only(s), err
	}
	plain := f.pkg
	plain.Plain = true
	again, err := c.Survey(ctx, plain, f.top, count.Run{CPU: cpu})
	if err != nil || len(again.Failed) >= len(s.Failed) {
		return m.only(s), err
	}
	f.pkg = plain
	return m.only(again), nil
}

// only keeps what -bench wants.
func (m *module) only(s count.Survey) count.Survey {
	s.Results = slices.DeleteFunc(s.Results, func(r count.Result) bool { return !m.selected(r.Name) })
	s.Skipped = slices.DeleteFunc(s.Skipped, func(n string) bool { return !m.selected(n) })
	return s
}

// group is benchmarks of a function that run for the same number of operations.
type group struct {
	function
	names []string
	ops   int64
	cpu   int
}

// groups sorts the benchmarks of a survey by their number of operations: that of the budget where
// there is one.
func groups(f function, s count.Survey, cpus []int, known func(name string, cpu int) int64) []group {
	var out []group
	for _, cpu := range cpus {
		byOps := map[int64][]string{}
		for _, r := range s.Results {
			ops := cmp.Or(known(r.Name, cpu), count.Ops(r))
			byOps[ops] = append(byOps[ops], r.Name)
		}
		for _, ops := range slices.Sorted(maps.Keys(byOps)) {
			out = append(out, group{f, byOps[ops], ops, cpu})
		}
	}
	return out
}

// figures are what benchmarks allocate, by subject and GOMAXPROCS.
type figures map[figureKey]budget.Figure

type figureKey struct {
	budget.Subject
	cpu int
}

// measured is all that is known of the benchmarks of a version.
type measured struct {
	figures figures
	skipped map[budget.Subject]bool
	failed  map[budget.Subject]string
	broken  map[string]error // packages that do not build, by folder
	plain   map[budget.Subject]count.Package
}

// noResult is why a benchmark of a survey, which runs all of a function, cannot be counted.
const noResult = "it prints no result when it runs without the others of its function"

// measure counts all benchmarks of packages until it is known how each varies.
func (m *module) measure(ctx context.Context, packages []gocmd.Package, cpus []int, known func(s budget.Subject, cpu int) int64) (*measured, error) {
	all, broken, err := m.functions(ctx, m.counter, packages)
	if err != nil {
		return nil, err
	}
	out := &measured{figures: figures{}, skipped: map[budget.Subject]bool{}, failed: map[budget.Subject]string{}, broken: broken,
		plain: map[budget.Subject]count.Package{}}
	var mu sync.Mutex
	err = count.Each(all, func(f function) error {
		m.o.Progress("counting %s %s", f.folder, f.top)
		s, err := m.survey(ctx, m.counter, &f, cpus[0])
		if err != nil {
			return err
		}
		if err := m.pilot(ctx, f, s, cpus[0]); err != nil {
			return err
		}
		found, silent := figures{}, map[budget.Subject]string{}
		for _, g := range groups(f, s, cpus, func(name string, cpu int) int64 { return known(f.subject(name), cpu) }) {
			figs, err := m.counter.Figures(ctx, g.pkg, g.names, count.Run{Ops: g.ops, CPU: g.cpu})
			if err != nil {
				return err
			}
			for _, name := range g.names {
				if fig, ok := figs[name]; ok {
					found[figureKey{f.subject(name), g.cpu}] = fig
				} else {
					silent[f.subject(name)] = noResult
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		out.note(f, s)
		maps.Copy(out.figures, found)
		maps.Copy(out.failed, silent)
		return nil
	})
	return out, err
}

// tooSlow is an operation that is not run once more for its time: others of its kind do not take a
// small part of that.
const tooSlow = 2 * time.Second

// pilot runs benchmarks once more for the time of an operation: the first one takes longer than
// others.
func (m *module) pilot(ctx context.Context, f function, s count.Survey, cpu int) error {
	slow := func(name string) bool {
		i := slices.IndexFunc(s.Results, func(r count.Result) bool { return r.Name == name })
		return s.Results[i].NsPerOp > float64(tooSlow)
	}
	for _, g := range groups(f, s, []int{cpu}, func(string, int) int64 { return 0 }) {
		if g.names = slices.DeleteFunc(g.names, slow); g.ops == count.Ops(count.Result{}) {
			continue // there is no larger number
		}
		again, err := m.counter.Count(ctx, g.pkg, g.names, count.Run{Ops: max(g.ops, 2), CPU: cpu})
		if err != nil {
			return err
		}
		for i, r := range s.Results {
			if second, ok := again[r.Name]; ok {
				s.Results[i].NsPerOp = min(r.NsPerOp, second.NsPerOp)
				s.Results[i].Bytes = second.Bytes
			}
		}
	}
	return nil
}

// note keeps what a survey says beside results.
func (d *measured) note(f function, s count.Survey) {
	for _, name := range s.Skipped {
		d.skipped[f.subject(name)] = true
	}
	for name, why := range s.Failed {
		d.failed[f.subject(name)] = why
	}
	for _, r := range s.Results {
		d.plain[f.subject(r.Name)] = f.pkg
	}
}
