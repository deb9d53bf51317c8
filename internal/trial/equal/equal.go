// Package equal compares what two versions of a package do: it notes what calls return while the
// package's tests run, and calls the functions through which a change can be seen, with the same
// generated arguments in both. Differences are not allowed to be of capacity, identity or order of
// evaluation alone; everything that a caller can see counts.
package equal

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/trial/equal/watch"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// Options tunes a Comparer. The zero value is ready to use.
type Options struct {
	Explore  time.Duration // how long to look for calls that reach different code; 0 means 2.5 s of CPU
	Tests    time.Duration // how long the tests of a package may take here; 0 means a minute
	Progress func(format string, args ...any)
}

// Change is a version of a package to be compared with the package as it is.
type Change struct {
	Package string        // import path
	Files   version.Files // of it and of others
	Judged  version.Files // with what a comparison found equal before; what it changed is not looked at once more
	Skip    []string      // tests that are not to run: those that fail, or take long
	Leave   string        // regular expression of others that are not to run
	Bench   []string      // benchmarks that run, too, for a moment
	Race    bool          // call functions from several goroutines, too
}

// Verdict is the end of a comparison.
type Verdict struct {
	Differs   string            // what differs, in words; empty if nothing was seen to
	Calls     int               // generated calls whose results were the same
	TestCalls int               // calls of tests whose results were the same
	Functions []string          // that were called
	Left      map[string]string // functions that were not, and why
	Raced     bool              // functions were called from several goroutines
	Reached   int               // of the changed blocks, those that ran
	Blocks    int

	most bool // of many scenarios, most differ
	ends bool // the process, in one that differs
}

// Covers reports whether the comparison looked at what the change does.
func (v Verdict) Covers() bool { return v.Reached > 0 && v.Calls+v.TestCalls > 0 }

// Comparer compares versions. It keeps what it knows of packages as they are. It is not safe for
// concurrent use.
type Comparer struct {
	o        Options
	b        *version.Builder
	prepared map[string]*prepared
}

// New makes a comparer.
func New(b *version.Builder, o Options) *Comparer {
	if o.Explore == 0 {
		o.Explore = 2500 * time.Millisecond
	}
	if o.Tests == 0 {
		o.Tests = time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return &Comparer{o: o, b: b, prepared: map[string]*prepared{}}
}

// prepared is a package as it is.
type prepared struct {
	pkg    gocmd.Package
	module gocmd.Module
	graph  *graph
	source *source
	words  words
	made   *instrumented
	runs   map[string]*baseline // by the functions that are called
	took   time.Duration        // by the longest run
}

// baseline is what the package as it is shows.
type baseline struct {
	scenarios []watch.Scenario
	skip      []string // scenarios that end the process
	drop      []string // functions several of whose scenarios do
	alone     []string // functions that are called without others
	small     int      // how far numbers are made small
	runs      []*seen
	racing    []*seen // with several goroutines
}

// prepare reads a package as it is, once.
func (c *Comparer) prepare(ctx context.Context, path string) (*prepared, error) {
	if p, ok := c.prepared[path]; ok {
		return p, nil
	}
	pkg, err := c.b.Find(ctx, path)
	if err != nil {
		return nil, err
	}
	if pkg.Module == nil || len(pkg.CgoFiles) > 0 {
		return nil, fmt.Errorf("%s: only packages of a module without C are compared", path)
	}
	p := &prepared{pkg: pkg, module: *pkg.Module, runs: map[string]*baseline{}}
	loaded, err := load(ctx, c.b.Tool.Dir, c.b.Tool.Flags, path)
	if err != nil {
		return nil, err
	}
	p.graph = relate(loaded)
	s, err := learn(ctx, c.b.Tool, path)
	if err != nil {
		return nil, err
	}
	s.judge(p.graph)
	if p.source, err = read(p.names(nil), nil); err != nil {
		return nil, err
	}
	p.words = gather(pkg, p.source)
	p.made = instrument(p.source, true)
	c.prepared[path] = p
	return p, nil
}

// names are the files of the package, with those that a change adds.
func (p *prepared) names(changed version.Files) []string {
	var out []string
	for _, n := range p.pkg.GoFiles {
		out = append(out, filepath.Join(p.pkg.Dir, n))
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if filepath.Dir(name) == p.pkg.Dir && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// files are all files that make a version with its instruments.
func (p *prepared) files(now *source, made *instrumented, changed version.Files) version.Files {
	out := version.Files{}
	maps.Copy(out, changed)
	maps.Copy(out, made.files)
	path, dir := p.module.Path+"/internal/heaptrimwatch", filepath.Join(p.module.Dir, "internal", "heaptrimwatch")
	for name, text := range runtimeFiles() {
		out[filepath.Join(dir, name)] = text
	}
	out[filepath.Join(p.pkg.Dir, "heaptrim_watch.go")] = []byte(p.glue(now, made, path))
	out[filepath.Join(p.pkg.Dir, "heaptrim_watch_test.go")] = fmt.Appendf(nil,
		"package %s\n\nimport heaptrimtesting \"testing\"\n\nfunc init() { heaptrimtesting.%s = %s.Drive }\n", p.graph.pkg.Name, version.AfterHook, sessionName)
	return out
}

// Compare compares a change of a package with the package as it is.
func (c *Comparer) Compare(ctx context.Context, ch Change) (Verdict, error) {
	p, err := c.prepare(ctx, ch.Package)
	if err != nil {
		return Verdict{}, err
	}
	now, err := read(p.names(ch.Files), ch.Files)
	if err != nil {
		return Verdict{}, err
	}
	judged, err := read(p.names(ch.Judged), ch.Judged)
	if err != nil {
		return Verdict{}, err
	}
	d := compare(p.source, now)
	d.changed = slices.DeleteFunc(compare(judged, now).changed, func(name string) bool { return p.source.decls[name] == nil })
	w := work{Comparer: c, p: p, change: ch, diff: d, judged: judged, near: near(d.changed, p.source, now)}
	w.aim()
	v := Verdict{Functions: w.drive, Left: w.left}
	if len(d.changed) == 0 {
		return v, nil
	}
	if err := w.before(ctx); err != nil {
		return v, err
	}
	if err := w.after(ctx, now, &v); err != nil || v.Differs != "" || !ch.Race {
		return v, err
	}
	v.Differs, err = w.race(ctx, now)
	v.Raced = err == nil
	return v, err
}
