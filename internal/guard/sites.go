package guard

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
	"github.com/heaptrim/heaptrim/internal/guard/growth"
)

// Lines for functions are written for those that allocate a share of a benchmark's objects or
// bytes, the largest first.
const (
	mostSites = 5
	siteShare = 0.1
)

// siteRuns is how often the functions of a benchmark are counted for its lines.
const siteRuns = 3

// functionsOf adds up what the functions of the module allocate in a benchmark.
func functionsOf(ctx context.Context, side growth.Side, name string, run count.Run) (map[string]budget.Amount, error) {
	sites, err := growth.Sites(ctx, side, name, run)
	if err != nil {
		return nil, err
	}
	out := map[string]budget.Amount{}
	for _, s := range sites {
		if at := s.Name(); at != "" {
			a := out[at]
			out[at] = budget.Amount{Allocs: a.Allocs + s.After.Allocs, Bytes: a.Bytes + s.After.Bytes}
		}
	}
	return out, nil
}

// addSites writes what functions allocate in the benchmarks that were counted: those that have
// lines, and with Sites those that allocate most.
func (m *module) addSites(ctx context.Context, f *budget.File, d *measured, shrink bool) error {
	var subjects []budget.Subject
	for s := range d.plain {
		if _, ok := f.Find(s, m.env, f.CPU[0]); ok && (m.o.Sites || len(f.Sites(s)) > 0) {
			subjects = append(subjects, s)
		}
	}
	slices.SortFunc(subjects, func(a, b budget.Subject) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name))
	})
	var mu sync.Mutex
	return count.Each(subjects, func(s budget.Subject) error {
		m.o.Progress("counting the functions of %s", s.Name)
		mu.Lock()
		whole, _ := f.Find(s, m.env, f.CPU[0])
		mu.Unlock()
		side := growth.Side{Counter: m.counter, Package: d.plain[s], Root: m.dir}
		var runs []map[string]budget.Amount
		for range siteRuns {
			found, err := functionsOf(ctx, side, s.Name, count.Run{Ops: whole.Figure.Ops, CPU: f.CPU[0]})
			if err != nil {
				return err
			}
			runs = append(runs, found)
		}
		mu.Lock()
		defer mu.Unlock()
		m.enterSites(f, s, siteFigures(runs, whole.Figure.Ops), shrink)
		return nil
	})
}

// siteFigures are the figures of functions that were counted several times.
func siteFigures(runs []map[string]budget.Amount, ops int64) map[string]budget.Figure {
	names := map[string]bool{}
	for _, r := range runs {
		for name := range r {
			names[name] = true
		}
	}
	out := map[string]budget.Figure{}
	for name := range names {
		var amounts []budget.Amount
		for _, r := range runs {
			amounts = append(amounts, r[name])
		}
		out[name] = count.FigureOf(amounts, ops)
	}
	return out
}

// enterSites writes the lines of one benchmark's functions.
func (m *module) enterSites(f *budget.File, s budget.Subject, figs map[string]budget.Figure, shrink bool) {
	have := f.Sites(s)
	if m.o.Sites && !shrink {
		var all budget.Amount
		for _, fig := range figs {
			all = budget.Amount{Allocs: all.Allocs + fig.Allocs, Bytes: all.Bytes + fig.Bytes}
		}
		share := func(name string) float64 {
			return math.Max(figs[name].Allocs/math.Max(all.Allocs, 1e-9), figs[name].Bytes/math.Max(all.Bytes, 1e-9))
		}
		names := slices.SortedFunc(maps.Keys(figs), func(a, b string) int {
			return cmp.Or(cmp.Compare(share(b), share(a)), cmp.Compare(a, b))
		})
		for _, name := range names[:min(mostSites, len(names))] {
			if share(name) >= siteShare {
				have = append(have, name)
			}
		}
	}
	slices.Sort(have)
	for _, name := range slices.Compact(have) {
		at := budget.Subject{Package: s.Package, Name: s.Name, Site: name}
		fig, found := figs[name]
		l, known := f.Find(at, m.env, f.CPU[0])
		switch {
		case shrink && (!known || !l.Figure.Below(fig.Amount)), known && found && l.Figure.Covers(seen(fig)):
		case !found && !shrink:
			f.Remove(at) // the function allocates nothing any more, or has another name
		default:
			fig.Ops = cmp.Or(fig.Ops, l.Figure.Ops)
			f.Set(at, m.env, f.CPU[0], fig)
		}
	}
}

// sites checks the functions of a benchmark that have lines.
func (c *checker) sites(ctx context.Context, g group, name string) error {
	s := g.subject(name)
	names := c.file.Sites(s)
	if len(names) == 0 || g.cpu != c.cpus[0] {
		return nil
	}
	c.o.Progress("counting the functions of %s", name)
	side := growth.Side{Counter: c.counter, Package: g.pkg, Root: c.dir}
	all := map[string]extremes{}
	for round := 0; round <= again; round++ {
		found, err := functionsOf(ctx, side, name, count.Run{Ops: g.ops, CPU: g.cpu})
		if err != nil {
			return err
		}
		differ := false
		for _, at := range names {
			e, known := all[at]
			if !known {
				e = extremesOf(found[at])
			}
			all[at] = e.with(found[at])
			if l, ok := c.file.Find(budget.Subject{Package: s.Package, Name: s.Name, Site: at}, c.env, g.cpu); ok {
				differ = differ || all[at].against(l.Figure) != Within
			}
		}
		if !differ {
			break
		}
	}
	for _, at := range names {
		c.judgeSite(budget.Subject{Package: s.Package, Name: s.Name, Site: at}, g, all[at])
	}
	return nil
}

func (c *checker) judgeSite(s budget.Subject, g group, e extremes) {
	if l, ok := c.file.Find(s, c.env, g.cpu); ok {
		c.compare(Bench{Subject: s, CPU: g.cpu, Now: e.Least, Ops: g.ops, Line: &l}, e)
	}
}

// beforeSite counts a function of a benchmark at the base.
func (x explanation) beforeSite(ctx context.Context, bench *Bench, p count.Package) error {
	side := growth.Side{Counter: x.base.counter, Package: p, Root: realPath(x.base.tree.Tool.Dir)}
	found, err := functionsOf(ctx, side, bench.Name, count.Run{Ops: bench.Ops, CPU: bench.CPU})
	if err != nil {
		return err
	}
	was := found[bench.Site]
	bench.Base = &was
	if inherited(bench) {
		bench.Status = Inherited
	}
	return nil
}

// within keeps the sites of a function, or all where a line limits the whole benchmark.
func within(sites []growth.Site, function string) []growth.Site {
	if function == "" {
		return sites
	}
	return slices.DeleteFunc(sites, func(s growth.Site) bool { return s.Name() != function })
}

// causesOf are the causes within a function, if there are any: all of them where a line limits the
// whole benchmark.
func causesOf(causes []growth.Cause, site string) []growth.Cause {
	if site == "" {
		return causes
	}
	own := slices.DeleteFunc(slices.Clone(causes), func(c growth.Cause) bool { return c.Name() != site })
	if len(own) == 0 {
		return causes
	}
	return own
}
