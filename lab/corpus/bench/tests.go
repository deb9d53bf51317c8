package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Tests says which tests of the packages in a folder pass, by their package and name. What does
// not end within the limit is missing.
func Tests(ctx context.Context, limit time.Duration, dir string, args ...string) map[string]bool {
	out, _ := Command(ctx, limit, dir, append([]string{"go", "test", "-json"}, args...)...) // fails where a test fails
	passed := map[string]bool{}
	for line := range bytes.Lines(out) {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(line, &e) == nil && e.Test != "" && (e.Action == "pass" || e.Action == "fail") {
			passed[e.Package+"."+e.Test] = e.Action == "pass"
		}
	}
	return passed
}

// Copies are two folders with versions of a module.
type Copies struct {
	Before, After string
	Limit         time.Duration // for the tests of one
}

// Broken are the tests that pass before and do not after, in each of two runs, as a test may fail by
// chance. The number is that of the tests which pass after.
func (c Copies) Broken(ctx context.Context, args ...string) (broken []string, passed int) {
	is := Tests(ctx, c.Limit, c.After, args...)
	for _, ok := range is {
		if ok {
			passed++
		}
	}
	for name, ok := range Tests(ctx, c.Limit, c.Before, args...) {
		if ok && !is[name] {
			broken = append(broken, name)
		}
	}
	if len(broken) == 0 {
		return nil, passed
	}
	is, was := Tests(ctx, c.Limit, c.After, args...), Tests(ctx, c.Limit, c.Before, args...)
	broken = slices.DeleteFunc(broken, func(name string) bool { return is[name] || !was[name] })
	slices.Sort(broken)
	return broken, passed
}
