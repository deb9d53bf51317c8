// Package affected tells from the import graph which packages' benchmarks a change can affect.
// It reads no files.
package affected

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// Change is what differs between two versions of a module.
type Change struct {
	Files   []string          // absolute
	Modules []string          // whose version differs, by path
	Embeds  map[string]string // files that packages embed, with the packages' import paths
	All     bool              // something differs that every package depends on
}

// Packages are the import paths of the packages, the folders' own code or tests among them, that a
// change can affect. list is of go list -deps -test.
func Packages(list []gocmd.Package, c Change) map[string]bool {
	g := newGraph(list)
	g.embeds = c.Embeds
	for _, f := range c.Files {
		g.file(f)
	}
	for _, p := range list {
		if c.All || p.Module != nil && slices.Contains(c.Modules, p.Module.Path) {
			g.mark(p.ImportPath)
		}
	}
	out := map[string]bool{}
	for p := range g.reached {
		name, _, _ := strings.Cut(p, " ") // "p [p.test]" is p as its tests see it
		out[strings.TrimSuffix(strings.TrimSuffix(name, ".test"), "_test")] = true
	}
	return out
}

// graph is the import graph the other way round.
type graph struct {
	importers map[string][]string
	byDir     map[string][]gocmd.Package
	reached   map[string]bool
	embeds    map[string]string
}

func newGraph(list []gocmd.Package) *graph {
	g := &graph{importers: map[string][]string{}, byDir: map[string][]gocmd.Package{}, reached: map[string]bool{}}
	for _, p := range list {
		for _, i := range p.Imports {
			g.importers[i] = append(g.importers[i], p.ImportPath)
		}
		if p.Dir != "" && !p.Standard {
			g.byDir[p.Dir] = append(g.byDir[p.Dir], p)
		}
	}
	return g
}

// mark reaches a package and all that import it.
func (g *graph) mark(path string) {
	if g.reached[path] {
		return
	}
	g.reached[path] = true
	for _, p := range g.importers[path] {
		g.mark(p)
	}
}

// built are the endings of files that are compiled into a package.
var built = []string{".go", ".s", ".S", ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".f", ".syso", ".swig"}

// file marks what a file belongs to. The code of a package reaches its importers. A file that its
// tests may read, in its folder or below, reaches the tests alone.
func (g *graph) file(name string) {
	ext := filepath.Ext(name)
	if strings.HasPrefix(filepath.Base(name), ".") {
		return
	}
	if path, ok := g.embeds[name]; ok {
		g.mark(path)
	}
	dir := filepath.Dir(name)
	if here := g.byDir[dir]; len(here) > 0 && slices.Contains(built, ext) && !strings.HasSuffix(name, "_test.go") {
		for _, p := range here {
			g.mark(p.ImportPath)
		}
		return
	}
	for {
		if here := g.byDir[dir]; len(here) > 0 {
			for _, p := range here {
				g.reached[p.ImportPath] = true
			}
			return
		}
		up := filepath.Dir(dir)
		if up == dir {
			return
		}
		dir = up
	}
}

// Modules compares two versions of a go.mod line by line: the modules that differ, or all where
// another line does, such as the one of the language.
func Modules(before, after string) Change {
	was, is := modLines(before), modLines(after)
	var c Change
	for _, pair := range [][2]map[string]bool{{was, is}, {is, was}} {
		for line := range pair[0] {
			if pair[1][line] {
				continue
			}
			path, _, _ := strings.Cut(line, " ")
			switch {
			case slices.Contains([]string{"go", "toolchain", "godebug", "exclude", "module"}, path):
				c.All = true
			case slices.Contains([]string{"tool", "retract", "ignore"}, path):
			case !slices.Contains(c.Modules, path):
				c.Modules = append(c.Modules, path)
			}
		}
	}
	slices.Sort(c.Modules)
	return c
}

// modLines are the lines of a go.mod, those of blocks with the modules' paths first.
func modLines(text string) map[string]bool {
	lines := map[string]bool{}
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case fields[len(fields)-1] == "(":
			block = fields[0]
			continue
		case fields[0] == ")":
			block = ""
			continue
		}
		word := block
		if block == "" {
			word, fields = fields[0], fields[1:]
		}
		if word != "require" && word != "replace" {
			fields = append([]string{word}, fields...)
		}
		lines[strings.Join(fields, " ")] = true
	}
	return lines
}

// Versions names the modules that differ with both versions, for people.
func Versions(before, after string, modules []string) []string {
	was, is := versions(before), versions(after)
	var out []string
	for _, m := range modules {
		switch {
		case was[m] == "":
			out = append(out, m+" "+is[m]+" (new)")
		case is[m] == "":
			out = append(out, m+" (gone)")
		case was[m] != is[m]:
			out = append(out, m+" "+was[m]+" → "+is[m])
		default:
			out = append(out, m)
		}
	}
	return out
}

func versions(text string) map[string]string {
	out := map[string]string{}
	for line := range modLines(text) {
		if f := strings.Fields(line); len(f) == 2 {
			out[f[0]] = f[1]
		}
	}
	return out
}
