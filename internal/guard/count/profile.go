package count

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Profiles are two allocation profiles of a benchmark, of every allocation, over a smaller and a
// larger number of operations. What is in both is not of the operations.
type Profiles struct {
	Few, Many       string // files
	FewOps, ManyOps int64
	dir             string
}

// Close removes the files.
func (p *Profiles) Close() error { return os.RemoveAll(p.dir) }

// Profile records what a benchmark allocates, stack by stack. The package should be plain, so that
// files have their names.
func (c *Counter) Profile(ctx context.Context, p Package, name string, r Run) (*Profiles, error) {
	bin, err := c.Build(ctx, p)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(c.tmp, "profile-")
	if err != nil {
		return nil, err
	}
	out := &Profiles{Few: filepath.Join(dir, "few.pprof"), Many: filepath.Join(dir, "many.pprof"), dir: dir,
		FewOps: r.Ops, ManyOps: 2 * r.Ops}
	if r.Ops >= 10 {
		out.FewOps, out.ManyOps = r.Ops/10, r.Ops
	}
	r.Pattern, r.Slower = pattern(name), 5 // each allocation is recorded with its stack
	for _, one := range []struct {
		file string
		ops  int64
	}{{out.Few, out.FewOps}, {out.Many, out.ManyOps}} {
		r.Ops, r.Args = one.ops, []string{"-test.memprofile=" + one.file, "-test.memprofilerate=1"}
		text, ended, err := c.start(ctx, bin, p, r)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(one.file); err != nil {
			return nil, fmt.Errorf("%s left no profile: %w: %s", name, ended, failure(text))
		}
	}
	return out, nil
}
