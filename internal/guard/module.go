// Package guard keeps what benchmarks allocate within budgets: it measures them, compares them
// with the module's budget file, and says what grew, on which line and why.
package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
)

// Options says what to guard. The zero value is ready to use.
type Options struct {
	Dir      string   // "" is the current folder
	Patterns []string // of packages; none means all of the module
	Bench    string   // regular expression of the benchmarks; "" means all
	Tags     string   // build tags, joined by commas
	CPU      []int    // values of GOMAXPROCS; none means those of the file, and 1 without one
	Sites    bool     // of Init and Update: lines for the functions that allocate most in each benchmark
	Base     string   // revision to compare with; "" finds one
	Judge    bool     // Base was asked for: what it allocates counts where a figure is over its budget
	All      bool     // count every benchmark, also those that no change can affect
	Store    string   // where budgets are kept; "" is as the file says
	Rules    budget.Rules
	Collect  bool // let the collector run while counting
	Progress func(format string, args ...any)
}

// ErrRefused marks builds whose figures mean nothing for the program.
var ErrRefused = errors.New("refused")

// module is the module whose budgets are checked.
type module struct {
	o        Options
	dir      string // its root
	path     string
	tool     gocmd.Tool
	env      budget.Env
	packages []gocmd.Package // that have benchmarks, in order
	listed   []gocmd.Package // all that match
	counter  *count.Counter
	bench    *regexp.Regexp
}

// open finds the module and its packages with benchmarks.
func open(ctx context.Context, o Options) (*module, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	m := &module{o: o, tool: gocmd.Tool{Dir: o.Dir}}
	if o.Tags != "" {
		m.tool.Flags = []string{"-tags=" + o.Tags}
	}
	var err error
	top, _, _ := strings.Cut(o.Bench, "/")
	if m.bench, err = regexp.Compile(top); err != nil {
		return nil, fmt.Errorf("-bench: %w", err)
	}
	var t evidence.Target
	if err := gocmd.DescribeModules(ctx, m.tool, &t); err != nil {
		return nil, err
	}
	if t.ModuleDir == "" {
		if _, err := m.tool.Output(ctx, "list", "-m"); err != nil {
			return nil, fmt.Errorf("there is no module here that the go command can work with: %w", err)
		}
		return nil, errors.New("there is no module here: budgets are kept in the root folder of one")
	}
	if m.dir, err = filepath.EvalSymlinks(t.ModuleDir); err != nil {
		return nil, err
	}
	if here, err := filepath.Abs(o.Dir); err == nil && len(t.Workspace) > 1 && !m.inside(here) {
		return nil, fmt.Errorf("a workspace has budgets for each module: choose one with -C, of %s", strings.Join(t.Workspace, ", "))
	}
	m.path = t.Module
	if err := m.environment(ctx); err != nil {
		return nil, err
	}
	if err := m.find(ctx); err != nil {
		return nil, err
	}
	m.counter, err = count.New(count.Options{Tool: m.tool, Collect: o.Collect, Progress: o.Progress})
	return m, err
}

func (m *module) close() { m.counter.Close() }

// environment asks for what figures depend on, and refuses builds that are not the program.
func (m *module) environment(ctx context.Context) error {
	set, err := m.tool.Settings(ctx, "GOVERSION", "GOOS", "GOARCH", "GOFLAGS")
	if err != nil {
		return err
	}
	tags := strings.FieldsFunc(m.o.Tags, func(c rune) bool { return c == ',' || c == ' ' })
	for _, f := range gocmd.FlagFields(set["GOFLAGS"]) {
		name, value, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch {
		case slices.Contains([]string{"race", "cover", "covermode", "coverpkg", "coverprofile", "msan", "asan"}, name) && value != "false":
			return fmt.Errorf("%w: GOFLAGS has -%s, which changes what a program allocates", ErrRefused, name)
		case name == "gcflags" && (strings.Contains(value, "-N") || strings.Contains(value, "-l")):
			return fmt.Errorf("%w: GOFLAGS has -gcflags=%s, which turns optimisations off", ErrRefused, value)
		case name == "tags":
			tags = append(tags, strings.Split(value, ",")...)
		}
	}
	m.env = budget.Env{Go: budget.Release(set["GOVERSION"]), OS: set["GOOS"], Arch: set["GOARCH"], Tags: budget.JoinTags(tags)}
	return nil
}

var benchFunc = regexp.MustCompile(`(?m)^func (Benchmark\w*)\(`)

// find lists the packages and keeps those with benchmarks.
func (m *module) find(ctx context.Context) error {
	list, err := m.tool.Packages(ctx, m.o.Patterns)
	if err == nil {
		err = gocmd.NotFound(list)
	}
	if err != nil {
		return err
	}
	m.listed = list
	for _, p := range list {
		if m.inside(p.Dir) && slices.ContainsFunc(testFiles(p), hasBenchmarks) {
			m.packages = append(m.packages, p)
		}
	}
	return nil
}

// inside reports whether a folder is of the module itself: other modules of a workspace have files
// of their own.
func (m *module) inside(dir string) bool {
	rel, err := filepath.Rel(m.dir, realPath(dir))
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

func realPath(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

func testFiles(p gocmd.Package) []string {
	var files []string
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		files = append(files, filepath.Join(p.Dir, name))
	}
	return files
}

func hasBenchmarks(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && benchFunc.Match(text)
}

// folder is how the file names a package.
func (m *module) folder(dir string) string {
	rel, err := filepath.Rel(m.dir, realPath(dir))
	if err != nil || rel == "." {
		return "."
	}
	return "./" + filepath.ToSlash(rel)
}

// file is the path of the budget file.
func (m *module) file() string { return filepath.Join(m.dir, budget.FileName) }

// cpus are the values of GOMAXPROCS that are counted.
func (m *module) cpus(f *budget.File) []int {
	switch {
	case len(m.o.CPU) > 0:
		return m.o.CPU
	case f != nil && len(f.CPU) > 0:
		return f.CPU
	}
	return []int{1}
}
