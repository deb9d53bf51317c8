// Package shelf keeps budget files beside the tree, in a ref of git or a folder: one for each commit.
package shelf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/tempfile"
)

// Shelf is a place with a file for each commit that has budgets.
type Shelf struct {
	Repository sides.Repository
	ref        string // of git; "" for a folder
	dir        string
}

// Open reads ref:NAME or dir:FOLDER, as a module in a folder says it.
func Open(ctx context.Context, module, spec string) (Shelf, error) {
	repo, err := sides.FindRepository(ctx, module)
	if err != nil {
		return Shelf{}, fmt.Errorf("store %s: %w", spec, err)
	}
	kind, at, _ := strings.Cut(spec, ":")
	switch {
	case kind == "ref" && at != "":
		if !strings.HasPrefix(at, "refs/") {
			at = "refs/heaptrim/" + at
		}
		return Shelf{Repository: repo, ref: at}, nil
	case kind == "dir" && at != "":
		if !filepath.IsAbs(at) {
			at = filepath.Join(module, at)
		}
		return Shelf{Repository: repo, dir: at}, nil
	}
	return Shelf{}, fmt.Errorf("store %s: want ref:NAME or dir:FOLDER", spec)
}

// Name is the file of a commit: a repository may hold several modules.
func (s Shelf) Name(commit string) string {
	prefix := strings.ReplaceAll(s.Repository.Prefix, "/", "+")
	return strings.TrimPrefix(prefix+"+", "+") + commit + ".budget"
}

// Names lists the files.
func (s Shelf) Names(ctx context.Context) (map[string]bool, error) {
	all := map[string]bool{}
	if s.dir != "" {
		entries, err := os.ReadDir(s.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			all[e.Name()] = true
		}
		return all, nil
	}
	if _, err := s.Repository.Commit(ctx, s.ref); err != nil {
		return all, ctx.Err()
	}
	out, err := sides.Git(ctx, s.Repository.Root, nil, "ls-tree", "--name-only", "-z", s.ref)
	for name := range strings.SplitSeq(string(out), "\x00") {
		all[name] = true
	}
	return all, err
}

// Read is the content of a commit's file.
func (s Shelf) Read(ctx context.Context, commit string) ([]byte, error) {
	if s.dir != "" {
		return os.ReadFile(filepath.Join(s.dir, s.Name(commit)))
	}
	return sides.Git(ctx, s.Repository.Root, nil, "show", s.ref+":"+s.Name(commit))
}

// Write keeps the budgets of a commit. A ref gets a commit of its own: nothing in the working tree
// or the index is touched.
func (s Shelf) Write(ctx context.Context, commit string, f *budget.File) error {
	if s.dir != "" {
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			return err
		}
		return tempfile.Replace(filepath.Join(s.dir, s.Name(commit)), f.Write)
	}
	tmp, err := os.MkdirTemp("", "heaptrim-store-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	text := filepath.Join(tmp, "budget")
	if err := os.WriteFile(text, f.Bytes(), 0o600); err != nil {
		return err
	}
	git := func(args ...string) (string, error) {
		out, err := sides.Git(ctx, s.Repository.Root, []string{"GIT_INDEX_FILE=" + filepath.Join(tmp, "index")}, args...)
		return strings.TrimSpace(string(out)), err
	}
	blob, err := git("hash-object", "-w", text)
	if err != nil {
		return err
	}
	parent, err := s.Repository.Commit(ctx, s.ref)
	if err == nil {
		if _, err := git("read-tree", parent); err != nil {
			return err
		}
	}
	if _, err := git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+s.Name(commit)); err != nil {
		return err
	}
	tree, err := git("write-tree")
	if err != nil {
		return err
	}
	args := []string{"commit-tree", tree, "-m", "budgets of " + commit}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	made, err := git(args...)
	if err != nil {
		return err
	}
	_, err = git("update-ref", s.ref, made, parent)
	return err
}

// Nearest is the content of the last commit on HEAD's way that has budgets.
func (s Shelf) Nearest(ctx context.Context) ([]byte, error) {
	names, err := s.Names(ctx)
	if err != nil {
		return nil, err
	}
	out, err := sides.Git(ctx, s.Repository.Root, nil, "rev-list", "--max-count=1000", "HEAD")
	if err != nil {
		return nil, err
	}
	for commit := range strings.FieldsSeq(string(out)) {
		if names[s.Name(commit)] {
			return s.Read(ctx, commit)
		}
	}
	return nil, fs.ErrNotExist
}
