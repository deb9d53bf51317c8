// Package trial tries changes of source before they are said or made: in overlays, the user's
// files untouched, it counts what benchmarks allocate and runs tests.
package trial

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/trial/equal"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// ErrBuild means that a package does not build with a change.
var ErrBuild = version.ErrBuild

// Options says where and how to build.
type Options struct {
	Dir        string    // of the go command; "" is the current one
	BuildFlags []string  // such as -tags=x
	Skip       string    // regular expression of tests that are not to run
	Memory     string    // folder in which the results of trials are kept; "" for none
	Until      time.Time // tests that are not done by then are given up; zero: no limit
	Progress   func(format string, args ...any)
	Left       func(text string) // gets a message about files that stopped tests left in their folders; may be nil
}

// Files is a change: the new content of files by their absolute names. None is the code as it is.
type Files = version.Files

// Judge builds and runs versions of packages. It is not safe for concurrent use. Close removes
// what it built.
type Judge struct {
	o        Options
	builder  *version.Builder
	comparer *equal.Comparer
	memory   memory
	tests    map[string]Tests // of packages as they are
}

// New makes a judge with a folder of its own for what it builds.
func New(o Options) (*Judge, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	tool := gocmd.Tool{Dir: o.Dir, Flags: o.BuildFlags}
	m := memory{dir: o.Memory, tool: tool, state: map[string]string{}}
	if err := m.open(); err != nil {
		return nil, err
	}
	b, err := version.New(tool)
	if err != nil {
		return nil, err
	}
	b.Left = func(pkg, what, to string, err error) {
		now := "moved to " + to
		if err != nil {
			now = err.Error()
		}
		if o.Left != nil {
			o.Left(fmt.Sprintf("the tests of %s were stopped and left %s in its folder: %s", pkg, what, now))
		}
	}
	return &Judge{o: o, memory: m, builder: b, comparer: equal.New(b, equal.Options{Progress: o.Progress}), tests: map[string]Tests{}}, nil
}

// More gives tests this much time from now; 0: no limit.
func (j *Judge) More(d time.Duration) {
	j.o.Until = time.Time{}
	if d > 0 {
		j.o.Until = time.Now().Add(d)
	}
}

// LeaveOut runs these tests no more, nor those that Options.Skip matches.
func (j *Judge) LeaveOut(tests []string) {
	quoted := make([]string, len(tests))
	for i, name := range tests {
		quoted[i] = regexp.QuoteMeta(name)
	}
	skip := "^(" + strings.Join(quoted, "|") + ")$"
	if j.o.Skip != "" {
		skip = j.o.Skip + "|" + skip
	}
	j.o.Skip = skip
	clear(j.tests)
}

// Close removes the folder of the judge.
func (j *Judge) Close() error { return j.builder.Close() }

// build makes the test binary of a package with a change.
func (j *Judge) build(ctx context.Context, path string, files Files, flags ...string) (version.Binary, error) {
	return j.builder.Test(ctx, path, files, flags...)
}
