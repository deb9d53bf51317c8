// Package platform checks the types of a changed package as other platforms and build tags have it:
// its files for them may declare the same names, or use what a change renames.
package platform

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// view is one way to build a package.
type view struct{ os, arch, tag string }

func (v view) String() string {
	words := []string{v.os, v.arch}
	if v.tag != "" {
		words = append(words, "-tags="+v.tag)
	}
	return strings.Join(words, " ")
}

// Check returns the first error of types that a change makes in a package as another platform or tag
// has it, "" for none. What is wrong there without the change is not held against it.
func Check(ctx context.Context, tool gocmd.Tool, p gocmd.Package, files version.Files) (string, error) {
	c, err := read(p, files)
	if err != nil {
		return "", err
	}
	if err := c.load(ctx, tool); err != nil {
		return "", err
	}
	for _, v := range c.views() {
		names := c.selected(v)
		if !slices.ContainsFunc(names, func(n string) bool { _, ok := files[n]; return ok }) {
			continue
		}
		before := c.errors(v, names, c.before)
		for _, e := range c.errors(v, names, c.after) {
			if !slices.Contains(before, e) {
				return fmt.Sprintf("%s: %s", v, e), nil
			}
		}
	}
	return "", nil
}

// checked is a package of which all files are read, whatever they are for.
type checked struct {
	pkg      gocmd.Package
	fset     *token.FileSet
	before   map[string]*ast.File
	after    map[string]*ast.File
	text     map[string][]byte // with the change
	imported map[string]*types.Package
}

func read(p gocmd.Package, files version.Files) (*checked, error) {
	c := &checked{pkg: p, fset: token.NewFileSet(), before: map[string]*ast.File{}, after: map[string]*ast.File{}, text: map[string][]byte{}}
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[filepath.Join(p.Dir, e.Name())] = true
	}
	for name := range files {
		names[name] = names[name] || filepath.Dir(name) == p.Dir
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		old, err := os.ReadFile(name)
		if err == nil {
			if c.before[name], err = parser.ParseFile(c.fset, name, old, parser.ParseComments|parser.SkipObjectResolution); err != nil {
				continue // not for any platform
			}
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		c.text[name], c.after[name] = old, c.before[name]
		if now, ok := files[name]; ok {
			c.text[name] = now
			if c.after[name], err = parser.ParseFile(c.fset, name, now, parser.ParseComments|parser.SkipObjectResolution); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// load reads the types of all that the files import.
func (c *checked) load(ctx context.Context, tool gocmd.Tool) error {
	paths := map[string]bool{}
	for _, f := range c.after {
		for _, i := range f.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err == nil && path != "C" && path != "unsafe" {
				paths[path] = true
			}
		}
	}
	c.imported = map[string]*types.Package{"unsafe": types.Unsafe}
	if len(paths) == 0 {
		return nil
	}
	list, err := packages.Load(&packages.Config{Context: ctx, Dir: tool.Dir, BuildFlags: tool.Flags,
		Mode: packages.NeedName | packages.NeedTypes}, slices.Sorted(maps.Keys(paths))...)
	for _, p := range list {
		if p.Types != nil && p.Types.Complete() {
			c.imported[p.PkgPath] = p.Types
		}
	}
	return err
}

// Import is what the type checker asks.
func (c *checked) Import(path string) (*types.Package, error) {
	if p, ok := c.imported[path]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not known here", path)
}

// views are this platform with each tag that the files name, each platform that they name, and one whose
// integers are small.
func (c *checked) views() []view {
	here := view{runtime.GOOS, runtime.GOARCH, ""}
	out := []view{here, {runtime.GOOS, "386", ""}}
	for _, word := range c.words() {
		v := here
		switch {
		case slices.Contains(systems(), word):
			v.os = word
		case slices.Contains(machines(), word):
			v.arch = word
		default:
			v.tag = word
		}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// words are what file names and constraints say of platforms and tags.
func (c *checked) words() []string {
	seen := map[string]bool{}
	for name, f := range c.after {
		base := strings.TrimSuffix(filepath.Base(name), ".go")
		for i, part := range strings.Split(base, "_") {
			if i > 0 && (slices.Contains(systems(), part) || slices.Contains(machines(), part)) {
				seen[part] = true
			}
		}
		for _, g := range f.Comments {
			for _, line := range g.List {
				if x, err := constraint.Parse(line.Text); err == nil && line.Pos() < f.Package {
					tagsOf(x, seen)
				}
			}
		}
	}
	for _, w := range []string{"ignore", "cgo", "gc", "gccgo", "unix", "race", "msan", "asan"} {
		delete(seen, w)
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(w string) bool { return strings.HasPrefix(w, "go1.") })
}

func tagsOf(x constraint.Expr, into map[string]bool) {
	switch x := x.(type) {
	case *constraint.TagExpr:
		into[x.Tag] = true
	case *constraint.NotExpr:
		tagsOf(x.X, into)
	case *constraint.AndExpr:
		tagsOf(x.X, into)
		tagsOf(x.Y, into)
	case *constraint.OrExpr:
		tagsOf(x.X, into)
		tagsOf(x.Y, into)
	}
}

func systems() []string {
	return []string{"aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd", "plan9", "solaris", "wasip1", "windows"}
}

func machines() []string {
	return []string{"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64", "s390x", "wasm"}
}

// selected are the files of the package in a view.
func (c *checked) selected(v view) []string {
	b := build.Default
	b.GOOS, b.GOARCH, b.CgoEnabled = v.os, v.arch, true
	b.OpenFile = nil
	if v.tag != "" {
		b.BuildTags = append(slices.Clone(b.BuildTags), v.tag)
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.after)) {
		if c.after[name].Name.Name != c.pkg.Name {
			continue
		}
		match := matches(&b, name, c.after[name])
		if match {
			out = append(out, name)
		}
	}
	return out
}

// matches reports whether a file belongs to a view. It may not be on disk.
func matches(b *build.Context, name string, f *ast.File) bool {
	dir, base := filepath.Split(name)
	if _, err := os.Stat(name); err != nil {
		return true
	}
	ok, err := b.MatchFile(dir, base)
	return ok && err == nil && f != nil
}

// errors are those of types in a view, without their places.
func (c *checked) errors(v view, names []string, files map[string]*ast.File) []string {
	var out []string
	conf := types.Config{Importer: c, FakeImportC: true, Sizes: types.SizesFor("gc", v.arch), Error: func(err error) {
		text := err.Error()
		if e := (types.Error{}); errors.As(err, &e) {
			text = e.Msg
		}
		out = append(out, text)
	}}
	var list []*ast.File
	for _, n := range names {
		if files[n] != nil {
			list = append(list, files[n])
		}
	}
	if _, err := conf.Check(c.pkg.ImportPath, c.fset, list, nil); err != nil && len(out) == 0 {
		out = append(out, err.Error())
	}
	return out
}
