package benchlog

import (
	"strconv"
	"strings"
)

// splitProcs sets Name and Procs of every result, package by package.
func splitProcs(results []Result) {
	byPackage := map[string][]*Result{}
	for i := range results {
		r := &results[i]
		byPackage[r.Package] = append(byPackage[r.Package], r)
	}
	for _, group := range byPackage {
		split := splitRule(group)
		for _, r := range group {
			r.Name, r.Procs = r.FullName, 1
			if base, n := cutProcs(r.FullName); split(base, n) {
				r.Name, r.Procs = base, n
			}
		}
	}
}

// splitRule says of which names in a group the last number is GOMAXPROCS.
//
// All benchmarks of a package run under the same list of GOMAXPROCS. The name
// of a top-level benchmark is a Go identifier, so a number behind it can be
// nothing else, and without one the list contains 1; then every name that has
// GOMAXPROCS was printed without it before. If only sub-benchmarks were run,
// the number is GOMAXPROCS where it is the one that all names have.
func splitRule(group []*Result) func(base string, procs int) bool {
	names := map[string]bool{}
	known := map[int]bool{}            // numbers of top-level names
	bases := map[string]map[int]bool{} // numbers of each name
	one := false                       // the list contains 1
	for _, r := range group {
		names[r.FullName] = true
		base, n := cutProcs(r.FullName)
		switch {
		case n == 0:
			one = true
			continue
		case !strings.Contains(base, "/"):
			known[n] = true
		}
		if bases[base] == nil {
			bases[base] = map[int]bool{}
		}
		bases[base][n] = true
	}
	if len(known) == 0 && !one {
		known = numbersOfAll(bases)
		if len(known) > 1 {
			clear(known)
		}
	}
	return func(base string, n int) bool {
		if one {
			return n != 0 && names[base]
		}
		return known[n]
	}
}

// numbersOfAll returns the numbers that every base has.
func numbersOfAll(bases map[string]map[int]bool) map[int]bool {
	count := map[int]int{}
	for _, numbers := range bases {
		for n := range numbers {
			count[n]++
		}
	}
	all := map[int]bool{}
	for n, times := range count {
		if times == len(bases) {
			all[n] = true
		}
	}
	return all
}

// cutProcs cuts what may be a -P suffix off a name: a whole number from 2, as
// go test prints it. It returns 0 if there is none.
func cutProcs(name string) (string, int) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || name[i+1:] == "" || name[i+1] < '1' || name[i+1] > '9' {
		return name, 0
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	if err != nil || n < 2 {
		return name, 0
	}
	return name[:i], int(n)
}
