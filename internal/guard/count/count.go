// Package count counts what benchmarks allocate: it builds test binaries whose counts are not cut
// off, and runs a fixed number of operations in processes whose collector does not run by itself.
package count

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/host"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// Options says how to build and run. The zero value counts the current module.
type Options struct {
	Tool     gocmd.Tool
	Limit    time.Duration // of one process; 0 means 2 minutes
	Collect  bool          // let the collector run as it does by default; to judge what that changes
	Progress func(format string, args ...any)
}

// Counter builds and runs the benchmarks of one version of a module. Its methods may be called
// concurrently. Close removes what it built.
type Counter struct {
	o      Options
	tmp    string
	limit  string // GOMEMLIMIT of the processes
	once   sync.Once
	exact  error
	tool   gocmd.Tool
	flags  []string // of exact counts
	mu     sync.Mutex
	built  map[string]*binary
	suffix int
}

// binary is the test binary of a package.
type binary struct {
	once sync.Once
	path string // "" if the package has no tests
	err  error
}

// Package is a package whose benchmarks are counted.
type Package struct {
	Path  string // import path
	Dir   string // absolute
	Plain bool   // its benchmarks need the full paths of source files in the binary
}

// ErrBuild means that a test binary does not build.
var ErrBuild = errors.New("does not build")

// New makes a counter with a folder of its own.
func New(o Options) (*Counter, error) {
	tmp, err := os.MkdirTemp("", "heaptrim-guard-")
	if err != nil {
		return nil, err
	}
	if o.Limit <= 0 {
		o.Limit = 2 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return &Counter{o: o, tmp: tmp, limit: memoryLimit(), tool: o.Tool, built: map[string]*binary{}}, nil
}

// Close removes the folder of the counter.
func (c *Counter) Close() error { return os.RemoveAll(c.tmp) }

// Workers is how many processes run at a time: counts do not depend on how busy a machine is.
func Workers() int { return max(1, min(runtime.NumCPU(), 8)) }

// memoryLimit lets processes collect before they fill the machine: a share of its memory each.
func memoryLimit() string {
	e := host.Environment()
	all := e.MemoryBytes
	if e.CgroupLimit > 0 {
		all = min(all, e.CgroupLimit)
	}
	if all <= 0 {
		all = 4 << 30
	}
	return fmt.Sprintf("%dB", max(all/4/int64(Workers()), 256<<20))
}

// prepare finds out once how test binaries count exactly.
func (c *Counter) prepare(ctx context.Context) error {
	c.once.Do(func() {
		tool, err := c.tool.Overlayable(ctx)
		if err != nil {
			c.exact = err
			return
		}
		c.tool = tool
		files, err := version.OwnTesting(ctx, tool)
		if err != nil || len(files) == 0 {
			c.exact = err
			return
		}
		overlay, err := version.Overlay(c.tmp, files)
		c.flags, c.exact = []string{"-overlay", overlay}, err
	})
	return c.exact
}

// Exact reports whether counts have their fractions. Without them, figures are cut off.
func (c *Counter) Exact(ctx context.Context) (bool, error) {
	err := c.prepare(ctx)
	return len(c.flags) > 0, err
}

// Build makes the test binary of a package, once. A package without tests has none, which is no
// error. Unless the package is plain, paths in the binary do not depend on where the module lies:
// what logs and errors say of a file would be longer in another folder.
func (c *Counter) Build(ctx context.Context, p Package) (string, error) {
	if err := c.prepare(ctx); err != nil {
		return "", err
	}
	key := p.Path
	if p.Plain {
		key += " plain"
	}
	c.mu.Lock()
	b, ok := c.built[key]
	if !ok {
		b = &binary{}
		c.built[key] = b
		c.suffix++
	}
	at := filepath.Join(c.tmp, fmt.Sprintf("p%d.test", c.suffix))
	if runtime.GOOS == "windows" {
		at += ".exe"
	}
	c.mu.Unlock()
	b.once.Do(func() { b.path, b.err = c.build(ctx, p, at) })
	return b.path, b.err
}

func (c *Counter) build(ctx context.Context, p Package, at string) (string, error) {
	c.o.Progress("building %s", p.Path)
	flags := slices.Clip(c.flags)
	if !p.Plain {
		flags = append(flags, "-trimpath")
	}
	err := c.tool.TestBinary(ctx, p.Path, at, flags...)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("%s %w: %w", p.Path, ErrBuild, err)
	}
	if _, err := os.Stat(at); err != nil {
		return "", nil
	}
	return at, nil
}

// Each calls f for every item, some at a time, and returns the first error.
func Each[T any](items []T, f func(T) error) error {
	var group sync.WaitGroup
	var mu sync.Mutex
	var first error
	work := make(chan T)
	for range min(Workers(), max(len(items), 1)) {
		group.Go(func() {
			for item := range work {
				if err := f(item); err != nil {
					mu.Lock()
					first = cmp.Or(first, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, item := range items {
		work <- item
	}
	close(work)
	group.Wait()
	return first
}

// Tool is the go command that builds for the counter.
func (c *Counter) Tool() gocmd.Tool { return c.o.Tool }
