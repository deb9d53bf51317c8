// Package version builds and runs the tests of versions of packages: the code as it is, or with
// other content of some files, by overlay, so that the user's files are not touched.
package version

import (
	"cmp"
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

// ErrLate means that a program took longer than it may.
var ErrLate = errors.New("took more than its time")

// Files is a change: the new content of files by their absolute names. None is the code as it is.
type Files map[string][]byte

// Hash names a change by its content.
func (f Files) Hash() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%s\x00%d\x00", name, len(f[name]))
		h.Write(f[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Builder builds test binaries into a folder of its own. It is not safe for concurrent use. Close
// removes the folder.
type Builder struct {
	Tool gocmd.Tool
	// Left is told what a program that was stopped left in its package's folder, and where it is now, or why it could not
	// be moved; it may be nil.
	Left     func(pkg, what, to string, err error)
	tmp      string
	packages map[string]gocmd.Package
	binaries map[string]built // by package and content
	testing  Files            // package testing as binaries have it; nil before it is made
}

// built is a test binary, or why there is none.
type built struct {
	Binary
	err error
}

// Binary is a test binary. Its Path is empty if the package has no tests.
type Binary struct {
	Package string // import path
	Path    string
}

// New makes a builder that runs the go command in a folder.
func New(tool gocmd.Tool) (*Builder, error) {
	tmp, err := os.MkdirTemp("", "heaptrim-trial-")
	if err != nil {
		return nil, err
	}
	return &Builder{tmp: tmp, Tool: tool, packages: map[string]gocmd.Package{}, binaries: map[string]built{}}, nil
}

// Close removes what was built.
func (b *Builder) Close() error { return os.RemoveAll(b.tmp) }

// Temp makes a folder that Close removes.
func (b *Builder) Temp(what string) (string, error) { return os.MkdirTemp(b.tmp, what+"-") }

// Find asks the go command for a package, once.
func (b *Builder) Find(ctx context.Context, path string) (gocmd.Package, error) {
	if p, ok := b.packages[path]; ok {
		return p, nil
	}
	list, err := b.Tool.Packages(ctx, []string{path})
	if err == nil {
		err = gocmd.NotFound(list)
	}
	if err != nil {
		return gocmd.Package{}, err
	}
	if len(list) != 1 {
		return gocmd.Package{}, fmt.Errorf("%s names %d packages", path, len(list))
	}
	b.packages[path] = list[0]
	return list[0], nil
}

// Test makes the test binary of a package with a change, once for each content.
func (b *Builder) Test(ctx context.Context, path string, files Files, flags ...string) (Binary, error) {
	key := path + " " + files.Hash() + fmt.Sprint(flags)
	if have, ok := b.binaries[key]; ok {
		return have.Binary, have.err
	}
	dir, err := b.Temp("build")
	if err != nil {
		return Binary{}, err
	}
	own, err := b.ownTesting(ctx)
	if err != nil {
		return Binary{}, err
	}
	all := maps.Clone(own)
	maps.Copy(all, files)
	if len(all) > 0 {
		overlay, err := Overlay(dir, all)
		if err != nil {
			return Binary{}, err
		}
		flags = append(slices.Clip(flags), "-overlay", overlay)
	}
	made := built{Binary: Binary{path, filepath.Join(dir, "p.test")}}
	err = b.Tool.TestBinary(ctx, path, made.Path, flags...)
	if ctx.Err() != nil {
		return Binary{}, ctx.Err()
	}
	if err != nil {
		made.err = fmt.Errorf("%s %w: %w", path, ErrBuild, err)
	} else if _, err := os.Stat(made.Path); err != nil {
		made.Path = ""
	}
	b.binaries[key] = made
	return made.Binary, made.err
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

// Run says how a test binary runs.
type Run struct {
	Args  []string
	Env   []string // beside that of this process
	Dir   string   // "" is the package's
	Limit time.Duration
}

// Ran is the output of a test binary.
type Ran struct {
	Out   []byte // its end
	Ended error  // of the process; nil if it ended with 0
}

// mostOutput limits how much of a test binary's output is kept; the end is.
const mostOutput = 4 << 20

// Run runs a test binary. The error is that of the context, or of the
// package; that the program failed is in the result.
func (b *Builder) Run(ctx context.Context, bin Binary, r Run) (Ran, error) {
	p, err := b.Find(ctx, bin.Package)
	if err != nil {
		return Ran{}, err
	}
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	cmd := exec.CommandContext(limited, bin.Path, r.Args...)
	cmd.Dir = cmp.Or(r.Dir, p.Dir)
	cmd.Env = append(append(os.Environ(), r.Env...), "PWD="+cmd.Dir)
	out := &process.Tail{Most: mostOutput}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 2 * time.Second
	before := entries(cmd.Dir)
	err = process.Run(cmd, nil)
	if limited.Err() != nil {
		b.sweep(bin.Package, cmd.Dir, before)
	}
	switch {
	case ctx.Err() != nil:
		return Ran{}, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("%s: %w of %v", bin.Package, ErrLate, r.Limit)
	}
	return Ran{out.Bytes(), err}, nil
}
