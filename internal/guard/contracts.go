package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/affected"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/contract"
	"github.com/heaptrim/heaptrim/internal/guard/count"
	"github.com/heaptrim/heaptrim/internal/ingest/escapes"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// promised finds the contracts in the source of the module's packages.
func (m *module) promised() ([]contract.Contract, error) {
	var all []contract.Contract
	var errs []error
	for _, p := range m.listed {
		if !m.inside(p.Dir) {
			continue
		}
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			found, problems := contract.Parse(m.relative(filepath.Join(p.Dir, name)), text)
			errs = append(errs, problems...)
			for _, c := range found {
				c.Package, c.Folder = p.ImportPath, m.folder(p.Dir)
				all = append(all, c)
			}
		}
	}
	return all, errors.Join(errs...)
}

// relative names a file of the module.
func (m *module) relative(file string) string {
	if rel, err := filepath.Rel(m.dir, realPath(file)); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// contracts says of each promise whether it holds: first by the code, and by tests and benchmarks
// where that does not prove it.
func (m *module) contracts(ctx context.Context, f *budget.File) ([]contract.Result, error) {
	all, err := m.promised()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	m.o.Progress("looking at contracts")
	var out []contract.Result
	rest := map[string][]contract.Result{} // by package
	static, err := m.static(ctx, all)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if !c.Of("go" + m.env.Go) {
			out = append(out, contract.Result{Contract: c, State: contract.Later, Why: "it holds from " + c.Since + " on"})
			continue
		}
		if c.Directive == "nogrow" {
			continue
		}
		r := static.Judge(c)
		if r.State != "" {
			out = append(out, r)
			continue
		}
		rest[c.Package] = append(rest[c.Package], r)
	}
	for _, p := range m.listed {
		if open := rest[p.ImportPath]; len(open) > 0 {
			judged, err := m.reached(ctx, p, open)
			if err != nil {
				return nil, err
			}
			out = append(out, judged...)
		}
	}
	sizes, err := m.sizes(ctx, all)
	if err != nil {
		return nil, err
	}
	out = append(out, m.grewTypes(f, sizes)...)
	slices.SortFunc(out, func(a, b contract.Result) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line))
	})
	return out, nil
}

// inherited marks the contracts that fail at the base, too.
func (m *module) inherited(ctx context.Context, b *base, all []contract.Result) error {
	o := m.o
	o.Patterns = nil
	for _, r := range all {
		if r.Fails() && !slices.Contains(o.Patterns, r.Package) {
			o.Patterns = append(o.Patterns, r.Package)
		}
	}
	if len(o.Patterns) == 0 {
		return nil
	}
	if err := b.open(ctx, m); err != nil {
		return err
	}
	o.Dir = b.tree.Tool.Dir
	o.Patterns = slices.DeleteFunc(o.Patterns, func(path string) bool {
		_, ok := b.pkg(ctx, count.Package{Path: path})
		return !ok
	})
	if len(o.Patterns) == 0 {
		return nil
	}
	was, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer was.close()
	file := b.file
	if file == nil {
		file = &budget.File{Home: m.env, CPU: m.cpus(nil)}
	}
	before, err := was.contracts(ctx, file)
	if err != nil {
		return err
	}
	for i, r := range all {
		all[i].Inherited = r.Fails() && slices.ContainsFunc(before, func(w contract.Result) bool {
			return w.Fails() && w.Package == r.Package && w.Name == r.Name && w.Directive == r.Directive
		})
	}
	return nil
}

func packagesOf(all []contract.Contract, want func(contract.Contract) bool) []string {
	var out []string
	for _, c := range all {
		if want(c) && !slices.Contains(out, c.Package) {
			out = append(out, c.Package)
		}
	}
	return out
}

// static reads the packages of the module with the compiler's decisions on them.
func (m *module) static(ctx context.Context, all []contract.Contract) (*contract.Static, error) {
	if len(packagesOf(all, func(c contract.Contract) bool { return c.Directive != "nogrow" })) == 0 {
		return contract.NewStatic(nil, nil, m.relative), nil
	}
	var own []string
	for _, p := range m.listed {
		if m.inside(p.Dir) && len(p.GoFiles) > 0 {
			own = append(own, p.ImportPath)
		}
	}
	env := append(os.Environ(), m.tool.Env...)
	sources, _, _, err := contract.Load(ctx, own, contract.LoadOptions{Dir: m.dir, Env: env, Flags: m.tool.Flags})
	if err != nil {
		return nil, err
	}
	decisions, _, err := escapes.Run(ctx, escapes.RunOptions{Dir: m.dir, Env: env, Packages: own, BuildFlags: m.tool.Flags})
	if err != nil {
		return nil, fmt.Errorf("contracts: %w", err)
	}
	return contract.NewStatic(sources, decisions, m.relative), nil
}

// reached judges the contracts of a package by its tests and benchmarks, and if they do not reach
// them all, by those of other packages of the module, too.
func (m *module) reached(ctx context.Context, p gocmd.Package, open []contract.Result) ([]contract.Result, error) {
	t := tally{list: make([]contract.Contract, len(open)), calls: make([]int64, len(open)), allocated: make([]contract.Allocated, len(open))}
	for i, r := range open {
		t.list[i] = r.Contract
	}
	if err := m.tally(ctx, p, p.ImportPath, t); err != nil {
		return nil, err
	}
	if slices.Contains(t.calls, 0) {
		users, err := m.users(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, u := range users {
			if !slices.Contains(t.calls, 0) {
				break
			}
			if err := m.tally(ctx, u, p.ImportPath, t); err != nil && !errors.Is(err, count.ErrBuild) {
				return nil, err
			}
		}
	}
	out := make([]contract.Result, len(open))
	for i, c := range t.list {
		out[i] = c.Judge(t.calls[i], t.allocated[i], open[i].Why)
	}
	return out, nil
}

// users are the other packages with tests that import a package, or whose tests do.
func (m *module) users(ctx context.Context, p gocmd.Package) ([]gocmd.Package, error) {
	own := slices.DeleteFunc(slices.Clone(m.listed), func(q gocmd.Package) bool {
		return q.ImportPath == p.ImportPath || !m.inside(q.Dir) || len(testFiles(q)) == 0
	})
	if len(own) == 0 {
		return nil, nil
	}
	list, err := m.imports(ctx, importPaths(own))
	if err != nil {
		return nil, err
	}
	reached := affected.Packages(list, affected.Change{Files: []string{filepath.Join(realPath(p.Dir), p.GoFiles[0])}})
	return slices.DeleteFunc(own, func(q gocmd.Package) bool { return !reached[q.ImportPath] }), nil
}

// tally is how often contracts were called, and what they allocated then.
type tally struct {
	list      []contract.Contract
	calls     []int64
	allocated []contract.Allocated
}

// tally adds what the tests and benchmarks of a package call in the one with the import path.
func (m *module) tally(ctx context.Context, p gocmd.Package, counted string, t tally) error {
	m.o.Progress("looking at contracts of %s in the tests of %s", counted, p.ImportPath)
	files, err := m.counter.Reach(ctx, count.Package{Path: p.ImportPath, Dir: p.Dir}, counted)
	if err != nil {
		return err
	}
	defer files.Close()
	if f, err := os.Open(files.Coverage); err == nil {
		for i, n := range contract.Calls(t.list, f) {
			t.calls[i] += n
		}
		f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	profile, err := pprof.Open(files.Profile)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	objects := profile.Column("alloc_objects")
	return profile.Samples.Scan(func(s evidence.Sample) error {
		var frames []evidence.Frame
		for _, l := range s.Stack {
			frames = append(frames, l.Frames...)
		}
		for i := range frames {
			frames[i].File = m.relative(frames[i].File)
		}
		contract.Add(t.list, t.allocated, frames, float64(s.Values[objects]))
		return nil
	})
}
