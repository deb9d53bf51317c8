package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// Tests is what the tests of a package did.
type Tests struct {
	Failed []string // names of the tests that failed, in order
	Passed []string // names of those that passed, in order
	Slow   []string // names of those that took more than a second, in order
	None   bool     // the package has no tests
	Late   bool     // they took more than the time that was left, so nothing is known
	Output string   // the end of what a failing run printed
}

var testLine = regexp.MustCompile(`(?m)^--- (FAIL|PASS): (\S+) \((\d+)\.`)

// suite is the tests of a package in an order by lot. All versions have the same orders: some tests pass
// only behind others.
type suite struct {
	path  string
	order int
}

// Test runs the tests of a package in a version, in an order by lot, as long as Options.Until leaves
// time. Tests that do not build, or end their process, count as one failure under the package's name.
func (j *Judge) Test(ctx context.Context, path string, files Files, flags ...string) (Tests, error) {
	what := fmt.Sprintf("tests %q %q", flags, j.o.Skip)
	return remember(ctx, &j.memory, question{path, files.Hash(), what}, func() (Tests, bool, error) {
		t, err := j.test(ctx, suite{path, 1}, files, flags...)
		return t, err == nil && !t.Late, err
	})
}

func (j *Judge) test(ctx context.Context, of suite, files Files, flags ...string) (Tests, error) {
	path := of.path
	bin, err := j.build(ctx, path, files, flags...)
	if ctx.Err() != nil {
		return Tests{}, ctx.Err()
	}
	if err != nil {
		return Tests{Failed: []string{path}, Output: err.Error()}, nil
	}
	if bin.Path == "" {
		return Tests{None: true}, nil
	}
	args := []string{"-test.v", fmt.Sprintf("-test.shuffle=%d", of.order), "-test.timeout=0"}
	if j.o.Skip != "" {
		args = append(args, "-test.skip="+j.o.Skip)
	}
	res, err := j.builder.Run(ctx, bin, version.Run{Limit: j.testsFor(), Args: args})
	if err != nil {
		return Tests{}, err
	}
	if errors.Is(res.Ended, version.ErrLate) {
		return Tests{Late: true}, nil
	}
	t := Tests{}
	for _, m := range testLine.FindAllSubmatch(res.Out, -1) {
		if string(m[1]) == "PASS" {
			t.Passed = append(t.Passed, string(m[2]))
		} else {
			t.Failed = append(t.Failed, string(m[2]))
		}
		if string(m[3]) != "0" {
			t.Slow = append(t.Slow, string(m[2]))
		}
	}
	slices.Sort(t.Slow)
	slices.Sort(t.Failed)
	slices.Sort(t.Passed)
	if res.Ended != nil {
		t.Output = gocmd.LastLines(strings.TrimSpace(string(res.Out)), 15)
		if len(t.Failed) == 0 {
			t.Failed = []string{fmt.Sprintf("%s: %v", path, res.Ended)}
		}
	}
	return t, nil
}

// testsFor is how long the tests of a package may take now.
func (j *Judge) testsFor() time.Duration {
	const most = 10 * time.Minute
	if j.o.Until.IsZero() {
		return most
	}
	return min(most, max(0, time.Until(j.o.Until)))
}

// Breaks names a test that passed before and does not with a change, or one that fails now and did
// not run before; "" for none.
func (t Tests) Breaks(before Tests) string {
	for _, name := range before.Passed {
		if _, ok := slices.BinarySearch(t.Passed, name); !ok {
			return name
		}
	}
	for _, name := range t.Failed {
		if !slices.Contains(before.Failed, name) {
			return name
		}
	}
	return ""
}

// Both are the tests that passed in two runs of the same version; those that failed in either are
// not held against a change.
func (t Tests) Both(again Tests) Tests {
	t.Passed = slices.DeleteFunc(slices.Clone(t.Passed), func(name string) bool { return !slices.Contains(again.Passed, name) })
	t.Failed = slices.Concat(t.Failed, again.Failed)
	slices.Sort(t.Failed)
	t.Failed = slices.Compact(t.Failed)
	return t
}

// Dependants are the packages of the main module, or of the workspace, whose code or tests import
// one of the given packages, these included.
func (j *Judge) Dependants(ctx context.Context, paths []string) ([]string, error) {
	all, err := j.builder.Tool.Packages(ctx, []string{"./..."}, "-test", "-deps")
	if err != nil {
		return nil, err
	}
	imports := map[string][]string{}
	for _, p := range all {
		if !p.Standard && p.Module != nil && p.Module.Main {
			imports[p.ImportPath] = p.Imports
		}
	}
	reached := map[string]bool{}
	for _, p := range paths {
		reached[p] = true
	}
	for grew := true; grew; {
		grew = false
		for path, list := range imports {
			if !reached[path] && slices.ContainsFunc(list, func(i string) bool { return reached[i] }) {
				reached[path], grew = true, true
			}
		}
	}
	out := map[string]bool{}
	for path := range reached {
		name, _, _ := strings.Cut(path, " ") // "p [p.test]" is p as its tests see it
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".test"), "_test")
		out[name] = true
	}
	return slices.Sorted(maps.Keys(out)), nil
}
