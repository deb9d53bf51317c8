// Package trial tries changes of source before they are said or made: in overlays, the user's
// files untouched, it counts what benchmarks allocate and runs tests.
package trial

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/process"
)

// ErrBuild means that a package does not build with a change.
var ErrBuild = errors.New("does not build")

// Options says where and how to build.
type Options struct {
	Dir        string    // of the go command; "" is the current one
	BuildFlags []string  // such as -tags=x
	Until      time.Time // tests that are not done by then are given up; zero: no limit
	Progress   func(format string, args ...any)
}

// errLate means that a program took longer than it may.
var errLate = errors.New("took more than its time")

// Files is a change: the new content of files by their absolute names. None is the code as it is.
type Files map[string][]byte

// Judge builds and runs versions of packages. It is not safe for concurrent use. Close removes
// what it built.
type Judge struct {
	o        Options
	tool     gocmd.Tool
	tmp      string
	packages map[string]gocmd.Package
	binaries map[string]built // by package and content
	testing  Files            // package testing with exact counts; nil before it is made
}

// built is a test binary, or why there is none.
type built struct {
	pkg  string // import path
	path string // "" if the package has no tests
	err  error
}

// New makes a judge with a folder of its own for what it builds.
func New(o Options) (*Judge, error) {
	tmp, err := os.MkdirTemp("", "heaptrim-trial-")
	if err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return &Judge{o: o, tmp: tmp, tool: gocmd.Tool{Dir: o.Dir, Flags: o.BuildFlags},
		packages: map[string]gocmd.Package{}, binaries: map[string]built{}}, nil
}

// More gives tests this much time from now; 0: no limit.
func (j *Judge) More(d time.Duration) {
	j.o.Until = time.Time{}
	if d > 0 {
		j.o.Until = time.Now().Add(d)
	}
}

// Close removes the folder of the judge.
func (j *Judge) Close() error { return os.RemoveAll(j.tmp) }

// find asks the go command for a package, once.
func (j *Judge) find(ctx context.Context, path string) (gocmd.Package, error) {
	if p, ok := j.packages[path]; ok {
		return p, nil
	}
	list, err := j.tool.Packages(ctx, []string{path})
	if err == nil {
		err = gocmd.NotFound(list)
	}
	if err != nil {
		return gocmd.Package{}, err
	}
	if len(list) != 1 {
		return gocmd.Package{}, fmt.Errorf("%s names %d packages", path, len(list))
	}
	j.packages[path] = list[0]
	return list[0], nil
}

// build makes the test binary of a package with a change, once for each content.
func (j *Judge) build(ctx context.Context, path string, files Files, flags ...string) (built, error) {
	key := path + " " + hash(files) + fmt.Sprint(flags)
	if b, ok := j.binaries[key]; ok {
		return b, nil
	}
	dir, err := os.MkdirTemp(j.tmp, "build-")
	if err != nil {
		return built{}, err
	}
	args := append([]string{"-c", "-vet=off", "-o", filepath.Join(dir, "p.test")}, flags...)
	exact, err := j.exactTesting(ctx)
	if err != nil {
		return built{}, err
	}
	all := maps.Clone(exact)
	maps.Copy(all, files)
	if len(all) > 0 {
		overlay, err := Overlay(dir, all)
		if err != nil {
			return built{}, err
		}
		args = append(args, "-overlay", overlay)
	}
	_, err = j.tool.Output(ctx, "test", append(args, path)...)
	if ctx.Err() != nil {
		return built{}, ctx.Err()
	}
	b := built{pkg: path, path: filepath.Join(dir, "p.test")}
	if err != nil {
		b.err = fmt.Errorf("%s %w: %w", path, ErrBuild, err)
	} else if _, err := os.Stat(b.path); err != nil {
		b.path = ""
	}
	j.binaries[key] = b
	return b, b.err
}

// Overlay writes a change into dir, as the go command's -overlay takes it, and returns the name
// of its list.
func Overlay(dir string, files Files) (string, error) {
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		at := filepath.Join(dir, fmt.Sprintf("%d_%s", i, filepath.Base(name)))
		if err := os.WriteFile(at, files[name], 0o600); err != nil {
			return "", err
		}
		replace[name] = at
	}
	return gocmd.WriteOverlay(dir, replace)
}

// hash names a change by its content.
func hash(files Files) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s\x00%d\x00", name, len(files[name]))
		h.Write(files[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// ran is the output of a test binary.
type ran struct {
	out   []byte
	ended error // of the process; nil if it ended with 0
}

// mostOutput limits how much of a test binary's output is kept; the end is.
const mostOutput = 4 << 20

// run starts a test binary in its package's folder.
func (j *Judge) run(ctx context.Context, b built, limit time.Duration, args ...string) (ran, error) {
	p, err := j.find(ctx, b.pkg)
	if err != nil {
		return ran{}, err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, b.path, args...)
	cmd.Dir = p.Dir
	out := &process.Tail{Most: mostOutput}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 2 * time.Second
	err = process.Run(cmd, nil)
	switch {
	case ctx.Err() != nil:
		return ran{}, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("%s: %w of %v", b.pkg, errLate, limit)
	}
	return ran{out.Bytes(), err}, nil
}
