package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/affected"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
)

// base is the version that a module is compared with.
type base struct {
	repo   sides.Repository
	commit string
	change affected.Change
	goMod  string // its go.mod
	file   *budget.File
	// Made when it is needed.
	tmp     string
	tree    *sides.Tree
	counter *count.Counter
	mu      sync.Mutex
	dirs    map[string]string // of packages, by import path
}

// ErrNoBase means that the revision to compare with is not in the clone.
var ErrNoBase = errors.New("is not in this clone")

// findBase finds the version to compare with: the one that was asked for, or the last one that the
// branch has in common with the remote's default branch. Without either there is none, and all
// benchmarks are counted.
func (m *module) findBase(ctx context.Context) (*base, error) {
	repo, err := sides.FindRepository(ctx, m.dir)
	if err != nil {
		if m.o.Base != "" {
			return nil, fmt.Errorf("-base %s: %w", m.o.Base, err)
		}
		return nil, nil
	}
	b := &base{repo: repo}
	if m.o.Base != "" {
		if b.commit, err = m.common(ctx, repo, m.o.Base); err != nil {
			return nil, err
		}
	} else {
		for _, branch := range []string{"origin/HEAD", "origin/main", "origin/master"} {
			if b.commit, err = m.common(ctx, repo, branch); err == nil {
				break
			}
		}
		if err != nil {
			return nil, nil
		}
	}
	if err := m.changeSince(ctx, b); err != nil {
		return nil, err
	}
	if m.o.Base == "" && len(b.change.Files) == 0 {
		return nil, nil // the branch itself: all is to be counted
	}
	if text, err := b.show(ctx, budget.FileName); err == nil {
		b.file, _ = budget.Parse(budget.FileName, text) // a broken file of the past limits nothing
	}
	return b, nil
}

// common is the last commit that HEAD and a revision have in common, or in a clone that ends before
// it the revision itself.
func (m *module) common(ctx context.Context, repo sides.Repository, revision string) (string, error) {
	commit, err := repo.Commit(ctx, revision)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		branch := strings.TrimPrefix(revision, "origin/")
		return "", fmt.Errorf("-base %s %w; 'git fetch --depth=1 origin %s' and -base FETCH_HEAD may help", revision, ErrNoBase, branch)
	}
	out, err := sides.Git(ctx, repo.Root, nil, "merge-base", commit, "HEAD")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if text := strings.TrimSpace(string(out)); err == nil && text != "" {
		return text, nil
	}
	return commit, nil
}

// changeSince lists what differs from the base, whether it is committed or not.
func (m *module) changeSince(ctx context.Context, b *base) error {
	changed, err := sides.Git(ctx, b.repo.Root, nil, "diff", "--name-only", "--no-renames", "-z", b.commit, "--")
	if err != nil {
		return err
	}
	others, err := sides.Git(ctx, b.repo.Root, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	var mod bool
	for name := range strings.SplitSeq(string(changed)+string(others), "\x00") {
		if name == "" { // behind the last one
			continue
		}
		file := filepath.Join(b.repo.Root, filepath.FromSlash(name))
		switch filepath.Base(name) {
		case budget.FileName:
			continue
		case "go.work", "go.work.sum":
			b.change.All = true
		case "go.mod":
			mod = mod || filepath.Dir(file) == m.dir
		}
		b.change.Files = append(b.change.Files, file)
	}
	if !mod {
		return nil
	}
	before, err := b.show(ctx, "go.mod")
	if err != nil {
		b.change.All = true
		return nil
	}
	now, err := os.ReadFile(filepath.Join(m.dir, "go.mod"))
	if err != nil {
		return err
	}
	b.goMod = string(before)
	c := affected.Modules(b.goMod, string(now))
	b.change.Modules, b.change.All = c.Modules, b.change.All || c.All
	return nil
}

// show is the content of a file of the module at the base.
func (b *base) show(ctx context.Context, name string) ([]byte, error) {
	return sides.Git(ctx, b.repo.Root, nil, "show", b.commit+":"+strings.TrimPrefix(b.repo.Prefix+"/"+name, "/"))
}

// affectedPackages are the packages with benchmarks that a change since the base can affect.
func (m *module) affectedPackages(ctx context.Context, b *base) ([]gocmd.Package, error) {
	if b == nil || m.o.All {
		return m.packages, nil
	}
	paths := importPaths(m.packages)
	if len(paths) == 0 {
		return nil, nil
	}
	list, err := m.imports(ctx, paths)
	if err != nil {
		return nil, err
	}
	embeds, err := m.tool.Embedded(ctx, paths)
	if err != nil {
		return nil, err
	}
	b.change.Embeds = embeds
	reached := affected.Packages(list, b.change)
	var out []gocmd.Package
	for _, p := range m.packages {
		if reached[p.ImportPath] {
			out = append(out, p)
		}
	}
	return out, nil
}

func importPaths(packages []gocmd.Package) []string {
	paths := make([]string, len(packages))
	for i, p := range packages {
		paths[i] = p.ImportPath
	}
	return paths
}

// imports lists packages, their tests, and all that these import.
func (m *module) imports(ctx context.Context, paths []string) ([]gocmd.Package, error) {
	list, err := m.tool.Packages(ctx, paths, "-deps", "-test")
	for i := range list {
		list[i].Dir = realPath(list[i].Dir)
	}
	return list, err
}

// open checks the base out into a folder of ours, once.
func (b *base) open(ctx context.Context, m *module) error {
	if b.counter != nil {
		return nil
	}
	b.dirs = map[string]string{}
	var err error
	if b.tmp, err = os.MkdirTemp("", "heaptrim-base-"); err != nil {
		return err
	}
	maker := sides.Maker{Dir: m.dir, Tmp: b.tmp, BuildFlags: m.tool.Flags, Progress: m.o.Progress, Warn: func(string, ...any) {}}
	if b.tree, err = maker.Make(ctx, "base", sides.Side{Source: sides.Revision, At: b.commit}); err != nil {
		return err
	}
	b.counter, err = count.New(count.Options{Tool: b.tree.Tool, Collect: m.o.Collect, Progress: m.o.Progress})
	return err
}

func (b *base) close() {
	if b == nil {
		return
	}
	if b.counter != nil {
		b.counter.Close()
	}
	if b.tmp != "" {
		os.RemoveAll(b.tmp)
	}
}

// pkg is a package of the base; false if it was not there.
func (b *base) pkg(ctx context.Context, p count.Package) (count.Package, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dir, known := b.dirs[p.Path]
	if !known {
		list, err := b.tree.Tool.Packages(ctx, []string{p.Path})
		if err == nil && len(list) == 1 {
			dir = list[0].Dir
		}
		b.dirs[p.Path] = dir
	}
	return count.Package{Path: p.Path, Dir: dir, Plain: p.Plain}, dir != ""
}
