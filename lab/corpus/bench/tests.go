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

// Broken are the tests that pass in one copy of a module and do not in another, in each of two runs,
// as a test may fail by chance. The number is that of the tests which pass in the other copy.
func Broken(ctx context.Context, limit time.Duration, before, after string, args ...string) (broken []string, passed int) {
	is := Tests(ctx, limit, after, args...)
	for _, ok := range is {
		if ok {
			passed++
		}
	}
	for name, ok := range Tests(ctx, limit, before, args...) {
		if ok && !is[name] {
			broken = append(broken, name)
		}
	}
	if len(broken) == 0 {
		return nil, passed
	}
	is, was := Tests(ctx, limit, after, args...), Tests(ctx, limit, before, args...)
	broken = slices.DeleteFunc(broken, func(name string) bool { return is[name] || !was[name] })
	slices.Sort(broken)
	return broken, passed
}
