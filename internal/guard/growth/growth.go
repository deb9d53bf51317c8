// Package growth says what a benchmark allocates more of in one version of a module than in
// another: which lines, why, and what was changed there.
package growth

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// Side is a version of a module.
type Side struct {
	Counter *count.Counter
	Package count.Package // of the benchmark
	Root    string        // folder of the module
}

// None reports whether there is no such version.
func (s Side) None() bool { return s.Counter == nil }

// Site is a place that allocates, with the mean of an operation.
type Site struct {
	evidence.Site                  // in the version after; the file is relative to the module, or of another one as its import path says
	Via           string           // function through which the line allocates; "" if it does itself
	Before, After budget.Amount    // per operation
	Frames        []evidence.Frame // leaf first, from the allocation up to the benchmark
}

// Grown is by how much a site grew.
func (s Site) Grown() budget.Amount {
	return budget.Amount{Allocs: s.After.Allocs - s.Before.Allocs, Bytes: s.After.Bytes - s.Before.Bytes}
}

// Name is how budget files name the function of a site: its file, and its name without the package.
// Closures count as the function that they are written in. It is "" for other modules' functions.
func (s Site) Name() string {
	if s.File == "" || filepath.IsAbs(s.File) || strings.ContainsAny(s.File, " \t") { // which ends a word of the file
		return ""
	}
	slash := strings.LastIndexByte(strings.SplitN(s.Function, "[", 2)[0], '/')
	_, name, _ := strings.Cut(s.Function[slash+1:], ".")
	if i := closure.FindStringIndex(name); i != nil {
		name = name[:i[0]]
	}
	return s.File + ":" + strings.ReplaceAll(name, " ", "")
}

// closure is what the compiler adds to the name of a function for those that are written in it.
var closure = regexp.MustCompile(`\.(func|gowrap|deferwrap)?\d+(\.|$)|-range\d+`)

// Sites records what a benchmark allocates in one version.
func Sites(ctx context.Context, side Side, name string, r count.Run) ([]Site, error) {
	side.Package.Plain = true
	files, err := side.Counter.Profile(ctx, side.Package, name, r)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	all := map[siteKey]*Site{}
	c := collector{side.Root, all}
	ops := float64(files.ManyOps - files.FewOps)
	if err := c.add(files.Many, 1/ops); err != nil {
		return nil, err
	}
	if err := c.add(files.Few, -1/ops); err != nil {
		return nil, err
	}
	var out []Site
	for _, s := range all {
		if s.After.Allocs > least || s.After.Bytes > 16*least {
			out = append(out, *s)
		}
	}
	sortBy(out, func(s Site) budget.Amount { return s.After })
	return out, nil
}

// least is the smallest share of an operation that is an allocation of the operation: one of a
// run's few is by chance.
const least = 1e-3

func sortBy(sites []Site, amount func(Site) budget.Amount) {
	slices.SortFunc(sites, func(a, b Site) int {
		x, y := amount(a), amount(b)
		return cmp.Or(cmp.Compare(y.Allocs, x.Allocs), cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Via, b.Via))
	})
}

// siteKey is what makes two allocations one site.
type siteKey struct {
	function, file string
	line           int
	via            string
}

// collector adds samples up by site.
type collector struct {
	root  string
	sites map[siteKey]*Site
}

func (c collector) add(file string, weight float64) error {
	p, err := pprof.Open(file)
	if err != nil {
		return err
	}
	objects, bytes := p.Column("alloc_objects"), p.Column("alloc_space")
	if objects < 0 || bytes < 0 {
		return nil
	}
	return p.Samples.Scan(func(s evidence.Sample) error {
		var frames []evidence.Frame
		for _, l := range s.Stack {
			frames = append(frames, l.Frames...)
		}
		if ofHarness(frames) {
			return nil
		}
		frames = slices.DeleteFunc(frames, func(f evidence.Frame) bool { return ofTesting(f.Function) })
		at := c.own(frames)
		if at < 0 {
			return nil // of package testing or the runtime alone
		}
		key := siteKey{function: frames[at].Function, file: c.relative(frames[at].File), line: frames[at].Line}
		if at > 0 {
			key.via = frames[at-1].Function
		}
		site, ok := c.sites[key]
		if !ok {
			site = &Site{Site: evidence.Site{Function: key.function, Package: stack.PackageOf(key.function), File: key.file, Line: key.line},
				Via: key.via, Frames: frames}
			c.sites[key] = site
		}
		site.After.Allocs += weight * float64(s.Values[objects])
		site.After.Bytes += weight * float64(s.Values[bytes])
		return nil
	})
}

// ofHarness reports whether package testing allocates for itself: it chooses benchmarks and prints.
// What is called by the frame that runs a benchmark is not.
func ofHarness(frames []evidence.Frame) bool {
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f.Function, "testing.(*B).runN"), strings.HasPrefix(f.Function, "testing.(*B).RunParallel.func"):
			return false
		case strings.HasPrefix(f.Function, "testing."), f.Function == "main.main", f.Function == "runtime.main", f.Function == "runtime.doInit1":
			return true
		}
	}
	return false
}

func ofTesting(function string) bool {
	return strings.HasPrefix(function, "testing.") || function == "runtime.goexit" || function == "runtime.main"
}

// own is the first frame of the module; without one, the first that is not of the runtime.
func (c collector) own(frames []evidence.Frame) int {
	first := -1
	for i, f := range frames {
		pkg := stack.PackageOf(f.Function)
		if stack.IsRuntime(pkg, f.Function) {
			continue
		}
		if first < 0 {
			first = i
		}
		if c.ours(f) {
			return i
		}
	}
	return first
}

func (c collector) ours(f evidence.Frame) bool {
	rel, err := filepath.Rel(c.root, f.File)
	return err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(filepath.ToSlash(rel), "vendor/")
}

func (c collector) relative(file string) string {
	if rel, err := filepath.Rel(c.root, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// Compare joins the sites of two versions. Sites that did not grow are left out; those that grew
// most come first, by objects if those grew, by bytes otherwise.
func Compare(before, after []Site, beforeRoot, afterRoot string) []Site {
	lines := lineMaps{map[string]lineMap{}, beforeRoot, afterRoot}
	was := map[siteKey]budget.Amount{}
	for _, s := range before {
		key := siteKey{s.Function, s.File, lines.of(s.File).at(s.Line), s.Via}
		have := was[key]
		was[key] = budget.Amount{Allocs: have.Allocs + s.After.Allocs, Bytes: have.Bytes + s.After.Bytes}
	}
	var out []Site
	for _, s := range after {
		s.Before = was[siteKey{s.Function, s.File, s.Line, s.Via}]
		g := s.Grown()
		if g.Allocs > least || g.Bytes > 16*least {
			out = append(out, s)
		}
	}
	sortBy(out, Site.Grown)
	if len(out) > 0 {
		first := out[0].Grown()
		out = slices.DeleteFunc(out, func(s Site) bool {
			g := s.Grown()
			once := g.Allocs < few && first.Allocs > few
			return once || g.Allocs < minor*first.Allocs && g.Bytes < minor*first.Bytes
		})
	}
	return out
}

// minor is the share of the largest growth below which a site is left out.
const minor = 0.05

// few is below eight objects of a thousand operations: what a run allocates once, such as a table,
// is no cause beside what operations allocate.
const few = 8.0 / 900

// lineMaps compares files of two versions, each once.
type lineMaps struct {
	files         map[string]lineMap
	before, after string
}

func (l lineMaps) of(file string) lineMap {
	m, ok := l.files[file]
	if !ok {
		if filepath.IsAbs(file) { // of another module or the toolchain
			text, _ := os.ReadFile(file)
			m = mapLines(text, text)
		} else {
			a, _ := os.ReadFile(filepath.Join(l.before, file))
			b, _ := os.ReadFile(filepath.Join(l.after, file))
			m = mapLines(a, b)
		}
		l.files[file] = m
	}
	return m
}
