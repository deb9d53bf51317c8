package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
		r.Commit = b.commit
		now, _ := os.ReadFile(filepath.Join(m.dir, "go.mod")) // go list has read it
		r.Dependency = affected.Versions(b.goMod, string(now), b.change.Modules)
	}
	c, err := m.check(ctx, f, packages)
	if err != nil {
		return nil, err
	}
	r.Benches = c.out
	if err := m.explain(ctx, c, b, r); err != nil {
		return nil, err
	}
	return r, m.adopt(ctx, c, r)
}

// explain compares what grew with the base, and finds the lines.
func (m *module) explain(ctx context.Context, c *checker, b *base, r *Result) error {
	if b == nil {
		b = m.lastBlessed(ctx)
		defer b.close()
		if b != nil {
			r.Commit = b.commit
		}
	}
	x := explanation{c, b}
	for i := range r.Benches {
		bench := &r.Benches[i]
		if bench.Status != Grew {
			continue
		}
		m.o.Progress("looking for what grew in %s", bench.Name)
		if err := x.one(ctx, bench); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: the lines are not known: %v", bench.Name, err))
		}
	}
	return nil
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
	pkg := x.pkgs[bench.Subject]
	run := count.Run{Ops: bench.Ops, CPU: bench.CPU}
	after := growth.Side{Counter: x.counter, Package: pkg, Root: x.dir}
	before, err := x.before(ctx, bench, run)
	if err != nil || bench.Status != Grew {
		return err
	}
	now, err := growth.Sites(ctx, after, bench.Name, run)
	if err != nil {
		return err
	}
	if before.None() {
		bench.NoBase = true
		bench.Causes, err = growth.Causes(ctx, now, before, after)
		return err
	}
	was, err := growth.Sites(ctx, before, bench.Name, run)
	if err != nil {
		return err
	}
	bench.Causes, err = growth.Causes(ctx, growth.Compare(was, now, before.Root, after.Root), before, after)
	return err
}

// before is the side of the base, if the benchmark is there; a benchmark that allocates as much there
// did not grow.
func (x explanation) before(ctx context.Context, bench *Bench, run count.Run) (growth.Side, error) {
	if x.base == nil {
		return growth.Side{}, nil
	}
	if err := x.base.open(ctx, x.module); err != nil {
		return growth.Side{}, err
	}
	p, ok := x.base.pkg(ctx, x.pkgs[bench.Subject])
	if !ok {
		return growth.Side{}, nil
	}
	found, err := x.base.counter.Count(ctx, p, []string{bench.Name}, run)
	was, ok := found[bench.Name]
	if err != nil && !errors.Is(err, count.ErrBuild) || !ok {
		return growth.Side{}, nil
	}
	bench.Base = &was.Amount
	if inherited(bench) {
		bench.Status = Inherited
	}
	return growth.Side{Counter: x.base.counter, Package: p, Root: realPath(x.base.tree.Tool.Dir)}, nil
}

// inherited reports that the version before allocates as much: no change since then made it grow.
func inherited(b *Bench) bool {
	base := budget.Figure{Amount: *b.Base, Tolerance: b.Line.Figure.Tolerance}
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
		switch budget.Event(b.Status) {
		case budget.New:
			figs, err := m.counter.Figures(ctx, c.pkgs[b.Subject], []string{b.Name}, count.Run{Ops: b.Ops, CPU: b.CPU})
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
