package guard

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
)

// again is how often a figure that is not within its budget is counted once more. It grew if it is
// above in all runs: what comes from outside makes some of them larger, and none smaller.
const again = 4

// checker compares one version of a module with a budget file.
type checker struct {
	*module
	file *budget.File
	cpus []int
	mu   sync.Mutex
	out  []Bench
	pkgs map[budget.Subject]count.Package
}

// check counts the benchmarks of packages and compares them.
func (m *module) check(ctx context.Context, f *budget.File, packages []gocmd.Package) (*checker, error) {
	c := &checker{module: m, file: f, cpus: m.cpus(f), pkgs: map[budget.Subject]count.Package{}}
	all, broken, err := m.functions(ctx, m.counter, packages)
	if err != nil {
		return nil, err
	}
	if err := count.Each(all, func(fn function) error { return c.function(ctx, fn) }); err != nil {
		return nil, err
	}
	c.missing(packages, broken)
	for folder, why := range broken {
		if !slices.ContainsFunc(c.out, func(b Bench) bool { return b.Package == folder }) {
			c.event(Bench{Subject: budget.Subject{Package: folder}, Why: firstLines(why)}, budget.Failing)
		}
	}
	c.renamed()
	slices.SortFunc(c.out, func(a, b Bench) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Site, b.Site), cmp.Compare(a.CPU, b.CPU))
	})
	return c, nil
}

// event adds a benchmark that there is no figure of.
func (c *checker) event(b Bench, e budget.Event) {
	b.Status, b.Rule = Status(e), merged(c.file.Rules, c.o.Rules).Of(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = append(c.out, b)
}

// function checks one benchmark function.
func (c *checker) function(ctx context.Context, fn function) error {
	c.o.Progress("counting %s %s", fn.folder, fn.top)
	s, err := c.survey(ctx, c.counter, &fn, c.cpus[0])
	if err != nil {
		return err
	}
	line := func(name string, cpu int) (budget.Line, bool) { return c.file.Find(fn.subject(name), c.env, cpu) }
	gs := groups(fn, s, c.cpus, func(name string, cpu int) int64 {
		l, _ := line(name, cpu)
		return l.Figure.Ops
	})
	for _, g := range gs {
		first := map[string]count.Result{}
		if len(s.Results) == 1 && s.Results[0].Name == fn.top && g.ops == 1 && g.cpu == c.cpus[0] {
			first[fn.top] = s.Results[0] // no other one was in its process
		}
		if err := c.group(ctx, g, first); err != nil {
			return err
		}
	}
	c.mu.Lock()
	for _, r := range s.Results {
		c.pkgs[fn.subject(r.Name)] = fn.pkg
	}
	c.mu.Unlock()
	for _, name := range s.Skipped {
		if _, ok := line(name, c.cpus[0]); ok {
			c.event(Bench{Subject: fn.subject(name), CPU: c.cpus[0]}, budget.Skipped)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Failed)) {
		if !slices.ContainsFunc(s.Results, func(r count.Result) bool { return r.Name == name }) {
			c.event(Bench{Subject: fn.subject(name), CPU: c.cpus[0], Why: s.Failed[name]}, budget.Failing)
		}
	}
	return nil
}

// extremes are those of the runs of a benchmark.
type extremes struct{ count.Extremes }

func extremesOf(a budget.Amount) extremes { return extremes{count.Extremes{Least: a, Most: a}} }

// with adds a run.
func (e extremes) with(a budget.Amount) extremes { return extremes{e.With(a)} }

// against compares all runs with a budget: what grew is above it in each of them, and what shrank
// is below it in each.
func (e extremes) against(f budget.Figure) Status {
	switch allocs, bytes := f.Over(e.Least); {
	case allocs || bytes:
		return Grew
	case f.Below(e.Most):
		return Shrank
	}
	return Within
}

// group checks benchmarks of one number of operations. Those that are not within their budgets are
// counted again.
func (c *checker) group(ctx context.Context, g group, first map[string]count.Result) error {
	all := map[string]extremes{}
	rest := g.names
	for round := 0; round <= again && len(rest) > 0; round++ {
		found := first
		if round > 0 || len(found) == 0 {
			var err error
			if found, err = c.counter.Count(ctx, g.pkg, rest, count.Run{Ops: g.ops, CPU: g.cpu}); err != nil {
				return err
			}
		}
		var differ []string
		for _, name := range rest {
			r, ok := found[name]
			if !ok {
				continue
			}
			e, known := all[name]
			if !known {
				e = extremesOf(r.Amount)
			}
			all[name] = e.with(r.Amount)
			if l, ok := c.file.Find(g.subject(name), c.env, g.cpu); ok && all[name].against(l.Figure) != Within {
				differ = append(differ, name)
			}
		}
		rest = differ
	}
	for _, name := range g.names {
		e, ok := all[name]
		if _, known := c.file.Find(g.subject(name), c.env, g.cpu); !ok && known {
			c.event(Bench{Subject: g.subject(name), CPU: g.cpu, Why: noResult}, budget.Failing)
		}
		if !ok {
			continue
		}
		c.judge(g, name, e)
		if err := c.sites(ctx, g, name); err != nil {
			return err
		}
	}
	return nil
}

// judge compares what was counted with the budget.
func (c *checker) judge(g group, name string, e extremes) {
	b := Bench{Subject: g.subject(name), CPU: g.cpu, Now: e.Least, Ops: g.ops}
	l, ok := c.file.Find(b.Subject, c.env, g.cpu)
	if !ok {
		c.event(b, budget.New)
		return
	}
	b.Line = &l
	c.compare(b, e)
}

// compare adds a benchmark or function that has a line.
func (c *checker) compare(b Bench, e extremes) {
	b.Status = e.against(b.Line.Figure)
	if b.Status == Shrank {
		b.Now, b.Rule = e.Most, merged(c.file.Rules, c.o.Rules).Of(budget.Shrunk)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = append(c.out, b)
}

// missing finds the lines whose benchmarks are gone.
func (c *checker) missing(packages []gocmd.Package, broken map[string]error) {
	seen := map[figureKey]bool{}
	failed := map[budget.Subject]bool{}
	for _, b := range c.out {
		seen[figureKey{b.Subject, b.CPU}] = true
		if b.Status == Status(budget.Failing) || b.Status == Status(budget.Skipped) {
			failed[budget.Subject{Package: b.Package, Name: b.Top()}] = true
		}
	}
	counted := map[string]bool{}
	for _, p := range packages {
		counted[c.folder(p.Dir)] = true
	}
	for _, l := range c.file.Lines {
		holds := func(cpu int) bool {
			found, ok := c.file.Find(l.Subject, c.env, cpu)
			return ok && found.Keys == l.Keys
		}
		i := slices.IndexFunc(c.cpus, holds)
		if !l.Bench() || i < 0 || !c.selected(l.Name) || seen[figureKey{l.Subject, c.cpus[i]}] {
			continue
		}
		b := Bench{Subject: l.Subject, CPU: c.cpus[i], Line: &l}
		switch why := broken[l.Package]; {
		case why != nil:
			b.Why = "the package does not build: " + firstLines(why)
			c.event(b, budget.Failing)
		case failed[budget.Subject{Package: l.Package, Name: l.Top()}]:
			// The function ended before it came to this benchmark, and was told of.
		case counted[l.Package] || c.gone(l.Package):
			c.event(b, budget.Deleted)
		}
	}
}

// gone reports whether a folder has no benchmarks any more. Packages that the patterns leave out
// are not gone.
func (c *checker) gone(folder string) bool {
	for _, p := range c.packages {
		if c.folder(p.Dir) == folder {
			return false
		}
	}
	if len(c.o.Patterns) == 1 && c.o.Patterns[0] == "./..." {
		return true
	}
	return slices.ContainsFunc(c.listed, func(p gocmd.Package) bool { return c.folder(p.Dir) == folder })
}

// renamed joins a benchmark that is gone with a new one of its package that allocates the same, if
// there is one only.
func (c *checker) renamed() {
	for i := range c.out {
		gone := &c.out[i]
		if gone.Status != Status(budget.Deleted) {
			continue
		}
		var same []int
		for k, b := range c.out {
			if b.Status == Status(budget.New) && b.Package == gone.Package && b.CPU == gone.CPU && b.Ops == gone.Line.Figure.Ops &&
				gone.Line.Figure.Same(budget.Figure{Amount: b.Now, Ops: b.Ops}) {
				same = append(same, k)
			}
		}
		if len(same) != 1 {
			continue
		}
		rule := merged(c.file.Rules, c.o.Rules).Of(budget.Renamed)
		now := &c.out[same[0]]
		now.Status, now.Rule, now.Why, now.Line = Status(budget.Renamed), rule, gone.Name, gone.Line
		gone.Status, gone.Rule = "", ""
	}
	c.out = slices.DeleteFunc(c.out, func(b Bench) bool { return b.Status == "" })
}
