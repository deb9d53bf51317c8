package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// results are how tests, by their package and name, and packages ended: passed or not. What does not end within the limit
// is missing.
type results struct{ tests, packages map[string]bool }

// tests runs the tests of the packages in a folder, not from the cache: a run of one copy must not take less time than one
// of the other.
func tests(ctx context.Context, limit time.Duration, dir string, args ...string) results {
	out, _ := Command(ctx, limit, dir, append([]string{"go", "test", "-count=1", "-json"}, args...)...) // fails where a test fails
	r := results{map[string]bool{}, map[string]bool{}}
	for line := range bytes.Lines(out) {
		var e struct{ Action, Package, Test string }
		switch {
		case json.Unmarshal(line, &e) != nil || e.Action != "pass" && e.Action != "fail":
		case e.Test == "":
			r.packages[e.Package] = e.Action == "pass"
		default:
			r.tests[e.Package+"."+e.Test] = e.Action == "pass"
		}
	}
	return r
}

// breaks reports whether a test is not among those that pass. One that is missing where its package passed has a name that
// changes from run to run, as with a port in it.
func (r results) breaks(test string) bool {
	ok, ran := r.tests[test]
	if ran {
		return !ok
	}
	for path, passed := range r.packages {
		if passed && strings.HasPrefix(test, path+".") {
			return false
		}
	}
	return true
}

// Copies are two folders with versions of a module.
type Copies struct {
	Before, After string
	Limit         time.Duration // for the tests of one
}

// Broken are the tests that pass before and do not after, in each of two runs, as a test may fail by
// chance. The number is that of the tests which pass after.
func (c Copies) Broken(ctx context.Context, args ...string) (broken []string, passed int) {
	is := tests(ctx, c.Limit, c.After, args...)
	for _, ok := range is.tests {
		if ok {
			passed++
		}
	}
	for name, ok := range tests(ctx, c.Limit, c.Before, args...).tests {
		if ok && is.breaks(name) {
			broken = append(broken, name)
		}
	}
	if len(broken) == 0 {
		return nil, passed
	}
	is, was := tests(ctx, c.Limit, c.After, args...), tests(ctx, c.Limit, c.Before, args...)
	broken = slices.DeleteFunc(broken, func(name string) bool { return !is.breaks(name) || !was.tests[name] })
	slices.Sort(broken)
	return broken, passed
}
