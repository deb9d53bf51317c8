package count

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Reached are files on what the tests and benchmarks of a package call in one, and what they allocate.
type Reached struct {
	Coverage string // how often each block ran
	Profile  string // every allocation, with its stack
	dir      string
}

// Close removes the files.
func (r *Reached) Close() error { return os.RemoveAll(r.dir) }

// Reach runs the tests of a package and a few operations of its benchmarks: once with counters in the
// code of one package, of the import path, and once with a record of allocations. Tests that fail
// have been run all the same.
func (c *Counter) Reach(ctx context.Context, p Package, counted string) (*Reached, error) {
	p.Plain = true
	bin, err := c.Build(ctx, p)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(c.tmp, "reach-")
	if err != nil {
		return nil, err
	}
	r := &Reached{filepath.Join(dir, "cover.txt"), filepath.Join(dir, "allocs.pprof"), dir}
	if bin == "" {
		return r, nil
	}
	covered := filepath.Join(dir, "cover.test")
	flags := append(slices.Clip(c.flags), "-covermode=count", "-coverpkg="+counted)
	if err := c.tool.TestBinary(ctx, p.Path, covered, flags...); err != nil {
		return r, fmt.Errorf("%s %w: %w", p.Path, ErrBuild, err)
	}
	for _, one := range []struct{ bin, flag string }{{covered, "-test.coverprofile=" + r.Coverage}, {bin, "-test.memprofile=" + r.Profile}} {
		run := Run{Pattern: ".", Ops: 10, CPU: 1, Args: []string{"-test.run=.", "-test.memprofilerate=1", one.flag}}
		if _, _, err := c.start(ctx, one.bin, p, run); err != nil {
			return r, err
		}
	}
	return r, nil
}
