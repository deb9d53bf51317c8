package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/affected"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
	"github.com/heaptrim/heaptrim/internal/guard/growth"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
)

// ErrNoFile means that the module has no budgets yet.
var ErrNoFile = errors.New("no heaptrim.budget in this module: 'heaptrim guard init' measures and writes it, -base compares with a revision instead")

// Run counts what a change can affect, compares it with the budgets and explains what grew.
func Run(ctx context.Context, o Options) (*Result, error) {
	m, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	f, err := m.read(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.Base == "":
		return nil, ErrNoFile
	case errors.Is(err, fs.ErrNotExist):
		f = &budget.File{Home: m.env, CPU: m.cpus(nil), Rules: budget.Rules{}}
	case err != nil:
		return nil, err
	}
	b, err := m.findBase(ctx)
	if err != nil {
		return nil, err
	}
	defer b.close()
	r := &Result{Module: m.path, Dir: m.dir, File: budget.FileName, Env: m.env, Home: f.Home, Base: o.Base}
	exact, err := m.counter.Exact(ctx)
	if err != nil {
		return nil, err
	}
	r.Unexact = !exact
	packages, err := m.affectedPackages(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, l := range f.Lines {
		if l.Bench() && !slices.ContainsFunc(packages, func(p gocmd.Package) bool { return m.folder(p.Dir) == l.Package }) {
			r.Left++
		}
	}
	if b != nil {
		r.comparedWith(b, m.dir)
	}
	c, err := m.check(ctx, f, packages)
	if err != nil {
		return nil, err
	}
	r.Benches = c.out
	if o.Base != "" {
		if err := m.against(ctx, c, b, r); err != nil {
			return nil, err
		}
	}
	if r.Contracts, err = m.contracts(ctx, f); err != nil {
		return nil, err
	}
	if o.Base != "" {
		if err := m.inherited(ctx, b, r.Contracts); err != nil {
			return nil, err
		}
		if err := (explanation{c, b}).events(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := m.explain(ctx, c, b, r); err != nil {
		return nil, err
	}
	return r, m.adopt(ctx, c, r)
}

// comparedWith notes the version that is compared with.
func (r *Result) comparedWith(b *base, dir string) {
	r.Commit = b.commit
	now, _ := os.ReadFile(filepath.Join(dir, "go.mod")) // go list has read it
	r.Dependency = affected.Versions(b.goMod, string(now), b.change.Modules)
}

// explain compares what grew with the base, and finds the lines.
func (m *module) explain(ctx context.Context, c *checker, b *base, r *Result) error {
	grown := r.Grown()
	if len(grown) == 0 {
		return nil
	}
	if b == nil {
		b = m.lastBlessed(ctx)
		defer b.close()
		if b != nil {
			r.comparedWith(b, m.dir)
		}
	}
	if b != nil {
		if err := b.open(ctx, m); err != nil {
			if m.o.Base != "" || ctx.Err() != nil {
				return err
			}
			r.Warnings = append(r.Warnings, fmt.Sprintf("there is no comparison with %.12s: %v", b.commit, err))
			b = nil
		}
	}
	x := explanation{c, b}
	if b != nil {
		if err := count.Each(grown, func(bench *Bench) error { return x.before(ctx, bench) }); err != nil {
			return err
		}
		if err := x.dependencies(ctx, r.Grown(), r.Dependency); err != nil {
			return err
		}
	}
	if err := count.Each(r.Grown(), func(bench *Bench) error { return x.ofRun(ctx, bench) }); err != nil {
		return err
	}
	grown = r.Grown()
	var mu sync.Mutex
	err := count.Each(explained(grown), func(bench *Bench) error {
		m.o.Progress("looking for what grew in %s", bench.Name)
		err := x.one(ctx, bench)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		mu.Lock()
		defer mu.Unlock()
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: the lines are not known: %v", bench.Name, err))
		return nil
	})
	if err == nil {
		if problem := m.cures(ctx, c, grown); problem != nil && ctx.Err() == nil {
			r.Warnings = append(r.Warnings, "no cures are named: "+problem.Error())
		}
	}
	for _, bench := range grown { // at another value of GOMAXPROCS, and in a function of it, it is the same lines
		for _, other := range grown {
			if bench.Whole() == other.Whole() && len(bench.Causes) == 0 {
				bench.Causes, bench.NoBase = causesOf(other.Causes, bench.Site), other.NoBase
			}
		}
	}
	return err
}

// Grown are the benchmarks that grew, those that grew by the largest share first.
func (r *Result) Grown() []*Bench {
	var out []*Bench
	for i := range r.Benches {
		if r.Benches[i].Status == Grew {
			out = append(out, &r.Benches[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *Bench) int { return cmp.Compare(b.share(), a.share()) })
	return out
}

// share is by what part of its budget a benchmark grew.
func (b *Bench) share() float64 {
	return math.Max((b.Now.Allocs-b.Line.Figure.Allocs)/(b.Line.Figure.Allocs+1), (b.Now.Bytes-b.Line.Figure.Bytes)/(b.Line.Figure.Bytes+64))
}

// mostExplained is how many benchmarks are profiled: one line often makes many of them grow.
const mostExplained = 6

// explained are the benchmarks that are profiled, each once.
func explained(grown []*Bench) []*Bench {
	var out []*Bench
	for _, b := range grown {
		if len(out) < mostExplained && !slices.ContainsFunc(out, func(o *Bench) bool { return o.Whole() == b.Whole() }) {
			out = append(out, b)
		}
	}
	return out
}

// lastBlessed is the commit that changed the budget file last: its code is what the budgets are of.
// It is nil where nothing was changed since, or that is not known.
func (m *module) lastBlessed(ctx context.Context) *base {
	repo, err := sides.FindRepository(ctx, m.dir)
	if err != nil {
		return nil
	}
	out, err := sides.Git(ctx, m.dir, nil, "log", "-1", "--format=%H", "--", budget.FileName)
	commit := strings.TrimSpace(string(out))
	if err != nil || commit == "" {
		return nil
	}
	b := &base{repo: repo, commit: commit}
	if err := m.changeSince(ctx, b); err != nil || len(b.change.Files) == 0 {
		return nil
	}
	return b
}

// explanation is what is needed to say why benchmarks grew.
type explanation struct {
	*checker
	base *base // nil without one
}

// one explains the growth of a benchmark.
func (x explanation) one(ctx context.Context, bench *Bench) error {
	run := count.Run{Ops: bench.Ops, CPU: bench.CPU}
	pair := growth.Pair{After: growth.Side{Counter: x.counter, Package: x.pkgs[bench.Whole()], Root: x.dir}}
	now, err := growth.Sites(ctx, pair.After, bench.Name, run)
	if err != nil {
		return err
	}
	if x.base == nil || bench.Base == nil {
		bench.NoBase = true
		bench.Causes, err = pair.Causes(ctx, within(now, bench.Site))
		return err
	}
	p, _ := x.base.pkg(ctx, x.pkgs[bench.Whole()])
	pair.Before = growth.Side{Counter: x.base.counter, Package: p, Root: realPath(x.base.tree.Tool.Dir)}
	for _, file := range x.base.change.Files {
		if rel, err := filepath.Rel(x.dir, file); err == nil && filepath.IsLocal(rel) {
			pair.Changed = append(pair.Changed, filepath.ToSlash(rel))
		}
	}
	was, err := growth.Sites(ctx, pair.Before, bench.Name, run)
	if err != nil {
		return err
	}
	bench.Causes, err = pair.Causes(ctx, within(growth.Compare(was, now, pair.Before.Root, x.dir), bench.Site))
	return err
}

// before counts a benchmark at the base, if it is there. One that allocates as much there in one of
// several runs did not grow.
func (x explanation) before(ctx context.Context, bench *Bench) error {
	p, ok := x.base.pkg(ctx, x.pkgs[bench.Whole()])
	if !ok {
		return nil
	}
	bench.Base = nil // a line says less than a run
	if bench.Site != "" {
		return x.beforeSite(ctx, bench, p)
	}
	for range again {
		found, err := x.base.counter.Count(ctx, p, []string{bench.Name}, count.Run{Ops: bench.Ops, CPU: bench.CPU})
		if err != nil && !errors.Is(err, count.ErrBuild) {
			return err
		}
		was, ok := found[bench.Name]
		if !ok {
			return nil
		}
		if bench.Base == nil || was.Allocs > bench.Base.Allocs || was.Allocs == bench.Base.Allocs && was.Bytes > bench.Base.Bytes {
			bench.Base = &was.Amount
		}
		if inherited(bench) {
			bench.Status = Inherited
			return nil
		}
	}
	return nil
}

// inherited reports that the version before allocates as much: no change since then made it grow.
func inherited(b *Bench) bool {
	base := budget.Figure{Amount: *b.Base, Tolerance: b.Line.Figure.Tolerance, Ops: b.Ops}
	allocs, bytes := base.Over(b.Now)
	return !allocs && !bytes
}

// adopt changes the file where the rules say so.
func (m *module) adopt(ctx context.Context, c *checker, r *Result) error {
	changed := false
	for _, b := range r.Benches {
		if b.Rule != budget.Adopt {
			continue
		}
		changed = true
		event := budget.Event(b.Status)
		if b.Status == Shrank {
			event = budget.Shrunk
		}
		switch event {
		case budget.Shrunk:
			if b.Site != "" {
				c.file.Set(b.Subject, m.env, b.CPU, budget.Figure{Amount: b.Now, Ops: b.Ops})
				continue
			}
			fallthrough
		case budget.New:
			figs, err := m.counter.Figures(ctx, c.pkgs[b.Whole()], []string{b.Name}, count.Run{Ops: b.Ops, CPU: b.CPU})
			if err != nil {
				return err
			}
			if fig, ok := figs[b.Name]; ok {
				c.file.Set(b.Subject, m.env, b.CPU, fig)
			}
		case budget.Renamed:
			c.file.Rename(budget.Subject{Package: b.Package, Name: b.Why}, b.Subject)
		case budget.Deleted:
			c.file.Remove(b.Subject)
		}
	}
	if !changed {
		return nil
	}
	r.Adopted = c.file
	return m.write(ctx, c.file)
}
