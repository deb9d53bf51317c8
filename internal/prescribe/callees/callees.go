// Package callees picks the packages of callees that are worth reading from source.
package callees

import (
	"cmp"
	"maps"
	"slices"

	"golang.org/x/tools/go/packages"
)

// Limits: the packages of callees, and those that have to be read with them.
const (
	mostCallees = 24
	mostTaken   = 100
)

// Affordable are those of some packages of callees that may be read from source, too. go/packages then reads all packages
// that import such a package from source as well, so that each type exists once. The packages that need the fewest others
// come first, and the others are bounded.
func Affordable(read []*packages.Package, callees []string) []string {
	importedBy := map[string][]string{}
	packages.Visit(read, nil, func(p *packages.Package) {
		for _, i := range p.Imports {
			importedBy[i.PkgPath] = append(importedBy[i.PkgPath], p.PkgPath)
		}
	})
	taken := map[string]bool{}
	for _, p := range read {
		take(p.PkgPath, importedBy, taken)
	}
	free := len(taken)
	with := func(path string) map[string]bool {
		all := maps.Clone(taken)
		take(path, importedBy, all)
		return all
	}
	cost := map[string]int{}
	for _, path := range callees {
		cost[path] = len(with(path))
	}
	callees = slices.Clone(callees)
	slices.SortStableFunc(callees, func(a, b string) int { return cmp.Compare(cost[a], cost[b]) })
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
