// Package hot picks the packages whose source says most of a recording, and reads it.
package hot

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// Limits: the hottest findings and lines, the packages that are read for them, those that are read of their callees, and
// those that must be read for these.
const (
	findings    = 120
	most        = 16
	mostCallees = 24
	mostTaken   = 100
)

// Packages lists the findings' packages, by import path or as a pattern, those of the heaviest first.
func Packages(d *finding.Diagnosis) []string {
	weight := map[string]float64{}
	add := func(site evidence.Site, w float64) {
		pkg := site.Package
		if pkg == "main" {
			pkg = mainOf(d.Target, site.File)
		}
		if pkg != "" && !strings.HasSuffix(pkg, "_test") {
			weight[pkg] += w
		}
	}
	for i, f := range d.Findings[:min(len(d.Findings), findings)] {
		add(f.Site, 1/float64(i+1))
	}
	for i, l := range d.Lines[:min(len(d.Lines), findings)] {
		add(l.Site, 0.1/float64(i+1))
	}
	out := make([]string, 0, len(weight))
	for p := range weight {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool {
		if weight[out[i]] != weight[out[j]] {
			return weight[out[i]] > weight[out[j]]
		}
		return out[i] < out[j]
	})
	return out[:min(len(out), most)]
}

// mainOf is a pattern for the command whose functions are in a file: they do not carry its import path. It is "" where the
// file is not of the module.
func mainOf(t evidence.Target, file string) string {
	if t.Kind == evidence.TargetExec && len(t.Packages) == 1 {
		return t.Packages[0]
	}
	dir, err := filepath.Abs(t.ModuleDir)
	if err != nil || t.ModuleDir == "" || file == "" {
		return ""
	}
	if filepath.IsAbs(file) {
		if file, err = filepath.Rel(dir, file); err != nil {
			return ""
		}
	}
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil || !filepath.IsLocal(file) {
		return ""
	}
	return "./" + filepath.ToSlash(filepath.Dir(file))
}

// Source loads the packages of the hottest lines, and more; nil when there is no source to read. The warnings say what could
// not be read. Progress may be nil.
func Source(ctx context.Context, d *finding.Diagnosis, progress func(format string, args ...any), more []string) (p *source.Program, warnings []string) {
	t := d.Target
	if t.ModuleDir == "" || len(d.Findings) == 0 {
		return nil, nil
	}
	dir, err := filepath.Abs(t.ModuleDir)
	if err != nil {
		return nil, nil
	}
	list := append(Packages(d), more...)
	if progress != nil {
		progress("reading the source of %d packages", len(list))
	}
	p, problems, err := source.Load(ctx, source.Request{Dir: dir, Packages: list, BuildFlags: t.BuildFlags})
	if err != nil {
		return nil, []string{"cures are named without the source: " + err.Error()}
	}
	for _, e := range problems {
		warnings = append(warnings, "cures are named without some of the source: "+e.Error())
	}
	return p, warnings
}

// Affordable are those of some packages of callees that may be read from source, too. A package that is read from source
// takes with it what imports it, up to the packages that were read already, or its types would be two: those that take the
// fewest come first, while there are few in all.
func Affordable(src *source.Program, callees []string) []string {
	importedBy := map[string][]string{}
	packages.Visit(src.Read, nil, func(p *packages.Package) {
		for _, i := range p.Imports {
			importedBy[i.PkgPath] = append(importedBy[i.PkgPath], p.PkgPath)
		}
	})
	taken := map[string]bool{}
	for _, p := range src.Read {
		take(p.PkgPath, importedBy, taken)
	}
	free := len(taken)
	with := func(path string) map[string]bool {
		all := maps.Clone(taken)
		take(path, importedBy, all)
		return all
	}
	callees = slices.Clone(callees)
	slices.SortStableFunc(callees, func(a, b string) int { return cmp.Compare(len(with(a)), len(with(b))) })
	var out []string
	for _, path := range callees {
		if all := with(path); len(out) < mostCallees && len(all)-free <= mostTaken {
			out, taken = append(out, path), all
		}
	}
	return out
}

// take adds a package and all that import it.
func take(path string, importedBy map[string][]string, taken map[string]bool) {
	if taken[path] {
		return
	}
	taken[path] = true
	for _, p := range importedBy[path] {
		take(p, importedBy, taken)
	}
}
