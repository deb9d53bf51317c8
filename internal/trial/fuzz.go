package trial

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// Limits of fuzzing.
const (
	mostTargets = 3
	fuzzFor     = 2 * time.Second // each target
	fuzzLimit   = time.Minute
)

// Fuzzed is what the fuzz targets of a package found.
type Fuzzed struct {
	Targets []string // that ran
	Fails   string   // a target that fails with the change and not without it; empty for none
	Output  string
}

// Fuzz runs the fuzz targets of a package for a moment each, in a folder of their own: what they find is
// not written to the user's test data.
func (j *Judge) Fuzz(ctx context.Context, path string, files Files) (Fuzzed, error) {
	var f Fuzzed
	p, err := j.builder.Find(ctx, path)
	if err != nil {
		return f, err
	}
	names, err := targets(p)
	if err != nil || len(names) == 0 {
		return f, err
	}
	dir, err := j.private(p)
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	for _, name := range names[:min(len(names), mostTargets)] {
		out, err := j.fuzz(ctx, fuzzing{path, name, dir, files})
		if err != nil {
			return f, err
		}
		if out != "" {
			before, err := j.fuzz(ctx, fuzzing{path, name, dir, nil})
			if err != nil {
				return f, err
			}
			if before == "" {
				f.Fails, f.Output = name, out
				return f, nil
			}
			continue
		}
		f.Targets = append(f.Targets, name)
	}
	return f, nil
}

// fuzzing is one run of a target.
type fuzzing struct {
	path, target, dir string
	files             Files
}

// fuzz returns what a failing target printed; empty if it passes.
func (j *Judge) fuzz(ctx context.Context, f fuzzing) (string, error) {
	bin, err := j.build(ctx, f.path, f.files)
	if err != nil {
		return "", err
	}
	cache, err := j.builder.Temp("fuzz")
	if err != nil {
		return "", err
	}
	res, err := j.builder.Run(ctx, bin, version.Run{Dir: f.dir, Limit: fuzzLimit, Args: []string{"-test.run=^$", "-test.fuzz=^" + f.target + "$",
		fmt.Sprintf("-test.fuzztime=%v", fuzzFor), "-test.fuzzcachedir=" + cache, "-test.parallel=2", "-test.timeout=0"}})
	if err != nil || res.Ended == nil || errors.Is(res.Ended, version.ErrLate) {
		return "", err
	}
	return gocmd.LastLines(strings.TrimSpace(string(res.Out)), 15), nil
}

// targets are the fuzz targets in the tests of a package.
func targets(p gocmd.Package) ([]string, error) {
	var out []string
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") && fn.Type.Params.NumFields() == 1 {
				out = append(out, fn.Name.Name)
			}
		}
	}
	return out, nil
}

// private is a folder that looks like that of a package: links to what is there, and a copy of what
// fuzzing writes to.
func (j *Judge) private(p gocmd.Package) (string, error) {
	dir, err := j.builder.Temp("private")
	if err != nil {
		return "", err
	}
	if err := links(p.Dir, dir, "testdata"); err != nil {
		return "", err
	}
	from, to := filepath.Join(p.Dir, "testdata"), filepath.Join(dir, "testdata")
	if err := os.Mkdir(to, 0o755); err != nil {
		return "", err
	}
	if err := links(from, to, "fuzz"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(from, "fuzz")); err != nil {
		return dir, nil
	}
	return dir, os.CopyFS(filepath.Join(to, "fuzz"), os.DirFS(filepath.Join(from, "fuzz")))
}

// links makes in a folder a link to each entry of another but one.
func links(from, to, but string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == but {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
