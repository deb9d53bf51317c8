package guard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/guard/bisect"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
)

// Bisection is the search for the commit that made a benchmark grow.
type Bisection struct {
	Package, Name string
	bisect.Result
}

// Bisect finds the commit between two revisions that made a benchmark allocate more, by counting
// about as many commits as their number has binary digits. The working tree is left alone.
func Bisect(ctx context.Context, o Options, good, bad string) (*Bisection, error) {
	m, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	s, err := m.search(ctx, good, bad)
	if err != nil {
		return nil, err
	}
	defer s.close()
	found := bisect.Search{Commits: len(s.commits), Count: s.at}
	s.out.Result, err = found.Run(ctx)
	return &s.out, err
}

// search is a bisection under way.
type search struct {
	m       *module
	repo    sides.Repository
	tmp     string
	commits []string // the good end first
	out     Bisection
	ops     int64
	maker   sides.Maker
	pkg     string // import path
}

func (m *module) search(ctx context.Context, good, bad string) (*search, error) {
	repo, err := sides.FindRepository(ctx, m.dir)
	if err != nil {
		return nil, err
	}
	if good == "" {
		out, err := sides.Git(ctx, m.dir, nil, "log", "-1", "--format=%H", "--", budget.FileName)
		if good = strings.TrimSpace(string(out)); err != nil || good == "" {
			return nil, errors.New("no commit has changed a budget file here: say with -good where the benchmark was well")
		}
	}
	s := &search{m: m, repo: repo}
	first, err := repo.Commit(ctx, good)
	if err != nil {
		return nil, fmt.Errorf("-good: %w", err)
	}
	last, err := repo.Commit(ctx, bad)
	if err != nil {
		return nil, fmt.Errorf("-bad: %w", err)
	}
	out, err := sides.Git(ctx, repo.Root, nil, "rev-list", "--reverse", "--first-parent", first+".."+last)
	if err != nil {
		return nil, err
	}
	s.commits = append([]string{first}, strings.Fields(string(out))...)
	if len(s.commits) < 2 {
		return nil, fmt.Errorf("there is no commit between %s and %s", good, bad)
	}
	if s.tmp, err = os.MkdirTemp("", "heaptrim-bisect-"); err != nil {
		return nil, err
	}
	s.maker = sides.Maker{Dir: m.dir, Tmp: s.tmp, BuildFlags: m.tool.Flags, Progress: m.o.Progress, Warn: func(string, ...any) {}}
	return s, nil
}

func (s *search) close() { os.RemoveAll(s.tmp) }

// at counts the benchmark at a commit. One that does not build, or has no such benchmark, is skipped.
func (s *search) at(ctx context.Context, i int) (bisect.Step, error) {
	step := bisect.Step{Commit: s.commits[i]}
	if title, err := sides.Git(ctx, s.repo.Root, nil, "log", "-1", "--format=%s", step.Commit); err == nil {
		step.Title = strings.TrimSpace(string(title))
	}
	s.m.o.Progress("counting %.12s %s", step.Commit, step.Title)
	a, err := s.count(ctx, i, step.Commit)
	if ctx.Err() != nil {
		return step, ctx.Err()
	}
	if err != nil {
		step.Skipped = firstLines(err)
	}
	step.Amount, step.Ops = a, s.ops
	return step, nil
}

func (s *search) count(ctx context.Context, i int, commit string) (budget.Amount, error) {
	tree, err := s.maker.Make(ctx, fmt.Sprint(i), sides.Side{Source: sides.Revision, At: commit})
	if err != nil {
		return budget.Amount{}, err
	}
	defer os.RemoveAll(tree.Tool.Dir)
	c, err := count.New(count.Options{Tool: tree.Tool, Progress: s.m.o.Progress})
	if err != nil {
		return budget.Amount{}, err
	}
	defer c.Close()
	p, err := s.locate(ctx, tree, c)
	if err != nil {
		return budget.Amount{}, err
	}
	if s.ops == 0 {
		found, err := c.Count(ctx, p, []string{s.out.Name}, count.Run{Ops: 10, CPU: s.m.cpus(nil)[0]})
		if err != nil {
			return budget.Amount{}, err
		}
		s.ops = count.Ops(found[s.out.Name])
	}
	least := budget.Amount{Allocs: math.Inf(1), Bytes: math.Inf(1)}
	for range 3 {
		found, err := c.Count(ctx, p, []string{s.out.Name}, count.Run{Ops: s.ops, CPU: s.m.cpus(nil)[0]})
		if err != nil {
			return budget.Amount{}, err
		}
		r, ok := found[s.out.Name]
		if !ok {
			return budget.Amount{}, errors.New(s.out.Name + " printed no result")
		}
		least = budget.Amount{Allocs: math.Min(least.Allocs, r.Allocs), Bytes: math.Min(least.Bytes, r.Bytes)}
	}
	return least, nil
}

// locate finds the package of the benchmark: in the first version that is counted by its name, later
// by the package.
func (s *search) locate(ctx context.Context, tree *sides.Tree, c *count.Counter) (count.Package, error) {
	patterns := s.m.o.Patterns
	if s.pkg != "" {
		patterns = []string{s.pkg}
	}
	list, err := tree.Tool.Packages(ctx, patterns)
	if err != nil {
		return count.Package{}, err
	}
	top, _, _ := strings.Cut(s.m.o.Bench, "/")
	for _, p := range list {
		if s.pkg == "" && !slices.ContainsFunc(testFiles(p), func(file string) bool { return hasBenchmark(file, top) }) {
			continue
		}
		s.pkg, s.out.Package, s.out.Name = p.ImportPath, p.ImportPath, s.m.o.Bench
		return count.Package{Path: p.ImportPath, Dir: p.Dir}, nil
	}
	return count.Package{}, fmt.Errorf("no package has %s", top)
}

func hasBenchmark(file, name string) bool {
	text, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(text), "func "+name+"(")
}
