package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/tempfile"
)

// shelf is where budgets are kept beside the tree: a file for each commit that has some.
type shelf struct {
	repo sides.Repository
	ref  string // of git; "" for a folder
	dir  string
}

// openShelf reads ref:NAME or dir:FOLDER.
func (m *module) openShelf(ctx context.Context, spec string) (shelf, error) {
	repo, err := sides.FindRepository(ctx, m.dir)
	if err != nil {
		return shelf{}, fmt.Errorf("store %s: %w", spec, err)
	}
	kind, at, _ := strings.Cut(spec, ":")
	switch {
	case kind == "ref" && at != "":
		if !strings.HasPrefix(at, "refs/") {
			at = "refs/heaptrim/" + at
		}
		return shelf{repo: repo, ref: at}, nil
	case kind == "dir" && at != "":
		if !filepath.IsAbs(at) {
			at = filepath.Join(m.dir, at)
		}
		return shelf{repo: repo, dir: at}, nil
	}
	return shelf{}, fmt.Errorf("store %s: want ref:NAME or dir:FOLDER", spec)
}

// name is the file of a commit: a repository may hold several modules.
func (s shelf) name(commit string) string {
	prefix := strings.ReplaceAll(s.repo.Prefix, "/", "+")
	return strings.TrimPrefix(prefix+"+", "+") + commit + ".budget"
}

// names lists the files.
func (s shelf) names(ctx context.Context) (map[string]bool, error) {
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
	if _, err := s.repo.Commit(ctx, s.ref); err != nil {
		return all, ctx.Err()
	}
	out, err := sides.Git(ctx, s.repo.Root, nil, "ls-tree", "--name-only", "-z", s.ref)
	for name := range strings.SplitSeq(string(out), "\x00") {
		all[name] = true
	}
	return all, err
}

func (s shelf) read(ctx context.Context, commit string) ([]byte, error) {
	if s.dir != "" {
		return os.ReadFile(filepath.Join(s.dir, s.name(commit)))
	}
	return sides.Git(ctx, s.repo.Root, nil, "show", s.ref+":"+s.name(commit))
}

// write keeps the budgets of a commit. A ref gets a commit of its own: nothing in the working tree
// or the index is touched.
func (s shelf) write(ctx context.Context, commit string, f *budget.File) error {
	if s.dir != "" {
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			return err
		}
		return tempfile.Replace(filepath.Join(s.dir, s.name(commit)), f.Write)
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
		out, err := sides.Git(ctx, s.repo.Root, []string{"GIT_INDEX_FILE=" + filepath.Join(tmp, "index")}, args...)
		return strings.TrimSpace(string(out)), err
	}
	blob, err := git("hash-object", "-w", text)
	if err != nil {
		return err
	}
	parent, err := s.repo.Commit(ctx, s.ref)
	if err == nil {
		if _, err := git("read-tree", parent); err != nil {
			return err
		}
	}
	if _, err := git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+s.name(commit)); err != nil {
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

// nearest is the content of the last commit on HEAD's way that has budgets.
func (s shelf) nearest(ctx context.Context) ([]byte, error) {
	names, err := s.names(ctx)
	if err != nil {
		return nil, err
	}
	out, err := sides.Git(ctx, s.repo.Root, nil, "rev-list", "--max-count=1000", "HEAD")
	if err != nil {
		return nil, err
	}
	for commit := range strings.FieldsSeq(string(out)) {
		if names[s.name(commit)] {
			return s.read(ctx, commit)
		}
	}
	return nil, fs.ErrNotExist
}

// read reads the budgets from where they are kept.
func (m *module) read(ctx context.Context) (*budget.File, error) {
	text, err := os.ReadFile(m.file())
	if err != nil && (m.o.Store == "" || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f := &budget.File{Store: m.o.Store}
	if err == nil {
		if f, err = budget.Parse(budget.FileName, text); err != nil {
			return nil, err
		}
	}
	spec := m.o.Store
	if spec == "" {
		spec = f.Store
	}
	if spec == "" {
		return f, nil
	}
	s, err := m.openShelf(ctx, spec)
	if err != nil {
		return nil, err
	}
	if text, err = s.nearest(ctx); err != nil {
		return nil, err
	}
	kept, err := budget.Parse(spec, text)
	if err == nil {
		kept.Store = spec
	}
	return kept, err
}

// write puts the budgets where they are kept. If that is not the file of the module, that only says
// where.
func (m *module) write(ctx context.Context, f *budget.File) error {
	if f.Store == "" {
		return tempfile.Replace(m.file(), f.Write)
	}
	s, err := m.openShelf(ctx, f.Store)
	if err != nil {
		return err
	}
	head, err := s.repo.Commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	if err := s.write(ctx, head, f); err != nil {
		return err
	}
	pointer := *f
	pointer.Lines = nil
	if text, err := os.ReadFile(m.file()); err == nil && bytes.Equal(text, pointer.Bytes()) {
		return nil
	}
	return tempfile.Replace(m.file(), pointer.Write)
}

// Point is what a benchmark allocated at a commit.
type Point struct {
	Commit, Title string
	When          time.Time
	Figure        budget.Figure
}

// Series is the history of one line.
type Series struct {
	budget.Subject
	Keys   string
	Points []Point // the oldest first
}

// History reads the budgets of all commits that have some.
func History(ctx context.Context, o Options) ([]Series, error) {
	m, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	f, err := m.read(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	spec := o.Store
	if spec == "" && f != nil {
		spec = f.Store
	}
	var s shelf
	args := []string{"log", "--reverse", "--format=%H %ct %s"}
	if spec == "" {
		if s.repo, err = sides.FindRepository(ctx, m.dir); err != nil {
			return nil, err
		}
		args = append(args, "--", budget.FileName)
	} else if s, err = m.openShelf(ctx, spec); err != nil {
		return nil, err
	}
	out, err := sides.Git(ctx, m.dir, nil, args...)
	if err != nil {
		return nil, err
	}
	names, err := s.stored(ctx, spec)
	if err != nil {
		return nil, err
	}
	all := map[string]*Series{}
	var order []string
	for line := range strings.Lines(string(out)) {
		commit, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		when, title, _ := strings.Cut(rest, " ")
		var text []byte
		switch {
		case spec == "":
			text, err = sides.Git(ctx, s.repo.Root, nil, "show", commit+":"+strings.TrimPrefix(s.repo.Prefix+"/"+budget.FileName, "/"))
		case names[s.name(commit)]:
			text, err = s.read(ctx, commit)
		default:
			continue
		}
		if err != nil {
			continue // the commit that took the file out
		}
		past, err := budget.Parse(commit, text)
		if err != nil {
			continue // a file of another format
		}
		seconds, _ := strconv.ParseInt(when, 10, 64) // git prints a number
		for _, l := range past.Lines {
			key := l.Package + " " + l.Name + " " + l.Site + " " + l.Keys.String()
			if all[key] == nil {
				all[key] = &Series{Subject: l.Subject, Keys: l.Keys.String()}
				order = append(order, key)
			}
			all[key].Points = append(all[key].Points, Point{commit, title, time.Unix(seconds, 0).UTC(), l.Figure})
		}
	}
	slices.Sort(order)
	var series []Series
	for _, key := range order {
		if m.selected(all[key].Name) {
			series = append(series, *all[key])
		}
	}
	if len(series) == 0 {
		return nil, errors.New("no commit has budgets")
	}
	return series, nil
}

func (s shelf) stored(ctx context.Context, spec string) (map[string]bool, error) {
	if spec == "" {
		return nil, nil
	}
	return s.names(ctx)
}
